import MagicHistory
import SQLiteAssets
import SQLiteCore
import SQLiteHistory

/// An asset whose content is in a file.
struct AssetFile: Hashable, Sendable {
  let id: AssetID
  let sha256: AssetDigest
  let size: Int
  /// The name of the file in the stores.
  let name: AssetFileName
}

extension Patch {
  /// The assets whose contents the patch adds as files. Contents in rows are part of the patch.
  var addedAssets: [AssetFile] { assets(\.new) }

  /// Whether all names of files in new rows of assets are names that the library gives.
  var hasValidFileNames: Bool {
    tables.allSatisfy { table in
      guard asciiLowercased(table.name) == "magicdata_asset",
        let place = table.columns?.firstIndex(where: { asciiLowercased($0) == "file" })
      else { return true }
      return table.rows.allSatisfy { row in
        switch row.new[place] {
        case nil, .null: true
        case .text(let name): AssetFileName(name) != nil
        default: false
        }
      }
    }
  }

  /// All assets whose files the patch contains, in old or new values.
  var allAssets: [AssetFile] { addedAssets + assets(\.old) }

  private func assets(_ side: (Row) -> [Value?]) -> [AssetFile] {
    var found: [AssetFile] = []
    for table in tables where asciiLowercased(table.name) == "magicdata_asset" {
      guard let columns = table.columns?.map(asciiLowercased),
        let file = columns.firstIndex(of: "file"), let size = columns.firstIndex(of: "size"),
        let digest = columns.firstIndex(of: "sha256"),
        let content = columns.firstIndex(of: "content")
      else { continue }
      for row in table.rows {
        let values = side(row)
        guard case .text(let text)?? = values[file] as Value??, let name = AssetFileName(text),
          case .integer(let count)?? = values[size] as Value??,
          case .blob(let bytes)?? = values[digest] as Value??,
          case .text(let key)? = table.key(of: row).values.first, let id = AssetID(key),
          let sha256 = AssetDigest(bytes: bytes), values[content] ?? .null == .null,
          let size = Int(exactly: count), size >= 0
        else { continue }
        found.append(AssetFile(id: id, sha256: sha256, size: size, name: name))
      }
    }
    return found
  }
}

extension SyncedTables {
  /// Returns the first table or column that patches need and the store doesn't have, or nil.
  ///
  /// - Parameters:
  ///   - patches: The patches.
  ///   - level: The number of migrations that their device had run. If the store has run more, it
  ///     has dropped what is missing. If it has run fewer, it can't use any patch.
  ///   - connection: The connection.
  func missing(
    for patches: [Patch], from level: Int64, _ connection: Connection
  ) throws -> (table: String, column: String?)? {
    let ownLevel = try SchemaFit.level(of: connection)
    guard level >= ownLevel else { return nil }
    var known: [String: Set<String>] = [:]
    let tables = patches.flatMap(\.tables).filter { HistoryRecording.holds($0.name) }
    for table in tables {
      let name = asciiLowercased(table.name)
      let columns =
        try known[name] ?? Set(connection.columns(of: table.name).map { asciiLowercased($0.name) })
      known[name] = columns
      if columns.isEmpty || !contains(table.name) { return (table.name, nil) }
      for column in table.columns ?? [] where !columns.contains(asciiLowercased(column)) {
        return (table.name, column)
      }
    }
    return level > ownLevel ? tables.first.map { ($0.name, nil) } : nil
  }
}

/// Contents that were read from the folder, in files of the store that no row references yet. They
/// are removed with this instance. If the process dies before, the next opening of the store removes
/// them.
final class SyncDownload: Sendable {
  /// The files of assets.
  let assets: ReceivedAssets
  private let store: AssetStore

  init(_ store: AssetStore) {
    self.store = store
    assets = ReceivedAssets(to: store)
  }

  /// Writes a part of a snapshot to a file.
  func stage(_ bytes: [UInt8]) throws -> StagedAsset {
    let writer = try StreamWriter(store, minimumFileSize: 0)
    try writer.write(bytes)
    return try writer.finish(isKept: false)
  }

  /// Reads the contents of assets.
  ///
  /// - Returns: The first asset with a missing or damaged part, or nil if there is none.
  func fetch(
    _ assets: [AssetFile], from folder: any SyncFolder, _ format: SyncFileFormat
  ) async throws -> AssetFile? {
    for asset in assets where !self.assets.has(asset.name) {
      let isComplete = try await fetch(asset, from: folder, format)
      if !isComplete { return asset }
    }
    return nil
  }

  /// Reads the parts of an asset, in constant memory.
  ///
  /// - Returns: False if a part is missing or damaged, or if the content has another digest.
  private func fetch(
    _ asset: AssetFile, from folder: any SyncFolder, _ format: SyncFileFormat
  ) async throws -> Bool {
    let (received, name) = (assets, asset.name)
    let writer = try StreamWriter(store, minimumFileSize: 0)
    defer { writer.abandon() }
    var size = 0
    var part = 0
    repeat {
      let name = SyncFileName.asset(digest: asset.sha256.description, part: part)
      let content = try await folder.read(name.text)
      let bytes = content.flatMap { try? format.open($0, as: name) } ?? []
      if bytes.isEmpty, asset.size > 0 || content == nil { return false }
      size += bytes.count
      try await store.work { try writer.write(bytes) }
      part += 1
    } while size < asset.size
    guard size == asset.size else { return false }
    return try await store.work {
      let staged = try writer.finish(isKept: false)
      guard staged.sha256 == asset.sha256 else { return false }
      try received.receive(staged, as: name)
      return true
    }
  }
}

extension Patch {
  /// The keys of all asset rows in the patch, and the names of the files that it replaces or
  /// removes.
  var assetRows: (keys: Set<Value>, oldFiles: Set<String>) {
    var (keys, files): (Set<Value>, Set<String>) = ([], [])
    for table in tables where asciiLowercased(table.name) == "magicdata_asset" {
      let place = table.columns?.firstIndex { asciiLowercased($0) == "file" }
      for row in table.rows {
        keys.formUnion(table.key(of: row).values)
        if let place, case .text(let file)?? = row.old[place] as Value?? { files.insert(file) }
      }
    }
    return (keys, files)
  }
}

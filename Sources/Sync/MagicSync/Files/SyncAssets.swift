import Foundation
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
  let name: String
}

extension Patch {
  /// The assets whose contents the patch adds as files. Contents in rows are part of the patch.
  var addedAssets: [AssetFile] { assets(\.new) }

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
        guard case .text(let name)?? = values[file] as Value??,
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

/// The contents of assets that were read from the folder, in a temporary folder that is created when
/// it is needed, and deleted with this instance.
final class SyncDownload: Sendable {
  let path: String

  init() {
    path =
      FileManager.default.temporaryDirectory.appending(
        path: "magicdata-sync-\(UUID().uuidString)"
      ).path
  }

  /// Creates the temporary folder if it doesn't exist.
  func makeFolder() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Returns the names of the files that were read completely.
  func names() throws -> Set<String> {
    guard FileManager.default.fileExists(atPath: path) else { return [] }
    let names = try FileManager.default.contentsOfDirectory(atPath: path)
    return Set(names.filter { !$0.hasSuffix(".part") })
  }

  /// Reads the contents of assets.
  ///
  /// - Returns: The first asset with a missing or damaged part, or nil if there is none.
  func fetch(
    _ assets: [AssetFile], from folder: any SyncFolder, _ format: SyncFileFormat
  ) async throws -> AssetFile? {
    for asset in assets {
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
    let file = "\(path)/\(asset.name)"
    if FileManager.default.fileExists(atPath: file) { return true }
    try makeFolder()
    _ = FileManager.default.createFile(atPath: "\(file).part", contents: nil)
    let output = try FileHandle(forWritingTo: URL(filePath: "\(file).part"))
    var hash = SHA256()
    var size = 0
    var part = 0
    repeat {
      let name = SyncFileName.asset(digest: asset.sha256.description, part: part)
      let content = try await folder.read(name.text)
      let bytes = content.flatMap { try? format.open($0, as: name) } ?? []
      if bytes.isEmpty, asset.size > 0 || content == nil { break }
      hash.update(bytes)
      size += bytes.count
      try output.write(contentsOf: Data(bytes))
      part += 1
    } while size < asset.size
    try output.close()
    guard part > 0, size == asset.size, hash.finalize() == asset.sha256 else { return false }
    try FileManager.default.moveItem(atPath: "\(file).part", toPath: file)
    return true
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

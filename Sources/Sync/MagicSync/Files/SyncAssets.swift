import Foundation
import SQLiteAssets
import SQLiteCore
import SQLiteHistory

/// An asset whose content a patch adds as a file.
struct AddedAsset: Hashable {
  let sha256: AssetDigest
  let size: Int
  /// The name of the file in the store that added it.
  let file: String
}

extension Patch {
  /// The assets whose contents the patch adds as files. Contents in rows are part of the patch.
  var addedAssets: [AddedAsset] {
    var found: [AddedAsset] = []
    for table in tables where asciiLowercased(table.name) == "magicdata_asset" {
      guard let columns = table.columns?.map(asciiLowercased),
        let file = columns.firstIndex(of: "file"), let size = columns.firstIndex(of: "size"),
        let digest = columns.firstIndex(of: "sha256"),
        let content = columns.firstIndex(of: "content")
      else { continue }
      for row in table.rows where row.kind != .delete {
        let new = row.new
        guard case .text(let name)?? = new[file] as Value??,
          case .integer(let count)?? = new[size] as Value??,
          case .blob(let bytes)?? = new[digest] as Value??, let sha256 = AssetDigest(bytes: bytes),
          new[content] ?? .null == .null, let size = Int(exactly: count)
        else { continue }
        found.append(AddedAsset(sha256: sha256, size: size, file: name))
      }
    }
    return found
  }
}

extension SyncedTables {
  /// Returns the first table or column that patches need and the store doesn't have, or nil.
  func missing(
    for patches: [Patch], _ connection: Connection
  ) throws -> (table: String, column: String?)? {
    var known: [String: Set<String>] = [:]
    for table in patches.flatMap(\.tables) where contains(table.name) {
      let name = asciiLowercased(table.name)
      let columns =
        try known[name] ?? Set(connection.columns(of: table.name).map { asciiLowercased($0.name) })
      known[name] = columns
      if columns.isEmpty { return (table.name, nil) }
      for column in table.columns ?? [] where !columns.contains(asciiLowercased(column)) {
        return (table.name, column)
      }
    }
    return nil
  }
}

/// The contents of assets that were read from the folder, in a temporary folder that is deleted
/// with this instance.
final class SyncDownload: Sendable {
  let path: String

  init() throws {
    path =
      FileManager.default.temporaryDirectory.appending(
        path: "magicdata-sync-\(UUID().uuidString)"
      ).path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Reads the parts of an asset, in constant memory.
  ///
  /// - Returns: False if a part is missing or damaged, or if the content has another digest.
  func fetch(
    _ asset: AddedAsset, from folder: any SyncFolder, _ format: SyncFileFormat
  ) async throws -> Bool {
    let file = "\(path)/\(asset.file)"
    if FileManager.default.fileExists(atPath: file) { return true }
    guard FileManager.default.createFile(atPath: "\(file).part", contents: nil),
      let output = FileHandle(forWritingAtPath: "\(file).part")
    else { return false }
    defer { try? output.close() }
    var hash = SHA256()
    var size = 0
    var part = 0
    repeat {
      let name = SyncFileName.asset(digest: asset.sha256.description, part: part)
      guard let content = try await folder.read(name.text),
        let bytes = try? format.open(content, as: name), !bytes.isEmpty || asset.size == 0
      else { return false }
      hash.update(bytes)
      size += bytes.count
      try output.write(contentsOf: Data(bytes))
      part += 1
    } while size < asset.size
    guard size == asset.size, hash.finalize() == asset.sha256 else { return false }
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

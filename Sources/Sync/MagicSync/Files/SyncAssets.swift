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

import Foundation
package import MagicData
import MagicHistory
package import SQLiteHistory

/// A folder for sending patches, with the contents of their assets, from one copy of a store to
/// another.
package struct PatchFolder {
  package let path: String
  /// The folder with the contents of the assets.
  package var assets: String { "\(path)/assets" }

  package init(_ path: String) throws {
    self.path = path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  private func file(_ number: Int) -> URL { URL(filePath: "\(path)/\(number).json") }

  package func put(_ patch: Patch, number: Int) throws {
    try JSONEncoder().encode(patch).write(to: file(number))
  }

  /// Applies the next patch and counts it in the same transaction.
  ///
  /// - Returns: False if there is no next patch.
  package func applyNext(to magic: MagicData) throws -> Bool {
    let number = try Self.appliedCount(in: magic)
    guard let data = try? Data(contentsOf: file(number)) else { return false }
    let patch = try JSONDecoder().decode(Patch.self, from: data)
    try magic.transaction {
      try magic.apply(patch, assetsFrom: assets)
      try magic.database.executeChange("UPDATE magicdata_applied SET count = count + 1")
    }
    return true
  }

  /// Returns the number of patches that were applied to a store.
  package static func appliedCount(in magic: MagicData) throws -> Int {
    try magic.database.write { connection in
      try connection.executeChange(
        "CREATE TABLE IF NOT EXISTS magicdata_applied (count INTEGER NOT NULL)")
      try connection.executeChange(
        "INSERT INTO magicdata_applied SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM magicdata_applied)")
      return try connection.firstRow("SELECT count FROM magicdata_applied", as: Int.self) ?? 0
    }
  }
}

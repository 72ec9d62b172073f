import Foundation
import SQLiteCore

/// A folder that goes away with this value, and a database in it.
final class TemporaryFolder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "mapping-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    // Nothing can be done about a folder that stays.
    try? FileManager.default.removeItem(at: url)
  }

  /// Opens the database as a program does that is started anew.
  @discardableResult
  func open<Result>(_ body: (Database) throws -> Result) throws -> Result {
    let database = try Database(path: url.appending(path: "test.sqlite3").path)
    let result = try body(database)
    try database.close()
    return result
  }
}

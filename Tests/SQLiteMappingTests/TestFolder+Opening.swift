import Conformance
import SQLiteCore
import TestSupport

extension TestFolder {
  /// Opens the database as a program does that is started anew.
  @discardableResult
  func open<Result>(_ body: (Database) throws -> Result) throws -> Result {
    let database = try Database.at(file("test.sqlite3"))
    let result = try body(database)
    try database.close()
    return result
  }
}

import Conformance
import SQLiteCore
import TestSupport

extension TestFolder {
  /// Opens the database like a program that has just started, and closes it after `body`.
  @discardableResult
  func open<Result>(_ body: (Database) throws -> Result) throws -> Result {
    let database = try Database.at(file("test.sqlite3"))
    let result = try body(database)
    try database.close()
    return result
  }
}

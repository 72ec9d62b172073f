import SQLiteCore

extension Database {
  /// Returns all rows of a table, ordered by key, as text that shows the storage classes.
  func dump(_ table: String, order: SQL = "1, 2") throws -> [String] {
    try executeQuery("SELECT * FROM \(identifier: table) ORDER BY \(order)").map { "\($0.values)" }
  }
}

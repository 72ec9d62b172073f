import MagicData

/// Fuzzes texts as literals and identifiers in SQL: SQLite must read exactly the text that was
/// quoted.
package struct Quoting {
  private let database: Database

  package init() throws { database = try Database.memory() }

  /// Returns a description of a fault, or nil.
  package func check(_ bytes: [UInt8]) throws -> String? {
    let text = String(decoding: bytes, as: UTF8.self)
    return try database.read { connection in
      let blob = try connection.rows(
        SQL(unchecked: "SELECT \(SQL.escapeValue(bytes))"), as: [UInt8].self)
      guard blob == [bytes] else { return "the blob came back as \(blob)" }
      // Compares bytes because Swift considers texts with different bytes equal.
      let literal = try connection.rows(
        SQL(unchecked: "SELECT CAST(\(SQL.escapeValue(text)) AS BLOB)"), as: [UInt8].self)
      guard literal == [Array(text.utf8)] else { return "the literal came back as \(literal)" }
      let bound = try connection.rows("SELECT CAST(\(text) AS BLOB)", as: [UInt8].self)
      guard bound == [Array(text.utf8)] else { return "the value came back as \(bound)" }
      guard !text.isEmpty, !text.utf8.contains(0) else {
        guard (try? SQL.escapeIdentifier(text)) == nil else { return "the name is not rejected" }
        return nil
      }
      let sql = SQL(unchecked: "SELECT 1 AS \(try SQL.escapeIdentifier(text))")
      guard let row = try connection.firstRow(sql) else { return "there is no row" }
      guard row.columnNames.map({ Array($0.utf8) }) == [Array(text.utf8)], row.count == 1 else {
        return "the name came back as \(row.columnNames)"
      }
      return nil
    }
  }
}

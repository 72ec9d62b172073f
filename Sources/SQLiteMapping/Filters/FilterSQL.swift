package import SQLiteCore

/// The SQL of a filter as it is being written: it grows, with the values that are bound.
package struct FilterSQL {
  /// What was written.
  package private(set) var sql = SQL(unchecked: "")

  package init() {}

  /// Appends SQL that no user's text was spliced into.
  package mutating func append(_ text: String) { sql.append(text: text) }

  /// Appends a parameter.
  package mutating func append(value: Value) { sql.append(value: value) }

  /// Appends a quoted name.
  ///
  /// - Throws: ``SQLiteError`` if it cannot be quoted.
  package mutating func append(identifier name: String) throws {
    sql.append(text: try SQL.escapeIdentifier(name))
  }

  /// Appends SQL with its values.
  ///
  /// - Throws: ``SQLiteError`` if one of them could not be bound.
  package mutating func append(_ sql: SQL) throws {
    if let failure = sql.failure { throw failure }
    self.sql.append(sql)
  }
}

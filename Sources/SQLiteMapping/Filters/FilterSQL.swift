package import SQLiteCore

/// The SQL of a filter as it is being written: one text that grows, and the values that are bound.
package struct FilterSQL {
  private var text = ""
  private var arguments: [SQL.Argument] = []
  /// How many conditions and operands are being written, one inside the other.
  var depth = 0

  package init() {}

  /// What was written.
  package var sql: SQL { SQL(text, arguments: arguments) }

  /// Appends SQL that no user's text was spliced into.
  package mutating func append(_ text: String) { self.text += text }

  /// Appends a parameter.
  package mutating func append(value: Value) {
    text += "?"
    arguments.append(.value(value))
  }

  /// Appends a quoted name.
  ///
  /// - Throws: ``SQLiteError`` if it cannot be quoted.
  package mutating func append(identifier name: String) throws {
    text += try SQL.escapeIdentifier(name)
  }

  /// Appends SQL with its values.
  ///
  /// - Throws: ``SQLiteError`` if one of them could not be bound.
  package mutating func append(_ sql: SQL) throws {
    if let failure = sql.failure { throw failure }
    text += sql.text
    arguments += sql.arguments
  }
}

/// What was read from the beginning of a text: one statement and where the next one begins.
public struct SQLParsedStatement: Hashable, Sendable {
  /// The statement; nil if the rest of the text is blanks, comments and semicolons.
  public var statement: SQLStatement?
  /// From the first to the last token of the statement, without the semicolon.
  public var span: SQLSpan
  /// The offset behind the semicolon, where `sqlite3_prepare_v2` leaves its tail.
  public var end: Int
}

extension SQLStatement {
  /// Reads one statement, which a semicolon may end.
  ///
  /// - Parameters:
  ///   - sql: A text with one statement.
  ///   - grammar: What the linked library accepts.
  /// - Throws: ``SQLSyntaxError`` where SQLite refuses the text, if there is no statement, and if
  ///   something stands behind it.
  /// - Complexity: O(n).
  public init(parsing sql: String, grammar: SQLGrammar = SQLGrammar()) throws(SQLSyntaxError) {
    var parser = try Parser(SQLTokens(sql, grammar: grammar), grammar)
    self = try parser.reporting { (parser) throws(Refusal) in try parser.parseOnlyStatement() }
  }

  /// Reads the first statement at or behind `offset`, as `sqlite3_prepare_v2` does.
  ///
  /// - Parameters:
  ///   - bytes: A text, which need not be UTF-8. A NUL ends it.
  ///   - offset: Where to begin, in bytes.
  ///   - grammar: What the linked library accepts.
  /// - Throws: ``SQLSyntaxError`` where SQLite refuses the text. Its offset counts from the start of
  ///   `bytes`.
  public static func parseFirst(
    in bytes: [UInt8], from offset: Int = 0, grammar: SQLGrammar = SQLGrammar()
  ) throws(SQLSyntaxError) -> SQLParsedStatement {
    var parser = try Parser(SQLTokens(bytes: bytes, grammar: grammar), from: offset, grammar)
    return try parser.reporting { (parser) throws(Refusal) in try parser.parseNextStatement() }
  }
}

extension SQLExpression {
  /// Reads one expression.
  ///
  /// - Throws: ``SQLSyntaxError`` if `sql` is not one expression and nothing else.
  public init(parsing sql: String, grammar: SQLGrammar = SQLGrammar()) throws(SQLSyntaxError) {
    var parser = try Parser(SQLTokens(sql, grammar: grammar), grammar)
    self = try parser.reporting { (parser) throws(Refusal) in try parser.parseOnlyExpression() }
  }
}

extension SQLTableConstraint {
  /// Reads one constraint of a table, such as `CONSTRAINT positive CHECK (size > 0)`.
  ///
  /// - Throws: ``SQLSyntaxError`` if `sql` is not one constraint and nothing else.
  public init(parsing sql: String, grammar: SQLGrammar = SQLGrammar()) throws(SQLSyntaxError) {
    var parser = try Parser(SQLTokens(sql, grammar: grammar), grammar)
    self = try parser.reporting { (parser) throws(Refusal) in
      try parser.parseOnlyTableConstraint()
    }
  }
}

extension SQLColumnConstraint {
  /// Reads the constraints of a column, such as `NOT NULL DEFAULT 3`, in the order of the text.
  ///
  /// - Throws: ``SQLSyntaxError`` if `sql` is not one constraint or more and nothing else.
  public static func list(
    parsing sql: String, grammar: SQLGrammar = SQLGrammar()
  ) throws(SQLSyntaxError) -> [SQLColumnConstraint] {
    var parser = try Parser(SQLTokens(sql, grammar: grammar), grammar)
    return try parser.reporting { (parser) throws(Refusal) in
      try parser.parseOnlyColumnConstraints()
    }
  }
}

/// The first statement at or after an offset in a text, and the offset after this statement.
public struct SQLParsedStatement: Hashable, Sendable {
  /// The statement, or nil if the rest of the text contains only blanks, comments and semicolons.
  public var statement: SQLStatement?
  /// The source range from the first to the last token of the statement, without the semicolon;
  /// empty if there is no statement.
  public var span: SQLSpan
  /// The UTF-8 offset after the semicolon, which is where the tail of `sqlite3_prepare_v2` begins.
  /// Without a semicolon, the offset of the end of the text.
  public var end: Int
}

extension SQLStatement {
  /// Creates a statement by parsing a text that contains exactly one statement, with or without a
  /// semicolon.
  ///
  /// - Parameters:
  ///   - sql: The text of the statement.
  ///   - grammar: The grammar of the linked SQLite library.
  /// - Throws: ``SQLSyntaxError`` if SQLite rejects the text, or if the text contains no statement
  ///   or more than one.
  /// - Complexity: O(*n*) in the length of the text.
  public init(parsing sql: String, grammar: SQLGrammar = SQLGrammar()) throws(SQLSyntaxError) {
    var parser = try Parser(SQLTokens(sql, grammar: grammar), grammar)
    self = try parser.throwingRecordedError { (parser) throws(ParsingFailure) in
      try parser.parseOnlyStatement()
    }
  }

  /// Parses the first statement at or after `offset`, like `sqlite3_prepare_v2`.
  ///
  /// - Parameters:
  ///   - bytes: The text, which doesn't have to be valid UTF-8. A NUL ends it.
  ///   - offset: The offset at which to begin, in bytes.
  ///   - grammar: The grammar of the linked SQLite library.
  /// - Returns: The statement, its source range, and the offset after it. All offsets are from the
  ///   start of `bytes`.
  /// - Throws: ``SQLSyntaxError`` if SQLite rejects the statement. Its offset is from the start of
  ///   `bytes`.
  public static func parseFirst(
    in bytes: [UInt8], from offset: Int = 0, grammar: SQLGrammar = SQLGrammar()
  ) throws(SQLSyntaxError) -> SQLParsedStatement {
    var parser = try Parser(SQLTokens(bytes: bytes, grammar: grammar), from: offset, grammar)
    return try parser.throwingRecordedError { (parser) throws(ParsingFailure) in
      try parser.parseNextStatement()
    }
  }
}

extension SQLExpression {
  /// Creates an expression by parsing a text that contains exactly one expression.
  ///
  /// - Parameters:
  ///   - sql: The text of the expression.
  ///   - grammar: The grammar of the linked SQLite library.
  /// - Throws: ``SQLSyntaxError`` if the text isn't a single valid expression.
  public init(parsing sql: String, grammar: SQLGrammar = SQLGrammar()) throws(SQLSyntaxError) {
    var parser = try Parser(SQLTokens(sql, grammar: grammar), grammar)
    self = try parser.throwingRecordedError { (parser) throws(ParsingFailure) in
      try parser.parseOnlyExpression()
    }
  }
}

extension SQLTableConstraint {
  /// Creates a table constraint by parsing a text such as `CONSTRAINT positive CHECK (size > 0)`.
  ///
  /// - Parameters:
  ///   - sql: The text of the constraint.
  ///   - grammar: The grammar of the linked SQLite library.
  /// - Throws: ``SQLSyntaxError`` if the text isn't a single valid table constraint.
  public init(parsing sql: String, grammar: SQLGrammar = SQLGrammar()) throws(SQLSyntaxError) {
    var parser = try Parser(SQLTokens(sql, grammar: grammar), grammar)
    self = try parser.throwingRecordedError { (parser) throws(ParsingFailure) in
      try parser.parseOnlyTableConstraint()
    }
  }
}

extension SQLColumnConstraint {
  /// Parses column constraints such as `NOT NULL DEFAULT 3`.
  ///
  /// - Parameters:
  ///   - sql: The text of the constraints.
  ///   - grammar: The grammar of the linked SQLite library.
  /// - Returns: The constraints, in the order of the text.
  /// - Throws: ``SQLSyntaxError`` if the text doesn't consist of one or more valid column
  ///   constraints.
  public static func list(
    parsing sql: String, grammar: SQLGrammar = SQLGrammar()
  ) throws(SQLSyntaxError) -> [SQLColumnConstraint] {
    var parser = try Parser(SQLTokens(sql, grammar: grammar), grammar)
    return try parser.throwingRecordedError { (parser) throws(ParsingFailure) in
      try parser.parseOnlyColumnConstraints()
    }
  }
}

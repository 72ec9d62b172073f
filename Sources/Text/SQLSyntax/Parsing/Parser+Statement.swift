import SQLLexer

extension Parser {
  /// Parses the next statement up to its semicolon. Skips semicolons before it.
  mutating func parseNextStatement() throws(ParsingFailure) -> SQLParsedStatement {
    try read(after: .endOfText)
    while token.code == .semicolon { try advance() }
    guard token.code != .endOfText else {
      return SQLParsedStatement(
        statement: nil, span: SQLSpan(start..<start), end: start)
    }
    let start = start
    let statement = try parseStatement()
    guard token.code == .semicolon || token.code == .endOfText else { try throwSyntaxError() }
    try throwPending()
    return SQLParsedStatement(
      statement: statement, span: span(from: start),
      end: token.code == .semicolon ? tokens.position : self.start)
  }

  mutating func parseOnlyStatement() throws(ParsingFailure) -> SQLStatement {
    guard let statement = try parseNextStatement().statement else { try throwSyntaxError() }
    while token.code == .semicolon { try advance() }
    guard token.code == .endOfText else { try throwSyntaxError() }
    return statement
  }

  private mutating func parseStatement() throws(ParsingFailure) -> SQLStatement {
    guard try take(.explain) else { return try parseCommand() }
    var isQueryPlan = false
    if try take(.query) {
      try expect(.plan)
      isQueryPlan = true
    }
    return .explain(try parseCommand(), isQueryPlan: isQueryPlan)
  }

  private mutating func parseCommand() throws(ParsingFailure) -> SQLStatement {
    switch token.code {
    case .select, .values: return .select(try parseSelect())
    case .with: return try parseStatementAfterWith()
    case .insert, .replace: return .insert(try parseInsert(nil))
    case .update: return .update(try parseUpdate(nil))
    case .delete: return .delete(try parseDelete(nil))
    case .create: return try parseCreate()
    case .alter: return .alterTable(try parseAlterTable())
    case .drop: return .drop(try parseDrop())
    case .pragma: return .pragma(try parsePragma())
    case .attach, .detach, .vacuum, .reindex, .analyze: return try parseMaintenance()
    default: return try parseTransaction()
    }
  }

  // MARK: Transactions

  @inline(never)
  private mutating func parseTransaction() throws(ParsingFailure) -> SQLStatement {
    switch token.code {
    case .begin:
      try advance()
      let mode = try parseTransactionMode()
      return .begin(mode, name: try parseTransactionName())
    case .commit, .end:
      try advance()
      return .commit(name: try parseTransactionName())
    case .rollback: return try parseRollback()
    case .savepoint:
      try advance()
      return .savepoint(try parseName())
    case .release:
      try advance()
      _ = try take(.savepoint)
      return .release(try parseName())
    default: try throwSyntaxError()
    }
  }

  private mutating func parseRollback() throws(ParsingFailure) -> SQLStatement {
    try advance()
    let name = try parseTransactionName()
    guard try take(.to) else { return .rollback(name: name) }
    _ = try take(.savepoint)
    return .rollbackTo(savepoint: try parseName(), transaction: name)
  }

  private mutating func parseTransactionMode() throws(ParsingFailure) -> SQLTransactionMode? {
    if try take(.deferred) { return .deferred }
    if try take(.immediate) { return .immediate }
    return try take(.exclusive) ? .exclusive : nil
  }

  /// Parses the optional keyword TRANSACTION and the optional name after it, both of which SQLite
  /// ignores. Returns the name, or nil if there is none.
  private mutating func parseTransactionName() throws(ParsingFailure) -> SQLName? {
    guard try take(.transaction), token.code.isName else { return nil }
    return try parseName()
  }

  // MARK: Maintenance

  @inline(never)
  private mutating func parseMaintenance() throws(ParsingFailure) -> SQLStatement {
    let code = token.code
    try advance()
    switch code {
    case .attach: return try parseAttach()
    case .detach:
      _ = try take(.database)
      return .detach(try parseExpression())
    case .vacuum: return try parseVacuum()
    case .reindex:
      return .reindex(token.code.isName ? try parseQualifiedName() : nil)
    default: return .analyze(token.code.isName ? try parseQualifiedName() : nil)
    }
  }

  private mutating func parseAttach() throws(ParsingFailure) -> SQLStatement {
    _ = try take(.database)
    let file = try parseExpression()
    try expect(.as)
    let schema = try parseExpression()
    return .attach(file, as: schema, key: try take(.key) ? try parseExpression() : nil)
  }

  private mutating func parseVacuum() throws(ParsingFailure) -> SQLStatement {
    let schema = token.code.isName ? try parseName() : nil
    return .vacuum(schema, into: try take(.into) ? try parseExpression() : nil)
  }

  // MARK: PRAGMA

  @inline(never)
  private mutating func parsePragma() throws(ParsingFailure) -> SQLPragma {
    try advance()
    let name = try parseQualifiedName()
    if try take(.equal) { return SQLPragma(name, try parsePragmaValue()) }
    guard try take(.leftParenthesis) else { return SQLPragma(name) }
    let value = try parsePragmaValue()
    try expect(.rightParenthesis)
    return SQLPragma(name, value, isCall: true)
  }

  private mutating func parsePragmaValue() throws(ParsingFailure) -> SQLPragma.Value {
    var sign = ""
    switch token.code {
    case .on, .delete, .default:
      let word = tokens.name(token)
      try advance()
      return .name(word)
    case .plus, .minus:
      sign = token.code == .plus ? "+" : "-"
      try advance()
    case .integer, .real: break
    default: return .name(try parseName())
    }
    guard token.code == .integer || token.code == .real else { try throwSyntaxError() }
    let number = sign + tokens.text(of: token)
    try advance()
    return .number(number)
  }
}

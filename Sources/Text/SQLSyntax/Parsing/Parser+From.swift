import SQLLexer

extension Parser {
  /// Parses the tables and joins after FROM (`seltablist` in SQLite's grammar).
  @inline(never)
  mutating func parseFrom() throws(ParsingFailure) -> SQLFrom {
    try enter(1)
    let first = try parseSource()
    if token.code == .on || token.code == .using { try parseMisplacedConstraint() }
    var from = SQLFrom(first)
    while let operation = try parseJoinOperator() {
      from.joins.append(try parseJoin(operation))
    }
    level -= 1
    return from
  }

  /// Parses ON or USING after the first table, where neither is allowed, and records an error.
  @inline(never)
  private mutating func parseMisplacedConstraint() throws(ParsingFailure) {
    let word = token.code.keyword
    let range = token.range
    _ = try parseConstraint()
    recordError("a JOIN clause is required before \(word)", range)
  }

  private mutating func parseJoin(_ operation: SQLJoin.Operator) throws(ParsingFailure) -> SQLJoin {
    let source = try parseSource()
    return SQLJoin(operation, source, try parseConstraint())
  }

  private mutating func parseConstraint() throws(ParsingFailure) -> SQLJoin.Constraint? {
    switch token.code {
    case .on:
      try advance()
      return .on(try parseExpression())
    case .using:
      try advance()
      try expect(.leftParenthesis)
      let names = try parseNames()
      try expect(.rightParenthesis)
      return .using(names)
    default: return nil
    }
  }

  private mutating func parseJoinOperator() throws(ParsingFailure) -> SQLJoin.Operator? {
    switch token.code {
    case .comma:
      try advance()
      return .comma
    case .join:
      try advance()
      return .join([])
    default: return token.code.isJoinWord ? try parseJoinWords() : nil
    }
  }

  /// Parses up to three words before JOIN. SQLite's grammar accepts any names after the first word.
  /// If the words aren't a valid combination, records an error.
  @inline(never)
  private mutating func parseJoinWords() throws(ParsingFailure) -> SQLJoin.Operator {
    let start = start
    var texts = [tokens.text(of: token)]
    try advance()
    while texts.count < 3, token.code != .join {
      guard token.code.isName else { try throwSyntaxError() }
      texts.append(tokens.text(of: token))
      try advance()
    }
    let end = previousEnd
    try expect(.join)
    let words = texts.compactMap { SQLJoin.Word(rawValue: $0.uppercased()) }
    if words.count < texts.count || !Parser.isValid(Set(words)) {
      recordError("unknown join type: \(texts.joined(separator: " "))", start..<end)
    }
    return .join(words)
  }

  private static func isValid(_ words: Set<SQLJoin.Word>) -> Bool {
    let isOuter = !words.isDisjoint(with: [.left, .right, .full])
    if words.contains(.outer), !isOuter { return false }
    return !isOuter || words.isDisjoint(with: [.inner, .cross])
  }

  // MARK: Table sources

  private mutating func parseSource() throws(ParsingFailure) -> SQLTableSource {
    if token.code == .leftParenthesis { return try parseSourceInParentheses() }
    let name = try parseQualifiedName()
    if try take(.leftParenthesis) {
      try enter(3)
      let arguments = try parseExpressions()
      level -= 3
      try expect(.rightParenthesis)
      return .function(name, arguments, alias: try parseAlias())
    }
    var table = SQLTableReference(name, as: try parseAlias())
    table.indexing = try parseIndexing()
    return .table(table)
  }

  @inline(never)
  private mutating func parseSourceInParentheses() throws(ParsingFailure) -> SQLTableSource {
    try enter(2)
    try advance()
    if token.code.beginsSelect {
      let query = try parseSelect()
      level -= 2
      try expect(.rightParenthesis)
      return .subquery(query, alias: try parseAlias())
    }
    level -= 1
    let group = try parseFrom()
    level -= 1
    try expect(.rightParenthesis)
    return .group(group, alias: try parseAlias())
  }

  /// Parses INDEXED BY or NOT INDEXED, or returns nil if there is neither.
  mutating func parseIndexing() throws(ParsingFailure) -> SQLTableReference.Indexing? {
    switch token.code {
    case .indexed:
      try advance()
      try expect(.by)
      return .by(try parseName())
    case .not:
      try advance()
      try expect(.indexed)
      return SQLTableReference.Indexing.none
    default: return nil
    }
  }

  // MARK: Windows

  @inline(never)
  mutating func parseNamedWindows() throws(ParsingFailure) -> [SQLNamedWindow] {
    try advance()
    var windows: [SQLNamedWindow] = []
    repeat {
      let name = try parseName()
      try expect(.as)
      try expect(.leftParenthesis)
      windows.append(SQLNamedWindow(name, try parseWindow()))
    } while try take(.comma)
    return windows
  }

  /// Parses the window after OVER: a name, or a definition in parentheses.
  mutating func parseOver() throws(ParsingFailure) -> SQLOver {
    if try take(.leftParenthesis) { return .window(try parseWindow()) }
    return .name(try parseName())
  }

  /// Parses the rest of a window definition after its opening parenthesis.
  @inline(never)
  private mutating func parseWindow() throws(ParsingFailure) -> SQLWindow {
    var window = SQLWindow()
    if token.code.isName, !token.code.beginsWindowClause { window.base = try parseName() }
    if try take(.partition) {
      try expect(.by)
      window.partitionBy = try parseExpressionList()
    }
    if token.code == .order { window.orderBy = try parseOrderBy() }
    if token.code.beginsFrame { window.frame = try parseFrame() }
    try expect(.rightParenthesis)
    return window
  }

  private mutating func parseFrame() throws(ParsingFailure) -> SQLFrame {
    let range = token.range
    let unit: SQLFrame.Unit =
      switch token.code {
      case .rows: .rows
      case .groups: .groups
      default: .range
      }
    try advance()
    var frame: SQLFrame
    if try take(.between) {
      let start = try parseBound(unboundedEnd: .preceding)
      try expect(.and)
      frame = SQLFrame(unit, start, and: try parseBound(unboundedEnd: .following))
    } else {
      frame = SQLFrame(unit, try parseBound(unboundedEnd: .preceding))
    }
    if try take(.exclude) { frame.exclusion = try parseExclusion() }
    if !frame.isValid { recordError("unsupported frame specification", range) }
    return frame
  }

  private mutating func parseBound(
    unboundedEnd: SQLToken.Code
  ) throws(ParsingFailure) -> SQLFrame.Bound {
    if try take(.unbounded) {
      try expect(unboundedEnd)
      return unboundedEnd == .preceding ? .unboundedPreceding : .unboundedFollowing
    }
    if try take(.current) {
      try expect(.row)
      return .currentRow
    }
    let count = try parseExpression()
    if try take(.preceding) { return .preceding(count) }
    try expect(.following)
    return .following(count)
  }

  private mutating func parseExclusion() throws(ParsingFailure) -> SQLFrame.Exclusion {
    if try take(.no) {
      try expect(.others)
      return .noOthers
    }
    if try take(.current) {
      try expect(.row)
      return .currentRow
    }
    if try take(.group) { return .group }
    try expect(.ties)
    return .ties
  }
}

extension SQLFrame {
  /// Whether SQLite accepts the kinds of the start and the end of the frame together. For example,
  /// CURRENT ROW can't be the start if the end is PRECEDING.
  fileprivate var isValid: Bool {
    switch (start, end ?? .currentRow) {
    case (.currentRow, .preceding), (.following, .preceding), (.following, .currentRow): false
    default: true
    }
  }
}

extension TokenCode {
  fileprivate var beginsFrame: Bool { self == .rows || self == .range || self == .groups }
  fileprivate var beginsWindowClause: Bool { beginsFrame || self == .partition }
}

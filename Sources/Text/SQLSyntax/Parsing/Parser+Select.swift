import SQLLexer

extension Parser {
  /// Parses a query that begins with SELECT, VALUES or WITH.
  mutating func parseSelect() throws(ParsingFailure) -> SQLSelect {
    let start = start
    try enter(2)
    let outer = tallest
    tallest = 0
    var with: SQLWith?
    if token.code == .with { with = try parseWith() }
    var select = SQLSelect(with: with, try parseBody())
    try readOrderAndLimit(&select)
    var misplaced: String?
    while token.code == .union || token.code == .except || token.code == .intersect {
      try readCompound(&select, &misplaced)
    }
    if let misplaced { recordError(misplaced, start..<start) }
    height = tallest
    tallest = outer
    level -= 2
    select.span = span(from: start)
    return select
  }

  private mutating func readOrderAndLimit(_ select: inout SQLSelect) throws(ParsingFailure) {
    if case .values = select.compounds.last?.body ?? select.body { return }
    if token.code == .order { select.orderBy = try parseOrderBy() }
    if token.code == .limit { select.limit = try parseLimit() }
  }

  /// Parses the next operator with its SELECT or VALUES clause and appends it to `select`. ORDER BY
  /// or LIMIT before the operator is an error. Its message is stored in `misplaced` and reported
  /// after the query.
  @inline(never)
  private mutating func readCompound(
    _ select: inout SQLSelect, _ misplaced: inout String?
  ) throws(ParsingFailure) {
    var operation = SQLCompound.Operator.union
    switch token.code {
    case .except: operation = .except
    case .intersect: operation = .intersect
    default: break
    }
    try advance()
    if operation == .union, try take(.all) { operation = .unionAll }
    if !select.orderBy.isEmpty || select.limit != nil {
      let clause = select.orderBy.isEmpty ? "LIMIT" : "ORDER BY"
      misplaced = "\(clause) clause should come after \(operation.rawValue) not before"
      select.orderBy = []
      select.limit = nil
    }
    select.compounds.append(SQLCompound(operation, try parseBody()))
    try readOrderAndLimit(&select)
  }

  private mutating func parseBody() throws(ParsingFailure) -> SQLSelectBody {
    if token.code == .values { return .values(try parseValues()) }
    guard token.code == .select else { try throwSyntaxError() }
    return .select(try parseCore())
  }

  @inline(never)
  private mutating func parseValues() throws(ParsingFailure) -> [[SQLExpression]] {
    try advance()
    var rows: [[SQLExpression]] = []
    repeat {
      try expect(.leftParenthesis)
      rows.append(try parseExpressionList())
      try expect(.rightParenthesis)
    } while try take(.comma)
    return rows
  }

  @inline(never)
  private mutating func parseCore() throws(ParsingFailure) -> SQLSelectCore {
    try enter(1)
    try advance()
    let quantifier = try parseQuantifier()
    var core = SQLSelectCore(quantifier: quantifier, try parseResultColumns())
    if try take(.from) { core.from = try parseFrom() }
    if try take(.where) { core.where = try parseExpression() }
    if token.code == .group { core.groupBy = try parseGroupBy() }
    if try take(.having) { core.having = try parseExpression() }
    if token.code == .window { core.windows = try parseNamedWindows() }
    level -= 1
    return core
  }

  private mutating func parseGroupBy() throws(ParsingFailure) -> [SQLExpression] {
    try advance()
    try expect(.by)
    return try parseExpressionList()
  }

  // MARK: Result columns

  /// Parses the result columns of a query or a RETURNING clause.
  mutating func parseResultColumns() throws(ParsingFailure) -> [SQLResultColumn] {
    var columns: [SQLResultColumn] = []
    repeat {
      let start = start
      var column = try parseResultColumn()
      column.span = span(from: start)
      columns.append(column)
    } while try take(.comma)
    return columns
  }

  private mutating func parseResultColumn() throws(ParsingFailure) -> SQLResultColumn {
    if try take(.star) { return SQLResultColumn(.all) }
    let expression: SQLExpression
    if token.code.isName, !token.code.beginsForm {
      let code = token.code
      let name = takeName()
      try advance()
      height = 1
      let operand: SQLExpression
      if token.code == .dot {
        try advance()
        if try take(.star) { return SQLResultColumn(.allOf(name)) }
        operand = try parseQualified(name)
      } else if code == .string {
        operand = SQLExpression(.literal(.string(name.text)), span: name.span)
      } else {
        operand = try parseAfterName(name, code)
      }
      expression = try parseExpression(from: operand, stack.count)
    } else {
      expression = try parseExpression()
    }
    let end = previousEnd
    var column = SQLResultColumn(expression, as: try parseAlias())
    if storesColumnTexts, column.alias == nil {
      column.written.text = tokens.text(expression.span.range.lowerBound..<end)
    }
    return column
  }

  // MARK: WITH

  @inline(never)
  mutating func parseWith() throws(ParsingFailure) -> SQLWith {
    try advance()
    var with = SQLWith(isRecursive: try take(.recursive), [])
    var names: Set<[UInt8]> = []
    repeat {
      let table = try parseCommonTable()
      if !names.insert(table.name.text.utf8.map(lowercased)).inserted {
        recordError("duplicate WITH table name: \(table.name.text)", table.name.span.range)
      }
      with.tables.append(table)
    } while try take(.comma)
    return with
  }

  private mutating func parseCommonTable() throws(ParsingFailure) -> SQLCommonTable {
    let name = try parseName()
    let columns = try parseColumnNamesInParentheses()
    try expect(.as)
    var isMaterialized: Bool?
    if token.code == .not {
      try advance()
      isMaterialized = false
      try expect(.materialized)
    } else if try take(.materialized) {
      isMaterialized = true
    }
    try expect(.leftParenthesis)
    try enter(2)
    guard token.code.beginsSelect else { try throwSyntaxError() }
    let select = try parseSelect()
    level -= 2
    try expect(.rightParenthesis)
    return SQLCommonTable(name, columns: columns, isMaterialized: isMaterialized, select)
  }

  // MARK: ORDER BY and LIMIT

  mutating func parseOrderBy() throws(ParsingFailure) -> [SQLOrderTerm] {
    try expect(.order)
    try expect(.by)
    return try parseOrderTerms()
  }

  /// Parses one or more expressions with sort directions (`sortlist` in SQLite's grammar).
  mutating func parseOrderTerms() throws(ParsingFailure) -> [SQLOrderTerm] {
    var terms: [SQLOrderTerm] = []
    var height = 0
    repeat {
      var term = SQLOrderTerm(try parseExpression())
      height = max(height, self.height)
      term.direction = try parseDirection()
      if try take(.nulls) { term.nulls = try parseNulls() }
      terms.append(term)
    } while try take(.comma)
    self.height = height
    return terms
  }

  mutating func parseDirection() throws(ParsingFailure) -> SQLOrderTerm.Direction? {
    if try take(.asc) { return .ascending }
    return try take(.desc) ? .descending : nil
  }

  private mutating func parseNulls() throws(ParsingFailure) -> SQLOrderTerm.Nulls {
    if try take(.first) { return .first }
    try expect(.last)
    return .last
  }

  mutating func parseLimit() throws(ParsingFailure) -> SQLLimit {
    try expect(.limit)
    let first = try parseExpression()
    if try take(.offset) { return SQLLimit(first, offset: try parseExpression()) }
    guard try take(.comma) else { return SQLLimit(first) }
    return SQLLimit(try parseExpression(), offset: first, isOffsetFirst: true)
  }
}

extension TokenCode {
  /// Whether the token begins a query.
  var beginsSelect: Bool { self == .select || self == .values || self == .with }

  /// Whether the token begins a special form such as CAST at the start of an expression, although
  /// it is a name elsewhere.
  var beginsForm: Bool {
    switch self {
    case .cast, .raise, .currentDate, .currentTime, .currentTimestamp: true
    default: false
    }
  }
}

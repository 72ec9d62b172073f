import SQLLexer

extension Parser {
  mutating func parseCreateTable(_ isTemporary: Bool) throws(ParsingFailure) -> SQLCreateTable {
    try advance()
    var ifNotExists = false
    if try take(.if) {
      try expect(.not)
      try expect(.exists)
      ifNotExists = true
    }
    let name = try parseQualifiedName()
    if isTemporary, let schema = name.schema, !schema.matches("temp") {
      recordError("temporary table name must be unqualified", schema.span.range)
    }
    let body: SQLCreateTable.Body
    if try take(.as) {
      guard token.code.beginsSelect else { try throwSyntaxError() }
      storesColumnTexts = true
      body = .select(try parseSelect())
    } else {
      guard token.code == .leftParenthesis else { try throwSyntaxError() }
      body = .definition(try parseTableDefinition())
    }
    return SQLCreateTable(isTemporary: isTemporary, ifNotExists: ifNotExists, name, body)
  }

  private mutating func parseTableDefinition() throws(ParsingFailure) -> SQLTableDefinition {
    let start = start
    try advance()
    var table = SQLTableDefinition([])
    repeat {
      if !table.columns.isEmpty, token.code.beginsTableConstraint {
        table.constraints = try parseTableConstraints()
        break
      }
      table.columns.append(try parseColumnDefinition())
    } while try take(.comma)
    try expect(.rightParenthesis)
    table.span = span(from: start)
    table.options = try parseTableOptions()
    return table
  }

  private mutating func parseTableOptions() throws(ParsingFailure) -> [SQLTableOption] {
    var options: [SQLTableOption] = []
    if token.code.isName { try readTableOption(&options) }
    while try take(.comma) { try readTableOption(&options) }
    return options
  }

  private mutating func readTableOption(
    _ options: inout [SQLTableOption]
  ) throws(ParsingFailure) {
    let isWithout = try take(.without)
    guard token.code.isName else { try throwSyntaxError() }
    let text = tokens.text(of: token)
    let range = token.range
    try advance()
    if SQLName(text, quoting: .none).matches(isWithout ? "rowid" : "strict") {
      options.append(isWithout ? .withoutRowID : .strict)
    } else {
      recordError("unknown table option: \(text)", range)
    }
  }

  // MARK: Columns

  mutating func parseColumnDefinition() throws(ParsingFailure) -> SQLColumnDefinition {
    let start = start
    var column = SQLColumnDefinition(try parseName(), try parseTypeName())
    var generated: Int?
    if token.code == .as, let type = column.type {
      (column.type, generated) = withoutGeneratedAlways(type)
    }
    while let constraint = try parseColumnConstraint(generatedAt: generated) {
      column.constraints.append(constraint)
      generated = nil
    }
    column.span = span(from: start)
    return column
  }

  /// Splits GENERATED ALWAYS from the end of a type. Like SQLite, the parser first reads both
  /// keywords as words of the type.
  ///
  /// - Returns: The rest of the type, which is nil if nothing remains, and the offset of GENERATED,
  ///   which is nil if the type doesn't end in these keywords.
  private func withoutGeneratedAlways(_ type: SQLTypeName) -> (SQLTypeName?, Int?) {
    let range = type.span.range
    var words: [Range<Int>] = []
    var ahead = tokens
    ahead.position = range.lowerBound
    while let token = ahead.nextSignificant(), token.range.upperBound <= range.upperBound {
      words.append(token.range)
    }
    guard words.count > 1,
      tokens.text(words[words.count - 1]).uppercased() == "ALWAYS",
      tokens.text(words[words.count - 2]).uppercased() == "GENERATED"
    else { return (type, nil) }
    let start = words[words.count - 2].lowerBound
    guard words.count > 2 else { return (nil, start) }
    let rest = range.lowerBound..<words[words.count - 3].upperBound
    return (SQLTypeName(tokens.text(rest), span: SQLSpan(rest)), start)
  }

  /// Parses a column constraint, or returns nil if the current token doesn't begin one. `generated`
  /// is the offset of GENERATED ALWAYS if these keywords are already parsed.
  private mutating func parseColumnConstraint(
    generatedAt generated: Int?
  ) throws(ParsingFailure) -> SQLColumnConstraint? {
    let start = generated ?? start
    guard try take(.constraint) else {
      guard let kind = try parseColumnConstraintKind(isLong: generated != nil) else { return nil }
      return SQLColumnConstraint(kind, span: span(from: start))
    }
    let name = try parseName()
    let kind = try parseColumnConstraintKind(isLong: false) ?? .nameOnly
    return SQLColumnConstraint(name: name, kind, span: span(from: start))
  }

  private mutating func parseColumnConstraintKind(
    isLong: Bool
  ) throws(ParsingFailure) -> SQLColumnConstraint.Kind? {
    switch token.code {
    case .null:
      try advance()
      return .null(try parseOnConflict())
    case .not: return try parseNotConstraint()
    case .primary: return try parsePrimaryKey()
    case .unique:
      try advance()
      return .unique(try parseOnConflict())
    case .check:
      try advance()
      return .check(try parseExpressionInParentheses())
    case .default: return .default(try parseDefault())
    case .references: return .references(try parseReference())
    case .deferrable:
      try advance()
      return .deferrable(SQLDeferral(initially: try parseInitially()))
    case .collate:
      try advance()
      return .collate(try parseIdentifierOrText())
    case .generated, .as: return try parseGenerated(isLong: isLong)
    default: return nil
    }
  }

  private mutating func parseNotConstraint() throws(ParsingFailure) -> SQLColumnConstraint.Kind {
    try advance()
    if try take(.null) { return .notNull(try parseOnConflict()) }
    try expect(.deferrable)
    return .deferrable(SQLDeferral(isNegated: true, initially: try parseInitially()))
  }

  private mutating func parsePrimaryKey() throws(ParsingFailure) -> SQLColumnConstraint.Kind {
    try advance()
    try expect(.key)
    let direction = try parseDirection()
    let conflict = try parseOnConflict()
    return .primaryKey(direction, conflict, isAutoincrement: try take(.autoincrement))
  }

  private mutating func parseGenerated(
    isLong: Bool
  ) throws(ParsingFailure) -> SQLColumnConstraint.Kind {
    var isLong = isLong
    if try take(.generated) {
      try expect(.always)
      isLong = true
    }
    try expect(.as)
    let value = try parseExpressionInParentheses()
    guard token.code.isIdentifier else {
      return .generated(value, storage: nil, isShort: !isLong)
    }
    let storage = takeName()
    try advance()
    return .generated(value, storage: storage, isShort: !isLong)
  }

  private mutating func parseExpressionInParentheses() throws(ParsingFailure) -> SQLExpression {
    try expect(.leftParenthesis)
    let expression = try parseExpression()
    try expect(.rightParenthesis)
    return expression
  }

  mutating func parseOnConflict() throws(ParsingFailure) -> SQLConflict? {
    guard try take(.on) else { return nil }
    try expect(.conflict)
    return try parseConflict()
  }

  // MARK: DEFAULT

  @inline(never)
  private mutating func parseDefault() throws(ParsingFailure) -> SQLDefault {
    try advance()
    let start = start
    var value = SQLDefault(try parseDefaultValue())
    value.written.text = tokens.text(start..<previousEnd)
    return value
  }

  private mutating func parseDefaultValue() throws(ParsingFailure) -> SQLExpression {
    let start = start
    switch token.code {
    case .leftParenthesis:
      let value = try parseExpressionInParentheses()
      return SQLExpression(.parenthesized(value), span: span(from: start))
    case .plus, .minus:
      let operation = token.code == .plus ? SQLUnaryOperator.plus : .minus
      try advance()
      guard token.code.isLiteral else { try throwSyntaxError() }
      return SQLExpression(.unary(operation, try parseLiteral()), span: span(from: start))
    default:
      if token.code.isLiteral { return try parseLiteral() }
      guard token.code.isIdentifier || token.code == .indexed else { try throwSyntaxError() }
      let name = takeName()
      try advance()
      return SQLExpression(.column(name), span: name.span)
    }
  }

  /// Parses a literal. A dot after a string doesn't make it a qualified name.
  private mutating func parseLiteral() throws(ParsingFailure) -> SQLExpression {
    guard token.code == .string else { return try parsePrimary() }
    let name = takeName()
    try advance()
    return SQLExpression(.literal(.string(name.text)), span: name.span)
  }

  // MARK: Foreign keys

  @inline(never)
  private mutating func parseReference() throws(ParsingFailure) -> SQLReference {
    try expect(.references)
    let table = try parseName()
    var reference = SQLReference(table, columns: try parseColumnNamesInParentheses())
    while let clause = try parseReferenceClause() { reference.clauses.append(clause) }
    return reference
  }

  private mutating func parseReferenceClause() throws(ParsingFailure) -> SQLReference.Clause? {
    if try take(.match) { return .match(try parseName()) }
    guard try take(.on) else { return nil }
    let event = token.code
    guard event == .insert || event == .update || event == .delete else { try throwSyntaxError() }
    try advance()
    let action = try parseReferenceAction()
    switch event {
    case .insert: return .onInsert(action)
    case .update: return .onUpdate(action)
    default: return .onDelete(action)
    }
  }

  private mutating func parseReferenceAction() throws(ParsingFailure) -> SQLReference.Action {
    if try take(.set) {
      if try take(.null) { return .setNull }
      try expect(.default)
      return .setDefault
    }
    if try take(.cascade) { return .cascade }
    if try take(.restrict) { return .restrict }
    try expect(.no)
    try expect(.action)
    return .noAction
  }

  private mutating func parseInitially() throws(ParsingFailure) -> SQLDeferral.Initially? {
    guard try take(.initially) else { return nil }
    if try take(.deferred) { return .deferred }
    try expect(.immediate)
    return .immediate
  }

  // MARK: Table constraints

  private mutating func parseTableConstraints() throws(ParsingFailure) -> [SQLTableConstraint] {
    var constraints: [SQLTableConstraint] = []
    repeat {
      constraints.append(try parseTableConstraint())
      if try take(.comma), !token.code.beginsTableConstraint { try throwSyntaxError() }
    } while token.code.beginsTableConstraint
    return constraints
  }

  private mutating func parseTableConstraint() throws(ParsingFailure) -> SQLTableConstraint {
    let start = start
    let name = try take(.constraint) ? try parseName() : nil
    let kind = try parseTableConstraintKind(isNamed: name != nil)
    return SQLTableConstraint(name: name, kind, span: span(from: start))
  }

  /// Parses a text that consists of one table constraint.
  mutating func parseOnlyTableConstraint() throws(ParsingFailure) -> SQLTableConstraint {
    try read(after: .endOfText)
    let constraint = try parseTableConstraint()
    guard token.code == .endOfText else { try throwSyntaxError() }
    try throwPending()
    return constraint
  }

  /// Parses a text that consists of one or more column constraints.
  mutating func parseOnlyColumnConstraints() throws(ParsingFailure) -> [SQLColumnConstraint] {
    try read(after: .endOfText)
    var constraints: [SQLColumnConstraint] = []
    while let constraint = try parseColumnConstraint(generatedAt: nil) {
      constraints.append(constraint)
    }
    guard token.code == .endOfText, !constraints.isEmpty else { try throwSyntaxError() }
    try throwPending()
    return constraints
  }

  private mutating func parseTableConstraintKind(
    isNamed: Bool
  ) throws(ParsingFailure) -> SQLTableConstraint.Kind {
    switch token.code {
    case .primary:
      try advance()
      try expect(.key)
      try expect(.leftParenthesis)
      let terms = try parseOrderTerms()
      let isAutoincrement = try take(.autoincrement)
      try expect(.rightParenthesis)
      return .primaryKey(terms, isAutoincrement: isAutoincrement, try parseOnConflict())
    case .unique:
      try advance()
      try expect(.leftParenthesis)
      let terms = try parseOrderTerms()
      try expect(.rightParenthesis)
      return .unique(terms, try parseOnConflict())
    case .check:
      try advance()
      let (condition, conflict) = try parseTableCheck()
      return .check(condition, conflict)
    case .foreign: return try parseForeignKey()
    default:
      guard isNamed else { try throwSyntaxError() }
      return .nameOnly
    }
  }

  /// Parses the condition of a table's CHECK constraint and the action for violations, which follow
  /// the keyword CHECK.
  mutating func parseTableCheck() throws(ParsingFailure) -> (SQLExpression, SQLConflict?) {
    let condition = try parseExpressionInParentheses()
    return (condition, try parseOnConflict())
  }

  private mutating func parseForeignKey() throws(ParsingFailure) -> SQLTableConstraint.Kind {
    try advance()
    try expect(.key)
    guard token.code == .leftParenthesis else { try throwSyntaxError() }
    let columns = try parseColumnNames()
    let reference = try parseReference()
    var deferral: SQLDeferral?
    if token.code == .not || token.code == .deferrable {
      let isNegated = try take(.not)
      try expect(.deferrable)
      deferral = SQLDeferral(isNegated: isNegated, initially: try parseInitially())
    }
    return .foreignKey(columns, reference, deferral)
  }
}

extension TokenCode {
  var beginsTableConstraint: Bool {
    switch self {
    case .constraint, .primary, .unique, .check, .foreign: true
    default: false
    }
  }

  /// Whether the token is NULL, a number, a string, a blob or the current time.
  fileprivate var isLiteral: Bool {
    switch self {
    case .null, .integer, .real, .string, .blob, .currentDate, .currentTime, .currentTimestamp:
      true
    default: false
    }
  }
}

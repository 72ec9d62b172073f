import SQLLexer

extension Parser {
  @inline(never)
  mutating func parseCreate() throws(ParsingFailure) -> SQLStatement {
    try advance()
    let isTemporary = token.code == .temp || token.code == .temporary
    if isTemporary { try advance() }
    switch token.code {
    case .table: return .createTable(try parseCreateTable(isTemporary))
    case .view: return .createView(try parseCreateView(isTemporary))
    case .trigger: return .createTrigger(try parseCreateTrigger(isTemporary))
    case .index where !isTemporary, .unique where !isTemporary:
      return .createIndex(try parseCreateIndex())
    case .virtual where !isTemporary:
      return .createVirtualTable(try parseCreateVirtualTable())
    default: try throwSyntaxError()
    }
  }

  private mutating func parseIfNotExists() throws(ParsingFailure) -> Bool {
    guard try take(.if) else { return false }
    try expect(.not)
    try expect(.exists)
    return true
  }

  // MARK: Views and indexes

  private mutating func parseCreateView(_ isTemporary: Bool) throws(ParsingFailure) -> SQLCreateView
  {
    try advance()
    let ifNotExists = try parseIfNotExists()
    let name = try parseQualifiedName()
    let columns = try parseColumnNamesInParentheses()
    try expect(.as)
    guard token.code.beginsSelect else { try throwSyntaxError() }
    storesColumnTexts = columns.isEmpty
    return SQLCreateView(
      isTemporary: isTemporary, ifNotExists: ifNotExists, name, columns: columns,
      as: try parseSelect())
  }

  private mutating func parseCreateIndex() throws(ParsingFailure) -> SQLCreateIndex {
    let isUnique = try take(.unique)
    try expect(.index)
    let ifNotExists = try parseIfNotExists()
    let name = try parseQualifiedName()
    try expect(.on)
    let table = try parseName()
    try expect(.leftParenthesis)
    let columns = try parseOrderTerms()
    try expect(.rightParenthesis)
    return SQLCreateIndex(
      isUnique: isUnique, ifNotExists: ifNotExists, name, on: table, columns,
      where: try parseWhere())
  }

  // MARK: Virtual tables

  private mutating func parseCreateVirtualTable() throws(ParsingFailure) -> SQLCreateVirtualTable {
    try advance()
    try expect(.table)
    let ifNotExists = try parseIfNotExists()
    let name = try parseQualifiedName()
    try expect(.using)
    var table = SQLCreateVirtualTable(
      ifNotExists: ifNotExists, name, using: try parseName())
    if token.code == .leftParenthesis { table.arguments = try parseModuleArguments() }
    return table
  }

  /// Parses the arguments of a module, which can contain any tokens, even semicolons, up to the
  /// closing parenthesis.
  private mutating func parseModuleArguments() throws(ParsingFailure) -> [String] {
    var arguments: [String] = []
    var depth = 0
    var argument: Range<Int>?
    repeat {
      try advance()
      switch token.code {
      case .leftParenthesis: depth += 1
      case .rightParenthesis: depth -= 1
      case .endOfText:
        try fail(SQLSyntaxError(.incomplete, "incomplete input", offset: start, length: 0))
      case .comma where depth == 0:
        if let argument { arguments.append(tokens.text(argument)) }
        argument = nil
        continue
      default: break
      }
      if depth >= 0 {
        argument = (argument?.lowerBound ?? start)..<token.range.upperBound
      }
    } while depth >= 0
    if let argument { arguments.append(tokens.text(argument)) }
    try advance()
    return arguments
  }

  // MARK: Triggers

  private mutating func parseCreateTrigger(
    _ isTemporary: Bool
  ) throws(ParsingFailure) -> SQLCreateTrigger {
    try advance()
    let ifNotExists = try parseIfNotExists()
    let name = try parseQualifiedName()
    let time = try parseTriggerTime()
    let event = try parseTriggerEvent()
    try expect(.on)
    var trigger = SQLCreateTrigger(
      isTemporary: isTemporary, ifNotExists: ifNotExists, name, time, event,
      on: try parseQualifiedName(), body: [])
    if try take(.for) {
      try expect(.each)
      try expect(.row)
      trigger.forEachRow = true
    }
    if try take(.when) { trigger.when = try parseExpression() }
    trigger.body = try parseTriggerBody()
    return trigger
  }

  private mutating func parseTriggerTime() throws(ParsingFailure) -> SQLCreateTrigger.Time? {
    switch token.code {
    case .before:
      try advance()
      return .before
    case .after:
      try advance()
      return .after
    case .instead:
      try advance()
      try expect(.of)
      return .insteadOf
    default: return nil
    }
  }

  private mutating func parseTriggerEvent() throws(ParsingFailure) -> SQLCreateTrigger.Event {
    if try take(.delete) { return .delete }
    if try take(.insert) { return .insert }
    try expect(.update)
    return .update(of: try take(.of) ? try parseNames() : [])
  }

  private mutating func parseTriggerBody() throws(ParsingFailure) -> [SQLStatement] {
    try expect(.begin)
    isInTrigger = true
    var body: [SQLStatement] = []
    repeat {
      body.append(try parseTriggerStatement())
      // SQLite reads a semicolon at the end of the text. It completes the statement here.
      if token.code == .endOfText { try throwPending() }
      try expect(.semicolon)
    } while token.code != .end
    isInTrigger = false
    try advance()
    return body
  }

  private mutating func parseTriggerStatement() throws(ParsingFailure) -> SQLStatement {
    switch token.code {
    case .update: return .update(try parseUpdate(nil))
    case .insert, .replace: return .insert(try parseInsert(nil))
    case .delete: return .delete(try parseDelete(nil))
    case .select, .values, .with: return .select(try parseSelect())
    default: try throwSyntaxError()
    }
  }

  // MARK: DROP and ALTER

  @inline(never)
  mutating func parseDrop() throws(ParsingFailure) -> SQLDrop {
    try advance()
    let target: SQLDrop.Target
    switch token.code {
    case .table: target = .table
    case .index: target = .index
    case .view: target = .view
    case .trigger: target = .trigger
    default: try throwSyntaxError()
    }
    try advance()
    let ifExists = try take(.if)
    if ifExists { try expect(.exists) }
    return SQLDrop(target, ifExists: ifExists, try parseQualifiedName())
  }

  @inline(never)
  mutating func parseAlterTable() throws(ParsingFailure) -> SQLAlterTable {
    try advance()
    try expect(.table)
    let table = try parseQualifiedName()
    let action: SQLAlterTable.Action
    switch token.code {
    case .rename: action = try parseRename()
    case .add: action = try parseAdd()
    case .drop: action = try parseDropFromTable()
    case .alter where grammar.alterConstraints: action = try parseAlterColumn()
    default: try throwSyntaxError()
    }
    return SQLAlterTable(table, action)
  }

  private mutating func parseRename() throws(ParsingFailure) -> SQLAlterTable.Action {
    try advance()
    if try take(.to) { return .rename(try parseName()) }
    _ = try take(.column)
    let name = try parseName()
    try expect(.to)
    return .renameColumn(name, to: try parseName())
  }

  private mutating func parseAdd() throws(ParsingFailure) -> SQLAlterTable.Action {
    try advance()
    if grammar.alterConstraints, token.code == .constraint || token.code == .check {
      let name = try take(.constraint) ? try parseName() : nil
      try expect(.check)
      let (condition, conflict) = try parseTableCheck()
      return .addCheck(name: name, condition, conflict)
    }
    _ = try take(.column)
    return .addColumn(try parseColumnDefinition())
  }

  private mutating func parseDropFromTable() throws(ParsingFailure) -> SQLAlterTable.Action {
    try advance()
    if grammar.alterConstraints, try take(.constraint) {
      return .dropConstraint(try parseName())
    }
    _ = try take(.column)
    return .dropColumn(try parseName())
  }

  private mutating func parseAlterColumn() throws(ParsingFailure) -> SQLAlterTable.Action {
    try advance()
    _ = try take(.column)
    let name = try parseName()
    if try take(.drop) {
      try expect(.not)
      try expect(.null)
      return .dropNotNull(name)
    }
    try expect(.set)
    try expect(.not)
    try expect(.null)
    return .setNotNull(name, try parseOnConflict())
  }
}

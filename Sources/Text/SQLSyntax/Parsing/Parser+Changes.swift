import SQLLexer

extension Parser {
  /// Parses a WITH clause and the query, INSERT, UPDATE or DELETE that follows it.
  @inline(never)
  mutating func parseStatementAfterWith() throws(ParsingFailure) -> SQLStatement {
    let start = start
    let outer = tallest
    let with = try parseWith()
    tallest = outer
    switch token.code {
    case .insert, .replace: return .insert(try parseInsert(with))
    case .update: return .update(try parseUpdate(with))
    case .delete: return .delete(try parseDelete(with))
    default:
      guard token.code == .select || token.code == .values else { try throwSyntaxError() }
      var select = try parseSelect()
      select.with = with
      select.span = span(from: start)
      return .select(select)
    }
  }

  // MARK: INSERT

  @inline(never)
  mutating func parseInsert(_ with: SQLWith?) throws(ParsingFailure) -> SQLInsert {
    let isReplace = token.code == .replace
    try advance()
    let conflict = isReplace ? nil : try parseOrConflict()
    try expect(.into)
    let table = isInTrigger ? try parseTableInTrigger() : try parseQualifiedName()
    var insert = SQLInsert(
      with: with, isReplace: isReplace, or: conflict, into: table, .defaultValues)
    if !isInTrigger || grammar.qualifiedTablesInTriggers, try take(.as) {
      insert.alias = try parseName()
    }
    insert.columns = try parseNamesInParentheses()
    if !isInTrigger, try take(.default) {
      try expect(.values)
      insert.returning = try parseReturning()
    } else {
      guard token.code.beginsSelect else { try throwSyntaxError() }
      insert.source = .select(try parseSelect())
      try readUpserts(&insert)
    }
    return insert
  }

  /// Parses the conflict action of a statement, such as `OR REPLACE`, or returns nil if there is
  /// none.
  private mutating func parseOrConflict() throws(ParsingFailure) -> SQLConflict? {
    try take(.or) ? try parseConflict() : nil
  }

  mutating func parseConflict() throws(ParsingFailure) -> SQLConflict {
    let conflict: SQLConflict
    switch token.code {
    case .rollback: conflict = .rollback
    case .abort: conflict = .abort
    case .fail: conflict = .fail
    case .ignore: conflict = .ignore
    case .replace: conflict = .replace
    default: try throwSyntaxError()
    }
    try advance()
    return conflict
  }

  private mutating func readUpserts(_ insert: inout SQLInsert) throws(ParsingFailure) {
    var isLast = false
    while !isLast, try take(.on) {
      try expect(.conflict)
      var upsert = SQLUpsert(do: .nothing)
      isLast = token.code != .leftParenthesis
      if try take(.leftParenthesis) {
        upsert.target = try parseOrderTerms()
        try expect(.rightParenthesis)
        upsert.targetWhere = try parseWhere()
      }
      try expect(.do)
      if try !take(.nothing) { upsert.action = try parseUpsertUpdate() }
      insert.upserts.append(upsert)
    }
    insert.returning = try parseReturning()
  }

  private mutating func parseUpsertUpdate() throws(ParsingFailure) -> SQLUpsert.Action {
    try expect(.update)
    try expect(.set)
    let assignments = try parseAssignments()
    return .update(assignments, where: try parseWhere())
  }

  mutating func parseWhere() throws(ParsingFailure) -> SQLExpression? {
    try take(.where) ? try parseExpression() : nil
  }

  private mutating func parseReturning() throws(ParsingFailure) -> [SQLResultColumn] {
    guard token.code == .returning else { return [] }
    let range = token.range
    try advance()
    let columns = try parseResultColumns()
    if isInTrigger { recordError("cannot use RETURNING in a trigger", range) }
    return columns
  }

  // MARK: UPDATE and DELETE

  @inline(never)
  mutating func parseUpdate(_ with: SQLWith?) throws(ParsingFailure) -> SQLUpdate {
    try advance()
    let conflict = try parseOrConflict()
    let table = try parseTarget()
    try expect(.set)
    var update = SQLUpdate(with: with, or: conflict, table, set: try parseAssignments())
    if try take(.from) { update.from = try parseFrom() }
    update.where = try parseWhere()
    guard !isInTrigger else { return update }
    update.returning = try parseReturning()
    guard grammar.limitsChanges else { return update }
    if token.code == .order { update.orderBy = try parseOrderBy() }
    if token.code == .limit { update.limit = try parseLimit() }
    return update
  }

  @inline(never)
  mutating func parseDelete(_ with: SQLWith?) throws(ParsingFailure) -> SQLDelete {
    try advance()
    try expect(.from)
    var delete = SQLDelete(with: with, from: try parseTarget())
    delete.where = try parseWhere()
    guard !isInTrigger else { return delete }
    delete.returning = try parseReturning()
    guard grammar.limitsChanges else { return delete }
    if token.code == .order { delete.orderBy = try parseOrderBy() }
    if token.code == .limit { delete.limit = try parseLimit() }
    return delete
  }

  /// Parses the table of UPDATE or DELETE, with its alias and index hint.
  private mutating func parseTarget() throws(ParsingFailure) -> SQLTableReference {
    guard !isInTrigger else { return try parseTargetInTrigger() }
    var table = SQLTableReference(try parseQualifiedName())
    if try take(.as) { table.alias = try parseName() }
    table.indexing = try parseIndexing()
    return table
  }

  mutating func parseAssignments() throws(ParsingFailure) -> [SQLAssignment] {
    var assignments: [SQLAssignment] = []
    repeat { assignments.append(try parseAssignment()) } while try take(.comma)
    return assignments
  }

  private mutating func parseAssignment() throws(ParsingFailure) -> SQLAssignment {
    guard try take(.leftParenthesis) else {
      let name = try parseName()
      try expect(.equal)
      return SQLAssignment(name, try parseExpression())
    }
    let names = try parseNames()
    try expect(.rightParenthesis)
    try expect(.equal)
    return SQLAssignment(names, try parseExpression())
  }

  // MARK: In triggers

  private mutating func parseTargetInTrigger() throws(ParsingFailure) -> SQLTableReference {
    var table = SQLTableReference(try parseTableInTrigger())
    if grammar.qualifiedTablesInTriggers, try take(.as) { table.alias = try parseName() }
    let range = token.range
    table.indexing = try parseIndexing()
    if let indexing = table.indexing {
      let clause = indexing == .none ? "NOT INDEXED" : "INDEXED BY"
      recordError(
        "the \(clause) clause is not allowed on UPDATE or DELETE statements within triggers",
        range)
    }
    return table
  }

  private mutating func parseTableInTrigger() throws(ParsingFailure) -> SQLQualifiedName {
    let table = try parseQualifiedName()
    if table.schema != nil, !grammar.qualifiedTablesInTriggers {
      recordError(
        "qualified table names are not allowed on INSERT, UPDATE, and DELETE statements "
          + "within triggers", table.span.range)
    }
    return table
  }
}

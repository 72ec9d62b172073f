extension Printer {
  mutating func statement(_ statement: SQLStatement) {
    switch statement {
    case .select(let query): select(query)
    case .insert(let insert): self.insert(insert)
    case .update(let update): self.update(update)
    case .delete(let delete): self.delete(delete)
    case .createTable(let table): createTable(table)
    case .createVirtualTable(let table): createVirtualTable(table)
    case .createIndex(let index): createIndex(index)
    case .createView(let view): createView(view)
    case .createTrigger(let trigger): createTrigger(trigger)
    case .alterTable(let change): alterTable(change)
    case .drop(let drop):
      write("DROP \(drop.target.rawValue) \(drop.ifExists ? "IF EXISTS " : "")")
      name(drop.name)
    case .explain(let statement, let isQueryPlan):
      write(isQueryPlan ? "EXPLAIN QUERY PLAN" : "EXPLAIN")
      clause()
      self.statement(statement)
    default: command(statement)
    }
  }

  private mutating func command(_ statement: SQLStatement) {
    switch statement {
    case .begin(let mode, let name):
      write("BEGIN")
      word(mode?.rawValue)
      transaction(name)
    case .commit(let name):
      write("COMMIT")
      transaction(name)
    case .rollback(let name):
      write("ROLLBACK")
      transaction(name)
    case .rollbackTo(let savepoint, let transaction):
      write("ROLLBACK")
      self.transaction(transaction)
      write(" TO SAVEPOINT ")
      name(savepoint)
    case .savepoint(let savepoint):
      write("SAVEPOINT ")
      name(savepoint)
    case .release(let savepoint):
      write("RELEASE SAVEPOINT ")
      name(savepoint)
    case .pragma(let pragma): self.pragma(pragma)
    default: maintenance(statement)
    }
  }

  private mutating func transaction(_ name: SQLName?) {
    guard let name else { return }
    write(" TRANSACTION ")
    self.name(name)
  }

  private mutating func pragma(_ pragma: SQLPragma) {
    write("PRAGMA ")
    name(pragma.name)
    guard let value = pragma.value else { return }
    write(pragma.isCall ? "(" : " = ")
    switch value {
    case .number(let number): write(number)
    case .name(let word): name(word)
    }
    if pragma.isCall { write(")") }
  }

  private mutating func maintenance(_ statement: SQLStatement) {
    switch statement {
    case .attach(let file, let schema, let key):
      write("ATTACH DATABASE ")
      expression(file)
      write(" AS ")
      expression(schema)
      if let key {
        write(" KEY ")
        expression(key)
      }
    case .detach(let schema):
      write("DETACH DATABASE ")
      expression(schema)
    case .vacuum(let schema, let file):
      write("VACUUM")
      if let schema {
        write(" ")
        name(schema)
      }
      if let file {
        write(" INTO ")
        expression(file)
      }
    case .reindex(let target): wordWithName("REINDEX", target)
    case .analyze(let target): wordWithName("ANALYZE", target)
    default: break
    }
  }

  private mutating func wordWithName(_ word: String, _ target: SQLQualifiedName?) {
    write(word)
    guard let target else { return }
    write(" ")
    name(target)
  }

  // MARK: Changes

  private mutating func insert(_ insert: SQLInsert) {
    if let with = insert.with { self.with(with) }
    write(insert.isReplace ? "REPLACE" : "INSERT")
    if let conflict = insert.conflict { write(" OR \(conflict.rawValue)") }
    write(" INTO ")
    name(insert.table)
    alias(insert.alias)
    optionalNames(insert.columns)
    clause()
    switch insert.source {
    case .defaultValues: write("DEFAULT VALUES")
    case .select(let query): select(query)
    }
    for upsert in insert.upserts { self.upsert(upsert) }
    returning(insert.returning)
  }

  private mutating func upsert(_ upsert: SQLUpsert) {
    clause()
    write("ON CONFLICT")
    if !upsert.target.isEmpty {
      write(" ")
      parentheses { $0.list(upsert.target) { $0.orderTerm($1) } }
      if let condition = upsert.targetWhere {
        write(" WHERE ")
        expression(condition)
      }
    }
    switch upsert.action {
    case .nothing: write(" DO NOTHING")
    case .update(let assignments, let condition):
      write(" DO UPDATE SET ")
      list(assignments) { $0.assignment($1) }
      self.condition("WHERE", condition)
    }
  }

  private mutating func assignment(_ assignment: SQLAssignment) {
    if assignment.isParenthesized || assignment.columns.count != 1 {
      names(assignment.columns)
    } else {
      list(assignment.columns) { $0.name($1) }
    }
    write(" = ")
    expression(assignment.value)
  }

  private mutating func returning(_ columns: [SQLResultColumn]) {
    guard !columns.isEmpty else { return }
    clause()
    write("RETURNING ")
    resultColumns(columns)
  }

  private mutating func update(_ update: SQLUpdate) {
    if let with = update.with { self.with(with) }
    write("UPDATE ")
    if let conflict = update.conflict { write("OR \(conflict.rawValue) ") }
    table(update.table)
    clause()
    write("SET ")
    list(update.assignments) { $0.assignment($1) }
    if let from = update.from {
      clause()
      write("FROM ")
      self.from(from)
    }
    condition("WHERE", update.where)
    returning(update.returning)
    orderAndLimit(update.orderBy, update.limit)
  }

  private mutating func delete(_ delete: SQLDelete) {
    if let with = delete.with { self.with(with) }
    write("DELETE FROM ")
    table(delete.table)
    condition("WHERE", delete.where)
    returning(delete.returning)
    orderAndLimit(delete.orderBy, delete.limit)
  }
}

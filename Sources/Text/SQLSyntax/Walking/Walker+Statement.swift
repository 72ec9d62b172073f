extension Walker {
  mutating func statement(_ statement: inout SQLStatement) throws {
    switch statement {
    case .select(var query):
      try select(&query)
      if rewrites { statement = .select(query) }
    case .insert(var insert):
      try self.insert(&insert)
      if rewrites { statement = .insert(insert) }
    case .update(var update):
      try self.update(&update)
      if rewrites { statement = .update(update) }
    case .delete(var delete):
      try with(&delete.with)
      try table(&delete.table.name)
      try optional(&delete.where)
      try resultColumns(&delete.returning)
      try orderTerms(&delete.orderBy)
      try limit(&delete.limit)
      if rewrites { statement = .delete(delete) }
    case .explain(var explained, let isQueryPlan):
      try self.statement(&explained)
      if rewrites { statement = .explain(explained, isQueryPlan: isQueryPlan) }
    default: try schemaStatement(&statement)
    }
  }

  private mutating func schemaStatement(_ statement: inout SQLStatement) throws {
    switch statement {
    case .createTable(var create):
      switch create.body {
      case .definition(var definition):
        try self.definition(&definition)
        create.body = .definition(definition)
      case .select(var query):
        try select(&query)
        create.body = .select(query)
      }
      if rewrites { statement = .createTable(create) }
    case .createIndex(var index):
      try table(&index.table)
      try orderTerms(&index.columns)
      try optional(&index.where)
      if rewrites { statement = .createIndex(index) }
    case .createView(var view):
      try select(&view.select)
      if rewrites { statement = .createView(view) }
    case .createTrigger(var trigger):
      try table(&trigger.table)
      try optional(&trigger.when)
      try each(&trigger.body) { (walker, statement) throws in try walker.statement(&statement) }
      if rewrites { statement = .createTrigger(trigger) }
    case .alterTable(var change):
      try table(&change.table)
      try action(&change.action)
      if rewrites { statement = .alterTable(change) }
    default: try maintenance(&statement)
    }
  }

  private mutating func action(_ action: inout SQLAlterTable.Action) throws {
    switch action {
    case .addColumn(var column):
      try self.column(&column)
      if rewrites { action = .addColumn(column) }
    case .addCheck(let name, var condition, let conflict):
      try expression(&condition)
      if rewrites { action = .addCheck(name: name, condition, conflict) }
    default: break
    }
  }

  private mutating func maintenance(_ statement: inout SQLStatement) throws {
    switch statement {
    case .attach(var file, var schema, var key):
      try expression(&file)
      try expression(&schema)
      try optional(&key)
      if rewrites { statement = .attach(file, as: schema, key: key) }
    case .detach(var schema):
      try expression(&schema)
      if rewrites { statement = .detach(schema) }
    case .vacuum(let schema, var file):
      try optional(&file)
      if rewrites { statement = .vacuum(schema, into: file) }
    default: break
    }
  }

  // MARK: Changes

  private mutating func insert(_ insert: inout SQLInsert) throws {
    try with(&insert.with)
    try table(&insert.table)
    if case .select(var query) = insert.source {
      try select(&query)
      if rewrites { insert.source = .select(query) }
    }
    try each(&insert.upserts) { (walker, upsert) throws in
      try walker.orderTerms(&upsert.target)
      try walker.optional(&upsert.targetWhere)
      guard case .update(var assignments, var condition) = upsert.action else { return }
      try walker.assignments(&assignments)
      try walker.optional(&condition)
      upsert.action = .update(assignments, where: condition)
    }
    try resultColumns(&insert.returning)
  }

  private mutating func update(_ update: inout SQLUpdate) throws {
    try with(&update.with)
    try table(&update.table.name)
    try assignments(&update.assignments)
    try from(&update.from)
    try optional(&update.where)
    try resultColumns(&update.returning)
    try orderTerms(&update.orderBy)
    try limit(&update.limit)
  }

  private mutating func assignments(_ assignments: inout [SQLAssignment]) throws {
    try each(&assignments) { (walker, assignment) throws in
      try walker.expression(&assignment.value)
    }
  }

  // MARK: Queries

  mutating func select(_ select: inout SQLSelect) throws {
    try with(&select.with)
    try body(&select.body)
    try each(&select.compounds) { (walker, compound) throws in try walker.body(&compound.body) }
    try orderTerms(&select.orderBy)
    try limit(&select.limit)
    var part = SQLPart.select(select)
    try self.body(&part)
    if rewrites, case .select(let changed) = part { select = changed }
  }

  private mutating func body(_ body: inout SQLSelectBody) throws {
    switch body {
    case .values(var rows):
      try each(&rows) { (walker, row) throws in try walker.expressions(&row) }
      if rewrites { body = .values(rows) }
    case .select(var core):
      try resultColumns(&core.columns)
      try from(&core.from)
      try optional(&core.where)
      try expressions(&core.groupBy)
      try optional(&core.having)
      try each(&core.windows) { (walker, window) throws in try walker.window(&window.window) }
      if rewrites { body = .select(core) }
    }
  }

  private mutating func resultColumns(_ columns: inout [SQLResultColumn]) throws {
    try each(&columns) { (walker, column) throws in
      guard case .expression(var value) = column.kind else { return }
      try walker.expression(&value)
      if walker.rewrites, column.kind != .expression(value) { column.kind = .expression(value) }
    }
  }

  private mutating func with(_ with: inout SQLWith?) throws {
    guard var clause = with else { return }
    try each(&clause.tables) { (walker, table) throws in try walker.select(&table.select) }
    if rewrites { with = clause }
  }

  private mutating func limit(_ limit: inout SQLLimit?) throws {
    guard var clause = limit else { return }
    try expression(&clause.count)
    try optional(&clause.offset)
    if rewrites { limit = clause }
  }

  private mutating func from(_ from: inout SQLFrom?) throws {
    guard var clause = from else { return }
    try tables(&clause)
    if rewrites { from = clause }
  }

  private mutating func tables(_ from: inout SQLFrom) throws {
    try source(&from.first)
    try each(&from.joins) { (walker, join) throws in
      try walker.source(&join.source)
      guard case .on(var condition) = join.constraint else { return }
      try walker.expression(&condition)
      if walker.rewrites { join.constraint = .on(condition) }
    }
  }

  private mutating func source(_ source: inout SQLTableSource) throws {
    switch source {
    case .table(var table):
      try self.table(&table.name)
      if rewrites { source = .table(table) }
    case .function(let name, var arguments, let alias):
      try expressions(&arguments)
      if rewrites { source = .function(name, arguments, alias: alias) }
    case .subquery(var query, let alias):
      try select(&query)
      if rewrites { source = .subquery(query, alias: alias) }
    case .group(var from, let alias):
      try tables(&from)
      if rewrites { source = .group(from, alias: alias) }
    }
  }

  // MARK: Tables

  private mutating func definition(_ definition: inout SQLTableDefinition) throws {
    try each(&definition.columns) { (walker, column) throws in try walker.column(&column) }
    try each(&definition.constraints) { (walker, constraint) throws in
      try walker.tableConstraint(&constraint.kind)
    }
  }

  private mutating func column(_ column: inout SQLColumnDefinition) throws {
    try each(&column.constraints) { (walker, constraint) throws in
      try walker.columnConstraint(&constraint.kind)
    }
  }

  private mutating func columnConstraint(_ kind: inout SQLColumnConstraint.Kind) throws {
    switch kind {
    case .check(var condition):
      try expression(&condition)
      if rewrites { kind = .check(condition) }
    case .default(var value):
      var expression = value.value
      try self.expression(&expression)
      if rewrites, expression != value.value {
        value.value = expression
        kind = .default(value)
      }
    case .references(var reference):
      try table(&reference.table)
      if rewrites { kind = .references(reference) }
    case .generated(var value, let storage, let isShort):
      try expression(&value)
      if rewrites { kind = .generated(value, storage: storage, isShort: isShort) }
    default: break
    }
  }

  private mutating func tableConstraint(_ kind: inout SQLTableConstraint.Kind) throws {
    switch kind {
    case .primaryKey(var terms, let isAutoincrement, let conflict):
      try orderTerms(&terms)
      if rewrites { kind = .primaryKey(terms, isAutoincrement: isAutoincrement, conflict) }
    case .unique(var terms, let conflict):
      try orderTerms(&terms)
      if rewrites { kind = .unique(terms, conflict) }
    case .check(var condition, let conflict):
      try expression(&condition)
      if rewrites { kind = .check(condition, conflict) }
    case .foreignKey(let columns, var reference, let deferral):
      try table(&reference.table)
      if rewrites { kind = .foreignKey(columns, reference, deferral) }
    case .nameOnly: break
    }
  }
}

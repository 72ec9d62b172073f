extension Printer {
  private mutating func create(
    _ what: String, isTemporary: Bool = false, _ ifNotExists: Bool, _ name: SQLQualifiedName
  ) {
    write(isTemporary ? "CREATE TEMP " : "CREATE ")
    write(what)
    write(ifNotExists ? " IF NOT EXISTS " : " ")
    self.name(name)
  }

  mutating func createTable(_ table: SQLCreateTable) {
    create("TABLE", isTemporary: table.isTemporary, table.ifNotExists, table.name)
    switch table.body {
    case .select(let query):
      write(" AS")
      clause()
      select(query)
    case .definition(let definition):
      write(" ")
      tableDefinition(definition)
    }
  }

  mutating func tableDefinition(_ definition: SQLTableDefinition) {
    block { printer in
      printer.lines(definition.columns) { $0.column($1) }
      if !definition.constraints.isEmpty {
        printer.write(",")
        printer.clause()
        printer.lines(definition.constraints) { $0.tableConstraint($1) }
      }
    }
    guard !definition.options.isEmpty else { return }
    write(" ")
    list(definition.options) { $0.write($1.rawValue) }
  }

  mutating func column(_ column: SQLColumnDefinition) {
    name(column.name)
    if let type = column.type, !type.text.isEmpty {
      write(" ")
      write(type.text)
    }
    for constraint in column.constraints {
      write(" ")
      columnConstraint(constraint)
    }
  }

  private mutating func constraintName(_ name: SQLName?, isAlone: Bool) {
    guard let name else { return }
    write("CONSTRAINT ")
    self.name(name)
    if !isAlone { write(" ") }
  }

  mutating func columnConstraint(_ constraint: SQLColumnConstraint) {
    constraintName(constraint.name, isAlone: constraint.kind == .nameOnly)
    switch constraint.kind {
    case .nameOnly: break
    case .null(let conflict):
      write("NULL")
      onConflict(conflict)
    case .notNull(let conflict):
      write("NOT NULL")
      onConflict(conflict)
    case .primaryKey(let direction, let conflict, let isAutoincrement):
      write("PRIMARY KEY")
      word(direction?.rawValue)
      onConflict(conflict)
      if isAutoincrement { write(" AUTOINCREMENT") }
    case .unique(let conflict):
      write("UNIQUE")
      onConflict(conflict)
    case .check(let condition): check(condition)
    default: columnClause(constraint.kind)
    }
  }

  private mutating func columnClause(_ kind: SQLColumnConstraint.Kind) {
    switch kind {
    case .default(let value):
      write("DEFAULT ")
      if let text = value.written.text {
        write(text)
      } else {
        defaultValue(value.value)
      }
    case .references(let reference): self.reference(reference)
    case .deferrable(let deferral): self.deferral(deferral)
    case .collate(let collation):
      write("COLLATE ")
      name(collation)
    case .generated(let value, let storage, let isShort):
      write(isShort ? "AS " : "GENERATED ALWAYS AS ")
      parentheses { $0.expression(value) }
      if let storage {
        write(" ")
        name(storage)
      }
    default: break
    }
  }

  /// Writes a default value, in parentheses unless it is a literal, a signed literal or a name.
  private mutating func defaultValue(_ value: SQLExpression) {
    switch value.node {
    case .literal, .column, .parenthesized: expression(value)
    case .unary(let sign, let number) where sign == .minus || sign == .plus:
      if case .literal = number.node { return expression(value) }
      parentheses { $0.expression(value) }
    default: parentheses { $0.expression(value) }
    }
  }

  private mutating func check(_ condition: SQLExpression) {
    write("CHECK ")
    parentheses { $0.expression(condition) }
  }

  private mutating func onConflict(_ conflict: SQLConflict?) {
    guard let conflict else { return }
    write(" ON CONFLICT \(conflict.rawValue)")
  }

  private mutating func reference(_ reference: SQLReference) {
    write("REFERENCES ")
    name(reference.table)
    optionalNames(reference.columns)
    for clause in reference.clauses {
      switch clause {
      case .onDelete(let action): write(" ON DELETE \(action.rawValue)")
      case .onUpdate(let action): write(" ON UPDATE \(action.rawValue)")
      case .onInsert(let action): write(" ON INSERT \(action.rawValue)")
      case .match(let word):
        write(" MATCH ")
        name(word)
      }
    }
  }

  private mutating func deferral(_ deferral: SQLDeferral) {
    write(deferral.isNegated ? "NOT DEFERRABLE" : "DEFERRABLE")
    if let initially = deferral.initially { write(" INITIALLY \(initially.rawValue)") }
  }

  mutating func tableConstraint(_ constraint: SQLTableConstraint) {
    constraintName(constraint.name, isAlone: constraint.kind == .nameOnly)
    switch constraint.kind {
    case .nameOnly: break
    case .primaryKey(let terms, let isAutoincrement, let conflict):
      write("PRIMARY KEY (")
      list(terms) { $0.orderTerm($1) }
      write(isAutoincrement ? " AUTOINCREMENT)" : ")")
      onConflict(conflict)
    case .unique(let terms, let conflict):
      write("UNIQUE ")
      parentheses { $0.list(terms) { $0.orderTerm($1) } }
      onConflict(conflict)
    case .check(let condition, let conflict):
      check(condition)
      onConflict(conflict)
    case .foreignKey(let columns, let reference, let deferral):
      write("FOREIGN KEY ")
      names(columns)
      write(" ")
      self.reference(reference)
      if let deferral {
        write(" ")
        self.deferral(deferral)
      }
    }
  }

  // MARK: Other objects

  mutating func createVirtualTable(_ table: SQLCreateVirtualTable) {
    create("VIRTUAL TABLE", table.ifNotExists, table.name)
    write(" USING ")
    name(table.module)
    guard let arguments = table.arguments else { return }
    parentheses { $0.list(arguments) { $0.write($1) } }
  }

  mutating func createIndex(_ index: SQLCreateIndex) {
    create(index.isUnique ? "UNIQUE INDEX" : "INDEX", index.ifNotExists, index.name)
    write(" ON ")
    name(index.table)
    write(" ")
    parentheses { $0.list(index.columns) { $0.orderTerm($1) } }
    condition("WHERE", index.where)
  }

  mutating func createView(_ view: SQLCreateView) {
    create("VIEW", isTemporary: view.isTemporary, view.ifNotExists, view.name)
    optionalNames(view.columns)
    write(" AS")
    clause()
    select(view.select)
  }

  mutating func createTrigger(_ trigger: SQLCreateTrigger) {
    create("TRIGGER", isTemporary: trigger.isTemporary, trigger.ifNotExists, trigger.name)
    clause()
    if let time = trigger.time { write("\(time.rawValue) ") }
    switch trigger.event {
    case .delete: write("DELETE")
    case .insert: write("INSERT")
    case .update(let columns):
      write("UPDATE")
      if !columns.isEmpty {
        write(" OF ")
        list(columns) { $0.name($1) }
      }
    }
    write(" ON ")
    name(trigger.table)
    if trigger.forEachRow { write(" FOR EACH ROW") }
    condition("WHEN", trigger.when)
    clause()
    write("BEGIN")
    for statement in trigger.body {
      clause()
      self.statement(statement)
      write(";")
    }
    clause()
    write("END")
  }

  mutating func alterTable(_ change: SQLAlterTable) {
    write("ALTER TABLE ")
    name(change.table)
    switch change.action {
    case .rename(let new):
      write(" RENAME TO ")
      name(new)
    case .renameColumn(let old, let new):
      write(" RENAME COLUMN ")
      name(old)
      write(" TO ")
      name(new)
    case .addColumn(let column):
      write(" ADD COLUMN ")
      self.column(column)
    case .dropColumn(let column):
      write(" DROP COLUMN ")
      name(column)
    default: alterConstraint(change.action)
    }
  }

  private mutating func alterConstraint(_ action: SQLAlterTable.Action) {
    switch action {
    case .addCheck(let name, let condition, let conflict):
      write(" ADD ")
      constraintName(name, isAlone: false)
      check(condition)
      onConflict(conflict)
    case .dropConstraint(let constraint):
      write(" DROP CONSTRAINT ")
      name(constraint)
    case .setNotNull(let column, let conflict):
      write(" ALTER COLUMN ")
      name(column)
      write(" SET NOT NULL")
      onConflict(conflict)
    case .dropNotNull(let column):
      write(" ALTER COLUMN ")
      name(column)
      write(" DROP NOT NULL")
    default: break
    }
  }
}

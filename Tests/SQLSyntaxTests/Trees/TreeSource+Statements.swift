import SQLSyntax

extension TreeSource {
  /// Returns any statement that SQLite 3.40 supports.
  mutating func statement() -> SQLStatement {
    (scope, hasWindow, allowsAggregates) = ([], false, false)
    switch below(24) {
    case 0...8: return .select(select())
    case 9, 10, 11: return .insert(insert(inTrigger: false))
    case 12, 13: return .update(update(inTrigger: false))
    case 14: return .delete(delete(inTrigger: false))
    case 15, 16: return .createTable(createTable())
    case 17: return .createIndex(createIndex())
    case 18: return .createView(createView())
    case 19: return .createTrigger(createTrigger())
    case 20:
      let arguments = maybe(in: 1) { source in
        source.some(1...3) { $0.pick(["a", "b = 'c'", "d (e, f)", "\"x\" y", "g; h"]) }
      }
      return .createVirtualTable(
        SQLCreateVirtualTable(
          ifNotExists: once(in: 3), freshQualifiedName(), using: freshName(), arguments))
    case 21: return .alterTable(SQLAlterTable(target(inTrigger: false), alteration()))
    case 22:
      let isQueryPlan = once(in: 2)
      return .explain(.select(select()), isQueryPlan: isQueryPlan)
    default: return short()
    }
  }

  private mutating func short() -> SQLStatement {
    switch below(13) {
    case 0: return .begin(maybe { $0.pick(SQLTransactionMode.self) }, name: nil)
    case 1: return .commit(name: nil)
    case 2: return .rollback(name: nil)
    case 3: return .rollbackTo(savepoint: freshName(), transaction: nil)
    case 4: return .savepoint(freshName())
    case 5: return .release(freshName())
    case 6:
      let value: SQLPragma.Value? = pick([
        nil, .number("1"), .number("-2000"), .number("+1.5"), .name(SQLName("ON", quoting: .none)),
        .name(SQLName("DELETE", quoting: .none)), .name(SQLName("UTF-8", quoting: .single)),
      ])
      return .pragma(SQLPragma(freshQualifiedName(), value, isCall: value != nil && once(in: 2)))
    case 7:
      let file = operand()
      let schema = operand()
      return .attach(file, as: schema, key: maybe(in: 4) { $0.operand() })
    case 8: return .detach(operand())
    case 9: return .vacuum(maybe { $0.freshName() }, into: maybe { $0.operand() })
    case 10: return .reindex(maybe { $0.freshQualifiedName() })
    case 11: return .analyze(maybe { $0.freshQualifiedName() })
    default: return .drop(SQLDrop(pick(SQLDrop.Target.self), ifExists: once(in: 2), tableName()))
    }
  }

  // MARK: Changes

  private mutating func target(inTrigger: Bool) -> SQLQualifiedName {
    SQLQualifiedName(schema: inTrigger ? nil : maybe(in: 6) { $0.name("main") }, pick(["t", "u"]))
  }

  private mutating func insert(inTrigger: Bool) -> SQLInsert {
    let with = inTrigger || !once(in: 8) ? nil : deeper { $0.with() }
    let isReplace = once(in: 6)
    let conflict = isReplace ? nil : maybe(in: 3) { $0.pick(SQLConflict.self) }
    let table = target(inTrigger: inTrigger)
    let alias = inTrigger ? nil : maybe(in: 4) { _ in SQLName("x") }
    if !inTrigger, once(in: 10) {
      return SQLInsert(
        with: with, isReplace: isReplace, or: conflict, into: table, as: alias, .defaultValues,
        returning: returning())
    }
    let columns: [SQLName] = once(in: 2) ? [] : [name("a"), name("b"), name("c")]
    scope = []
    var query = deeper { $0.select(columns: 3) }
    var upserts: [SQLUpsert] = []
    if once(in: 3) {
      upserts = upsert(table.name.text)
      // ON would be parsed as part of a join.
      if case .select(var core) = query.compounds.last?.body ?? query.body, core.where == nil,
        query.orderBy.isEmpty, query.limit == nil, core.groupBy.isEmpty, core.windows.isEmpty
      {
        core.where = SQLExpression(.literal(.integer("1")))
        if query.compounds.isEmpty {
          query.body = .select(core)
        } else {
          query.compounds[query.compounds.count - 1].body = .select(core)
        }
      }
    }
    scope = []
    return SQLInsert(
      with: with, isReplace: isReplace, or: conflict, into: table, as: alias, columns: columns,
      .select(query), upserts: upserts, returning: inTrigger ? [] : returning())
  }

  private mutating func upsert(_ table: String) -> [SQLUpsert] {
    scope = ["excluded"]
    let key = SQLOrderTerm(SQLExpression(.column(SQLName(table == "t" ? "a" : "c"))))
    let condition = maybe(in: 8) { $0.operand() }
    let update = SQLUpsert.Action.update(assignments(), where: maybe { $0.operand() })
    let targeted = SQLUpsert([key], where: condition, do: once(in: 2) ? .nothing : update)
    let last = SQLUpsert(do: once(in: 2) ? .nothing : update)
    return pick([[targeted], [last], [targeted, last]])
  }

  private mutating func assignments() -> [SQLAssignment] {
    some(1...2) { source in
      guard source.once(in: 4) else {
        let column = source.name(source.pick(["b", "c"]))
        return SQLAssignment(column, source.operand())
      }
      let columns = [source.name("b"), source.name("c")]
      let value =
        source.once(in: 2)
        ? SQLExpression(.row(source.some(2...2) { $0.operand() }))
        : SQLExpression(.subquery(source.deeper { $0.select(columns: 2) }))
      return SQLAssignment(columns, value)
    }
  }

  private mutating func returning() -> [SQLResultColumn] {
    guard once(in: 4) else { return [] }
    scope = []
    return once(in: 3)
      ? [SQLResultColumn(.all)]
      : some(1...2) { source in
        SQLResultColumn(source.operand(), as: source.maybe { $0.freshName() })
      }
  }

  private mutating func reference(inTrigger: Bool) -> (SQLTableReference, String) {
    let name = target(inTrigger: inTrigger)
    let alias = inTrigger ? nil : maybe(in: 3) { _ in SQLName("x") }
    let indexing: SQLTableReference.Indexing? =
      inTrigger || !once(in: 10) ? nil : SQLTableReference.Indexing.none
    return (
      SQLTableReference(name, as: alias, indexing: indexing), alias?.text ?? name.name.text
    )
  }

  private mutating func update(inTrigger: Bool) -> SQLUpdate {
    let with = inTrigger || !once(in: 8) ? nil : deeper { $0.with() }
    let conflict = maybe(in: 4) { $0.pick(SQLConflict.self) }
    let (table, name) = reference(inTrigger: inTrigger)
    scope = []
    let from = maybe(in: 5) { source in source.deeper { $0.from() } }
    scope.append(name)
    let changes = assignments()
    let condition = maybe { $0.operand() }
    guard !inTrigger, from == nil else {
      return SQLUpdate(
        with: with, or: conflict, table, set: changes, from: from, where: condition)
    }
    let limit = limit()
    let order = limit == nil ? [] : some(0...1) { $0.orderTerm() }
    return SQLUpdate(
      with: with, or: conflict, table, set: changes, where: condition, returning: returning(),
      orderBy: order, limit: limit)
  }

  private mutating func delete(inTrigger: Bool) -> SQLDelete {
    let with = inTrigger || !once(in: 8) ? nil : deeper { $0.with() }
    let (table, name) = reference(inTrigger: inTrigger)
    scope = [name]
    let condition = maybe { $0.operand() }
    guard !inTrigger else { return SQLDelete(from: table, where: condition) }
    let limit = limit()
    let order = limit == nil ? [] : some(0...1) { $0.orderTerm() }
    return SQLDelete(
      with: with, from: table, where: condition, returning: returning(), orderBy: order,
      limit: limit)
  }

  // MARK: Schema

  /// Returns a table definition that SQLite accepts when it is executed.
  mutating func createTable() -> SQLCreateTable {
    let name = freshQualifiedName()
    let ifNotExists = once(in: 4)
    if once(in: 8) {
      return SQLCreateTable(ifNotExists: ifNotExists, name, .select(deeper { $0.select() }))
    }
    let isTemporary = name.schema == nil && once(in: 8)
    return SQLCreateTable(
      isTemporary: isTemporary, ifNotExists: ifNotExists, name, .definition(definition()))
  }

  private mutating func definition() -> SQLTableDefinition {
    let hasRowID = !once(in: 6)
    let isStrict = once(in: 6)
    scope = []
    var columns: [SQLColumnDefinition] = []
    for column in ["a", "b", "c"] {
      let type: SQLTypeName? =
        isStrict
        ? SQLTypeName(pick(["INT", "INTEGER", "TEXT", "REAL", "BLOB", "ANY"]))
        : maybe(in: 1) { $0.typeName() }
      var constraints = some(0...2) { $0.columnConstraint() }
      if column == "c", once(in: 4) {
        constraints.removeAll {
          if case .default = $0.kind { return true }
          return false
        }
        let storage = pick([nil, "STORED", "VIRTUAL"]).map { SQLName($0, quoting: .none) }
        // Immediately after a type, GENERATED would be parsed as part of the type.
        let isShort = constraints.isEmpty || once(in: 2)
        constraints.append(
          SQLColumnConstraint(.generated(constant(), storage: storage, isShort: isShort)))
      }
      columns.append(SQLColumnDefinition(name(column), type, constraints: constraints))
    }
    var constraints = some(0...2) { $0.tableConstraint() }
    if !hasRowID || once(in: 3) {
      let key = [SQLOrderTerm(SQLExpression(.column("a")), maybe { _ in .descending })]
      constraints.append(
        SQLTableConstraint(.primaryKey(key, isAutoincrement: false, conflict())))
    }
    var options: [SQLTableOption] = hasRowID ? [] : [.withoutRowID]
    if isStrict { options.append(.strict) }
    return SQLTableDefinition(columns, constraints: constraints, options: options)
  }

  private mutating func conflict() -> SQLConflict? { maybe(in: 5) { $0.pick(SQLConflict.self) } }

  /// Returns an expression without columns, queries and parameters.
  private mutating func constant() -> SQLExpression {
    let left = SQLExpression(.literal(.integer("\(below(50))")))
    let operation = pick([SQLBinaryOperator.add, .concatenate, .less, .or])
    return SQLExpression(.binary(left, operation, SQLExpression(.literal(.string("it's")))))
  }

  private mutating func columnConstraint() -> SQLColumnConstraint {
    let name = maybe(in: 4) { $0.freshName() }
    let kind: SQLColumnConstraint.Kind
    switch below(9) {
    case 0: kind = .null(conflict())
    case 1: kind = .notNull(conflict())
    case 2: kind = .unique(conflict())
    case 3: kind = .check(constant())
    case 4:
      let value: SQLExpression.Node
      switch below(6) {
      case 0: value = .parenthesized(constant())
      case 1: value = .unary(.minus, SQLExpression(.literal(.integer("1"))))
      case 2: value = .literal(.currentTimestamp)
      case 3: value = .column(SQLName("word", quoting: .none))
      case 4: value = .literal(.string("it's"))
      default: value = .literal(.null)
      }
      kind = .default(SQLDefault(SQLExpression(value)))
    case 5: kind = .references(reference())
    case 6: kind = .collate(collation())
    case 7: kind = .nameOnly
    default: kind = .check(constant())
    }
    if case .nameOnly = kind { return SQLColumnConstraint(name: freshName(), kind) }
    return SQLColumnConstraint(name: name, kind)
  }

  private mutating func reference() -> SQLReference {
    let columns = once(in: 2) ? [] : [name("a")]
    return SQLReference(
      freshName(), columns: columns,
      some(0...2) { source in
        switch source.below(4) {
        case 0: .onDelete(source.pick(SQLReference.Action.self))
        case 1: .onUpdate(source.pick(SQLReference.Action.self))
        case 2: .onInsert(source.pick(SQLReference.Action.self))
        default: .match(source.freshName())
        }
      })
  }

  private mutating func tableConstraint() -> SQLTableConstraint {
    let name = maybe(in: 3) { $0.freshName() }
    switch below(4) {
    case 0:
      let columns = [SQLOrderTerm(SQLExpression(.column("b")), maybe { _ in .ascending })]
      return SQLTableConstraint(name: name, .unique(columns, conflict()))
    case 1: return SQLTableConstraint(name: name, .check(constant(), conflict()))
    case 2:
      let deferral = maybe { source in
        SQLDeferral(
          isNegated: source.once(in: 2),
          initially: source.maybe { $0.pick(SQLDeferral.Initially.self) })
      }
      return SQLTableConstraint(name: name, .foreignKey([self.name("b")], reference(), deferral))
    default: return SQLTableConstraint(name: freshName(), .nameOnly)
    }
  }

  mutating func createIndex() -> SQLCreateIndex {
    let isUnique = once(in: 2)
    let ifNotExists = once(in: 3)
    let name = freshQualifiedName()
    scope = []
    let columns = some(1...3) { source in
      var column = SQLExpression(.column(source.columnName()))
      if source.once(in: 4) { column = SQLExpression(.collate(column, [source.collation()])) }
      if source.once(in: 4) {
        column = SQLExpression(
          .binary(column, .add, SQLExpression(.literal(.integer("\(source.below(9))")))))
      }
      return SQLOrderTerm(column, source.maybe { $0.pick(SQLOrderTerm.Direction.self) })
    }
    let condition = maybe(in: 3) { source in
      SQLExpression(.notNull(SQLExpression(.column(source.columnName())), isOneWord: true))
    }
    return SQLCreateIndex(
      isUnique: isUnique, ifNotExists: ifNotExists, name, on: pick(["t", "u", "w"]), columns,
      where: condition)
  }

  private mutating func createView() -> SQLCreateView {
    let name = freshQualifiedName()
    let isTemporary = name.schema == nil && once(in: 4)
    let columns: [SQLName] = once(in: 3) ? ["a", "b"] : []
    return SQLCreateView(
      isTemporary: isTemporary, ifNotExists: once(in: 4), name, columns: columns,
      as: deeper { $0.select(columns: 2) })
  }

  private mutating func createTrigger() -> SQLCreateTrigger {
    let time = maybe { $0.pick([SQLCreateTrigger.Time.before, .after]) }
    let event: SQLCreateTrigger.Event
    switch below(4) {
    case 0: event = .delete
    case 1: event = .insert
    case 2: event = .update(of: [])
    default: event = .update(of: [name("a"), name("b")])
    }
    let name = freshQualifiedName()
    let forEachRow = once(in: 2)
    scope = ["new", "old"]
    let when = maybe(in: 3) { source in source.deeper { $0.operand() } }
    let body = some(1...3) { source -> SQLStatement in
      source.scope = []
      return source.deeper { source in
        switch source.below(5) {
        case 0, 1: .select(source.select())
        case 2: .insert(source.insert(inTrigger: true))
        case 3: .update(source.update(inTrigger: true))
        default: .delete(source.delete(inTrigger: true))
        }
      }
    }
    return SQLCreateTrigger(
      ifNotExists: once(in: 4), name, time, event, on: SQLQualifiedName(pick(["t", "u"])),
      forEachRow: forEachRow, when: when, body: body)
  }

  private mutating func alteration() -> SQLAlterTable.Action {
    switch below(4) {
    case 0: return .rename(freshName())
    case 1: return .renameColumn(columnName(), to: freshName())
    case 2:
      let constraints = some(0...2) { $0.columnConstraint() }
      return .addColumn(
        SQLColumnDefinition(freshName(), maybe { $0.typeName() }, constraints: constraints))
    default: return .dropColumn(columnName())
    }
  }
}

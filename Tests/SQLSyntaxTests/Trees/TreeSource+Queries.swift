import SQLSyntax
import TestSupport

extension TreeSource {
  /// Returns a query, with the given number of columns if it is used as a value.
  mutating func select(columns: Int? = nil) -> SQLSelect {
    let (outer, outerWindow) = (scope, hasWindow)
    hasWindow = false
    defer { (scope, hasWindow) = (outer, outerWindow) }
    let count = columns ?? 1 + below(3)
    var with: SQLWith?
    if levels > 1, once(in: 8) { with = deeper { $0.with() } }
    var body = body(columns: count)
    if levels > 2, once(in: 40) { body = manyValues(columns: count) }
    var compounds: [SQLCompound] = []
    if levels > 1, once(in: 6) {
      compounds = deeper { source in
        source.some(1...2) { source in
          let operation = source.pick(SQLCompound.Operator.self)
          return SQLCompound(operation, source.body(columns: count))
        }
      }
    }
    // VALUES can't have ORDER BY or LIMIT.
    if case .values = compounds.last?.body ?? body {
      return SQLSelect(with: with, body, compounds: compounds)
    }
    let order =
      compounds.isEmpty
      ? some(0...1) { $0.orderTerm() }
      : some(0...1) { SQLOrderTerm(SQLExpression(.literal(.integer("\(1 + $0.below(count))")))) }
    return SQLSelect(with: with, body, compounds: compounds, orderBy: order, limit: limit())
  }

  mutating func limit() -> SQLLimit? {
    guard once(in: 4) else { return nil }
    let outer = scope
    scope = []
    defer { scope = outer }
    let count = operand()
    let offset = maybe { $0.operand() }
    return SQLLimit(count, offset: offset, isOffsetFirst: offset != nil && once(in: 2))
  }

  mutating func with() -> SQLWith {
    let isRecursive = once(in: 3)
    let outer = scope
    scope = []
    defer { scope = outer }
    let tables = some(1...2) { source in
      let isMaterialized = source.maybe(in: 4) { $0.once(in: 2) }
      return SQLCommonTable(
        SQLName("x\(source.random.next() % 1_000_000)"), columns: [],
        isMaterialized: isMaterialized,
        source.select(columns: 3))
    }
    return SQLWith(isRecursive: isRecursive, tables)
  }

  private mutating func manyValues(columns: Int) -> SQLSelectBody {
    scope = []
    return .values(some(2...4) { source in source.some(columns...columns) { $0.operand() } })
  }

  private mutating func body(columns: Int) -> SQLSelectBody {
    let outer = scope
    if once(in: 8) {
      scope = []
      defer { scope = outer }
      return .values(some(1...3) { source in source.some(columns...columns) { $0.operand() } })
    }
    // FROM comes first because the other clauses reference its tables.
    let from = maybe(in: levels > 0 ? 1 : 2) { $0.from() }
    let quantifier = maybe(in: 6) { $0.pick(SQLQuantifier.self) }
    hasWindow = once(in: 3)
    let windows = hasWindow ? [SQLNamedWindow("win", aggregating(false) { $0.baseWindow() })] : []
    var results = aggregating(true) { source in
      source.some(columns...columns) { source in
        SQLResultColumn(source.operand(), as: source.maybe(in: 3) { $0.freshName() })
      }
    }
    // Uses another number of columns where it doesn't matter.
    if from != nil, levels == 4, once(in: 12) {
      results.append(SQLResultColumn(once(in: 2) ? .all : .allOf(name(pick(scope)))))
    }
    let condition = aggregating(false) { source in source.maybe(in: 2) { $0.operand() } }
    let groups =
      once(in: 6) ? aggregating(false) { source in source.some(1...2) { $0.sortedOperand() } } : []
    let having = groups.isEmpty ? nil : maybe { $0.operand() }
    let core = SQLSelectCore(
      quantifier: quantifier, results, from: from, where: condition, groupBy: groups,
      having: having, windows: windows)
    if from == nil { scope = outer }
    return .select(core)
  }

  private mutating func baseWindow() -> SQLWindow {
    hasWindow = false
    defer { hasWindow = true }
    return window()
  }

  // MARK: FROM

  mutating func from() -> SQLFrom {
    var names: [String] = []
    let first = source(&names)
    var joins: [SQLJoin] = []
    for _ in 0..<pick([0, 0, 0, 1, 1, 2]) {
      joins.append(join(&names))
    }
    return SQLFrom(first, joins: joins)
  }

  private mutating func join(_ names: inout [String]) -> SQLJoin {
    let operation: SQLJoin.Operator =
      once(in: 4)
      ? .comma
      : .join(
        pick([
          [], [], [.left], [.left, .outer], [.inner], [.cross], [.right], [.full, .outer],
          [.natural], [.natural, .left], [.outer, .left], [.natural, .inner, .cross],
        ]))
    let table = source(&names)
    var constraint: SQLJoin.Constraint?
    switch operation {
    case .comma: constraint = nil
    case .join(let words) where words.contains(.natural): constraint = nil
    case .join:
      constraint =
        once(in: 3) && !names.contains { $0.hasPrefix("j") }
        ? .using([name(pick(["a", "b", "c"]))]) : maybe(in: 1) { .on($0.operand()) }
    }
    return SQLJoin(operation, table, constraint)
  }

  private mutating func source(_ names: inout [String]) -> SQLTableSource {
    let kind = levels > 1 ? below(8) : 7
    let alias = "\(kind == 2 ? "j" : "t")\(random.next() % 100_000)"
    defer {
      names.append(alias)
      scope = names
    }
    switch kind {
    case 0, 1:
      let query = deeper { $0.queryOfTable() }
      return .subquery(query, alias: name(alias))
    case 2:
      let function = SQLQualifiedName("json_each")
      return .function(function, some(1...2) { $0.operand() }, alias: name(alias))
    case 3:
      var inner: [String] = []
      let outer = scope
      let first = deeper { $0.source(&inner) }
      let joins = once(in: 2) ? [deeper { $0.join(&inner) }] : []
      scope = outer
      return .group(SQLFrom(first, joins: joins), alias: maybe(in: 1) { $0.name(alias) })
    default:
      let indexing: SQLTableReference.Indexing? =
        once(in: 20) ? SQLTableReference.Indexing.none : nil
      return .table(SQLTableReference(tableName(), as: name(alias), indexing: indexing))
    }
  }

  /// Returns a query with the same column names as the tables.
  private mutating func queryOfTable() -> SQLSelect {
    let outer = scope
    defer { scope = outer }
    scope = []
    let table = SQLFrom(.table(SQLTableReference(tableName())))
    var columns: [SQLResultColumn] = []
    for column in ["a", "b", "c"] {
      columns.append(SQLResultColumn(operand(), as: SQLName(column)))
    }
    return SQLSelect(.select(SQLSelectCore(columns, from: table)), limit: limit())
  }
}

import SQLiteCore
import SQLiteRelations

/// A writer of SQL for filters and all other expressions on the objects of one store.
///
/// For example, `\.$age > 30` becomes `"Person"."age" > ?` with the value 30.
///
/// The operators in `Filter+Comparison.swift` create the ``QueryNode`` that is written here.
/// `ExpressionSQL+References.swift` writes comparisons with properties of referenced objects, as in
/// `\.$owner.$age > 3`. `ExpressionSQL+Related.swift` writes conditions on collections. A test for
/// nil through a reference is a scalar subquery (``column(_:_:)``).
/// `ExpressionSQL+RowStrategy.swift` decides which condition SQLite uses to find the rows.
///
/// All tables of a statement have different names: the tables of subqueries and joins are numbered.
struct ExpressionSQL {
  /// The rows of one table in a statement, and the name that qualifies their columns.
  final class Rows {
    let plan: ObjectPlan
    /// The name of the table in the statement. Nil if the rows are those of the type's own table,
    /// under its own name.
    let alias: String?
    /// The SQL of a row's key.
    let key: String
    /// An estimate of the number of rows for which a condition is evaluated.
    var narrowing: Narrowing
    /// Whether the statement visits each row at most once.
    let isVisitedOnce: Bool
    /// The joined rows of referenced objects, by the slot of the reference. Nil if references
    /// aren't joined.
    fileprivate(set) var joined: [Int: Rows]?
    /// Whether the SQL written so far uses a column of the table other than the key.
    private(set) var isRead = false

    /// Creates the rows of a type's own table.
    ///
    /// - Parameters:
    ///   - plan: The plan of the rows' type.
    ///   - narrowing: An estimate of the number of rows for which expressions are evaluated.
    ///   - joinsReferences: Whether referenced objects are joined.
    init(of plan: ObjectPlan, narrowing: Narrowing = .all, joinsReferences: Bool = false) {
      self.plan = plan
      alias = nil
      key = plan.qualifiedKey
      self.narrowing = narrowing
      isVisitedOnce = true
      joined = joinsReferences ? [:] : nil
    }

    /// Creates the rows of a table in a subquery or a join.
    init(
      _ plan: ObjectPlan, alias: String, key: String? = nil, narrowing: Narrowing = .all,
      isVisitedOnce: Bool = false
    ) throws {
      self.plan = plan
      self.alias = alias
      self.key = try key ?? "\(alias).\(SQL.escapeIdentifier(plan.key))"
      self.narrowing = narrowing
      self.isVisitedOnce = isVisitedOnce
    }

    /// Returns the SQL of a property's column, and sets ``isRead``.
    func column(_ slot: Int) throws -> String {
      isRead = true
      guard let alias else { return plan.qualifiedColumns[slot] }
      return "\(alias).\(try SQL.escapeIdentifier(plan.properties[slot].name))"
    }
  }

  /// An error that is thrown if the SQL depends on tables that the store hasn't inspected, and
  /// ``mayInspectTables`` is false.
  struct UnknownTables: Error {}

  /// Whether the thread may wait for the database to inspect the tables of a relation. False on the
  /// thread of a task: see ``MagicData/preparingQuery(_:)``.
  @TaskLocal static var mayInspectTables = true

  let store: any ObjectStore
  private var aliases = 0
  /// The nesting level of the expression that is being written, which ``QueryNode/greatestLevel``
  /// limits.
  var level = 0

  init(_ store: any ObjectStore) {
    self.store = store
  }

  /// Returns the SQL of an expression on the rows of a type's own table, without a join.
  ///
  /// - Parameters:
  ///   - node: The expression.
  ///   - plan: The plan of the rows' type.
  ///   - narrowing: An estimate of the number of rows for which it is evaluated.
  ///   - store: The store.
  static func sql(
    _ node: QueryNode, on plan: ObjectPlan, _ narrowing: Narrowing = .all,
    in store: any ObjectStore
  ) throws -> SQL {
    var writer = ExpressionSQL(store)
    var sql = SQL(unchecked: "")
    try writer.write(node, Rows(of: plan, narrowing: narrowing), to: &sql)
    return sql
  }

  /// Returns the SQL of a condition for the WHERE clause of a statement that reads a type's own
  /// table, without a join.
  static func condition(
    _ filter: QueryNode, on plan: ObjectPlan, in store: any ObjectStore
  ) throws -> SQL {
    var writer = ExpressionSQL(store)
    var sql = SQL(unchecked: "")
    try writer.write(where: filter, Rows(of: plan), writer.rowStrategy(filter, plan), to: &sql)
    return sql
  }

  /// Writes an expression on rows.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/tooBig`` if the expression is nested too deeply,
  ///   the error of a ``QueryNode/failure(_:)``, or ``MagicError``, for example if an object isn't
  ///   in the store.
  mutating func write(_ node: QueryNode, _ rows: Rows, to sql: inout SQL) throws {
    guard level < QueryNode.greatestLevel else {
      throw QueryNode.isTooDeep(QueryNode.greatestLevel)
    }
    level += 1
    defer { level -= 1 }
    if try writeByReference(node, rows, to: &sql) { return }
    // Each case calls a separate function. Otherwise, each level of recursion would need the stack
    // space of all cases.
    switch node {
    case .value(let value): sql.append(value: value)
    case .column(let slots): sql.append(text: try column(slots[...], rows))
    case .object(let storage, let type): sql.append(value: try key(of: storage, type))
    case .comparing(let left, let comparison, let right, _):
      try write(left, comparison, right, rows, to: &sql)
    case .calculation(let left, let arithmetic, let right, _):
      try write(left, arithmetic, right, rows, to: &sql)
    case .isIn(let operand, let values): try write(operand, in: values, rows, to: &sql)
    case .librarySQL(let form, let operands, _): try write(form, operands, rows, to: &sql)
    case .literal(let pieces, let operands, _): try write(pieces, operands, rows, to: &sql)
    case .choice(let list): try write(choice: list.conditions, rows, to: &sql)
    case .related(let query, _): try write(query, rows, to: &sql)
    case .negation(let operand, _): try write(negationOf: operand, rows, to: &sql)
    case .all(let list): try write(list.conditions[...], joinedBy: " AND ", rows, to: &sql)
    case .any(let list):
      try write(grouped(list.conditions, rows)[...], joinedBy: " OR ", rows, to: &sql)
    case .failure(let error): throw error
    }
  }
}

// The kinds of nodes.
extension ExpressionSQL {
  private func key(of storage: ObjectStorage?, _ type: String) throws -> Value {
    guard let zIndex = storage?.zIndex(in: store.identity) else {
      throw MagicError.notSaved(type: type)
    }
    return .integer(zIndex)
  }

  private mutating func write(
    _ operand: QueryNode, in values: [Value], _ rows: Rows, to sql: inout SQL
  ) throws {
    try write(operand: withoutCollation(operand), rows, to: &sql)
    sql.append(" IN \(values)")
  }

  private mutating func write(
    _ form: QueryForm, _ operands: [QueryNode], _ rows: Rows, to sql: inout SQL
  ) throws {
    for (piece, operand) in zip(form.pieces, operands) {
      sql.append(text: piece)
      try write(operand: operand, rows, to: &sql)
    }
    sql.append(text: form.pieces.last ?? "")
  }

  private mutating func write(
    _ pieces: [SQL], _ operands: [QueryNode], _ rows: Rows, to sql: inout SQL
  ) throws {
    sql.append(text: "(")
    for (index, piece) in pieces.enumerated() {
      sql.append(piece)
      if index < operands.count { try write(operand: operands[index], rows, to: &sql) }
    }
    // A line comment at the end of the SQL ends at the line break.
    sql.append(text: "\n)")
  }

  private mutating func write(
    choice parts: [QueryNode], _ rows: Rows, to sql: inout SQL
  ) throws {
    sql.append(text: "CASE")
    for index in stride(from: 0, to: parts.count - 1, by: 2) {
      sql.append(text: " WHEN ")
      try write(operand: parts[index], rows, to: &sql)
      sql.append(text: " THEN ")
      try write(operand: parts[index + 1], rows, to: &sql)
    }
    sql.append(text: " ELSE ")
    try write(operand: parts[parts.count - 1], rows, to: &sql)
    sql.append(text: " END")
  }

  private mutating func write(
    negationOf operand: QueryNode, _ rows: Rows, to sql: inout SQL
  ) throws {
    // Not `IS NOT TRUE`: TRUE isn't a keyword, so a column may have this name.
    sql.append(text: operand.isTruthValue ? "(" : "NOT ifnull((")
    try write(operand, rows, to: &sql)
    sql.append(text: operand.isTruthValue ? ") IS NOT 1" : "), 0)")
  }

  /// Returns the operand of an equality. On a server, which lacks the collations of this library,
  /// the operand's collation is removed. The equality yields the same result, because equal values
  /// have the same stored form.
  private func withoutCollation(_ node: QueryNode) -> QueryNode {
    guard store.isRemote, case .librarySQL(let form, let operands, _) = node,
      form.pieces == QueryNode.orderPieces
    else { return node }
    return operands[0]
  }

  /// Writes an expression as the operand of an operator or a function.
  mutating func write(
    operand node: QueryNode, _ rows: Rows, to sql: inout SQL
  ) throws {
    guard node.needsParentheses else { return try write(node, rows, to: &sql) }
    sql.append(text: "(")
    try write(node, rows, to: &sql)
    sql.append(text: ")")
  }

  private mutating func write(
    _ left: QueryNode, _ comparison: QueryComparison, _ right: QueryNode, _ rows: Rows,
    to sql: inout SQL
  ) throws {
    let isEqual = comparison == .equal || comparison == .notEqual
    if case .value(let value) = right {
      if case .related(let query, _) = left {
        return try write(query, comparedWith: (comparison, value), rows, to: &sql)
      }
      try write(operand: isEqual ? withoutCollation(left) : left, rows, to: &sql)
      return sql.append(comparison, value)
    }
    try write(operand: isEqual ? withoutCollation(left) : left, rows, to: &sql)
    // Two nil values are equal.
    let isNullSafe = comparison == .equal && right.mayBeNull
    sql.append(text: isNullSafe ? " IS " : comparison.rawValue)
    try write(operand: right, rows, to: &sql)
  }

  private mutating func write(
    _ left: QueryNode, _ arithmetic: QueryArithmetic, _ right: QueryNode, _ rows: Rows,
    to sql: inout SQL
  ) throws {
    // In SQL as in Swift, operators of equal precedence are left-associative. Parentheses around
    // each operation would overflow the stack of SQLite's parser.
    var (first, rest) = (left, [(arithmetic, right)])
    while case .calculation(let left, let before, let right, _) = first,
      before.isSum == arithmetic.isSum
    {
      first = left
      rest.append((before, right))
    }
    sql.append(text: "(")
    try write(operand: first, rows, to: &sql)
    for (arithmetic, right) in rest.reversed() {
      sql.append(text: " \(arithmetic.rawValue) ")
      try write(operand: right, rows, to: &sql)
    }
    sql.append(text: ")")
  }

  /// Combines the equalities of a column with values, joined by `OR`, into one `IN` list for each
  /// column if there are more than 16 conditions. SQLite's compiler takes time that is quadratic in
  /// the number of comparisons: seconds for 20,000.
  private mutating func grouped(_ conditions: [QueryNode], _ rows: Rows) throws -> [QueryNode] {
    guard conditions.count > 16 else { return conditions }
    var indexes: [[Int]: Int] = [:]
    var lists: [(index: Int, operand: QueryNode, values: [Value])] = []
    var grouped: [QueryNode] = []
    for condition in conditions {
      guard case .comparing(let operand, .equal, let value, _) = condition,
        case .column(let slots) = operand, case .value(let value) = value, !value.isNull
      else {
        grouped.append(condition)
        continue
      }
      if let known = indexes[slots] {
        lists[known].values.append(value)
      } else {
        indexes[slots] = lists.count
        lists.append((grouped.count, operand, [value]))
        grouped.append(condition)
      }
    }
    for list in lists where list.values.count > 1 {
      grouped[list.index] = .isIn(list.operand, list.values)
    }
    return grouped
  }

  /// Writes conditions as a balanced tree of ` AND ` or ` OR `. In a plain sequence, each condition
  /// would add a level to SQLite's expression, which may have 1000 levels.
  mutating func write(
    _ conditions: ArraySlice<QueryNode>, joinedBy word: String, _ rows: Rows, to sql: inout SQL
  ) throws {
    if conditions.count == 1, let only = conditions.first {
      return try write(only, rows, to: &sql)
    }
    var half = 1
    while half * 2 < conditions.count { half *= 2 }
    sql.append(text: "(")
    try write(conditions.prefix(half), joinedBy: word, rows, to: &sql)
    sql.append(text: word)
    try write(conditions.dropFirst(half), joinedBy: word, rows, to: &sql)
    sql.append(text: ")")
  }
}

// Columns, and the rows of referenced objects.
extension ExpressionSQL {
  /// Returns the SQL of a column of the rows or of objects that they reference. References use a
  /// join if the rows have joins, otherwise a scalar subquery, which is allowed in any expression.
  mutating func column(_ slots: ArraySlice<Int>, _ rows: Rows) throws -> String {
    guard let slot = slots.first else { return rows.key }
    let property = rows.plan.properties[slot]
    let rest = slots.dropFirst()
    guard let next = rest.first else {
      guard property.hasColumn else {
        throw rows.plan.unsuitableProperty(property, "has no column to compare")
      }
      return try rows.column(slot)
    }
    guard case .object(let type) = property.role.kind else {
      throw rows.plan.unsuitableProperty(property, "does not reference an object")
    }
    let plan = try store.plan(type)
    // The reference itself stores the key of the other row.
    if rest.count == 1, next == plan.autoIncrementSlot { return try rows.column(slot) }
    if rows.joined != nil { return try column(rest, join(rows, slot, plan)) }
    let target = try Rows(plan, alias: alias())
    let (value, reference) = (try column(rest, target), try rows.column(slot))
    return
      "(SELECT \(value) FROM \(plan.quotedTable.text) AS \(target.alias ?? "") WHERE \(target.key) = \(reference))"
  }

  /// Returns the rows of the objects that a reference points to. Joins them on first use.
  private mutating func join(_ rows: Rows, _ slot: Int, _ plan: ObjectPlan) throws -> Rows {
    if let known = rows.joined?[slot] { return known }
    let target = try Rows(plan, alias: alias())
    target.joined = [:]
    rows.joined?[slot] = target
    return target
  }

  /// Returns the SQL of the joins that the expressions written so far use.
  func joins(of rows: Rows) throws -> String {
    var text = ""
    for (slot, target) in (rows.joined ?? [:]).sorted(by: { $0.key < $1.key }) {
      let reference = try rows.column(slot)
      text +=
        " LEFT JOIN \(target.plan.quotedTable.text) AS \(target.alias ?? "") ON \(target.key) = \(reference)"
      text += try joins(of: target)
    }
    return text
  }

  /// Returns a name that is unique in the statement.
  mutating func alias() -> String {
    aliases += 1
    return "magicdata_\(aliases)"
  }

}

extension SQL {
  /// Appends a comparison of the preceding expression with a value.
  mutating func append(_ comparison: QueryComparison, _ value: Value) {
    switch (comparison, value) {
    case (.equal, .null): append(text: " IS NULL")
    case (.notEqual, .null): append(text: " IS NOT NULL")
    default:
      append(text: comparison.rawValue)
      append(value: value)
    }
  }
}

extension ObjectPlan {
  func unsuitableProperty(_ property: Property, _ reason: String) -> MagicError {
    .unsuitableType(type: typeName, reason: "“\(property.name)” \(reason)")
  }
}

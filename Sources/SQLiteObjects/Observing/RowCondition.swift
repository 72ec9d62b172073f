import SQLiteCore
import SQLiteMapping

/// A filter that compares columns of one table with values or with each other, so that a changed
/// row can be tested without a query.
///
/// The test returns the same result as SQLite, or nil for unknown. If the storage classes of two
/// values differ, the affinity or collation of a column affects the comparison, and only SQLite can
/// evaluate it.
struct RowCondition: Sendable {
  /// The names, in lower case, of the columns that the condition reads.
  private var names: [String] = []
  private var holds: Predicate = { _ in nil }
  /// The table name in lower case.
  private let table: String

  /// A closure that returns whether a condition holds for a row, or nil if that is unknown. NULL
  /// counts as false.
  private typealias Predicate = @Sendable (Row) -> Bool?
  /// A closure that returns a value of a row, or nil if it is unknown.
  private typealias Operand = @Sendable (Row) -> Value?

  /// Creates a condition from a filter. The result is nil if only a query can evaluate the filter,
  /// for example because it reads related objects, compares a column whose type has a collation, or
  /// is nested more than 40 levels deep.
  init?(_ filter: QueryNode, on plan: ObjectPlan, in store: any ObjectStore) {
    table = asciiLowercased(plan.table)
    guard let holds = predicate(filter, plan, store.identity, level: 0) else { return nil }
    self.holds = holds
  }

  private mutating func predicate(
    _ node: QueryNode, _ plan: ObjectPlan, _ store: StoreIdentity, level: Int
  ) -> Predicate? {
    // Limits the stack depth. Filters that are nested more deeply are rare.
    guard level < 40 else { return nil }
    switch node {
    case .comparing(let left, let comparison, let right, _):
      guard let left = operand(left, plan, store), let right = operand(right, plan, store) else {
        return nil
      }
      return { row in
        guard let left = left(row), let right = right(row) else { return nil }
        return RowCondition.compare(left, comparison, right)
      }
    case .isIn(let left, let values):
      guard let left = operand(left, plan, store),
        let storageClass = values.first?.storageClass, storageClass != "REAL",
        values.allSatisfy({ $0.storageClass == storageClass })
      else { return nil }
      let values = Set(values)
      return { row in
        guard let value = left(row) else { return nil }
        if value.isNull { return false }
        return value.storageClass == storageClass ? values.contains(value) : nil
      }
    case .all(let list), .any(let list):
      var decisive = false
      if case .any = node { decisive = true }
      var predicates: [Predicate] = []
      for condition in list.conditions {
        guard let predicate = predicate(condition, plan, store, level: level + 1) else {
          return nil
        }
        predicates.append(predicate)
      }
      return { [decisive, predicates] row in
        var result: Bool? = !decisive
        for holds in predicates {
          let holds = holds(row)
          if holds == decisive { return decisive }
          if holds == nil { result = nil }
        }
        return result
      }
    case .negation(let operand, _):
      guard let holds = predicate(operand, plan, store, level: level + 1) else { return nil }
      return { holds($0).map { !$0 } }
    default: return nil
    }
  }

  private mutating func operand(
    _ node: QueryNode, _ plan: ObjectPlan, _ store: StoreIdentity
  ) -> Operand? {
    switch node {
    case .value(let value): return { _ in value }
    case .object(let storage, _):
      guard let key = storage?.zIndex(in: store) else { return nil }
      return { _ in .integer(key) }
    case .column(let slots):
      guard slots.count <= 1 else { return nil }
      guard let slot = slots.first, slot != plan.autoIncrementSlot else {
        return { .integer($0.key) }
      }
      let property = plan.properties[slot]
      guard property.hasColumn else { return nil }
      if case .column(let storage) = property.role.kind, storage.collation != nil { return nil }
      names.append(asciiLowercased(property.name))
      return { [number = names.count - 1] in $0.value(number) }
    default: return nil
    }
  }
}

extension RowCondition {
  /// The test of changed rows that an observation uses to skip commits that can't change its
  /// result.
  var test: ChangeTest {
    ChangeTest(table: table) { connection in
      guard let layout = try layout(connection) else { return nil }
      return { mayMatch($0, layout) }
    }
  }

  /// The number of columns of the table, and the positions of the condition's columns in a changed
  /// row.
  private struct Layout: Sendable {
    fileprivate let count: Int
    /// The columns that the condition reads, in the order of `names`.
    fileprivate var named: [Column] = []

    fileprivate struct Column {
      let place: Int
      /// Whether the column has a default value. In a row that is older than the column, NULL may
      /// then stand for that value.
      let hasDefault: Bool
      /// Whether the column has the type TEXT, so that it stores texts unconverted.
      let isText: Bool
    }
  }

  /// Returns the layout of the table's rows, by which the test finds the values to compare.
  ///
  /// - Returns: The layout, or nil if the condition can't be tested without a query: the table or a
  ///   column of the condition is missing, a column is generated, or the condition reads columns
  ///   and the table declares a collation.
  private func layout(_ connection: Connection) throws -> Layout? {
    let columns = try connection.columns(of: table)
    let text = try connection.firstRow(
      "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = \(table) COLLATE NOCASE",
      as: String.self)
    guard let text, columns.allSatisfy({ $0.kind == .ordinary }),
      names.isEmpty || !asciiLowercased(text).contains("collate")
    else { return nil }
    var layout = Layout(count: columns.count)
    for name in names {
      guard let place = columns.firstIndex(where: { asciiLowercased($0.name) == name }) else {
        return nil
      }
      layout.named.append(
        .init(
          place: place, hasDefault: columns[place].defaultSQL != nil,
          isText: asciiLowercased(columns[place].declaredType) == "text"))
    }
    return layout
  }

  /// Returns whether a changed row may satisfy the condition, before or after the change.
  private func mayMatch(_ change: RowChange, _ layout: Layout) -> Bool {
    guard asciiLowercased(change.table) == table else { return false }
    if change.kind != .insert, mayHold(change.old, key: change.oldRowID, layout, isOld: true) {
      return true
    }
    return change.kind != .delete && mayHold(change.new, key: change.rowID, layout, isOld: false)
  }

  private func mayHold(_ values: [Value]?, key: Int64, _ layout: Layout, isOld: Bool) -> Bool {
    guard let values, values.count == layout.count else { return true }
    return holds(Row(values: values, key: key, layout: layout, isOld: isOld)) ?? true
  }

  private struct Row {
    let values: [Value]
    let key: Int64
    let layout: Layout
    let isOld: Bool

    /// Returns the value of the column `layout.named[number]`, or nil if only SQLite can determine
    /// it.
    func value(_ number: Int) -> Value? {
      let column = layout.named[number]
      let value = values[column.place]
      // For a column that was added after the row was written, SQLite's preupdate hook returns
      // NULL.
      if isOld, value.isNull, column.hasDefault { return nil }
      switch value {
      // Text that isn't valid UTF-8 arrives as a blob.
      case .blob where column.isText: return nil
      case .text where !column.isText: return nil
      default: return value
      }
    }
  }

  private static func compare(
    _ left: Value, _ comparison: QueryComparison, _ right: Value
  ) -> Bool? {
    if left.isNull || right.isNull {
      switch comparison {
      case .equal: return left.isNull && right.isNull
      case .notEqual: return left.isNull != right.isNull
      case .less, .lessOrEqual, .greater, .greaterOrEqual: return false
      }
    }
    guard let order = order(left, right) else { return nil }
    return switch comparison {
    case .equal: order == 0
    case .notEqual: order != 0
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .greater: order > 0
    case .greaterOrEqual: order >= 0
    }
  }

  /// Compares two values.
  ///
  /// - Returns: A negative number if the first value is less, 0 if they are equal, a positive
  ///   number otherwise. Nil if SQLite might convert one of the values, or if the order can't be
  ///   determined without SQLite.
  private static func order(_ left: Value, _ right: Value) -> Int? {
    switch (left, right) {
    case (.integer(let one), .integer(let other)): return sign(one, other)
    case (.real(let one), .real(let other)): return sign(one, other)
    case (.integer(let one), .real(let other)):
      return Int64(exactly: Double(one)) == one ? sign(Double(one), other) : nil
    case (.real(let one), .integer(let other)):
      return Int64(exactly: Double(other)) == other ? sign(one, Double(other)) : nil
    case (.text(let one), .text(let other)):
      return one.utf8.elementsEqual(other.utf8)
        ? 0 : one.utf8.lexicographicallyPrecedes(other.utf8) ? -1 : 1
    case (.blob(let one), .blob(let other)):
      return one == other ? 0 : one.lexicographicallyPrecedes(other) ? -1 : 1
    default: return nil
    }
  }

  private static func sign<Number: Comparable>(_ left: Number, _ right: Number) -> Int? {
    left < right ? -1 : left == right ? 0 : left > right ? 1 : nil
  }
}

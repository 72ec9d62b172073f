import SQLiteCore
import SQLiteMapping

/// A filter that compares columns of one table with values, so that a row which a commit has changed can be
/// judged without asking the database.
///
/// It says what SQLite would say, or that it does not know: where the storage classes of two values differ, a
/// column's affinity or collation decides, and that is SQLite's.
struct RowCondition: Sendable {
  /// The columns that it names.
  private let names: [String]
  private let node: Node
  /// The table in lower case.
  private let table: String

  /// A column by its place in ``names``, nil for the key, or a value.
  private enum Operand: Sendable {
    case column(Int)
    case key
    case value(Value)
  }

  private indirect enum Node: Sendable {
    case comparing(Operand, QueryComparison, Operand)
    case isIn(Operand, Set<Value>, storageClass: String)
    case all([Node])
    case any([Node])
    case not(Node)
  }

  /// Takes over a filter, or returns nil if it does more than compare columns of the type's own table with
  /// values.
  init?(_ filter: QueryNode, on plan: ObjectPlan, in store: any ObjectStore) {
    var names: [String] = []
    guard let node = RowCondition.node(filter, plan, store.identity, &names, level: 0) else {
      return nil
    }
    self.node = node
    self.names = names.map(asciiLowercased)
    table = asciiLowercased(plan.table)
  }

  private static func node(
    _ node: QueryNode, _ plan: ObjectPlan, _ store: StoreIdentity, _ names: inout [String],
    level: Int
  ) -> Node? {
    // The stack is not endless, and such filters are rare.
    guard level < 40 else { return nil }
    func list(_ conditions: [QueryNode]) -> [Node]? {
      var nodes: [Node] = []
      for condition in conditions {
        guard let node = self.node(condition, plan, store, &names, level: level + 1) else {
          return nil
        }
        nodes.append(node)
      }
      return nodes
    }
    func operand(_ node: QueryNode) -> Operand? {
      switch node {
      case .value(let value): return .value(value)
      case .object(let storage, _): return storage?.zIndex(in: store).map { .value(.integer($0)) }
      case .column(let slots):
        guard slots.count <= 1 else { return nil }
        guard let slot = slots.first, slot != plan.counting else { return .key }
        let property = plan.properties[slot]
        guard property.hasColumn else { return nil }
        if case .column(let storage) = property.role.kind, storage.collation != nil { return nil }
        names.append(property.name)
        return .column(names.count - 1)
      default: return nil
      }
    }
    switch node {
    case .comparing(let left, let comparison, let right, _):
      guard let left = operand(left), let right = operand(right) else { return nil }
      return .comparing(left, comparison, right)
    case .isIn(let left, let values):
      guard let left = operand(left) else { return nil }
      guard let storageClass = values.first?.storageClass,
        values.allSatisfy({ $0.storageClass == storageClass }), storageClass != "REAL"
      else { return nil }
      return .isIn(left, Set(values), storageClass: storageClass)
    case .all(let conditions): return list(conditions.conditions).map { .all($0) }
    case .any(let conditions): return list(conditions.conditions).map { .any($0) }
    case .negation(let operand, _):
      return self.node(operand, plan, store, &names, level: level + 1).map { .not($0) }
    default: return nil
    }
  }
}

extension RowCondition {
  /// The condition as a test of changed rows.
  var test: ChangeTest {
    ChangeTest(table: table) { connection in
      guard let layout = try layout(connection) else { return nil }
      return { mayConcern($0, layout) }
    }
  }

  /// The columns of the table, as the rows that commits change have them.
  private struct Layout: Sendable {
    fileprivate let count: Int
    /// The place of each column that the condition names.
    fileprivate let places: [Int]
    /// Whether a row from before the column may have another value than NULL in it, although it says NULL.
    fileprivate let hasDefault: [Bool]
    /// Whether the column keeps texts as they are.
    fileprivate let isText: [Bool]
  }

  /// Looks up the columns.
  ///
  /// - Returns: Nil if the table lacks one, or calculates one, or compares otherwise than by bytes.
  private func layout(_ connection: Connection) throws -> Layout? {
    let columns = try connection.columns(of: table)
    let text = try connection.firstRow(
      "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = \(table) COLLATE NOCASE",
      as: String.self)
    guard let text, columns.allSatisfy({ $0.kind == .ordinary }),
      names.isEmpty || !asciiLowercased(text).contains("collate")
    else { return nil }
    var (places, hasDefault, isText) = ([Int](), [Bool](), [Bool]())
    for name in names {
      guard let place = columns.firstIndex(where: { asciiLowercased($0.name) == name }) else {
        return nil
      }
      places.append(place)
      hasDefault.append(columns[place].defaultSQL != nil)
      isText.append(asciiLowercased(columns[place].declaredType) == "text")
    }
    return Layout(count: columns.count, places: places, hasDefault: hasDefault, isText: isText)
  }

  /// Returns whether a change of rows may be of one that fulfils the condition, before or after it.
  private func mayConcern(_ change: RowChange, _ layout: Layout) -> Bool {
    guard asciiLowercased(change.table) == table else { return false }
    if change.kind != .insert, mayHold(change.old, key: change.oldRowID, layout, isOld: true) {
      return true
    }
    return change.kind != .delete && mayHold(change.new, key: change.rowID, layout, isOld: false)
  }

  private func mayHold(_ values: [Value]?, key: Int64, _ layout: Layout, isOld: Bool) -> Bool {
    guard let values, values.count == layout.count else { return true }
    return holds(node, Row(values: values, key: key, layout: layout, isOld: isOld)) ?? true
  }

  private struct Row {
    let values: [Value]
    let key: Int64
    let layout: Layout
    let isOld: Bool

    /// The value of an operand, nil if it is not known.
    func value(_ operand: Operand) -> Value? {
      switch operand {
      case .key: return .integer(key)
      case .value(let value): return value
      case .column(let number):
        let value = values[layout.places[number]]
        // SQLite's hook gives NULL for a column that was added after the row was written.
        if isOld, value.isNull, layout.hasDefault[number] { return nil }
        switch value {
        // Its hook's text that is no UTF-8 comes as a blob.
        case .blob where layout.isText[number]: return nil
        case .text where !layout.isText[number]: return nil
        default: return value
        }
      }
    }
  }

  /// Returns whether a condition holds, where NULL is false; nil if it is not known.
  private func holds(_ node: Node, _ row: Row) -> Bool? {
    switch node {
    case .comparing(let left, let comparison, let right):
      guard let left = row.value(left), let right = row.value(right) else { return nil }
      return RowCondition.compare(left, comparison, right)
    case .isIn(let operand, let values, let storageClass):
      guard let value = row.value(operand) else { return nil }
      if value.isNull { return false }
      return value.storageClass == storageClass ? values.contains(value) : nil
    case .all(let nodes): return holds(nodes, row, decidedBy: false)
    case .any(let nodes): return holds(nodes, row, decidedBy: true)
    case .not(let node): return holds(node, row).map { !$0 }
    }
  }

  /// Returns whether several conditions hold, of which the first with the result `decisive` decides; nil if that is not
  /// known.
  private func holds(_ nodes: [Node], _ row: Row, decidedBy decisive: Bool) -> Bool? {
    var result: Bool? = !decisive
    for node in nodes {
      guard let holds = holds(node, row) else {
        result = nil
        continue
      }
      if holds == decisive { return decisive }
    }
    return result
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

  /// Negative if the first value is the lesser one, 0 if they are equal; nil if SQLite might convert one of
  /// them, or if it is not told here.
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

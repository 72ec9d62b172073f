import SQLiteCore
import SQLiteMapping
import SQLiteRelations

/// Turns conditions on objects into SQL, as one store has them.
struct ConditionWriter {
  /// A row in scope, by the name that its columns are qualified by.
  struct Row {
    let plan: ObjectPlan
    let name: String

    func column(_ column: String) -> SQL { "\(identifier: name).\(identifier: column)" }
    var key: SQL { column(plan.key) }
  }

  private let store: MagicData
  private var aliases = 0

  init(_ store: MagicData) {
    self.store = store
  }

  /// A condition on the rows of a type's own table.
  static func sql(_ condition: Condition, on plan: ObjectPlan, in store: MagicData) throws -> SQL {
    var writer = ConditionWriter(store)
    return try writer.sql(condition, Row(plan: plan, name: plan.table))
  }

  /// An operand on the rows of a type's own table.
  static func sql(_ operand: Operand, on plan: ObjectPlan, in store: MagicData) throws -> SQL {
    var writer = ConditionWriter(store)
    return try writer.sql(operand, Row(plan: plan, name: plan.table))
  }

  private mutating func sql(_ condition: Condition, _ row: Row) throws -> SQL {
    switch condition {
    case .comparison(let left, let comparison, let right):
      return try self.comparison(left, comparison, right, row)
    case .isIn(let operand, let list):
      let values = try list.map { operand -> Value in
        guard case .value(let value) = operand else { throw operand.failure }
        return value
      }
      return "\(try sql(operand, row)) IN \(values)"
    case .hasPrefix(let operand, let prefix):
      let column = try sql(operand, row)
      // A range, so that an index serves; texts are compared by bytes.
      guard let end = TextRange.end(ofPrefix: prefix) else { return "\(column) >= \(prefix)" }
      return "(\(column) >= \(prefix) AND \(column) < \(end))"
    case .contains(let operand, let part):
      let column = try sql(operand, row)
      return part.isEmpty ? "\(column) IS NOT NULL" : "instr(\(column), \(part)) > 0"
    case .like(let operand, let pattern): return "\(try sql(operand, row)) LIKE \(pattern)"
    case .leads(let condition, let relation): return try leads(to: condition, relation, row)
    case .leadsToObject(let object, let relation):
      let (table, owner) = try links(relation, row)
      return
        "EXISTS (SELECT 1 FROM \(identifier: table.name) WHERE owner = \(owner) AND target = \(try sql(object, row)))"
    case .sql(let sql): return "(\(sql))"
    case .not(let operand): return "(\(try sql(operand, row))) IS NOT TRUE"
    case .and(let left, let right): return "(\(try sql(left, row)) AND \(try sql(right, row)))"
    case .or(let left, let right): return "(\(try sql(left, row)) OR \(try sql(right, row)))"
    }
  }

  private mutating func comparison(
    _ left: Operand, _ comparison: Condition.Comparison, _ right: Operand, _ row: Row
  ) throws -> SQL {
    let column = try sql(left, row)
    switch (comparison, right) {
    case (.equal, .value(.null)): return "\(column) IS NULL"
    case (.notEqual, .value(.null)): return "\(column) IS NOT NULL"
    // Of two columns both may be nil, and then are equal.
    case (.equal, .column), (.equal, .arithmetic): return "\(column) IS \(try sql(right, row))"
    default: return "\(column) \(SQL(unchecked: comparison.rawValue)) \(try sql(right, row))"
    }
  }

  private mutating func sql(_ operand: Operand, _ row: Row) throws -> SQL {
    switch operand {
    case .column(let slots): return try column(slots[...], row)
    case .count:
      let (table, owner) = try links(operand, row)
      return "(SELECT count(*) FROM \(identifier: table.name) WHERE owner = \(owner))"
    case .value(let value): return "\(value)"
    case .object(let storage, let type):
      guard let zIndex = storage?.zIndex(in: store.identity) else {
        throw MagicError.notSaved(type: type)
      }
      return "\(zIndex)"
    case .arithmetic(let left, let arithmetic, let right):
      return
        "(\(try sql(left, row)) \(SQL(unchecked: arithmetic.rawValue)) \(try sql(right, row)))"
    case .failure(let error): throw error
    }
  }

  /// A column of the row, or of a row that references lead to.
  private mutating func column(_ slots: ArraySlice<Int>, _ row: Row) throws -> SQL {
    guard let slot = slots.first else { return row.key }
    let property = row.plan.properties[slot]
    guard slots.count > 1 else {
      guard property.hasColumn else { throw row.plan.refuse(property, "has no column to compare") }
      return row.column(property.name)
    }
    guard case .object(let type) = property.role.kind else {
      throw row.plan.refuse(property, "leads to no object")
    }
    let target = try alias(type)
    return
      "(SELECT \(try column(slots.dropFirst(), target)) FROM \(identifier: target.plan.table) AS \(identifier: target.name) WHERE \(target.key) = \(row.column(property.name)))"
  }

  private mutating func alias(_ type: any MagicObject.Type) throws -> Row {
    aliases += 1
    return Row(plan: try store.plan(type), name: "magicdata_\(aliases)")
  }

  /// The link table of a relation and the key of the row whose links are meant.
  private mutating func links(
    _ operand: Operand, _ row: Row
  ) throws -> (table: LinkTable, owner: SQL) {
    guard case .count(let slots) = operand, let last = slots.last else { throw operand.failure }
    var plan = row.plan
    for slot in slots.dropLast() {
      guard case .object(let type) = plan.properties[slot].role.kind else {
        throw plan.refuse(plan.properties[slot], "leads to no object")
      }
      plan = try store.plan(type)
    }
    guard let table = try plan.linkTable(last, store.plan) else {
      throw plan.refuse(plan.properties[last], "leads to no collection of objects")
    }
    return (table, slots.count > 1 ? try column(slots.dropLast(), row) : row.key)
  }

  private mutating func leads(
    to condition: Condition?, _ relation: Operand, _ row: Row
  ) throws -> SQL {
    let (table, owner) = try links(relation, row)
    guard let condition else {
      return "EXISTS (SELECT 1 FROM \(identifier: table.name) WHERE owner = \(owner))"
    }
    guard case .count(let slots) = relation, let last = slots.last,
      case .links(_, let type) = try ownerPlan(slots, row.plan).properties[last].role.kind
    else { throw relation.failure }
    let target = try alias(type)
    let links = "magicdata_link_\(aliases)"
    return
      "EXISTS (SELECT 1 FROM \(identifier: table.name) AS \(identifier: links) JOIN \(identifier: target.plan.table) AS \(identifier: target.name) ON \(target.key) = \(identifier: links).target WHERE \(identifier: links).owner = \(owner) AND \(try sql(condition, target)))"
  }

  private func ownerPlan(_ slots: [Int], _ plan: ObjectPlan) throws -> ObjectPlan {
    var plan = plan
    for slot in slots.dropLast() {
      guard case .object(let type) = plan.properties[slot].role.kind else {
        throw plan.refuse(plan.properties[slot], "leads to no object")
      }
      plan = try store.plan(type)
    }
    return plan
  }
}

extension ObjectPlan {
  fileprivate func refuse(_ property: Property, _ reason: String) -> MagicError {
    .unsuitableType(type: typeName, reason: "“\(property.name)” \(reason)")
  }
}

extension Operand {
  /// Why the operand cannot stand where it stands.
  fileprivate var failure: MagicError {
    if case .failure(let error) = self { return error }
    return .unsuitableType(type: "a filter", reason: "it compares what cannot be compared")
  }
}

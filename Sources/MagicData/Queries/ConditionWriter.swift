import SQLiteCore
import SQLiteMapping
import SQLiteRelations

/// Turns conditions on objects into SQL, as one store has them.
struct ConditionWriter: FilterWriter {
  /// A row in scope, by the name that its columns are qualified by.
  struct Row {
    let plan: ObjectPlan
    let name: String

    func column(_ column: String) -> SQL { "\(identifier: name).\(identifier: column)" }
    var key: SQL { column(plan.key) }
  }

  private let store: MagicData
  private var aliases = 0
  var filterDepth = 0

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

  mutating func sql(_ term: ObjectTerm, _ row: Row) throws -> SQL {
    switch term {
    case .column(let slots): return try column(slots[...], row)
    case .count(let slots):
      let (table, owner) = try links(slots, row)
      return "(SELECT count(*) FROM \(identifier: table.name) WHERE owner = \(owner))"
    case .object(let storage, let type):
      guard let zIndex = storage?.zIndex(in: store.identity) else {
        throw MagicError.notSaved(type: type)
      }
      return "\(zIndex)"
    case .leads(let condition, let relation):
      return try leads(to: condition, try relation.slots, row)
    case .leadsToObject(let object, let relation):
      let (table, owner) = try links(try relation.slots, row)
      return
        "EXISTS (SELECT 1 FROM \(identifier: table.name) WHERE owner = \(owner) AND target = \(try sql(object, row)))"
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
    _ slots: [Int], _ row: Row
  ) throws -> (table: LinkTable, owner: SQL) {
    guard let last = slots.last else { throw notComparable }
    let plan = try ownerPlan(slots, row.plan)
    guard let table = try plan.linkTable(last, store.plan) else {
      throw plan.refuse(plan.properties[last], "leads to no collection of objects")
    }
    return (table, slots.count > 1 ? try column(slots.dropLast(), row) : row.key)
  }

  private mutating func leads(
    to condition: Condition?, _ slots: [Int], _ row: Row
  ) throws -> SQL {
    let (table, owner) = try links(slots, row)
    guard let condition else {
      return "EXISTS (SELECT 1 FROM \(identifier: table.name) WHERE owner = \(owner))"
    }
    guard let last = slots.last,
      case .links(_, let type) = try ownerPlan(slots, row.plan).properties[last].role.kind
    else { throw notComparable }
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
  /// The places of the properties that lead to the links of one.
  fileprivate var slots: [Int] {
    get throws {
      switch self {
      case .known(.count(let slots)): return slots
      case .known(.failure(let error)): throw error
      default: throw notComparable
      }
    }
  }
}

/// An operand cannot stand where it stands.
private var notComparable: MagicError {
  .unsuitableType(type: "a filter", reason: "it compares what cannot be compared")
}

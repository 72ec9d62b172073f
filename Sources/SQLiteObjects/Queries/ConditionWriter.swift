import SQLiteCore
import SQLiteMapping

/// The operands and conditions of filters of objects.
typealias Operand = FilterOperand<ObjectTerm>
typealias Condition = FilterCondition<ObjectTerm>

/// The terms of filters of objects: names for columns, relations and objects.
indirect enum ObjectTerm: Sendable {
  /// A column, by the slots of the properties that lead to it.
  case column([Int])
  /// The number of objects that the links of a property lead to.
  case count([Int])
  /// The z_index of an object, as the store knows it; nil for one that was never saved.
  case object(ObjectStorage?, type: String)
  /// The condition holds for an object that the links of a property lead to.
  case leads(to: Condition?, through: Operand)
  /// The links of a property lead to a certain object.
  case leadsToObject(Operand, through: Operand)
  /// There is no such column.
  case failure(MagicError)
}

extension Operand {
  /// The column that a path leads to.
  init<Object: MagicObject>(_ path: KeyPath<Object, some MagicColumn>) {
    self.init(path) { .column(.column($0)) }
  }

  init<Object: MagicObject>(
    _ path: KeyPath<Object, some MagicColumn>, _ make: ([Int]) -> Operand
  ) {
    self =
      Prototype<Object>.slots(path).map(make)
      ?? .failure(
        .unsuitableType(type: "\(Object.self)", reason: "\(path) leads to none of its properties"))
  }

  /// The value as it is stored.
  init(_ value: some Codable) {
    do {
      self = .value(try ValueCoding.stored(value))
    } catch {
      self = .failure(
        .unstorableValue(type: "\(type(of: value))", property: "a filter", reason: "\(error)"))
    }
  }

  private static func failure(_ error: MagicError) -> Operand { .known(.failure(error)) }
}

/// Turns conditions on objects into SQL, as one store has them.
struct ConditionWriter: FilterWriter {
  typealias Term = ObjectTerm

  /// A row in scope, by the name that its columns are qualified by.
  struct Row {
    let plan: ObjectPlan
    let name: String
    /// Whether the name is that of the type's own table.
    var isTable = false

    /// Writes a column, or the key.
    func write(_ slot: Int?, to sql: inout FilterSQL) throws {
      if isTable {
        sql.append(slot.map { plan.qualifiedColumns[$0] } ?? plan.qualifiedKey)
      } else {
        try sql.append(identifier: name)
        sql.append(".")
        try sql.append(identifier: slot.map { plan.properties[$0].name } ?? plan.key)
      }
    }
  }

  private let store: any ObjectStore
  private var aliases = 0

  init(_ store: any ObjectStore) {
    self.store = store
  }

  /// A condition on the rows of a type's own table.
  static func sql(_ condition: Condition, on plan: ObjectPlan, in store: any ObjectStore) throws
    -> SQL
  {
    var writer = ConditionWriter(store)
    var sql = FilterSQL()
    try writer.write(condition, Row(plan: plan, name: plan.table, isTable: true), to: &sql)
    return sql.sql
  }

  /// An operand on the rows of a type's own table.
  static func sql(_ operand: Operand, on plan: ObjectPlan, in store: any ObjectStore) throws -> SQL
  {
    var writer = ConditionWriter(store)
    var sql = FilterSQL()
    try writer.write(operand, Row(plan: plan, name: plan.table, isTable: true), to: &sql)
    return sql.sql
  }

  mutating func write(_ term: ObjectTerm, _ row: Row, to sql: inout FilterSQL) throws {
    switch term {
    case .column(let slots): try writeColumn(slots[...], row, to: &sql)
    case .count(let slots):
      let (relation, owner) = try relation(slots, row)
      try sql.append(relation.keys.countSQL(from: owner, as: linkName()))
    case .object(let storage, let type):
      guard let zIndex = storage?.zIndex(in: store.identity) else {
        throw MagicError.notSaved(type: type)
      }
      sql.append(value: .integer(zIndex))
    case .leads(let condition, let operand):
      let (relation, owner) = try relation(operand.slots, row)
      guard let condition else {
        return try sql.append(relation.keys.existsSQL(from: owner, as: linkName()))
      }
      let target = alias(of: relation.destination)
      var inner = FilterSQL()
      try write(condition, target, to: &inner)
      try sql.append(
        relation.keys.existsSQL(
          from: owner, as: linkName(), to: target.name, where: inner.sql))
    case .leadsToObject(let object, let operand):
      let (relation, owner) = try relation(operand.slots, row)
      var end = FilterSQL()
      try write(object, row, to: &end)
      try sql.append(relation.keys.existsSQL(from: owner, to: end.sql, as: linkName()))
    case .failure(let error): throw error
    }
  }

  /// Writes a column of the row, or of a row that references lead to.
  private mutating func writeColumn(
    _ slots: ArraySlice<Int>, _ row: Row, to sql: inout FilterSQL
  ) throws {
    guard let slot = slots.first else { return try row.write(nil, to: &sql) }
    let property = row.plan.properties[slot]
    guard slots.count > 1 else {
      guard property.hasColumn else { throw row.plan.refuse(property, "has no column to compare") }
      return try row.write(slot, to: &sql)
    }
    guard case .object(let type) = property.role.kind else {
      throw row.plan.refuse(property, "leads to no object")
    }
    let target = alias(of: try store.plan(type))
    sql.append("(SELECT ")
    try writeColumn(slots.dropFirst(), target, to: &sql)
    try sql.append(
      " FROM \(identifier: target.plan.table) AS \(identifier: target.name) WHERE " as SQL)
    try target.write(nil, to: &sql)
    sql.append(" = ")
    try row.write(slot, to: &sql)
    sql.append(")")
  }

  /// A row of a type under a name that no other row has.
  private mutating func alias(of plan: ObjectPlan) -> Row {
    aliases += 1
    return Row(plan: plan, name: "magicdata_\(aliases)")
  }

  /// A name that no other rows of links have.
  private mutating func linkName() -> String {
    aliases += 1
    return "magicdata_link_\(aliases)"
  }

  /// The relation that a path ends with, and the key of the row that it leads from.
  private mutating func relation(
    _ slots: [Int], _ row: Row
  ) throws -> (relation: ObjectRelation, owner: SQL) {
    guard let last = slots.last else { throw notComparable }
    let plan = try ownerPlan(slots, row.plan)
    let property = plan.properties[last]
    guard property.isLinked else {
      throw plan.refuse(property, "leads to no collection of objects")
    }
    var owner = FilterSQL()
    try writeColumn(slots.dropLast(), row, to: &owner)
    return (try store.relations.relation(plan, last, in: store), owner.sql)
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
  /// The slots of the properties that lead to the links of one.
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

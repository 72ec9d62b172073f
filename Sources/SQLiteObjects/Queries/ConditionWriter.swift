import SQLiteCore
import SQLiteMapping
import SQLiteRelations

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

  private let store: MagicData
  private var aliases = 0

  init(_ store: MagicData) {
    self.store = store
  }

  /// A condition on the rows of a type's own table.
  static func sql(_ condition: Condition, on plan: ObjectPlan, in store: MagicData) throws -> SQL {
    var writer = ConditionWriter(store)
    var sql = FilterSQL()
    try writer.write(condition, Row(plan: plan, name: plan.table, isTable: true), to: &sql)
    return sql.sql
  }

  /// An operand on the rows of a type's own table.
  static func sql(_ operand: Operand, on plan: ObjectPlan, in store: MagicData) throws -> SQL {
    var writer = ConditionWriter(store)
    var sql = FilterSQL()
    try writer.write(operand, Row(plan: plan, name: plan.table, isTable: true), to: &sql)
    return sql.sql
  }

  mutating func write(_ term: ObjectTerm, _ row: Row, to sql: inout FilterSQL) throws {
    switch term {
    case .column(let slots): try writeColumn(slots[...], row, to: &sql)
    case .count(let slots):
      sql.append("(SELECT count(*) FROM ")
      try writeLinks(of: slots, row, to: &sql)
      sql.append(")")
    case .object(let storage, let type):
      guard let zIndex = storage?.zIndex(in: store.identity) else {
        throw MagicError.notSaved(type: type)
      }
      sql.append(value: .integer(zIndex))
    case .leads(let condition, let relation):
      try write(condition, leadsThrough: try relation.slots, row, to: &sql)
    case .leadsToObject(let object, let relation):
      sql.append("EXISTS (SELECT 1 FROM ")
      try writeLinks(of: try relation.slots, row, to: &sql)
      sql.append(" AND target = ")
      try write(object, row, to: &sql)
      sql.append(")")
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
    let target = try alias(type)
    sql.append("(SELECT ")
    try writeColumn(slots.dropFirst(), target, to: &sql)
    try sql.append(
      " FROM \(identifier: target.plan.table) AS \(identifier: target.name) WHERE " as SQL)
    try target.write(nil, to: &sql)
    sql.append(" = ")
    try row.write(slot, to: &sql)
    sql.append(")")
  }

  private mutating func alias(_ type: any MagicObject.Type) throws -> Row {
    aliases += 1
    return Row(plan: try store.plan(type), name: "magicdata_\(aliases)")
  }

  /// The link table of a relation.
  private func links(_ slots: [Int], _ row: Row) throws -> LinkTable {
    guard let last = slots.last else { throw notComparable }
    let plan = try ownerPlan(slots, row.plan)
    guard let table = try plan.linkTable(last, store.plan) else {
      throw plan.refuse(plan.properties[last], "leads to no collection of objects")
    }
    return table
  }

  /// Writes the key of the row whose links are meant.
  private mutating func writeOwner(
    of slots: [Int], _ row: Row, to sql: inout FilterSQL
  ) throws {
    try writeColumn(slots.dropLast(), row, to: &sql)
  }

  /// Writes where the links of a relation are, and which of them are meant.
  private mutating func writeLinks(
    of slots: [Int], _ row: Row, to sql: inout FilterSQL
  ) throws {
    try sql.append(identifier: try links(slots, row).name)
    sql.append(" WHERE owner = ")
    try writeOwner(of: slots, row, to: &sql)
  }

  private mutating func write(
    _ condition: Condition?, leadsThrough slots: [Int], _ row: Row, to sql: inout FilterSQL
  ) throws {
    sql.append("EXISTS (SELECT 1 FROM ")
    guard let condition else {
      try writeLinks(of: slots, row, to: &sql)
      return sql.append(")")
    }
    let table = try links(slots, row)
    // The owner before the target, since each is named by a number of its own.
    var owner = FilterSQL()
    try writeOwner(of: slots, row, to: &owner)
    guard let last = slots.last,
      case .links(_, let type) = try ownerPlan(slots, row.plan).properties[last].role.kind
    else { throw notComparable }
    let target = try alias(type)
    let links: SQL = "\(identifier: "magicdata_link_\(aliases)")"
    try sql.append(
      "\(identifier: table.name) AS \(links) JOIN \(identifier: target.plan.table) AS \(identifier: target.name) ON "
        as SQL)
    try target.write(nil, to: &sql)
    try sql.append(" = \(links).target WHERE \(links).owner = \(owner.sql) AND " as SQL)
    try write(condition, target, to: &sql)
    sql.append(")")
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

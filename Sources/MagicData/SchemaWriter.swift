import SQLiteCore
import SQLiteMapping
import SQLiteRelations

/// Makes and grows the tables of types, and of the types that they lead to.
struct SchemaWriter {
  private let store: MagicData
  private let connection: Connection

  init(_ store: MagicData, _ connection: Connection) {
    self.store = store
    self.connection = connection
  }

  /// Makes the tables of `plans` and of all that they lead to.
  func prepare(_ plans: [ObjectPlan]) throws {
    let plans = try reach(plans)
    for plan in plans { try MetaTable.register(plan.table, of: plan.typeName, connection) }
    for definition in try tables(of: plans) { try connection.ensure(definition) }
    for plan in plans {
      for property in plan.properties where property.role.isAsset {
        try makeTriggers(plan, property)
      }
    }
  }

  /// The tables of `plans` and of all that they lead to, as the types ask for them.
  func definitions(_ plans: [ObjectPlan]) throws -> [TableDefinition] {
    try tables(of: reach(plans))
  }

  private func tables(of plans: [ObjectPlan]) throws -> [TableDefinition] {
    var tables: [TableDefinition] = []
    for plan in plans {
      tables.append(try plan.definition(store.plan))
      for slot in plan.links {
        if let links = try plan.linkTable(slot, store.plan) { tables.append(links.definition) }
      }
    }
    return tables
  }

  /// The types and all that they lead to, each once.
  private func reach(_ plans: [ObjectPlan]) throws -> [ObjectPlan] {
    var reached: [ObjectPlan] = []
    var seen: Set<ObjectIdentifier> = []
    var pending = plans
    while let plan = pending.popLast() {
      guard seen.insert(ObjectIdentifier(plan.type)).inserted else { continue }
      reached.append(plan)
      for property in plan.properties {
        switch property.role.kind {
        case .object(let type), .links(_, let type): pending.append(try store.plan(type))
        case .column, .asset, .reverse: break
        }
      }
    }
    return reached
  }

  /// Lets an asset go when its object goes, or when the object gets another, by whatever SQL.
  private func makeTriggers(_ plan: ObjectPlan, _ property: ObjectPlan.Property) throws {
    let column: SQL = "\(identifier: property.name)"
    try connection.executeChange(
      """
      CREATE TRIGGER IF NOT EXISTS \(identifier: "\(plan.table)_\(property.name)_delete")
      AFTER DELETE ON \(identifier: plan.table) WHEN OLD.\(column) IS NOT NULL
      BEGIN DELETE FROM magicdata_asset WHERE id = OLD.\(column); END
      """)
    try connection.executeChange(
      """
      CREATE TRIGGER IF NOT EXISTS \(identifier: "\(plan.table)_\(property.name)_update")
      AFTER UPDATE OF \(column) ON \(identifier: plan.table)
      WHEN OLD.\(column) IS NOT NULL AND OLD.\(column) IS NOT NEW.\(column)
      BEGIN DELETE FROM magicdata_asset WHERE id = OLD.\(column); END
      """)
  }
}

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
    let plans = try SchemaWriter.reach(plans, store.plan)
    for plan in plans { try MetaTable.register(plan.table, of: plan.typeName, connection) }
    for definition in try SchemaWriter.definitions(plans, isDeep: false, store.plan) {
      try connection.ensure(definition)
    }
    for plan in plans {
      for property in plan.properties where property.role.isAsset {
        try makeTriggers(plan, property)
      }
    }
  }

  /// The tables of types and of their links, as the types ask for them.
  ///
  /// - Parameters:
  ///   - plans: The types.
  ///   - isDeep: Whether to include the types that they lead to.
  ///   - plan: What is known of a type.
  static func definitions(
    _ plans: [ObjectPlan], isDeep: Bool, _ plan: (any MagicObject.Type) throws -> ObjectPlan
  ) throws -> [TableDefinition] {
    var tables: [TableDefinition] = []
    for owner in isDeep ? try reach(plans, plan) : plans {
      tables.append(try owner.definition(plan))
      for slot in owner.links {
        if let links = try owner.linkTable(slot, plan) { tables.append(links.definition) }
      }
    }
    return tables
  }

  /// Types and all that they lead to, each once.
  private static func reach(
    _ plans: [ObjectPlan], _ plan: (any MagicObject.Type) throws -> ObjectPlan
  ) throws -> [ObjectPlan] {
    var reached: [ObjectPlan] = []
    var seen: Set<ObjectIdentifier> = []
    var pending = plans
    while let next = pending.popLast() {
      guard seen.insert(ObjectIdentifier(next.type)).inserted else { continue }
      reached.append(next)
      for property in next.properties {
        switch property.role.kind {
        case .object(let type), .links(_, let type): pending.append(try plan(type))
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

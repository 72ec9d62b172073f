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
        try AssetTriggers(connection).make(property.name, of: plan.table)
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
}

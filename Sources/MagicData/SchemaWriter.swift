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
    var pending = plans
    var done: Set<ObjectIdentifier> = []
    while let plan = pending.popLast() {
      guard done.insert(ObjectIdentifier(plan.type)).inserted else { continue }
      try MetaTable.register(plan.table, of: plan.typeName, connection)
      try connection.ensure(plan.definition(store.plan))
      for (slot, property) in plan.properties.enumerated() {
        switch property.role.kind {
        case .object(let type): pending.append(try store.plan(type))
        case .links(_, let type):
          pending.append(try store.plan(type))
          if let table = try plan.linkTable(slot, store.plan) {
            try connection.ensure(table.definition)
          }
        case .asset: try makeTriggers(plan, property)
        case .column, .reverse: break
        }
      }
    }
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

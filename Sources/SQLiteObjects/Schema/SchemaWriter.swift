import SQLiteCore
import SQLiteMapping
import SQLiteRelations

/// Makes and grows the tables of types, and of the types that they lead to.
struct SchemaWriter {
  private let store: any ObjectStore
  private let connection: Connection

  init(_ store: any ObjectStore, _ connection: Connection) {
    self.store = store
    self.connection = connection
  }

  /// Makes the tables of `plans` and of all that they lead to.
  func prepare(_ plans: [ObjectPlan]) throws {
    let plans = try SchemaWriter.reach(plans, store.plan)
    for plan in plans { try MetaTable.register(plan.table, of: plan.typeName, connection) }
    for table in try SchemaWriter.tables(of: plans, store.plan) {
      if try table.isUnderFormerName(connection), let former = table.formerName {
        try ObjectTables(connection).renameLink(former, to: table.definition.name)
      }
      try table.refuseOtherMeaning(connection)
      try connection.ensure(table.definition)
    }
    for plan in plans {
      for property in plan.properties where property.role.isAsset {
        try AssetTriggers(connection).make(property.name, of: plan.table)
      }
    }
  }

  /// The tables of types, of their links and of all that they lead to, as the types ask for them.
  ///
  /// - Parameters:
  ///   - plans: The types.
  ///   - plan: What is known of a type.
  static func tables(
    reachedFrom plans: [ObjectPlan], _ plan: (any MagicObject.Type) throws -> ObjectPlan
  ) throws -> [StoredTable] {
    try tables(of: reach(plans, plan), plan)
  }

  /// The tables of types and of their links.
  static func tables(
    of plans: [ObjectPlan], _ plan: (any MagicObject.Type) throws -> ObjectPlan
  ) throws -> [StoredTable] {
    var tables: [StoredTable] = []
    for owner in plans {
      tables.append(
        StoredTable(
          definition: try owner.definition(plan), claim: owner.qualifiedName, key: owner.key))
      for slot in owner.links {
        guard let links = try owner.linkTable(slot, plan) else { continue }
        let name = owner.properties[slot].name
        tables.append(
          StoredTable(
            definition: links.definition, claim: "\(owner.qualifiedName).\(name)", links: links,
            formerName: PropertyName.former(name, of: owner.table)))
      }
    }
    return tables
  }

  /// Types and all that they lead to, each once.
  static func reach(
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

/// A table that a type needs: of its objects, or of the links of a property.
struct StoredTable {
  let definition: TableDefinition
  /// What the table is for.
  let claim: String
  /// The key of the objects, if it is a table of objects.
  var key: String?
  /// The links, if it is a table of links.
  var links: LinkTable?
  /// The name that programs of before gave to the links.
  var formerName: String?

  /// Says whether the links are there under the name that programs of before gave them.
  func isUnderFormerName(_ connection: Connection) throws -> Bool {
    guard let links, let formerName,
      asciiLowercased(formerName) != asciiLowercased(definition.name)
    else { return false }
    // That the owner is the right one is told by the foreign key.
    return try connection.columnNames(of: definition.name).isEmpty
      && connection.isTable(formerName, of: links)
  }

  /// Throws if a table of the name is there that is something else.
  func refuseOtherMeaning(_ connection: Connection) throws {
    let present = try connection.columnNames(of: definition.name)
    if present.isEmpty { return }
    let fits =
      if let links { try connection.isTable(definition.name, of: links) } else {
        key.map { present.contains(asciiLowercased($0)) } ?? true
      }
    guard fits else {
      throw MagicError.conflictingTypes(
        table: definition.name, types: [claim, "what the store has there, which is something else"])
    }
  }
}

extension Connection {
  /// Says whether a table holds links between the rows of the right tables.
  fileprivate func isTable(_ name: String, of links: LinkTable) throws -> Bool {
    let present = try columnNames(of: name)
    guard links.definition.columns.allSatisfy({ present.contains($0.name) }) else { return false }
    let keys = try foreignKeys(of: name)
    func leads(_ column: String, to table: String) -> Bool {
      keys.contains {
        $0.columns.map(asciiLowercased) == [column]
          && asciiLowercased($0.referencedTable) == asciiLowercased(table)
      }
    }
    return leads("owner", to: links.owner.table) && leads("target", to: links.target.table)
  }
}

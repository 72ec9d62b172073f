import SQLiteCore
import SQLiteMapping
import SQLiteRelations

/// The tables of types, of their links and of all types that they lead to, as the types ask for them.
struct ObjectSchema {
  /// The types, each once.
  private let plans: [ObjectPlan]
  let tables: [ObjectTable]

  /// Collects the tables.
  ///
  /// - Parameters:
  ///   - plans: The types.
  ///   - plan: Returns the plan of a type.
  init(
    reachedFrom plans: [ObjectPlan], _ plan: (any MagicObject.Type) throws -> ObjectPlan
  ) throws {
    self.plans = try ObjectSchema.reach(plans, plan)
    tables = try self.plans.flatMap { owner in
      let own = ObjectTable(
        definition: try owner.definition(plan), claim: owner.qualifiedName, key: owner.key)
      return try [own]
        + owner.links.compactMap { slot in
          guard let links = try owner.linkTable(slot, plan) else { return nil }
          let name = owner.properties[slot].name
          return ObjectTable(
            definition: links.definition, claim: "\(owner.qualifiedName).\(name)", links: links,
            formerName: PropertyName.former(name, of: owner.table))
        }
    }
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
        if let target = property.role.target { pending.append(try plan(target)) }
      }
    }
    return reached
  }

  /// Makes the tables, or adds to them what they lack.
  func ensure(on connection: Connection) throws {
    for plan in plans { try MetaTable.register(plan.table, of: plan.typeName, connection) }
    for table in tables {
      let present = try table.columnNames(on: connection)
      if try table.isUnderFormerName(connection, present), let former = table.formerName {
        try ObjectTables(connection).renameLink(former, to: table.definition.name)
      }
      try connection.ensure(table.definition)
    }
    for plan in plans {
      try plan.search?.ensure(connection)
      for property in plan.properties where property.role.isAsset {
        try AssetTriggers(connection).make(property.name, of: plan.table)
      }
    }
  }

  /// The differences between the tables and the types.
  func differences(on connection: Connection) throws -> [SchemaDifference] {
    let differences = try tables.flatMap { table in
      _ = try table.columnNames(on: connection)
      return try connection.differences(from: table.definition)
    }
    return try differences + plans.compactMap { try $0.search?.difference(connection) }
  }

  /// The changes that the tables of a type need before they are read.
  enum Growth: Sendable {
    case none
    /// There are tables, but they lack columns or indexes, have another delete rule, or have the name
    /// that older versions of this library gave them.
    case change
    /// There is no table yet.
    case missingTables
  }

  /// Returns the changes that the tables need.
  ///
  /// - Parameters:
  ///   - plan: The type whose objects are to be read.
  ///   - connection: The connection.
  ///   - database: Its database: where nothing can be written, no index can be added.
  func growth(
    for plan: ObjectPlan, on connection: Connection, of database: Database
  ) throws -> Growth {
    var growth = Growth.none
    for table in tables {
      let present = try table.columnNames(on: connection)
      if try table.isUnderFormerName(connection, present) {
        growth = .change
        continue
      }
      let lacking = try connection.growth(of: table.definition, with: present)
      if lacking.isMissing {
        if table.definition.name == plan.table { return .missingTables }
        if growth == .none { growth = .missingTables }
        continue
      }
      if growth == .change || lacking.isEmpty { continue }
      if !lacking.columns.isEmpty || !lacking.deleteRules.isEmpty {
        growth = .change
        continue
      }
      // Rows are the same without an index, unless it is unique.
      if database.isReadOnly || database.isInsideRead {
        try connection.checkUnique(lacking.indexes, of: table.definition.name)
      }
      if !database.isReadOnly { growth = .change }
    }
    if growth == .change || database.isReadOnly { return growth }
    for plan in plans {
      guard let search = plan.search, try search.isLacking(connection) else { continue }
      if try !connection.columnNames(of: plan.table).isEmpty { return .change }
    }
    return growth
  }
}

/// A table that a type needs: of its objects, or of the links of a property.
struct ObjectTable {
  let definition: TableDefinition
  /// The owner of the table: a type, or a property with links.
  let claim: String
  /// The key of the objects, if it is a table of objects.
  var key: String?
  /// The links, if it is a table of links.
  var links: LinkTable?
  /// The name that older versions of this library gave to the links.
  var formerName: String?

  /// Returns whether the links are there under the name that older versions of this library gave them.
  ///
  /// - Parameters:
  ///   - connection: The connection.
  ///   - present: The columns of the table of the present name, none if there is no such table.
  func isUnderFormerName(_ connection: Connection, _ present: Set<String>) throws -> Bool {
    guard let links, let formerName, !isSameName(formerName, definition.name), present.isEmpty
    else { return false }
    // That the owner is the right one is told by the foreign key.
    return try connection.isTable(
      formerName, with: connection.columnNames(of: formerName), of: links)
  }

  /// The names of the table's columns in ASCII lower case, none if there is no such table.
  ///
  /// - Throws: ``MagicError/conflictingTypes(table:types:)`` if a table of the name is something else.
  func columnNames(on connection: Connection) throws -> Set<String> {
    let present = try connection.columnNames(of: definition.name)
    if present.isEmpty { return present }
    let fits =
      if let links { try connection.isTable(definition.name, with: present, of: links) } else {
        key.map { present.contains(asciiLowercased($0)) } ?? true
      }
    guard fits else {
      throw MagicError.conflictingTypes(
        table: definition.name, types: [claim, "what the store has there, which is something else"])
    }
    return present
  }
}

extension Connection {
  /// Returns whether a table with some columns holds links between the rows of the right tables.
  fileprivate func isTable(
    _ name: String, with present: Set<String>, of links: LinkTable
  ) throws -> Bool {
    guard links.definition.columns.allSatisfy({ present.contains($0.name) }) else { return false }
    let keys = try foreignKeys(of: name)
    func leads(_ column: String, to table: String) -> Bool {
      keys.contains {
        $0.columns.map(asciiLowercased) == [column]
          && isSameName($0.referencedTable, table)
      }
    }
    return leads("owner", to: links.owner.table) && leads("target", to: links.target.table)
  }
}

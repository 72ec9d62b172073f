import SQLiteCore
import SQLiteMapping
import SQLiteRelations

/// The tables that types require for their objects and links, including those of all types that
/// they reference.
struct ObjectSchema {
  /// The plans of the types, each once.
  private let plans: [ObjectPlan]
  let tables: [ObjectTable]

  /// Creates the schema of types and of all types that they reference, directly or indirectly.
  ///
  /// - Parameters:
  ///   - plans: The plans of the types.
  ///   - plan: Returns the plan of a type.
  init(
    reachableFrom plans: [ObjectPlan], _ plan: (any MagicObject.Type) throws -> ObjectPlan
  ) throws {
    self.plans = try ObjectSchema.reachablePlans(plans, plan)
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

  /// Returns the plans of types and of all types that they reference, directly or indirectly, each
  /// once.
  private static func reachablePlans(
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

  /// Creates the tables, or adds what they lack: columns, indexes, delete rules, full-text indexes
  /// and triggers. Also renames link tables that have the name that older versions of this library
  /// used.
  func ensure(on connection: Connection) throws {
    for plan in plans { try MetaTable.register(plan.table, of: plan.typeName, connection) }
    for table in tables {
      let present = try table.columnNames(on: connection)
      if try table.hasFormerName(connection, present), let former = table.formerName {
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

  /// Returns the differences between the tables in the database and the declarations of the types.
  func differences(on connection: Connection) throws -> [SchemaDifference] {
    let differences = try tables.flatMap { table in
      _ = try table.columnNames(on: connection)
      return try connection.differences(from: table.definition)
    }
    return try differences + plans.compactMap { try $0.search?.difference(connection) }
  }

  /// The kind of change that the tables of a type need before they are read.
  enum Growth: Sendable {
    case none
    /// The tables exist, but lack columns or indexes, have another delete rule, or have the name
    /// that older versions of this library used.
    case change
    /// A table doesn't exist yet.
    case missingTables
  }

  /// Returns the kind of change that the tables need.
  ///
  /// - Parameters:
  ///   - plan: The plan of the type to read.
  ///   - connection: The connection.
  ///   - database: The database of the connection. If it is read-only, missing indexes are ignored.
  func growth(
    for plan: ObjectPlan, on connection: Connection, of database: Database
  ) throws -> Growth {
    var growth = Growth.none
    for table in tables {
      let present = try table.columnNames(on: connection)
      if try table.hasFormerName(connection, present) {
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
      // A missing index doesn't affect reads. For a missing unique index, check the rows if it
      // can't be created now.
      if database.isReadOnly || database.isInsideRead {
        try connection.checkUnique(lacking.indexes, of: table.definition.name)
      }
      if !database.isReadOnly { growth = .change }
    }
    if growth == .change || database.isReadOnly { return growth }
    for plan in plans {
      guard let search = plan.search, try search.needsRebuild(connection) else { continue }
      if try !connection.columnNames(of: plan.table).isEmpty { return .change }
    }
    return growth
  }
}

/// A table that a type requires, for its objects or for the links of a property.
struct ObjectTable {
  let definition: TableDefinition
  /// The name of the table's user, for reporting conflicts: a type, or a property with links.
  let claim: String
  /// The name of the key column if the table stores objects; nil for a table of links.
  var key: String?
  /// The link table if the table stores links; nil for a table of objects.
  var links: LinkTable?
  /// The name that older versions of this library used for this table of links; nil for a table of
  /// objects.
  var formerName: String?

  /// Returns whether the links are in a table with the name that older versions of this library
  /// used.
  ///
  /// - Parameters:
  ///   - connection: The connection.
  ///   - present: The names of the columns of the table with the current name, or an empty set if
  ///     that table doesn't exist.
  func hasFormerName(_ connection: Connection, _ present: Set<String>) throws -> Bool {
    guard let links, let formerName, !isSameName(formerName, definition.name), present.isEmpty
    else { return false }
    // Checks the owner by the foreign key.
    return try connection.isTable(
      formerName, with: connection.columnNames(of: formerName), of: links)
  }

  /// Returns the names of the table's columns in ASCII lower case, or an empty set if the table
  /// doesn't exist.
  ///
  /// - Throws: ``MagicError/conflictingTypes(table:types:)`` if a table with this name has another
  ///   purpose.
  func columnNames(on connection: Connection) throws -> Set<String> {
    let present = try connection.columnNames(of: definition.name)
    if present.isEmpty { return present }
    let fits =
      if let links { try connection.isTable(definition.name, with: present, of: links) } else {
        key.map { present.contains(asciiLowercased($0)) } ?? true
      }
    guard fits else {
      throw MagicError.conflictingTypes(
        table: definition.name, types: [claim, "an existing table with other columns"])
    }
    return present
  }
}

extension Connection {
  /// Returns whether a table has the columns and foreign keys of a link table.
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

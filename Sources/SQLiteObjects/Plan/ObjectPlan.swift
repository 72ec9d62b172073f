import SQLiteCore
import SQLiteMapping
import SQLiteRelations

/// What the store knows of a type of objects: its table and its properties.
package final class ObjectPlan: Sendable {
  /// A property as it is stored.
  package struct Property: Sendable {
    package let name: String
    package let role: PropertyRole
    package let type: any MagicProperty.Type
    /// What rows have that were there before the property.
    package var defaultValue: Value?
    /// What happens to the object when the object goes that a relation leads to.
    package var onDelete: DeleteRule?
    /// The ``ReversePath`` of a reverse value.
    let reverse: LiveValue?

    fileprivate init(_ entry: PropertyCollector.Entry) throws {
      name = entry.name
      role = entry.type.role
      type = entry.type
      defaultValue = try entry.defaultValue
      reverse =
        if case (.reverse, .live(let path)) = (role.kind, entry.cell.form) { path } else { nil }
    }

    /// Says whether anything is stored for the property.
    var isStored: Bool {
      if case .reverse = role.kind { false } else { true }
    }

    /// Says whether the property is stored as links.
    var isLinked: Bool {
      if case .links = role.kind { true } else { false }
    }

    /// Says whether the property has a column in the object's own table.
    var hasColumn: Bool {
      switch role.kind {
      case .column, .object, .asset: true
      case .links, .reverse: false
      }
    }
  }

  /// The name that the table hides its key under, unless an Int primary value is the key.
  static let hiddenKey = "z_index"

  package let type: any MagicObject.Type
  package let table: String
  package let properties: [Property]
  /// The primary property.
  package let primary: Int?
  /// The type of the primary property's values.
  let primaryType: ObjectIdentifier?
  /// The primary property that is the table's rowid, if the database counts it up.
  let counting: Int?
  /// Says whether an object may be of a subclass.
  let isClass: Bool
  /// Says whether all properties are plain values in columns.
  let isPlain: Bool
  /// The column that is the table's rowid.
  package let key: String
  /// The properties with columns besides the key, in order.
  package let columns: [Int]
  /// The properties with links.
  package let links: [Int]
  /// The indexes that the type declares.
  package let indexes: [IndexDefinition]
  /// The start of a query for the key and the columns of objects.
  let selection: SQL
  /// Where the properties' cells are in an object's memory, if that is known.
  let layout: CellLayout?
  /// How each property's column is read.
  let readers: [ColumnReader]
  /// The text of the query for the object with a primary value.
  let selectionByPrimary: String
  /// The text that deletes the object with a z_index.
  let deletion: String
  /// The table's key, qualified by the table's name.
  let qualifiedKey: String
  /// The columns of the properties, qualified by the table's name; empty for those without one.
  let qualifiedColumns: [String]
  /// Says whether objects bring others with them, which are looked up when they are asked for.
  let needsContext: Bool
  /// Says whether a value may be more than SQLite stores.
  let mayHoldOthers: Bool

  package var typeName: String { "\(type)" }

  /// The name with its module, by which a type claims its table.
  var qualifiedName: String { SQLiteCore.qualifiedName(of: type) }

  /// Says whether objects of the type have assets.
  var hasAssets: Bool { properties.contains(where: \.role.isAsset) }

  /// The tables that the type needs, and what they are for.
  var claims: [(table: String, purpose: String)] {
    [(table, qualifiedName)]
      + links.map { (linkTableName($0), "\(qualifiedName).\(properties[$0].name)") }
  }

  /// Learns a type from one of its objects.
  init<Object: MagicObject>(_ type: Object.Type) throws {
    let object = Object()
    let entries = try PropertyCollector.entries(of: object)
    try PropertyCollector.refuseHiddenWrappers(of: object, entries)
    var properties = try entries.map(Property.init)
    try ObjectPlan.check(type, properties)
    indexes = try ObjectPlan.apply(type.traits, of: type, to: &properties)
    self.type = type
    isClass = type is AnyObject.Type
    layout = CellLayout(object, entries)
    readers = properties.map(ColumnReader.init)
    mayHoldOthers = readers.contains { reader in
      switch reader.kind {
      case .reference, .lazyReference, .other, .none: true
      case .key, .text, .integer, .real, .boolean, .data: false
      }
    }
    table = type.tableName
    self.properties = properties
    let primary = properties.firstIndex { $0.role.isPrimary }
    self.primary = primary
    primaryType = primary.map { properties[$0].type.valueType }
    let counting = properties.firstIndex { $0.role.countsUp }
    self.counting = counting
    key = counting.map { properties[$0].name } ?? ObjectPlan.hiddenKey
    columns = properties.indices.filter { properties[$0].hasColumn && $0 != counting }
    links = properties.indices.filter { properties[$0].isLinked }
    isPlain = properties.allSatisfy { property in
      if case .column = property.role.kind { !property.role.isLazy } else { false }
    }
    needsContext = properties.contains { $0.isRelation && !$0.role.isLazy }
    let names = [key] + columns.map { properties[$0].name }
    let selection: SQL = "SELECT \(SQL(identifiers: names)) FROM \(identifier: table) "
    self.selection = selection
    deletion = ("DELETE FROM \(identifier: table) WHERE \(identifier: key) = ?" as SQL).text
    let row = try SQL.escapeIdentifier(table)
    qualifiedKey = "\(row).\(try SQL.escapeIdentifier(key))"
    qualifiedColumns = try properties.map { property in
      property.hasColumn ? "\(row).\(try SQL.escapeIdentifier(property.name))" : ""
    }
    selectionByPrimary =
      primary.map { "\(selection)WHERE \(identifier: properties[$0].name) = ?" as SQL }?.text ?? ""
  }

  private static func check(_ type: any MagicObject.Type, _ properties: [Property]) throws {
    func refuse(_ reason: String) -> MagicError { .unsuitableType(type: "\(type)", reason: reason) }
    guard !properties.isEmpty else { throw refuse("it has no property with a wrapper") }
    guard properties.filter(\.role.isPrimary).count <= 1 else {
      throw refuse("it has more than one @PrimaryMagicValue")
    }
    guard properties.count <= CellIndex.limit else {
      throw refuse("it has more than \(CellIndex.limit) properties")
    }
    var names: Set<String> = [hiddenKey]
    for property in properties {
      guard !property.type.isNestedOptional else {
        throw refuse("“\(property.name)” is an optional of an optional, and NULL is only one nil")
      }
      guard names.insert(asciiLowercased(property.name)).inserted else {
        throw refuse("the name “\(property.name)” is taken, for SQLite by a name in any case")
      }
    }
    let table = type.tableName
    guard !table.isEmpty, !asciiLowercased(table).hasPrefix("sqlite_"),
      !asciiLowercased(table).hasPrefix("magicdata_")
    else { throw refuse("the table name “\(table)” is reserved") }
  }
}

extension ObjectPlan {
  /// The name of the link table of a property.
  func linkTableName(_ slot: Int) -> String { PropertyName.name(properties[slot].name, of: table) }

  /// The link table of a property.
  func linkTable(
    _ slot: Int, _ plans: (any MagicObject.Type) throws -> ObjectPlan
  ) throws -> LinkTable? {
    guard case .links(let arrangement, let element) = properties[slot].role.kind else { return nil }
    let target = try plans(element)
    let form: LinkTable.Arrangement =
      switch arrangement {
      case .list: .list
      case .set: .set
      case .dictionary: .dictionary
      }
    return LinkTable(
      linkTableName(slot), form,
      from: .init(table: table, key: key), to: .init(table: target.table, key: target.key),
      keepsTargets: properties[slot].onDelete == .restrict)
  }

  /// The table of the objects.
  func definition(
    _ plans: (any MagicObject.Type) throws -> ObjectPlan
  ) throws -> TableDefinition {
    var indexes = indexes
    let definitions = try columns.map { slot in
      let property = properties[slot]
      var column = ColumnDefinition(property.name, .text, isOptional: property.role.isOptional)
      switch property.role.kind {
      case .column(let type): column.type = type
      case .asset:
        column.type = .text
        // An asset without content is none.
        column.isOptional = true
      case .object(let target):
        let plan = try plans(target)
        column.type = .integer
        // Cycles of new objects are no obstacle: foreign keys are deferred, and keys known beforehand.
        column.reference = .init(
          table: plan.table, column: plan.key,
          onDelete: property.onDelete ?? (property.role.isOptional ? .nullify : .restrict))
        indexes.append(IndexDefinition([property.name]))
      case .links, .reverse: break
      }
      column.defaultValue = property.defaultValue
      column.isUnique = property.role.isPrimary
      return column
    }
    return TableDefinition(
      table, key: .autoIncrement(key), columns: definitions, indexes: indexes)
  }
}

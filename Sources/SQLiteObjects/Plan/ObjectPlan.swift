import SQLiteCore
import SQLiteMapping
import SQLiteRelations

/// What the store knows of a type of objects: its table and its properties.
package final class ObjectPlan: Sendable {
  package typealias Property = ObjectProperty

  package let shape: ObjectShape
  /// The type of the primary property's values.
  let primaryType: ObjectIdentifier?
  /// The properties with columns besides the key, in order.
  package let columns: [Int]
  /// The properties with links.
  package let links: [Int]
  /// The indexes that the type declares.
  package let indexes: [IndexDefinition]
  /// The start of a query for the key and the columns of objects.
  let selection: SQL
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
    readers = properties.map(ColumnReader.init)
    let shape = ObjectShape(
      type, properties, mayHoldOthers: readers.contains(where: \.mayHoldOthers),
      layout: CellLayout(object, entries))
    self.shape = shape
    let (table, key, primary) = (shape.table, shape.key, shape.primary)
    primaryType = primary.map { properties[$0].type.valueType }
    columns = properties.indices.filter { properties[$0].hasColumn && $0 != shape.counting }
    links = properties.indices.filter { properties[$0].isLinked }
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
    var names: Set<String> = [ObjectShape.hiddenKey]
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
  package var type: any MagicObject.Type { shape.type }
  package var typeName: String { shape.typeName }
  package var table: String { shape.table }
  package var key: String { shape.key }
  package var properties: [Property] { shape.properties }
  package var primary: Int? { shape.primary }
  var counting: Int? { shape.counting }
  var isClass: Bool { shape.isClass }
  var isPlain: Bool { shape.isPlain }
  var needsContext: Bool { shape.needsContext }
  var layout: CellLayout? { shape.layout }
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

import SQLiteCore
import SQLiteMapping
import SQLiteRelations
import Synchronization

/// A type of objects in a store: its properties, its table and the SQL of its rows.
package final class ObjectPlan: Sendable {
  package typealias Property = ObjectProperty

  package let shape: ObjectShape
  /// The type's identity.
  let id: ObjectIdentifier
  /// The type of the primary property's values.
  let primaryType: ObjectIdentifier?
  /// The type of each property's wrapper, which converts its values.
  let wrappers: [any MagicProperty.Type]
  /// The properties with columns besides the key, in order.
  package let columns: [Int]
  /// The properties with links.
  package let links: [Int]
  /// The properties that reference other objects.
  let relations: [Int]
  /// The properties that are plain values in columns.
  let plainColumns: [Int]
  /// The properties whose stored forms depend on other objects, on assets or on the store.
  let lateSlots: [Int]
  /// The properties whose values are fetched on demand, and change without the object.
  let lazySlots: [Int]
  /// The type's own table, with all SQL of its rows.
  package let rows: TablePlan
  /// The full-text index, if a property is searched.
  let search: SearchTable?
  /// The texts of the statements that write one object.
  let texts: RowTexts
  /// The start of a query for the key and the columns of objects.
  let selection: SQL
  /// The readers of the properties' columns.
  let readers: [PropertyReader]
  /// The text of the query for the object with a primary value.
  let selectionByPrimary: String
  /// The table's name, quoted.
  let quotedTable: SQL
  /// The table's key, qualified by the table's name.
  let qualifiedKey: String
  /// The columns of the properties, qualified by the table's name; empty for those without one.
  let qualifiedColumns: [String]
  /// The properties that an index finds, alone or as the first of several.
  let indexed: Set<Int>
  /// The properties in which no two objects have the same value.
  let unique: Set<Int>

  /// The name with its module, by which a type claims its table.
  var qualifiedName: String { SQLiteCore.qualifiedName(of: type) }

  /// The key and the columns of objects, for a query of several tables; the default of a column that is not
  /// present.
  func qualifiedList(isPresent: (_ slot: Int) -> Bool) -> SQL {
    var list = SQL(unchecked: qualifiedKey)
    for slot in columns {
      list.append(", ")
      list.append(
        isPresent(slot)
          ? SQL(unchecked: qualifiedColumns[slot]) : "\(properties[slot].defaultValue ?? .null)")
    }
    return list
  }

  /// Whether objects of the type have assets.
  var hasAssets: Bool { properties.contains(where: \.role.isAsset) }

  /// The tables that the type needs, and what they are for.
  var claims: [(table: String, purpose: String)] {
    [(table, qualifiedName)]
      + (search.map { [($0.name, "the full-text index of \(qualifiedName)")] } ?? [])
      + links.map { (linkTableName($0), "\(qualifiedName).\(properties[$0].name)") }
  }

  /// Learns a type from one of its objects.
  init<Object: MagicObject>(_ type: Object.Type) throws {
    id = ObjectIdentifier(type)
    let object = Object()
    let entries = try PropertyCollector.entries(of: object)
    let known = KnownCells.of(object)
    // An object that is nothing but cells encodes all of them.
    if known == nil { try PropertyCollector.refuseHiddenWrappers(of: object, entries) }
    let wrappers = entries.map(\.type)
    self.wrappers = wrappers
    var properties = try entries.map(Property.init)
    try ObjectPlan.check(type, properties, wrappers)
    let counting = properties.firstIndex { $0.role.countsUp }
    let key = counting.map { properties[$0].name } ?? ObjectShape.hiddenKey
    var rows = TablePlan(type.tableName, key: .counted(key), kind: .objects)
    try rows.setProperties(properties.map(\.row), type.traits) {
      MagicError.unsuitableType(type: "\(type)", reason: $0)
    }
    for property in properties where property.role.isAsset {
      guard !rows.searchedColumns.contains(property.name) else {
        throw MagicError.unsuitableType(
          type: "\(type)", reason: "“\(property.name)” cannot be searched: it is an asset")
      }
    }
    search = SearchTable(rows)
    properties = zip(properties, rows.properties).map(Property.init)
    self.rows = rows
    readers = properties.map(PropertyReader.init)
    let shape = ObjectShape(
      type, properties, mayHoldOthers: readers.contains(where: \.mayHoldOthers),
      cellOffsets: known?.layout.offsets)
    self.shape = shape
    primaryType = shape.primary.map { wrappers[$0].valueType }
    columns = properties.indices.filter { properties[$0].hasColumn && $0 != counting }
    links = properties.indices.filter { properties[$0].isLinked }
    relations = properties.indices.filter { properties[$0].isRelation }
    plainColumns = properties.indices.filter { properties[$0].isPlainColumn }
    lateSlots = properties.indices.filter {
      properties[$0].isStored && !properties[$0].isPlainColumn
    }
    lazySlots = properties.indices.filter { properties[$0].role.isLazy && properties[$0].isStored }
    let names = [key] + columns.map { properties[$0].name }
    let selection: SQL = "SELECT \(SQL(identifiers: names)) FROM \(identifier: shape.table) "
    self.selection = selection
    let primaryName = shape.primary.map { properties[$0].name }
    texts = RowTexts(rows, properties, columns, primary: primaryName)
    quotedTable = "\(identifier: shape.table)"
    qualifiedKey = try rows.qualified(key).checkedText
    qualifiedColumns = try properties.map { property in
      try property.hasColumn ? rows.qualified(property.name).checkedText : ""
    }
    unique = Set(
      properties.indices.filter { slot in
        properties[slot].role.isPrimary
          || rows.indexes.contains { $0.isUnique && $0.columns == [properties[slot].name] }
      })
    indexed = unique.union(
      properties.indices.filter { slot in
        if case .object = properties[slot].role.kind { return true }
        return rows.indexes.contains { $0.columns.first == properties[slot].name }
      })
    selectionByPrimary =
      try primaryName.map { try rows.select(SQL(identifiers: names), by: $0).checkedText } ?? ""
  }

  private static func check(
    _ type: any MagicObject.Type, _ properties: [Property], _ wrappers: [any MagicProperty.Type]
  ) throws {
    func refuse(_ reason: String) -> MagicError { .unsuitableType(type: "\(type)", reason: reason) }
    guard !properties.isEmpty else {
      throw refuse("none of its properties has a wrapper such as @MagicValue")
    }
    guard properties.filter(\.role.isPrimary).count <= 1 else {
      throw refuse("it has more than one @PrimaryMagicValue")
    }
    guard properties.count <= CellIndex.limit else {
      throw refuse("it has more than \(CellIndex.limit) properties")
    }
    var names: Set<String> = [ObjectShape.hiddenKey]
    for (property, wrapper) in zip(properties, wrappers) {
      guard !wrapper.isNestedOptional else {
        throw refuse(
          "“\(property.name)” is an optional of an optional, whose two nils would both be NULL")
      }
      guard names.insert(asciiLowercased(property.name)).inserted else {
        throw refuse(
          "another column is named “\(property.name)”: SQLite ignores the case of letters")
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
  package func linkTableName(_ slot: Int) -> String {
    PropertyName.name(properties[slot].name, of: table)
  }

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
      keepsTargets: properties[slot].deleteRule == .restrict)
  }

  /// The table of the objects.
  func definition(
    _ plans: (any MagicObject.Type) throws -> ObjectPlan
  ) throws -> TableDefinition {
    try rows.definition { slot throws in
      let property = properties[slot]
      guard case .object(let target) = property.role.kind else { return nil }
      let plan = try plans(target)
      // Cycles of new objects are no obstacle: foreign keys are deferred, and keys known beforehand.
      return .init(
        table: plan.table, column: plan.key,
        onDelete: property.deleteRule)
    }
  }
}

extension ObjectPlan.Property {
  /// Learns a property from the one of a new object.
  fileprivate convenience init(_ entry: PropertyCollector.Entry) throws {
    let role = entry.type.role
    let reverse: _LiveValue? =
      if case (.reverse, .live(let path)) = (role.kind, entry.cell.form) { path } else { nil }
    self.init(entry.name, role, defaultValue: try entry.defaultValue, reverse: reverse)
  }

  /// Adds what the traits of the type specify.
  fileprivate convenience init(_ property: ObjectProperty, _ row: TablePlan.Property) {
    self.init(
      property.name, property.role, defaultValue: row.column?.defaultValue,
      onDelete: row.deleteRule, reverse: property.reverse)
  }

  /// The property as one of the type's table.
  fileprivate var row: TablePlan.Property {
    var column = ColumnDefinition(name, .text, isOptional: role.isOptional)
    switch role.kind {
    case .column(let storage):
      column.type = storage.columnType
      column.collation = storage.collation
    // An asset without content is none.
    case .asset: column.isOptional = true
    case .object: column.type = .integer
    case .links, .reverse: return .init(name, nil, isRelation: isRelation)
    }
    column.defaultValue = defaultValue
    column.isUnique = role.isPrimary && !role.countsUp
    return .init(name, column, isRelation: isRelation)
  }
}

extension PropertyCollector.Entry {
  /// The value that a new object has in the property.
  fileprivate var defaultValue: Value? {
    get throws {
      let role = type.role
      guard case .column = role.kind, !role.isPrimary else { return nil }
      switch cell.form {
      case .stored(let value): return value.isNull ? nil : value
      case .data(let data): return data.databaseValue
      case .live(let live): return try type.stored(live)
      case .unset, .reference, .links, .targets, .lazy: return nil
      }
    }
  }
}

/// The texts of the statements that write one object of a type, each made when it is first needed: a type that is
/// only read needs none.
final class RowTexts: Sendable {
  private let table: TablePlan
  private let properties: [ObjectProperty]
  /// The columns besides the key.
  private let columns: [String]
  /// The column of the primary value.
  private let primary: String?
  /// Those that insert, without and with the key; each for objects that may be in the store, and for those that must
  /// be new. Then the others, and at last one for each property.
  private let texts: Mutex<[String?]>
  private static let presenceIndex = 4
  private static let deletionIndex = 5
  private static let firstUpdateIndex = 6

  /// - Parameters:
  ///   - table: The table.
  ///   - properties: The properties of the type.
  ///   - columns: Those with columns besides the key.
  ///   - primary: The column of the primary value.
  init(_ table: TablePlan, _ properties: [ObjectProperty], _ columns: [Int], primary: String?) {
    self.table = table
    self.properties = properties
    self.columns = columns.map { properties[$0].name }
    self.primary = primary
    texts = Mutex(Array(repeating: nil, count: Self.firstUpdateIndex + properties.count))
  }

  /// The query that finds out whether there is an object with a z_index.
  var presence: SQL { kept(Self.presenceIndex) { table.selectByKey("1") } }

  /// The statement that deletes the object with a z_index.
  var deletion: SQL { kept(Self.deletionIndex) { table.deleteByKey() } }

  /// The statement that writes one property of the object with a z_index.
  func update(of slot: Int) -> SQL {
    kept(Self.firstUpdateIndex + slot) { table.update([properties[slot].name]) }
  }

  /// The statement that inserts objects, or gives their values to the objects with the same primary values
  /// unless `insertsOnly`.
  func statement(hasKey: Bool, rows: Int, insertsOnly: Bool) -> SQL {
    guard rows == 1 else { return sql(hasKey: hasKey, rows: rows, insertsOnly: insertsOnly) }
    return kept((hasKey ? 2 : 0) + (insertsOnly ? 1 : 0)) {
      sql(hasKey: hasKey, rows: 1, insertsOnly: insertsOnly)
    }
  }

  private func kept(_ index: Int, _ make: () -> SQL) -> SQL {
    if let text = texts.withLock({ $0[index] }) { return SQL(unchecked: text) }
    let sql = make()
    // A name that cannot be quoted is an error of the statement.
    guard let text = try? sql.checkedText else { return sql }
    texts.withLock { $0[index] = text }
    return SQL(unchecked: text)
  }

  private func sql(hasKey: Bool, rows: Int, insertsOnly: Bool) -> SQL {
    let names = (hasKey ? table.keys : []) + columns
    guard let primary, !insertsOnly, !names.isEmpty else { return table.insert(names, rows: rows) }
    return table.insert(names, rows: rows, .update(on: [primary], changed: columns))
  }
}

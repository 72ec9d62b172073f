import SQLiteCore
import SQLiteMapping
import SQLiteRelations
import Synchronization

/// Everything that a store needs to read and write objects of one type: the properties, the table
/// and its SQL.
package final class ObjectPlan: Sendable {
  package typealias Property = ObjectProperty

  package let shape: ObjectShape
  /// The identity of the Swift type, as a dictionary key.
  let id: ObjectIdentifier
  /// The Swift type of the primary value, or nil if the objects have no primary value.
  let primaryType: ObjectIdentifier?
  /// The wrapper type of each property, which converts its values.
  let wrappers: [any MagicProperty.Type]
  /// The indexes of the properties with columns other than the key, in order.
  package let columns: [Int]
  /// The indexes of the properties with a link table.
  package let links: [Int]
  /// The indexes of the properties that reference other objects.
  let relations: [Int]
  /// The indexes of the properties that store a plain value in a column.
  let plainColumns: [Int]
  /// The indexes of the properties for which the stored form depends on other objects, on assets or
  /// on the store.
  let deferredSlots: [Int]
  /// The indexes of the properties that are loaded on demand. Their values can change independently
  /// of the object.
  let lazySlots: [Int]
  /// The table of the objects and the SQL for its rows.
  package let rows: TablePlan
  /// The full-text index of the searched properties, or nil if there are none.
  let search: SearchTable?
  /// The SQL of the statements that insert objects, and that update, delete or look up an object by
  /// its key.
  let texts: RowTexts
  /// The start of a query for the key and the columns of objects: everything before `WHERE`.
  let selection: SQL
  /// The reader of each property's value, by slot.
  let readers: [PropertyReader]
  /// The SQL that selects the object with a given primary value; empty if the type has no primary
  /// value.
  let selectionByPrimary: String
  /// The quoted name of the table.
  let quotedTable: SQL
  /// The name of the key column, qualified by the table name.
  let qualifiedKey: String
  /// The column names of the properties, qualified by the table name; empty for properties without
  /// a column.
  let qualifiedColumns: [String]
  /// The positions of the properties whose column is the first column of a database index.
  let indexed: Set<Int>
  /// The indexes of the properties with a UNIQUE index: no two objects have the same value.
  let unique: Set<Int>

  /// The type name including its module. Types claim their tables under this name.
  var qualifiedName: String { SQLiteCore.qualifiedName(of: type) }

  /// Returns the key and the columns as a select list for a query on several tables. A column that
  /// the table doesn't have is replaced by its default value.
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

  /// The names of the tables that the type uses, with the purpose of each.
  package var claims: [(table: String, purpose: String)] {
    [(table, qualifiedName)]
      + (search.map { [($0.name, "the full-text index of \(qualifiedName)")] } ?? [])
      + links.map { (linkTableName($0), "\(qualifiedName).\(properties[$0].name)") }
  }

  /// Creates the plan of a type by examining a new instance.
  ///
  /// - Throws: ``MagicError/unsuitableType(type:reason:)`` if the type can't be stored.
  init<Object: MagicObject>(_ type: Object.Type) throws {
    id = ObjectIdentifier(type)
    let object = Object()
    let entries = try PropertyCollector.entries(of: object)
    let known = WrapperLayout.of(object)
    // An object that consists only of cells encodes all of them.
    if known == nil { try PropertyCollector.checkEncodesAllWrappers(of: object, entries) }
    let wrappers = entries.map(\.type)
    self.wrappers = wrappers
    var properties = try entries.map(Property.init)
    try ObjectPlan.check(type, properties, wrappers)
    let autoIncrementSlot = properties.firstIndex { $0.role.isAutoIncrement }
    let key = autoIncrementSlot.map { properties[$0].name } ?? ObjectShape.hiddenKey
    var rows = TablePlan(type.tableName, key: .autoIncremented(key), kind: .objects)
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
      type, properties, mayHoldObjects: readers.contains(where: \.mayHoldObjects),
      cellOffsets: known?.layout.offsets)
    self.shape = shape
    primaryType = shape.primary.map { wrappers[$0].valueType }
    columns = properties.indices.filter { properties[$0].hasColumn && $0 != autoIncrementSlot }
    links = properties.indices.filter { properties[$0].isLinked }
    relations = properties.indices.filter { properties[$0].isRelation }
    plainColumns = properties.indices.filter { properties[$0].isPlainColumn }
    deferredSlots = properties.indices.filter {
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
    var names: Set<String> = []
    for (property, wrapper) in zip(properties, wrappers) {
      guard asciiLowercased(property.name) != ObjectShape.hiddenKey else {
        throw refuse("the column name “\(property.name)” is reserved; rename the property")
      }
      if case .column = property.role.kind {
        guard !property.role.isLazy else {
          throw refuse(
            "“\(property.name)” is an AsyncMagical, but contains no object, collection of objects "
              + "or asset; declare it without AsyncMagical")
        }
        guard !wrapper.isOptionalOfObjects else {
          throw refuse(
            "“\(property.name)” is an optional relation or asset; declare it with "
              + "@OptionalMagicValue")
        }
      }
      guard !wrapper.isNestedOptional else {
        throw refuse(
          "“\(property.name)” is an optional of an optional, but NULL represents only one nil")
      }
      guard names.insert(asciiLowercased(property.name)).inserted else {
        throw refuse(
          "two columns are named “\(property.name)”, because SQLite ignores case; rename one "
            + "property")
      }
    }
    let table = type.tableName
    guard !table.isEmpty, !asciiLowercased(table).hasPrefix("sqlite_"),
      !asciiLowercased(table).hasPrefix("magicdata_")
    else { throw refuse("the table name “\(table)” is reserved; declare another tableName") }
  }
}

extension ObjectPlan {
  package var type: any MagicObject.Type { shape.type }
  package var typeName: String { shape.typeName }
  package var table: String { shape.table }
  package var key: String { shape.key }
  package var properties: [Property] { shape.properties }
  package var primary: Int? { shape.primary }
  package var autoIncrementSlot: Int? { shape.autoIncrementSlot }
  var isClass: Bool { shape.isClass }
  var isPlain: Bool { shape.isPlain }
  var needsContext: Bool { shape.needsContext }
  var layout: CellLayout? { shape.layout }
}

extension ObjectPlan {
  /// Returns the name of the link table of a property.
  package func linkTableName(_ slot: Int) -> String {
    PropertyName.name(properties[slot].name, of: table)
  }

  /// Returns the link table of a property, or nil if the property isn't a collection of objects.
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
      restrictsTargetDeletion: properties[slot].deleteRule == .restrict)
  }

  /// Returns the definition of the table that stores the objects.
  func definition(
    _ plans: (any MagicObject.Type) throws -> ObjectPlan
  ) throws -> TableDefinition {
    try rows.definition { slot throws in
      let property = properties[slot]
      guard case .object(let target) = property.role.kind else { return nil }
      let plan = try plans(target)
      // Cycles of new objects are possible because foreign keys are deferred and keys are reserved.
      return .init(
        table: plan.table, column: plan.key,
        onDelete: property.deleteRule)
    }
  }
}

extension ObjectPlan.Property {
  /// Creates the description of a property from the wrapper that a new object has encoded for it.
  fileprivate convenience init(_ entry: PropertyCollector.Entry) throws {
    let role = entry.type.role
    let reverse: _LiveValue? =
      if case (.reverse, .live(let path)) = (role.kind, entry.cell.form) { path } else { nil }
    self.init(entry.name, role, defaultValue: try entry.defaultValue, reverse: reverse)
  }

  /// Creates a copy of `property` with the default value and the delete rule from the traits of the
  /// type.
  fileprivate convenience init(_ property: ObjectProperty, _ row: TablePlan.Property) {
    self.init(
      property.name, property.role, defaultValue: row.column?.defaultValue,
      onDelete: row.deleteRule, reverse: property.reverse)
  }

  /// The name and the column of the property, for the plan of its type's table. A property with
  /// links has no column.
  fileprivate var row: TablePlan.Property {
    var column = ColumnDefinition(name, .text, isOptional: role.isOptional)
    switch role.kind {
    case .column(let storage):
      column.type = storage.columnType
      column.collation = storage.collation
    // NULL is an asset without content.
    case .asset: column.isOptional = true
    case .object: column.type = .integer
    case .links, .reverse: return .init(name, nil, isRelation: isRelation)
    }
    column.defaultValue = defaultValue
    column.isUnique = role.isPrimary && !role.isAutoIncrement
    return .init(name, column, isRelation: isRelation)
  }
}

extension PropertyCollector.Entry {
  /// The stored form of the value that the object's `init()` sets, or nil if it sets none or the
  /// property isn't a plain value.
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

/// The SQL of the statements that insert objects of a type, and that update, delete or look up one
/// by its key. Each text is created when it is first used, so a type that is only read creates
/// none.
final class RowTexts: Sendable {
  private let table: TablePlan
  private let properties: [ObjectProperty]
  /// The names of the columns other than the key.
  private let columns: [String]
  /// The name of the column of the primary value, or nil if the type has none.
  private let primary: String?
  /// The cached texts. The first four insert an object: without and with a key, each for an upsert
  /// and for a plain insert. They are followed by the presence query, the deletion, and one update
  /// per property.
  private let texts: Mutex<[String?]>
  private static let presenceIndex = 4
  private static let deletionIndex = 5
  private static let firstUpdateIndex = 6

  /// Creates an empty cache of statements.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - properties: The properties of the type.
  ///   - columns: The indexes of the properties with columns other than the key.
  ///   - primary: The name of the column of the primary value, or nil if the type has none.
  init(_ table: TablePlan, _ properties: [ObjectProperty], _ columns: [Int], primary: String?) {
    self.table = table
    self.properties = properties
    self.columns = columns.map { properties[$0].name }
    self.primary = primary
    texts = Mutex(Array(repeating: nil, count: Self.firstUpdateIndex + properties.count))
  }

  /// The query that checks whether an object with a z_index exists.
  var presence: SQL { cached(Self.presenceIndex) { table.selectByKey("1") } }

  /// The statement that deletes the object with a z_index.
  var deletion: SQL { cached(Self.deletionIndex) { table.deleteByKey() } }

  /// Returns the statement that writes one property of the object with a z_index.
  func update(of slot: Int) -> SQL {
    cached(Self.firstUpdateIndex + slot) { table.update([properties[slot].name]) }
  }

  /// Returns the statement that inserts `rows` objects. If an object with the same primary value
  /// exists, the statement updates it or, with `insertsOnly`, fails.
  func statement(hasKey: Bool, rows: Int, insertsOnly: Bool) -> SQL {
    guard rows == 1 else { return sql(hasKey: hasKey, rows: rows, insertsOnly: insertsOnly) }
    return cached((hasKey ? 2 : 0) + (insertsOnly ? 1 : 0)) {
      sql(hasKey: hasKey, rows: 1, insertsOnly: insertsOnly)
    }
  }

  private func cached(_ index: Int, _ make: () -> SQL) -> SQL {
    if let text = texts.withLock({ $0[index] }) { return SQL(unchecked: text) }
    let sql = make()
    // If a name can't be quoted, preparing the statement reports the error.
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

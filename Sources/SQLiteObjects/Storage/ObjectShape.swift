package import SQLiteCore

/// The properties of a type of objects, as determined from the type's `encode(to:)` and traits.
package final class ObjectShape: Sendable {
  package let type: any MagicObject.Type
  /// The name of the type's table.
  package let table: String
  /// The name of the column that is the table's rowid.
  package let key: String
  package let properties: [ObjectProperty]
  /// The slot of the primary property, or nil if the type has none.
  package let primary: Int?
  /// The slot of the primary property if it auto-increments, and therefore is the table's rowid;
  /// otherwise nil.
  let autoIncrementSlot: Int?
  /// Whether the type is a class, so that an object may be an instance of a subclass.
  let isClass: Bool
  /// Whether all properties are plain values in columns.
  let isPlain: Bool
  /// Whether the type has eager relations, which are resolved through a ``FetchContext``.
  let needsContext: Bool
  /// Whether the type has eager or lazy relations.
  let hasRelations: Bool
  /// Whether a value of a property may hold references to other objects.
  let mayHoldObjects: Bool
  /// The offset in bytes of each property's cell in an object's memory, or nil if an object may
  /// contain anything but cells. See ``CellLayout``.
  let cellOffsets: [Int]?

  /// The name of the rowid column of types without an `Int` primary value.
  static let hiddenKey = "z_index"

  package var typeName: String { "\(type)" }

  /// Creates the shape of a type.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - properties: The properties of the type, in the order in which its objects encode them.
  ///   - mayHoldObjects: Whether a value of a property may hold references to other objects.
  ///   - cellOffsets: The offset of each property's cell in an object's memory, or nil if unknown.
  init(
    _ type: any MagicObject.Type, _ properties: [ObjectProperty], mayHoldObjects: Bool,
    cellOffsets: [Int]?
  ) {
    self.type = type
    self.properties = properties
    self.mayHoldObjects = mayHoldObjects
    self.cellOffsets = cellOffsets
    primary = properties.firstIndex { $0.role.isPrimary }
    autoIncrementSlot = properties.firstIndex { $0.role.isAutoIncrement }
    table = type.tableName
    key = autoIncrementSlot.map { properties[$0].name } ?? ObjectShape.hiddenKey
    isClass = type is AnyObject.Type
    isPlain = properties.allSatisfy(\.isPlainColumn)
    hasRelations = properties.contains(where: \.isRelation)
    needsContext = properties.contains(where: \.isEager)
  }
}

/// A property of a type and how its values are stored.
///
/// A class, because a copy of a struct would retain each part (benchmark `save-graph`).
package final class ObjectProperty: Sendable {
  package let name: String
  package let role: _PropertyRole
  /// The value of the property in rows that are older than its column, or nil for NULL.
  package let defaultValue: Value?
  /// The declared delete rule: what happens to the object if the target of its relation is removed.
  /// Nil if the type declares none.
  package let onDelete: DeleteRule?
  /// The ``ReversePath`` of a reverse relation; nil for any other property.
  let reverse: _LiveValue?

  init(
    _ name: String, _ role: _PropertyRole, defaultValue: Value?, onDelete: DeleteRule? = nil,
    reverse: _LiveValue?
  ) {
    self.name = name
    self.role = role
    self.defaultValue = defaultValue
    self.onDelete = onDelete
    self.reverse = reverse
  }

  /// Whether the database stores the property. Reverse relations are not stored.
  var isStored: Bool {
    if case .reverse = role.kind { false } else { true }
  }

  /// Whether the property references other objects.
  var isRelation: Bool { role.isRelation }

  /// Whether the property is a relation that is fetched together with its owner.
  var isEager: Bool { isRelation && !role.isLazy }

  /// Whether the property is an asset.
  package var isAsset: Bool { role.isAsset }

  /// Whether the property is stored in a link table.
  var isLinked: Bool {
    if case .links = role.kind { true } else { false }
  }

  /// Whether the property is stored in a link table with keys.
  var isDictionary: Bool {
    if case .links(.dictionary, _) = role.kind { true } else { false }
  }

  /// Whether the property is a plain value in a column.
  var isPlainColumn: Bool {
    if case .column = role.kind { !role.isLazy } else { false }
  }

  /// Whether the property has a column in the object's own table.
  package var hasColumn: Bool {
    switch role.kind {
    case .column, .object, .asset: true
    case .links, .reverse: false
    }
  }
}

/// A hashable key that identifies a property of a type.
struct PropertyKey: Hashable, Sendable {
  let type: ObjectIdentifier
  let slot: Int
}

package import SQLiteCore

/// The properties of a type of objects, as its `encode(to:)` and its traits tell them.
package final class ObjectShape: Sendable {
  package let type: any MagicObject.Type
  /// The table of the objects.
  package let table: String
  /// The column that is the table's rowid.
  package let key: String
  package let properties: [ObjectProperty]
  /// The primary property.
  package let primary: Int?
  /// The primary property that is the table's rowid, if the database counts it up.
  let counting: Int?
  /// Whether an object may be of a subclass.
  let isClass: Bool
  /// Whether all properties are plain values in columns.
  let isPlain: Bool
  /// Whether objects bring others with them, which are looked up when they are asked for.
  let needsContext: Bool
  /// Whether objects reference others, be it lazily.
  let hasRelations: Bool
  /// Whether a value may lead to objects and hold them.
  let mayHoldOthers: Bool
  /// The offset of each property's cell in an object's memory, if they are known: see ``CellLayout``.
  let cellOffsets: [Int]?

  /// The name of the table's key, unless an Int primary value is the key.
  static let hiddenKey = "z_index"

  package var typeName: String { "\(type)" }

  /// Takes over what was learned of a type.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - properties: Its properties in the order in which it encodes them.
  ///   - mayHoldOthers: Whether a value may lead to objects and hold them.
  ///   - cellOffsets: The offset of each property's cell in an object's memory, if they are known.
  init(
    _ type: any MagicObject.Type, _ properties: [ObjectProperty], mayHoldOthers: Bool,
    cellOffsets: [Int]?
  ) {
    self.type = type
    self.properties = properties
    self.mayHoldOthers = mayHoldOthers
    self.cellOffsets = cellOffsets
    primary = properties.firstIndex { $0.role.isPrimary }
    counting = properties.firstIndex { $0.role.countsUp }
    table = type.tableName
    key = counting.map { properties[$0].name } ?? ObjectShape.hiddenKey
    isClass = type is AnyObject.Type
    isPlain = properties.allSatisfy(\.isPlainColumn)
    hasRelations = properties.contains(where: \.isRelation)
    needsContext = properties.contains(where: \.isEager)
  }
}

/// A property as it is stored.
///
/// A class, since a copy of it would retain each part (benchmark `save-graph`).
package final class ObjectProperty: Sendable {
  package let name: String
  package let role: _PropertyRole
  /// The value that rows get which are older than the property.
  package let defaultValue: Value?
  /// The consequence for the object when the target of its relation is removed.
  package let onDelete: DeleteRule?
  /// The ``ReversePath`` of a reverse value.
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

  /// Whether anything is stored for the property.
  var isStored: Bool {
    if case .reverse = role.kind { false } else { true }
  }

  /// Whether the property leads to other objects.
  var isRelation: Bool { role.isRelation }

  /// Whether the property is a relation whose objects are fetched with their owner.
  var isEager: Bool { isRelation && !role.isLazy }

  /// Whether the property is a file.
  package var isAsset: Bool { role.isAsset }

  /// Whether the property is stored as links.
  var isLinked: Bool {
    if case .links = role.kind { true } else { false }
  }

  /// Whether the property is stored as links with keys.
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

/// A property of a type, as a key.
struct PropertyKey: Hashable, Sendable {
  let type: ObjectIdentifier
  let slot: Int
}

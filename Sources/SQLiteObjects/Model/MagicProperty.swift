public import SQLiteCore
package import SQLiteMapping

/// A property wrapper of a ``MagicObject``.
///
/// The wrappers of this library conform; there is no reason to write others.
public protocol MagicProperty: Codable, SendableMetatype {
  /// The type of the property.
  associatedtype Value
  /// The storage of the property's value.
  var cell: MagicCell { get }
  /// The role of the property in its table.
  static var role: PropertyRole { get }
  /// Makes the content of a cell from a stored value.
  static func content(from stored: SQLiteCore.Value) throws -> CellValue
  /// Makes the stored form of a value.
  static func stored(_ live: LiveValue) throws -> SQLiteCore.Value
}

extension MagicProperty {
  /// The type of the property.
  static var valueType: ObjectIdentifier { ObjectIdentifier(Value.self) }
}

/// The role of a property in its table. Opaque.
public struct PropertyRole: Sendable {
  /// The way in which the values of a property are stored.
  package enum Kind: Sendable {
    /// In a column.
    case column(Storage)
    /// In a column that refers to another object.
    case object(any MagicObject.Type)
    /// In a link table.
    case links(LinkArrangement, any MagicObject.Type)
    /// In a column with the identifier of an asset.
    case asset
    /// Not at all: the owners' relation is asked.
    case reverse
  }

  package enum LinkArrangement: Sendable {
    case list
    case set
    case dictionary
  }

  package var kind: Kind
  package var isOptional = false
  package var isPrimary = false
  package var isLazy = false
  /// Whether the database counts the value up.
  package var countsUp = false

  package init(_ kind: Kind) {
    self.kind = kind
  }
}

extension MagicProperty {
  /// Whether the property has more than one nil.
  static var isNestedOptional: Bool { isOptionalOfOptional(Value.self) }
}

extension PropertyRole {
  /// The type of the objects that a relation leads to.
  var target: (any MagicObject.Type)? {
    switch kind {
    case .object(let type), .links(_, let type): type
    case .column, .asset, .reverse: nil
    }
  }

  var isAsset: Bool {
    if case .asset = kind { true } else { false }
  }
}

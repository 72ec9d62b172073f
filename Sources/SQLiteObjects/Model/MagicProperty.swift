public import SQLiteCore
import SQLiteMapping

/// A property wrapper of a ``MagicObject``.
///
/// The wrappers of this library conform; there is no reason to write others.
public protocol MagicProperty: Codable, SendableMetatype {
  /// The type of the property.
  associatedtype Value
  /// Where the property's value lives.
  var cell: MagicCell { get }
  /// What the property is to its table.
  static var role: PropertyRole { get }
  /// Makes what a cell holds from what a column stores.
  static func content(from stored: SQLiteCore.Value) throws -> CellContent
  /// Makes what a column stores from a value that is not held in that form.
  static func stored(_ live: LiveValue) throws -> SQLiteCore.Value
}

extension MagicProperty {
  /// The type of the property.
  static var valueType: ObjectIdentifier { ObjectIdentifier(Value.self) }
}

/// What a property is to its table. Opaque.
public struct PropertyRole: Sendable {
  /// How the values of a property are stored.
  package enum Kind: Sendable {
    /// In a column.
    case column(ColumnType)
    /// In a column that refers to another object.
    case object(any MagicObject.Type)
    /// In a link table.
    case links(LinkArrangement, any MagicObject.Type)
    /// In a column with the identifier of an asset.
    case asset
    /// Not at all: in the owners' property, whose cell this finds in an object of theirs.
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
  /// Says whether the property has more than one nil.
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

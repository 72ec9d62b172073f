public import SQLiteCore
import SQLiteMapping

/// A property wrapper of a ``MagicObject``.
///
/// The wrappers of this library conform; there is no reason to write others.
public protocol MagicProperty: Codable, SendableMetatype {
  /// The type of the property.
  associatedtype Value
  /// The storage of the property's value.
  var cell: _MagicCell { get }
  /// The role of the property in its table.
  static var role: _PropertyRole { get }
  /// Makes the content of a cell from a stored value.
  static func content(from stored: SQLiteCore.Value) throws -> _CellValue
  /// Makes the stored form of a value.
  static func stored(_ live: _LiveValue) throws -> SQLiteCore.Value
}

extension MagicProperty {
  /// The type of the property.
  static var valueType: ObjectIdentifier { ObjectIdentifier(Value.self) }

  /// Whether the property has more than one nil.
  static var isNestedOptional: Bool { isOptionalOfOptional(Value.self) }

  /// The type of a property that is a collection with keys.
  static var dictionary: (any KeyedCollection.Type)? { Value.self as? any KeyedCollection.Type }
}

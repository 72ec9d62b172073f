public import SQLiteCore
import SQLiteMapping

/// A property wrapper that makes the store save a property of a ``MagicObject``. The store ignores
/// properties without such a wrapper.
///
/// The wrappers of this library conform. Don't add other conformances.
public protocol MagicProperty: Codable, SendableMetatype {
  /// The type of the wrapped property.
  associatedtype Value
  /// The storage of the property's value. For internal use.
  var cell: _MagicCell { get }
  /// The kind of the property, which determines how its values are stored. For internal use.
  static var role: _PropertyRole { get }
  /// Converts a stored value to the content of a cell. For internal use.
  ///
  /// - Parameter stored: The value of the property's column.
  /// - Returns: The content. Reading the property from this content can't fail.
  /// - Throws: `SQLiteError` or a decoding error if the stored value isn't of the property's
  ///   type.
  static func content(from stored: SQLiteCore.Value) throws -> _CellValue
  /// Converts a value to its stored form. For internal use.
  ///
  /// - Parameter live: The property's value.
  /// - Returns: The value to write to the property's column.
  /// - Throws: `SQLiteError` or an encoding error if the value can't be stored.
  static func stored(_ live: _LiveValue) throws -> SQLiteCore.Value
}

extension MagicProperty {
  /// The identity of the type of the property's value, as a key for comparisons.
  static var valueType: ObjectIdentifier { ObjectIdentifier(Value.self) }

  /// Whether the property's type is an optional of an optional.
  static var isNestedOptional: Bool { isOptionalOfOptional(Value.self) }

  /// Whether the property's type is an optional of a relation or of an asset, such as `Person?`.
  static var isOptionalOfObjects: Bool {
    guard let type = (Value.self as? any OptionalValue.Type)?.wrappedType else { return false }
    return _PropertyRole.ofObjects(type).map { $0.isRelation || $0.isAsset } ?? false
  }

  /// The type of the property if it is a collection with keys, or nil for any other type.
  static var dictionary: (any KeyedCollection.Type)? { Value.self as? any KeyedCollection.Type }
}

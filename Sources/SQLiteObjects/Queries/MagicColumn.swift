public import Essentials
public import SQLiteCore
import SQLiteMapping

/// A property of an object or of a related object, as a key path such as `\.$age` or
/// `\.$owner.$name` in a query.
///
/// The property wrappers of this library conform. Don't add conformances.
public protocol MagicColumn<Element>: SendableMetatype {
  /// The type of the property's value, including the optional if the value may be nil.
  associatedtype Value
  /// The type of the property's value. For an optional property, it is the wrapped type.
  associatedtype Element: Codable
  /// The path from an object to this property. Only queries use it.
  var route: _ColumnRoute { get }
  /// Converts a stored value to the property's type.
  ///
  /// - Parameter stored: The stored value.
  /// - Throws: `SQLiteError` or a decoding error if the value doesn't fit the type.
  static func value(from stored: SQLiteCore.Value) throws -> Value
}

/// The path from an object to a property, which may lie on a related object. Only queries use it.
public struct _ColumnRoute: Sendable {
  /// The cell of the first property on the path, which identifies the property.
  let cell: _MagicCell
  /// The slots of the properties after the first one, or nil if a part of the path isn't a
  /// property.
  let rest: [Int]?

  init(_ cell: _MagicCell, _ rest: [Int]? = []) {
    self.cell = cell
    self.rest = rest
  }
}

extension MagicValue: MagicColumn {
  /// The type of the property's value.
  public typealias Element = Value
  /// The path to this property. Only queries use it.
  public var route: _ColumnRoute { _ColumnRoute(cell) }
  /// Converts a stored value to the property's type.
  ///
  /// - Parameter stored: The stored value.
  /// - Throws: `SQLiteError` or a decoding error if the value doesn't fit the type.
  public static func value(from stored: SQLiteCore.Value) throws -> Value {
    try ColumnStorage.value(Value.self, of: stored)
  }
}

extension OptionalMagicValue: MagicColumn {
  /// The type of the property's value. For an optional property, it is the wrapped type.
  public typealias Element = Wrapped
  /// The path to this property. Only queries use it.
  public var route: _ColumnRoute { _ColumnRoute(cell) }
  /// Converts a stored value to the property's type; NULL becomes nil.
  ///
  /// - Parameter stored: The stored value.
  /// - Throws: `SQLiteError` or a decoding error if the value doesn't fit the type.
  public static func value(from stored: SQLiteCore.Value) throws -> Wrapped? {
    stored.isNull ? nil : try ColumnStorage.value(Wrapped.self, of: stored)
  }
}

extension PrimaryMagicValue: MagicColumn {
  /// The type of the property's value.
  public typealias Element = Value
  /// The path to this property. Only queries use it.
  public var route: _ColumnRoute { _ColumnRoute(cell) }
  /// Converts a stored value to the property's type.
  ///
  /// - Parameter stored: The stored value.
  /// - Throws: `SQLiteError` or a decoding error if the value doesn't fit the type.
  public static func value(from stored: SQLiteCore.Value) throws -> Value {
    try ColumnStorage.value(Value.self, of: stored)
  }
}

/// A type whose stored values sort like its values, so that queries can compare and sort them.
///
/// Strings sort by their bytes, decimals and durations as numbers. Types without an order, such as
/// URLs and types that are stored as JSON, don't conform. You can add the conformance to an
/// enumeration if the order of its raw values is the order that you want:
///
///     enum Level: Int, Codable, MagicComparable { case low, high }
public protocol MagicComparable: SendableMetatype {}

extension Date: MagicComparable {}
extension Duration: MagicComparable {}
extension UUID: MagicComparable {}

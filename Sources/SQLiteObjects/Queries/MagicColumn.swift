public import Essentials
public import SQLiteCore
import SQLiteMapping

/// A property of an object in queries, by a key path such as `\.$age` or `\.$owner.$name`.
///
/// The wrappers of this library conform; there is no reason to write others.
public protocol MagicColumn<Element>: SendableMetatype {
  /// The type of the property.
  associatedtype Value
  /// The type of the property without the optional.
  associatedtype Element: Codable
  /// The properties that lead there from an object. Opaque.
  var route: _ColumnRoute { get }
  /// Makes a value of a stored one.
  static func value(from stored: SQLiteCore.Value) throws -> Value
}

/// The properties that lead from an object to a column. Opaque.
public struct _ColumnRoute: Sendable {
  /// The first property on the way.
  let cell: _MagicCell
  /// The slots of the properties behind it; nil if the path leads to none.
  let rest: [Int]?

  init(_ cell: _MagicCell, _ rest: [Int]? = []) {
    self.cell = cell
    self.rest = rest
  }
}

extension MagicValue: MagicColumn {
  /// The type of the property.
  public typealias Element = Value
  /// The properties that lead there.
  public var route: _ColumnRoute { _ColumnRoute(cell) }
  /// Makes a value of a stored one.
  public static func value(from stored: SQLiteCore.Value) throws -> Value {
    try Storage.value(Value.self, of: stored)
  }
}

extension OptionalMagicValue: MagicColumn {
  /// The type of the property without the optional.
  public typealias Element = Wrapped
  /// The properties that lead there.
  public var route: _ColumnRoute { _ColumnRoute(cell) }
  /// Makes a value of a stored one.
  public static func value(from stored: SQLiteCore.Value) throws -> Wrapped? {
    stored.isNull ? nil : try Storage.value(Wrapped.self, of: stored)
  }
}

extension PrimaryMagicValue: MagicColumn {
  /// The type of the property.
  public typealias Element = Value
  /// The properties that lead there.
  public var route: _ColumnRoute { _ColumnRoute(cell) }
  /// Makes a value of a stored one.
  public static func value(from stored: SQLiteCore.Value) throws -> Value {
    try Storage.value(Value.self, of: stored)
  }
}

/// A type whose stored values sort as its values do, so that filters may compare them.
///
/// Texts sort by their bytes, decimals and durations as numbers. Types that have no order, such as URLs and
/// all that become JSON, do not conform. An enumeration whose raw values have an order may:
///
///     enum Level: Int, Codable, MagicComparable { case low, high }
public protocol MagicComparable {}

extension Date: MagicComparable {}
extension Duration: MagicComparable {}
extension UUID: MagicComparable {}

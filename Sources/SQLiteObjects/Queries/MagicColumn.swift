public import SQLiteCore

/// What queries find in an object by a key path such as `\.$age` or `\.$owner.$name`.
///
/// The wrappers of this library conform; there is no reason to write others.
public protocol MagicColumn<Element>: SendableMetatype {
  /// The type of the property.
  associatedtype Value
  /// The type of the property without the optional.
  associatedtype Element: Codable
  /// How to get there from an object. Opaque.
  var route: ColumnRoute { get }
  /// Makes a value of what is stored.
  static func value(from stored: SQLiteCore.Value) throws -> Value
}

/// How to get to a column from an object. Opaque.
public struct ColumnRoute: Sendable {
  /// The first property on the way.
  let cell: MagicCell
  /// The places of those behind it in their types' plans; nil if there is no such way.
  let rest: [Int]?

  init(_ cell: MagicCell, _ rest: [Int]? = []) {
    self.cell = cell
    self.rest = rest
  }
}

extension MagicValue: MagicColumn {
  /// The type of the property.
  public typealias Element = Value
  /// How to get to the property.
  public var route: ColumnRoute { ColumnRoute(cell) }
  /// Makes a value of what is stored.
  public static func value(from stored: SQLiteCore.Value) throws -> Value {
    try ValueCoding.value(Value.self, from: stored)
  }
}

extension OptionMagicValue: MagicColumn {
  /// The type of the property without the optional.
  public typealias Element = Wrapped
  /// How to get to the property.
  public var route: ColumnRoute { ColumnRoute(cell) }
  /// Makes a value of what is stored.
  public static func value(from stored: SQLiteCore.Value) throws -> Wrapped? {
    stored.isNull ? nil : try ValueCoding.value(Wrapped.self, from: stored)
  }
}

extension PrimaryMagicValue: MagicColumn {
  /// The type of the property.
  public typealias Element = Value
  /// How to get to the property.
  public var route: ColumnRoute { ColumnRoute(cell) }
  /// Makes a value of what is stored.
  public static func value(from stored: SQLiteCore.Value) throws -> Value {
    try ValueCoding.value(Value.self, from: stored)
  }
}

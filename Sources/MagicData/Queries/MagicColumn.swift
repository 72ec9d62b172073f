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

/// An object that is there to find out which property a path leads to.
struct Prototype<Object: MagicObject> {
  let object: Object
  let entries: [PropertyCollector.Entry]

  init() {
    object = Construction.outside { Object() }
    // An object that cannot be encoded has no properties; its plan says so.
    entries = (try? PropertyCollector.entries(of: object)) ?? []
  }

  /// The places of the properties on the way, or nil if one is of no property.
  func slots(_ path: KeyPath<Object, some MagicColumn>) -> [Int]? {
    let route = object[keyPath: path].route
    guard let rest = route.rest, let first = slot(of: route.cell) else { return nil }
    return [first] + rest
  }

  /// The name of the property that a path leads to, or nil if it is none of the type's.
  func name(_ path: KeyPath<Object, some MagicProperty>) -> String? {
    slot(of: object[keyPath: path].cell).map { entries[$0].name }
  }

  private func slot(of cell: MagicCell) -> Int? {
    entries.firstIndex { $0.cell == cell }
  }
}

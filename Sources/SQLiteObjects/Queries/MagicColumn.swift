public import Essentials
public import SQLiteCore
import Synchronization

/// A property of an object in queries, by a key path such as `\.$age` or `\.$owner.$name`.
///
/// The wrappers of this library conform; there is no reason to write others.
public protocol MagicColumn<Element>: SendableMetatype {
  /// The type of the property.
  associatedtype Value
  /// The type of the property without the optional.
  associatedtype Element: Codable
  /// The properties that lead there from an object. Opaque.
  var route: ColumnRoute { get }
  /// Makes a value of a stored one.
  static func value(from stored: SQLiteCore.Value) throws -> Value
}

/// The properties that lead from an object to a column. Opaque.
public struct ColumnRoute: Sendable {
  /// The first property on the way.
  let cell: MagicCell
  /// The slots of the properties behind it; nil if the path leads to none.
  let rest: [Int]?

  init(_ cell: MagicCell, _ rest: [Int]? = []) {
    self.cell = cell
    self.rest = rest
  }
}

extension MagicValue: MagicColumn {
  /// The type of the property.
  public typealias Element = Value
  /// The properties that lead there.
  public var route: ColumnRoute { ColumnRoute(cell) }
  /// Makes a value of a stored one.
  public static func value(from stored: SQLiteCore.Value) throws -> Value {
    try ValueCoding.value(Value.self, from: stored)
  }
}

extension OptionMagicValue: MagicColumn {
  /// The type of the property without the optional.
  public typealias Element = Wrapped
  /// The properties that lead there.
  public var route: ColumnRoute { ColumnRoute(cell) }
  /// Makes a value of a stored one.
  public static func value(from stored: SQLiteCore.Value) throws -> Wrapped? {
    stored.isNull ? nil : try ValueCoding.value(Wrapped.self, from: stored)
  }
}

extension PrimaryMagicValue: MagicColumn {
  /// The type of the property.
  public typealias Element = Value
  /// The properties that lead there.
  public var route: ColumnRoute { ColumnRoute(cell) }
  /// Makes a value of a stored one.
  public static func value(from stored: SQLiteCore.Value) throws -> Value {
    try ValueCoding.value(Value.self, from: stored)
  }
}

/// A type whose stored values sort as its values do, so that filters may compare them.
///
/// Texts sort by their bytes. Types whose stored form does not sort, such as `Decimal`, URLs and
/// all that become JSON, do not conform. An enumeration with a raw value of such a type may:
///
///     enum Level: Int, Codable, MagicComparable { case low, high }
public protocol MagicComparable {}

extension Int: MagicComparable {}
extension Int8: MagicComparable {}
extension Int16: MagicComparable {}
extension Int32: MagicComparable {}
extension Int64: MagicComparable {}
extension UInt: MagicComparable {}
extension UInt8: MagicComparable {}
extension UInt16: MagicComparable {}
extension UInt32: MagicComparable {}
extension UInt64: MagicComparable {}
extension Double: MagicComparable {}
extension Float: MagicComparable {}
extension String: MagicComparable {}
extension Date: MagicComparable {}
extension UUID: MagicComparable {}

/// Finds the property that a path leads to, by an object that is there for nothing else.
enum Prototype<Object: MagicObject> {
  /// The slots of the properties on a path, or nil if a part of it is no property.
  static func slots(_ path: KeyPath<Object, some MagicColumn>) -> [Int]? {
    let storage = PrototypeStorages.storage(of: Object.self)
    guard let storage, let object = try? storage.shape.object(Object.self, of: storage)
    else { return nil }
    let route = object[keyPath: path].route
    guard let rest = route.rest, let place = route.cell.place, place.storage === storage else {
      return nil
    }
    return [place.slot] + rest
  }
}

/// For each type that was asked about a storage without values, which the wrappers of its prototypes
/// lead to, each at its property's slot.
///
/// The storage follows from the type alone, so that it serves all stores. To make each object anew
/// and to find its wrappers by its `encode(to:)` costs more than the query (benchmark `filter`).
private enum PrototypeStorages {
  private static let known = Mutex<[ObjectIdentifier: ObjectStorage]>([:])

  /// The storage of a type, or nil if it is no type for a store: its plan says why.
  static func storage<Object: MagicObject>(of type: Object.Type) -> ObjectStorage? {
    let key = ObjectIdentifier(type)
    if let storage = known.withLock({ $0[key] }) { return storage }
    guard let plan = try? ObjectPlan(type) else { return nil }
    let forms = Array(repeating: CellContent.Form.unset, count: plan.properties.count)
    let storage = ObjectStorage(plan.shape, forms, identity: nil)
    return known.withLock { known in
      if let first = known[key] { return first }
      known[key] = storage
      return storage
    }
  }
}

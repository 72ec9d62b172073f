public import SQLiteCore
import SQLiteMapping

/// The property that tells the objects of a type apart.
///
///     @PrimaryMagicValue var id: String
///
/// A `String` or a `UUID` has a value of its own at once. An `Int` is counted up by the database and
/// has no value before the object is saved, unless you set one.
@propertyWrapper
public struct PrimaryMagicValue<Value: MagicPrimaryValue>: MagicProperty, Sendable {
  /// The storage of the value. Opaque.
  public let cell: _MagicCell

  /// Makes a property with a value of its own.
  ///
  /// - Parameters:
  ///   - type: Given by the compiler, for messages.
  ///   - line: Given by the compiler, for messages.
  @inlinable  // Benchmark `fetch`.
  public init(type: StaticString = #function, line: UInt32 = #line) {
    cell = _MagicCell(type: type, line: line)
  }

  /// Makes a property with a value.
  ///
  /// - Parameters:
  ///   - wrappedValue: The value.
  ///   - type: Given by the compiler, for messages.
  ///   - line: Given by the compiler, for messages.
  @inlinable public init(
    wrappedValue: Value, type: StaticString = #function, line: UInt32 = #line
  ) {
    cell = _MagicCell(type: type, line: line)
    cell.setValue(wrappedValue)
  }

  /// The value.
  @inlinable  // Benchmark `fetch`.
  public var wrappedValue: Value {
    get {
      guard let value = cell.value(Value.self) ?? cell.fresh(Value.self) else {
        // Programmer error: the number was read before the database gave one.
        fatalError(cell.missing(Value.self))
      }
      return value
    }
    nonmutating set { cell.setValue(newValue) }
  }

  /// The property itself, for a ``Filter``.
  public var projectedValue: PrimaryMagicValue<Value> { self }
}

extension PrimaryMagicValue: SingleCellProperty {}

extension PrimaryMagicValue {
  /// The role of the property in its table.
  public static var role: _PropertyRole {
    var role = _PropertyRole.of(Value.self)
    role.isPrimary = true
    role.countsUp = Value.self == Int.self
    return role
  }

  /// Makes the content of a cell from a stored value.
  public static func content(from stored: SQLiteCore.Value) throws -> _CellValue {
    try .of(Value.self, stored: stored)
  }

  /// Makes the stored form of a value.
  public static func stored(_ live: _LiveValue) throws -> SQLiteCore.Value {
    try live.stored(as: Value.self)
  }

  /// Reads the value of an object's property from outside the store, such as JSON.
  public init(from decoder: any Decoder) throws {
    self.init(type: "a decoded object", line: 0)
    let container = try decoder.singleValueContainer()
    if !container.decodeNil() { cell.setValue(try container.decode(Value.self)) }
  }

  /// Writes the value for use outside the store.
  public func encode(to encoder: any Encoder) throws {
    if try PropertyCollector.take(self, encoder) { return }
    var container = encoder.singleValueContainer()
    try container.encode(cell.value(Value.self) ?? cell.fresh(Value.self))
  }
}

extension KeyedDecodingContainer {
  /// Reads a primary value that may be left out: then the object is a new one.
  public func decode<Value>(
    _ type: PrimaryMagicValue<Value>.Type, forKey key: Key
  ) throws -> PrimaryMagicValue<Value> {
    try decodeIfPresent(type, forKey: key) ?? PrimaryMagicValue(type: "a decoded object", line: 0)
  }
}

/// A property that makes a value for itself.
private protocol FreshProperty {
  static func makeFresh(in cell: _MagicCell)
}

extension PrimaryMagicValue: FreshProperty {
  /// Makes a value for a new object whose type makes its own.
  static func makeFresh(in cell: _MagicCell) {
    _ = cell.fresh(Value.self)
  }
}

extension _MagicCell {
  /// The stored form of the primary value, which is made now if need be.
  func primaryForm(_ type: any MagicProperty.Type) -> SQLiteCore.Value? {
    if case .unset = form { (type as? any FreshProperty.Type)?.makeFresh(in: self) }
    switch form {
    case .stored(let stored): return stored
    case .live(let live): return try? type.stored(live)
    case .unset, .data, .reference, .links, .targets, .lazy: return nil
    }
  }

  /// A value made now, if there is none and the type makes its own.
  @usableFromInline func fresh<Value: MagicPrimaryValue>(_ type: Value.Type) -> Value? {
    guard case .unset = form, let fresh = Value.fresh else { return nil }
    setFirst(Storage.plain(fresh).map { .stored($0) } ?? .live(_LiveValue(fresh)))
    return value(type)
  }
}

public import SQLiteCore
import SQLiteMapping

/// The property of a ``MagicObject`` that identifies an object among the objects of its type.
///
///     @PrimaryMagicValue var id: String
///
/// A new object gets a unique `String` or `UUID`, unless you set the property. The database assigns
/// an `Int` by auto-increment when the object is saved. Reading it before that stops the program,
/// unless you have set it.
@propertyWrapper
public struct PrimaryMagicValue<Value: MagicPrimaryValue>: MagicProperty, Sendable {
  /// The storage of the value. For internal use.
  public let cell: _MagicCell

  /// Creates a property with a unique value, or without a value if the database assigns it.
  ///
  /// - Parameters:
  ///   - type: The declaring type, for messages. The compiler passes it.
  ///   - line: The line of the declaration, for messages. The compiler passes it.
  @inlinable  // Benchmark `fetch`.
  public init(type: StaticString = #function, line: UInt32 = #line) {
    cell = _MagicCell(type: type, line: line)
  }

  /// Creates a property with an initial value.
  ///
  /// - Parameters:
  ///   - wrappedValue: The initial value.
  ///   - type: The declaring type, for messages. The compiler passes it.
  ///   - line: The line of the declaration, for messages. The compiler passes it.
  @inlinable public init(
    wrappedValue: Value, type: StaticString = #function, line: UInt32 = #line
  ) {
    cell = _MagicCell(type: type, line: line)
    cell.setValue(wrappedValue)
  }

  /// The primary value. Reading a number before the database has assigned one stops the program
  /// with a message. A value that you set is stored when you save the object.
  @inlinable  // Benchmark `fetch`.
  public var wrappedValue: Value {
    get {
      guard let value = cell.value(Value.self) ?? cell.fresh(Value.self) else {
        // Programmer error: the number was read before the database had assigned one.
        fatalError(cell.missing(Value.self))
      }
      return value
    }
    nonmutating set { cell.setValue(newValue) }
  }

  /// The property as a column, for a ``Filter`` or another part of a query.
  public var projectedValue: PrimaryMagicValue<Value> { self }
}

extension PrimaryMagicValue: SingleCellProperty {}

extension PrimaryMagicValue {
  /// The kind of the property, which determines how its values are stored. For internal use.
  public static var role: _PropertyRole {
    var role = _PropertyRole.of(Value.self)
    role.isPrimary = true
    role.isAutoIncrement = Value.self == Int.self
    return role
  }

  /// Converts a stored value to the content of a cell. For internal use.
  ///
  /// - Parameter stored: The value of the property's column.
  /// - Returns: The content. Reading the property from this content can't fail.
  /// - Throws: `SQLiteError` or a decoding error if the stored value isn't of the type
  ///   `Value`.
  public static func content(from stored: SQLiteCore.Value) throws -> _CellValue {
    try .of(Value.self, stored: stored)
  }

  /// Converts a value to its stored form. For internal use.
  ///
  /// - Parameter live: The property's value.
  /// - Returns: The value to write to the property's column.
  /// - Throws: `SQLiteError` or an encoding error if the value can't be stored.
  public static func stored(_ live: _LiveValue) throws -> SQLiteCore.Value {
    try live.stored(as: Value.self)
  }

  /// Creates a property by decoding its value from external data, such as JSON. Null is decoded as
  /// the property of a new object: its value is generated, or assigned by the database.
  ///
  /// - Parameter decoder: The decoder to read from.
  /// - Throws: Any error of the decoder.
  public init(from decoder: any Decoder) throws {
    self.init(type: "a decoded object", line: 0)
    let container = try decoder.singleValueContainer()
    if !container.decodeNil() { cell.setValue(try container.decode(Value.self)) }
  }

  /// Encodes the value for use outside the store, such as in JSON. A number that the database
  /// hasn't assigned yet is encoded as null.
  ///
  /// - Parameter encoder: The encoder to write to.
  /// - Throws: Any error of the encoder.
  public func encode(to encoder: any Encoder) throws {
    if try PropertyCollector.take(self, encoder) { return }
    var container = encoder.singleValueContainer()
    try container.encode(cell.value(Value.self) ?? cell.fresh(Value.self))
  }
}

extension KeyedDecodingContainer {
  /// Decodes a primary value. Synthesized `init(from:)` initializers of objects call this method.
  ///
  /// - Parameters:
  ///   - type: The type of the property wrapper.
  ///   - key: The coding key of the property.
  /// - Returns: The property. If its key is missing, it is the property of a new object: its value
  ///   is generated, or assigned by the database.
  /// - Throws: Any error of the decoder.
  public func decode<Value>(
    _ type: PrimaryMagicValue<Value>.Type, forKey key: Key
  ) throws -> PrimaryMagicValue<Value> {
    try decodeIfPresent(type, forKey: key) ?? PrimaryMagicValue(type: "a decoded object", line: 0)
  }
}

/// A property wrapper that can generate the value of a new object.
private protocol FreshProperty {
  static func makeFresh(in cell: _MagicCell)
}

extension PrimaryMagicValue: FreshProperty {
  /// Generates the value of a new object, unless the database assigns it.
  static func makeFresh(in cell: _MagicCell) {
    _ = cell.fresh(Value.self)
  }
}

extension _MagicCell {
  /// Returns the stored form of the primary value, and generates the value if necessary.
  ///
  /// - Returns: The stored form, or nil if the value isn't set and can't be generated, for example
  ///   because the database assigns it, or if the value can't be stored.
  func primaryForm(_ type: any MagicProperty.Type) -> SQLiteCore.Value? {
    if case .unset = form { (type as? any FreshProperty.Type)?.makeFresh(in: self) }
    switch form {
    case .stored(let stored): return stored
    case .live(let live): return try? type.stored(live)
    case .unset, .data, .reference, .links, .targets, .lazy: return nil
    }
  }

  /// Generates a value and returns it. Returns nil if the property already has a value, or if its
  /// type doesn't generate values.
  @usableFromInline func fresh<Value: MagicPrimaryValue>(_ type: Value.Type) -> Value? {
    guard case .unset = form, let fresh = Value.fresh else { return nil }
    setFirst(ColumnStorage.plain(fresh).map { .stored($0) } ?? .live(_LiveValue(fresh)))
    return value(type)
  }
}

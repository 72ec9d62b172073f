public import SQLiteCore

/// A property of a ``MagicObject`` that has a value.
///
///     @MagicValue var name: String
///
/// Any `Codable` type will do; what SQLite cannot store as it is becomes JSON text. An object, or a
/// collection of objects, becomes a relation.
///
/// The value may be set later, and must be set before the object is saved. Reading it before stops
/// the program with a message. `$name` stands for the column in a ``Filter``.
@propertyWrapper
@dynamicMemberLookup
public struct MagicValue<Value: Codable>: MagicProperty {
  /// The storage of the value. Opaque.
  public let cell: _MagicCell

  /// Makes a property without a value.
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
      guard let value = cell.value(Value.self) ?? cell.null(Value.self) else {
        // Programmer error: the property was read before it was set.
        fatalError(cell.missing(Value.self))
      }
      return value
    }
    nonmutating set { cell.setValue(newValue) }
  }

  /// The property itself, for a ``Filter``.
  public var projectedValue: MagicValue<Value> { self }
}

extension MagicValue: SingleCellProperty {}

extension MagicValue: Sendable where Value: Sendable {}

extension MagicValue {
  /// The role of the property in its table.
  public static var role: _PropertyRole { .of(Value.self) }

  /// Makes the content of a cell from a stored value.
  public static func content(from stored: SQLiteCore.Value) throws -> _CellValue {
    try .of(Value.self, stored: stored)
  }

  /// Makes the stored form of a value.
  public static func stored(_ live: _LiveValue) throws -> SQLiteCore.Value {
    try live.stored(as: Value.self)
  }

  /// Reads the value of an object's property from outside the store, such as JSON.
  ///
  /// Of a relation it reads the keys, which `MagicData.resolve(_:)` makes objects of.
  public init(from decoder: any Decoder) throws {
    self.init(type: "a decoded object", line: 0)
    try cell.decode(Value.self, from: decoder)
  }

  /// Writes the value for use outside the store; a relation as its targets' keys.
  public func encode(to encoder: any Encoder) throws {
    if try PropertyCollector.take(self, encoder) { return }
    guard try cell.encode(Value.self, to: encoder) else {
      throw MagicError.missingValue(type: "\(Value.self)", property: encoder.property)
    }
  }
}

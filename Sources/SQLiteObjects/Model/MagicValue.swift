public import SQLiteCore

/// A property of a ``MagicObject`` that must have a value.
///
///     @MagicValue var name: String
///
/// The type can be any `Codable` type. Values that SQLite can't store directly are stored as JSON
/// text. An object, or a collection of objects, is a relation.
///
/// You can set the value after you create the object, but must set it before you save the object.
/// Reading a property without a value stops the program with a message. In a ``Filter``, `$name` is
/// the column.
@propertyWrapper
@dynamicMemberLookup
public struct MagicValue<Value: Codable>: MagicProperty {
  /// The storage of the value. For internal use.
  public let cell: _MagicCell

  /// Creates a property without a value.
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

  /// The value of the property. Reading it before it is set stops the program with a message. A
  /// value that you set is stored when you save the object.
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

  /// The property as a column, for a ``Filter`` or another part of a query.
  public var projectedValue: MagicValue<Value> { self }
}

extension MagicValue: SingleCellProperty {}

extension MagicValue: Sendable where Value: Sendable {}

extension MagicValue {
  /// The kind of the property, which determines how its values are stored. For internal use.
  public static var role: _PropertyRole { .of(Value.self) }

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

  /// Creates a property by decoding its value from external data, such as JSON.
  ///
  /// A relation is decoded as the keys of its objects. `MagicData.resolve(_:)` replaces them with
  /// the objects. If the decoder's `userInfo` contains a store for `CodingUserInfoKey.magicData`,
  /// the decoder does that itself.
  ///
  /// - Parameter decoder: The decoder to read from.
  /// - Throws: Any error of the decoder. If the decoder resolves a relation,
  ///   ``MagicError/notFound(type:primary:)`` if an object isn't in the store, another
  ///   ``MagicError``, or `SQLiteError`.
  public init(from decoder: any Decoder) throws {
    self.init(type: "a decoded object", line: 0)
    try cell.decode(Value.self, from: decoder)
  }

  /// Encodes the value for use outside the store, such as in JSON. A relation is encoded as the
  /// keys of its objects. If it is lazy and wasn't set, the keys are read from the store, blocking
  /// the thread.
  ///
  /// - Parameter encoder: The encoder to write to.
  /// - Throws: ``MagicError/missingValue(type:property:)`` if no value was set; `EncodingError` if
  ///   an object of a relation has no key yet; any other error of the encoder or of the value's own
  ///   `encode(to:)`; ``MagicError`` or `SQLiteError` if the keys can't be read.
  public func encode(to encoder: any Encoder) throws {
    if try PropertyCollector.take(self, encoder) { return }
    guard try cell.encode(Value.self, to: encoder) else {
      throw MagicError.missingValue(type: "\(Value.self)", property: encoder.property)
    }
  }
}

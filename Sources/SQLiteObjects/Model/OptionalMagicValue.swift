public import SQLiteCore

/// A property of a ``MagicObject`` that may have no value; nil unless set.
///
///     @OptionalMagicValue var school: String?
@propertyWrapper
@dynamicMemberLookup
public struct OptionalMagicValue<Wrapped: Codable>: MagicProperty {
  /// The type of the property.
  public typealias Value = Wrapped?

  /// The storage of the value. Opaque.
  public let cell: _MagicCell

  /// Makes a property that is nil.
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
  ///   - wrappedValue: The value or nil.
  ///   - type: Given by the compiler, for messages.
  ///   - line: Given by the compiler, for messages.
  @inlinable public init(
    wrappedValue: Wrapped?, type: StaticString = #function, line: UInt32 = #line
  ) {
    cell = _MagicCell(type: type, line: line)
    set(wrappedValue)
  }

  /// The value, or nil.
  @inlinable  // Benchmark `fetch`.
  public var wrappedValue: Wrapped? {
    get { cell.value(Wrapped.self) }
    nonmutating set { set(newValue) }
  }

  /// The property itself, for a ``Filter``.
  public var projectedValue: OptionalMagicValue<Wrapped> { self }

  @inlinable func set(_ value: Wrapped?) {
    if let value { cell.setValue(value) } else { cell.setNull() }
  }
}

extension OptionalMagicValue: SingleCellProperty {}

extension OptionalMagicValue: Sendable where Wrapped: Sendable {}

extension OptionalMagicValue {
  /// The role of the property in its table.
  public static var role: _PropertyRole {
    var role = _PropertyRole.of(Wrapped.self)
    role.isOptional = true
    return role
  }

  /// Makes the content of a cell from a stored value.
  public static func content(from stored: SQLiteCore.Value) throws -> _CellValue {
    stored.isNull ? _CellValue(.stored(.null)) : try .of(Wrapped.self, stored: stored)
  }

  /// Makes the stored form of a value.
  public static func stored(_ live: _LiveValue) throws -> SQLiteCore.Value {
    try live.stored(as: Wrapped.self)
  }

  /// Reads the value of an object's property from outside the store, such as JSON.
  ///
  /// Of a relation it reads the keys, which `MagicData.resolve(_:)` makes objects of.
  public init(from decoder: any Decoder) throws {
    self.init(type: "a decoded object", line: 0)
    if try decoder.singleValueContainer().decodeNil() {
      set(nil)
    } else {
      try cell.decode(Wrapped.self, from: decoder)
    }
  }

  /// Writes the value for use outside the store; a relation as its targets' keys.
  public func encode(to encoder: any Encoder) throws {
    if try PropertyCollector.take(self, encoder) { return }
    if try cell.encode(Wrapped.self, to: encoder) { return }
    var container = encoder.singleValueContainer()
    try container.encodeNil()
  }
}

extension KeyedDecodingContainer {
  /// Reads a property that may be left out.
  public func decode<Wrapped>(
    _ type: OptionalMagicValue<Wrapped>.Type, forKey key: Key
  ) throws -> OptionalMagicValue<Wrapped> {
    try decodeIfPresent(type, forKey: key) ?? OptionalMagicValue(type: "a decoded object", line: 0)
  }
}

/// The name of ``OptionalMagicValue`` in earlier versions.
public typealias OptionMagicValue<Wrapped: Codable> = OptionalMagicValue<Wrapped>

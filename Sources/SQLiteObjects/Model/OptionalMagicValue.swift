public import SQLiteCore

/// A property of a ``MagicObject`` that is optional. It is nil unless you set it.
///
///     @OptionalMagicValue var school: String?
///
/// Like a ``MagicValue``, it can have any `Codable` type, and is a relation if it references
/// objects. In a ``Filter``, `$school` is the column.
@propertyWrapper
@dynamicMemberLookup
public struct OptionalMagicValue<Wrapped: Codable>: MagicProperty {
  /// The type of the wrapped property.
  public typealias Value = Wrapped?

  /// The storage of the value. For internal use.
  public let cell: _MagicCell

  /// Creates a property that is nil.
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
  ///   - wrappedValue: The initial value, or nil.
  ///   - type: The declaring type, for messages. The compiler passes it.
  ///   - line: The line of the declaration, for messages. The compiler passes it.
  @inlinable public init(
    wrappedValue: Wrapped?, type: StaticString = #function, line: UInt32 = #line
  ) {
    cell = _MagicCell(type: type, line: line)
    set(wrappedValue)
  }

  /// The value of the property, or nil if it has none. A value that you set is stored when you save
  /// the object.
  @inlinable  // Benchmark `fetch`.
  public var wrappedValue: Wrapped? {
    get { cell.value(Wrapped.self) }
    nonmutating set { set(newValue) }
  }

  /// The property as a column, for a ``Filter`` or another part of a query.
  public var projectedValue: OptionalMagicValue<Wrapped> { self }

  @inlinable func set(_ value: Wrapped?) {
    if let value { cell.setValue(value) } else { cell.setNull() }
  }
}

extension OptionalMagicValue: SingleCellProperty {}

extension OptionalMagicValue: Sendable where Wrapped: Sendable {}

extension OptionalMagicValue {
  /// The kind of the property, which determines how its values are stored. For internal use.
  public static var role: _PropertyRole {
    var role = _PropertyRole.of(Wrapped.self)
    role.isOptional = true
    return role
  }

  /// Converts a stored value to the content of a cell. For internal use.
  ///
  /// - Parameter stored: The value of the property's column.
  /// - Returns: The content. Reading the property from this content can't fail.
  /// - Throws: `SQLiteError` or a decoding error if `stored` is not NULL and doesn't represent a
  ///   value of the type `Wrapped`.
  public static func content(from stored: SQLiteCore.Value) throws -> _CellValue {
    stored.isNull ? _CellValue(.stored(.null)) : try .of(Wrapped.self, stored: stored)
  }

  /// Converts a value to its stored form. For internal use.
  ///
  /// - Parameter live: The property's value.
  /// - Returns: The value to write to the property's column.
  /// - Throws: `SQLiteError` or an encoding error if the value can't be stored.
  public static func stored(_ live: _LiveValue) throws -> SQLiteCore.Value {
    try live.stored(as: Wrapped.self)
  }

  /// Creates a property by decoding its value from external data, such as JSON. Null becomes nil.
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
    if try decoder.singleValueContainer().decodeNil() {
      set(nil)
    } else {
      try cell.decode(Wrapped.self, from: decoder)
    }
  }

  /// Encodes the value for use outside the store, such as in JSON. Nil is encoded as null, and a
  /// relation as the keys of its objects. If a relation is lazy and wasn't set, the keys are read
  /// from the store, blocking the thread.
  ///
  /// - Parameter encoder: The encoder to write to.
  /// - Throws: `EncodingError` if an object of a relation has no key yet; any other error of the
  ///   encoder or of the value's own `encode(to:)`; ``MagicError`` or `SQLiteError` if the keys
  ///   can't be read.
  public func encode(to encoder: any Encoder) throws {
    if try PropertyCollector.take(self, encoder) { return }
    if try cell.encode(Wrapped.self, to: encoder) { return }
    var container = encoder.singleValueContainer()
    try container.encodeNil()
  }
}

extension KeyedDecodingContainer {
  /// Decodes an optional property. Synthesized `init(from:)` initializers of objects call this
  /// method.
  ///
  /// - Parameters:
  ///   - type: The type of the property wrapper.
  ///   - key: The coding key of the property.
  /// - Returns: The property, which is nil if its key is missing.
  /// - Throws: Any error of the decoder or of the property's `init(from:)`.
  public func decode<Wrapped>(
    _ type: OptionalMagicValue<Wrapped>.Type, forKey key: Key
  ) throws -> OptionalMagicValue<Wrapped> {
    try decodeIfPresent(type, forKey: key) ?? OptionalMagicValue(type: "a decoded object", line: 0)
  }
}

/// The former name of ``OptionalMagicValue``, for programs that still use it.
public typealias OptionMagicValue<Wrapped: Codable> = OptionalMagicValue<Wrapped>

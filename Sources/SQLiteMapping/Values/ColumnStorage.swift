import Essentials
package import SQLiteCore

/// The form in which the values of a type are stored in a column. It is determined once per
/// property, not once per value.
package struct ColumnStorage: Sendable {
  /// The type of the column.
  package let columnType: ColumnType
  /// The collation that sorts the stored values in the order of the original values. Nil if SQLite
  /// sorts them in this order without a collation, or if no collation can.
  package let collation: String?
  /// Whether the type is an optional. Its nil is stored as NULL.
  package let isOptional: Bool
  /// The kind of the type, or of the wrapped type of an optional. It is ``ScalarKind/other`` for a
  /// type that isn't a ``ScalarValue``, and for `Data` that is stored as text.
  package let kind: ScalarKind

  /// Creates the description of the form in which a type is stored.
  ///
  /// For a type that isn't a ``ScalarValue``, this runs its `init(from:)` with a ``DecodingProbe``.
  package init(of type: Any.Type, _ strategies: MappingStrategies = MappingStrategies()) {
    let optional = type as? any OptionalValue.Type
    isOptional = optional != nil
    let wrapped = optional?.wrappedType ?? type
    let forms = strategies.scalars
    collation = ColumnStorage.collation(of: wrapped, strategies)
    if let wrapped = wrapped as? any ScalarValue.Type {
      columnType = wrapped.columnType(forms)
      kind = wrapped.kind == .data && forms.data != .blob ? .other : wrapped.kind
    } else {
      columnType =
        if optional != nil {
          ColumnStorage(of: wrapped, strategies).columnType
        } else if let decodable = type as? any Decodable.Type {
          DecodingProbe.columnType(of: decodable, strategies: strategies)
        } else { .blob }
      kind = .other
    }
  }

  /// Returns the collation that sorts the stored values of a type in the order of the original
  /// values. The result is nil if SQLite sorts them in this order without a collation, or if no
  /// collation can.
  ///
  /// An enumeration with raw values has the collation of its raw type.
  package static func collation(
    of type: Any.Type, _ strategies: MappingStrategies = MappingStrategies()
  ) -> String? {
    func rawType<Raw: RawRepresentable>(_ type: Raw.Type) -> Any.Type { Raw.RawValue.self }
    if let scalar = type as? any ScalarValue.Type { return scalar.collation(strategies.scalars) }
    guard let raw = type as? any RawRepresentable.Type else { return nil }
    return collation(of: rawType(raw), strategies)
  }
}

// Conversions of single values with the default strategies.
extension ColumnStorage {
  private static let defaults = MappingStrategies()

  /// Returns the stored form of a value with the default strategies.
  ///
  /// - Throws: ``SQLiteError`` if the value cannot be stored, or an error from its `encode(to:)`.
  package static func stored<Source: Encodable>(_ value: Source) throws -> Value {
    try plain(value) ?? defaults.stored(value)
  }

  /// Returns the value that a stored form of the default strategies represents.
  ///
  /// - Throws: ``SQLiteError`` if the stored form doesn't represent a value of the type, or an
  ///   error from its `init(from:)`.
  package static func value<Result: Decodable>(
    _ type: Result.Type, of stored: Value
  ) throws -> Result {
    try plainValue(type, of: stored) ?? defaults.value(type, of: stored)
  }
}

// Fast paths without dynamic casts, for types that are stored in the same way with all strategies.
extension ColumnStorage {
  /// Returns the stored form of a value, or nil if the fast path doesn't support the type, or if
  /// the value is a NaN, which the general path rejects.
  package static func plain<Source>(_ value: Source) -> Value? {
    if let text = same(value, as: String.self) { return .text(text) }
    if let integer = same(value, as: Int.self) { return .integer(Int64(integer)) }
    if let real = same(value, as: Double.self) { return real.isNaN ? nil : .real(real) }
    if let boolean = same(value, as: Bool.self) { return .integer(boolean ? 1 : 0) }
    return same(value, as: Int64.self).map { .integer($0) }
  }

  /// Returns the value that a stored form represents, or nil if only the general path can convert
  /// it or throw the error that explains why it can't be converted.
  package static func plainValue<Result>(_ type: Result.Type, of stored: Value) -> Result? {
    switch stored {
    case .text(let text): return same(text, as: type)
    case .integer(let integer):
      if type == Int.self { return Int(exactly: integer).flatMap { same($0, as: type) } }
      if type == Bool.self { return Bool(stored: integer).flatMap { same($0, as: type) } }
      if type == Double.self { return Double(exactly: integer).flatMap { same($0, as: type) } }
      return same(integer, as: type)
    case .real(let real): return same(real, as: type)
    case .blob, .null: return nil
    }
  }
}

// Conversions of single values.
extension MappingStrategies {
  /// Returns the stored form of a value.
  ///
  /// - Throws: ``SQLiteError`` if the value cannot be stored, or an error from its `encode(to:)`.
  package func stored<Source: Encodable>(_ value: Source) throws -> Value {
    try form(of: value).value
  }

  /// Returns the value that a stored form represents.
  ///
  /// - Throws: ``SQLiteError`` if the stored form doesn't represent a value of the type, or an
  ///   error from its `init(from:)`.
  package func value<Result: Decodable>(
    _ type: Result.Type, of stored: Value
  ) throws -> Result {
    func open<Scalar: ScalarValue>(_ scalar: Scalar.Type) throws(SQLiteError) -> Result? {
      try same(scalar.value(of: stored, scalars), as: type)
    }
    if let scalar = type as? any ScalarValue.Type, let value = try open(scalar) { return value }
    return try Result(from: ColumnDecoder(stored, self))
  }

  /// Returns the stored form of a bindable value: with these strategies if it is a scalar,
  /// otherwise its `databaseValue`.
  func stored(bindable value: some Bindable) throws(SQLiteError) -> Value {
    if let form = try scalarForm(of: value) { return form.value }
    return try value.databaseValue
  }

  /// Returns the stored form of a value together with its column type.
  ///
  /// - Throws: ``SQLiteError`` if the value cannot be stored, or an error from its `encode(to:)`.
  func form<Source: Encodable>(of value: Source) throws -> StoredForm {
    if let form = try scalarForm(of: value) { return form }
    return try ColumnEncoder.form(of: value, self)
  }

  /// Returns the stored form of a scalar together with its column type, or nil if the value is not
  /// a scalar.
  private func scalarForm<Source>(of value: Source) throws(SQLiteError) -> StoredForm? {
    func open<Scalar: ScalarValue>(_ scalar: Scalar.Type) throws(SQLiteError) -> StoredForm? {
      guard let value = same(value, as: scalar) else { return nil }
      return StoredForm(
        type: scalar.columnType(scalars), isOptional: scalar.isOptional,
        isDate: Scalar.self == Date.self || Scalar.self == Date?.self,
        value: try value.stored(scalars))
    }
    guard let scalar = Source.self as? any ScalarValue.Type else { return nil }
    return try open(scalar)
  }
}

/// Returns a value as `To`, or nil if its static type is not `To`.
@inline(__always)
package func same<From, To>(_ value: From, as type: To.Type) -> To? {
  guard From.self == To.self else { return nil }
  // The comparison above proves that both types are the same.
  return unsafe unsafeBitCast(value, to: type)
}

/// Returns whether a type is an optional of an optional. NULL can represent only one of its two
/// nils, so the other would be lost.
package func isOptionalOfOptional(_ type: Any.Type) -> Bool {
  guard let optional = type as? any OptionalValue.Type else { return false }
  return optional.wrappedType is any OptionalValue.Type
}

/// A protocol to which only `Optional` conforms. Code that knows a value only as `Any` uses it to
/// inspect an optional.
package protocol OptionalValue {
  static var wrappedType: Any.Type { get }
  /// Whether the value is nil.
  var isNone: Bool { get }
}

extension Optional: OptionalValue {
  package static var wrappedType: Any.Type { Wrapped.self }
  package var isNone: Bool { self == nil }
}

/// A decoder that determines the column type of a `Decodable` type without a stored value.
///
/// The type's `init(from:)` runs until it requests a keyed or unkeyed container or a single value.
/// This request throws an `Answer` with the column type.
struct DecodingProbe: Decoder, SingleValueDecodingContainer {
  private struct Answer: Error {
    let type: ColumnType
  }

  private let strategies: MappingStrategies
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// Returns the column type of `type`. This is `.blob`, which stores any value unchanged, if the
  /// type's `init(from:)` requests nothing or throws an error of its own.
  static func columnType(
    of type: any Decodable.Type, strategies: MappingStrategies
  ) -> ColumnType {
    do {
      _ = try type.init(from: DecodingProbe(strategies: strategies))
      return .blob
    } catch let answer as Answer {
      return answer.type
    } catch {
      return .blob
    }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw Answer(type: strategies.nested.columnType)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    throw Answer(type: strategies.nested.columnType)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { false }

  func decode<Result: Decodable>(_ type: Result.Type) throws -> Result {
    throw Answer(type: ColumnStorage(of: type, strategies).columnType)
  }
}

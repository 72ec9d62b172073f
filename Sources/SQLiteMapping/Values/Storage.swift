import Essentials
package import SQLiteCore

/// How the values of one type are stored in a column: found out once for a property, and not for each value.
package struct Storage: Sendable {
  /// The type of the column.
  package let columnType: ColumnType
  /// The collation by which the stored values sort as the values do, where SQLite's own order does not.
  package let collation: String?
  /// Whether the type has a nil, which is NULL.
  package let isOptional: Bool
  /// The kind of the type, or of what an optional wraps.
  package let kind: ScalarKind

  /// Finds out how a type is stored.
  ///
  /// A type without a form of its own decodes itself from a probe, which notes what it reads first.
  package init(of type: Any.Type, _ strategies: MappingStrategies = MappingStrategies()) {
    let optional = type as? any OptionalValue.Type
    isOptional = optional != nil
    let wrapped = optional?.wrappedType ?? type
    let forms = strategies.scalars
    collation = Storage.collation(of: wrapped, strategies)
    if let wrapped = wrapped as? any ScalarValue.Type {
      columnType = wrapped.columnType(forms)
      kind = wrapped.kind == .data && forms.data != .blob ? .other : wrapped.kind
    } else {
      columnType =
        if optional != nil {
          Storage(of: wrapped, strategies).columnType
        } else if let decodable = type as? any Decodable.Type {
          DecodingProbe.columnType(of: decodable, strategies: strategies)
        } else { .blob }
      kind = .other
    }
  }

  /// Returns the collation by which the stored values of a type, be it an enumeration with raw values, sort as the
  /// values do; nil where SQLite's own order does.
  package static func collation(
    of type: Any.Type, _ strategies: MappingStrategies = MappingStrategies()
  ) -> String? {
    func rawType<Raw: RawRepresentable>(_ type: Raw.Type) -> Any.Type { Raw.RawValue.self }
    if let scalar = type as? any ScalarValue.Type { return scalar.collation(strategies.scalars) }
    guard let raw = type as? any RawRepresentable.Type else { return nil }
    return collation(of: rawType(raw), strategies)
  }
}

// For single values, by the default strategies.
extension Storage {
  private static let defaults = MappingStrategies()

  /// Returns the stored form of a value.
  ///
  /// - Throws: ``SQLiteError`` if the value cannot be stored, or what its encoding throws.
  package static func stored<Source: Encodable>(_ value: Source) throws -> Value {
    try plain(value) ?? defaults.stored(value)
  }

  /// Returns the value of a stored form.
  ///
  /// - Throws: ``SQLiteError`` if something else is stored, or what the value's decoding throws.
  package static func value<Result: Decodable>(
    _ type: Result.Type, of stored: Value
  ) throws -> Result {
    try plainValue(type, of: stored) ?? defaults.value(type, of: stored)
  }
}

// The types that SQLite stores as they are, whatever the strategies, without a dynamic cast.
extension Storage {
  /// Returns the stored form of a value of such a type; nil for another type, and for a NaN, which is refused.
  package static func plain<Source>(_ value: Source) -> Value? {
    if let text = same(value, as: String.self) { return .text(text) }
    if let integer = same(value, as: Int.self) { return .integer(Int64(integer)) }
    if let real = same(value, as: Double.self) { return real.isNaN ? nil : .real(real) }
    if let boolean = same(value, as: Bool.self) { return .integer(boolean ? 1 : 0) }
    return same(value, as: Int64.self).map { .integer($0) }
  }

  /// Returns the value of a stored form; nil for another type, and for what is stored otherwise than usual.
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

// For single values.
extension MappingStrategies {
  /// Returns the stored form of a value.
  ///
  /// - Throws: ``SQLiteError`` if the value cannot be stored, or what its encoding throws.
  package func stored<Source: Encodable>(_ value: Source) throws -> Value {
    try form(of: value).value
  }

  /// Returns the value of a stored form.
  ///
  /// - Throws: ``SQLiteError`` if something else is stored, or what the value's decoding throws.
  package func value<Result: Decodable>(
    _ type: Result.Type, of stored: Value
  ) throws -> Result {
    func open<Scalar: ScalarValue>(_ scalar: Scalar.Type) throws(SQLiteError) -> Result? {
      try same(scalar.value(of: stored, scalars), as: type)
    }
    if let scalar = type as? any ScalarValue.Type, let value = try open(scalar) { return value }
    return try Result(from: ColumnDecoder(stored, self))
  }

  /// Returns the stored form of a value that can be bound.
  func stored(bindable value: some Bindable) throws(SQLiteError) -> Value {
    if let form = try scalarForm(of: value) { return form.value }
    return try value.databaseValue
  }

  /// Returns how a value is stored.
  func form<Source: Encodable>(of value: Source) throws -> StoredForm {
    if let form = try scalarForm(of: value) { return form }
    return try ColumnEncoder.form(of: value, self)
  }

  /// Returns how a value is stored, or nil if its type is no scalar.
  private func scalarForm<Source>(of value: Source) throws(SQLiteError) -> StoredForm? {
    func open<Scalar: ScalarValue>(_ scalar: Scalar.Type) throws(SQLiteError) -> StoredForm? {
      guard let value = same(value, as: scalar) else { return nil }
      return StoredForm(
        type: scalar.columnType(scalars), isOptional: scalar.isOptional,
        value: try value.stored(scalars))
    }
    guard let scalar = Source.self as? any ScalarValue.Type else { return nil }
    return try open(scalar)
  }
}

/// Returns a value as `To`, or nil if that is not its type.
@inline(__always)
package func same<From, To>(_ value: From, as type: To.Type) -> To? {
  guard From.self == To.self else { return nil }
  // From the type to itself, which the comparison has just proven.
  return unsafe unsafeBitCast(value, to: type)
}

/// Returns whether a type has two nils, of which SQLite's NULL is one: the other would be lost.
package func isOptionalOfOptional(_ type: Any.Type) -> Bool {
  guard let optional = type as? any OptionalValue.Type else { return false }
  return optional.wrappedType is any OptionalValue.Type
}

/// An optional of whatever type.
package protocol OptionalValue {
  static var wrappedType: Any.Type { get }
  /// Whether there is no value.
  var isNone: Bool { get }
}

extension Optional: OptionalValue {
  package static var wrappedType: Any.Type { Wrapped.self }
  package var isNone: Bool { self == nil }
}

/// Finds out the column type of a `Decodable` type without a value: its `init(from:)` runs until it asks for
/// something.
struct DecodingProbe: Decoder, SingleValueDecodingContainer {
  private struct Answer: Error {
    let type: ColumnType
  }

  private let strategies: MappingStrategies
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// Returns the column type of `type`; a blob, which takes anything, if the type does not tell.
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
    throw Answer(type: Storage(of: type, strategies).columnType)
  }
}

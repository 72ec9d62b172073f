import Essentials
import SQLiteCore

/// How a property is stored: the type of its column, whether NULL is allowed, and a value's content.
struct ColumnForm {
  private(set) var type: ColumnType
  private(set) var isOptional = false
  private(set) var value = Value.null

  /// The form of a type of which there is no value, as a nil property has none.
  ///
  /// A type that can be decoded is asked what it would read first.
  init(of type: Any.Type, strategies: MappingStrategies) {
    if let optional = type as? any AnyOptional.Type {
      self.init(of: optional.wrappedType, strategies: strategies)
      isOptional = true
    } else if let known = strategies.columnType(of: type) {
      self.init(type: known)
    } else if let decodable = type as? any Decodable.Type {
      self.init(type: FormProbe.columnType(of: decodable, strategies: strategies))
    } else {
      self.init(type: .blob)
    }
  }

  /// The form of a value.
  ///
  /// - Throws: What the value's encoding throws, or ``SQLiteError`` if it cannot be stored.
  init<Source: Encodable>(_ value: Source, strategies: MappingStrategies) throws {
    if let stored = try strategies.storedForm(of: value) {
      self.init(type: strategies.columnType(of: Source.self) ?? .blob)
      self.value = stored
      return
    }
    let encoder = FormEncoder(strategies)
    // What the value keeps of it throws from then on.
    defer { encoder.isDone = true }
    do {
      try value.encode(to: encoder)
    } catch is NestingSignal {
      encoder.form = nil
    }
    if let form = encoder.form {
      self = form
    } else {
      self.init(type: strategies.nested.columnType)
      self.value = try strategies.nested.value(of: value)
    }
    if let optional = Source.self as? any AnyOptional.Type {
      type = ColumnForm(of: optional.wrappedType, strategies: strategies).type
      isOptional = true
    }
  }

  fileprivate init(type: ColumnType, isOptional: Bool = false, value: Value = .null) {
    self.type = type
    self.isOptional = isOptional
    self.value = value
  }
}

/// Says whether a type has two nils, of which SQLite's NULL is one: the other would be lost.
package func isOptionalOfOptional(_ type: Any.Type) -> Bool {
  guard let optional = type as? any AnyOptional.Type else { return false }
  return optional.wrappedType is any AnyOptional.Type
}

/// An optional of whatever type.
private protocol AnyOptional {
  static var wrappedType: Any.Type { get }
}

extension Optional: AnyOptional {
  fileprivate static var wrappedType: Any.Type { Wrapped.self }
}

extension NestedStrategy {
  /// What is stored for a value that has containers.
  func value(of value: some Encodable) throws -> Value {
    switch self {
    case .text: .text(String(decoding: try NestedJSON.encoder().encode(value), as: UTF8.self))
    case .blob: .blob(try NestedJSON.encoder().encode(value).byteArray)
    case .coder(let coder): try coder.encode(value)
    }
  }
}

/// Encodes a single value, or says by its silence that it has containers.
private final class FormEncoder: Encoder, SingleValueEncodingContainer {
  let strategies: MappingStrategies
  var form: ColumnForm?
  var isDone = false
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  init(_ strategies: MappingStrategies) {
    self.strategies = strategies
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    NestingEncoder(error: NestingSignal()).container(keyedBy: type)
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    NestingEncoder(error: NestingSignal()).unkeyedContainer()
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  private func set(_ form: ColumnForm) throws {
    if isDone { throw EncodedRow.gone }
    self.form = form
  }

  func encodeNil() throws { try set(ColumnForm(type: .blob, isOptional: true)) }

  func encode(_ value: Bool) throws {
    try set(ColumnForm(type: .integer, value: .integer(value ? 1 : 0)))
  }

  func encode(_ value: String) throws { try set(ColumnForm(type: .text, value: .text(value))) }
  func encode(_ value: Float) throws { try encode(Double(value)) }

  func encode(_ value: Double) throws {
    try set(ColumnForm(type: .real, value: try value.databaseValue))
  }

  func encode<Source: Encodable>(_ value: Source) throws {
    if let integer = value as? any Bindable & FixedWidthInteger {
      try set(ColumnForm(type: .integer, value: try integer.databaseValue))
    } else {
      try set(ColumnForm(value, strategies: strategies))
    }
  }
}

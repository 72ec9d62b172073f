import Essentials
import ExactText

/// The encoder that writes one value. It is passed to a value's `encode(to:)`.
struct ValueWriter: Encoder {
  let state: EncodingState
  let node: EncodedNode
  let codingPath: [any CodingKey]
  /// The type whose name is written if the value is encoded as an object; nil if no name is
  /// written.
  var type: Any.Type?
  var isMember = false

  var userInfo: [CodingUserInfoKey: Any] { state.encoder.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    begin(.object)
    return KeyedEncodingContainer(KeyedWriter(writer: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    begin(.array)
    return UnkeyedWriter(writer: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  private func begin(_ kind: EncodedNode.Kind) {
    if node.kind == kind { return }
    guard node.kind == .empty else { return state.fail(encodedTwiceError) }
    guard codingPath.count < state.encoder.maximumDepth else {
      return state.fail(
        invalid((), "the value is nested more than \(state.encoder.maximumDepth) levels deep"))
    }
    node.kind = kind
    if kind == .object, let type { node.typeName = state.name(of: type) }
  }

  private var encodedTwiceError: EncodingError {
    invalid((), "the value is encoded twice, or in two kinds of containers")
  }

  func invalid(_ value: Any, _ reason: String) -> EncodingError {
    state.invalid(value, reason, at: codingPath)
  }
}

extension ValueWriter {
  /// Encodes a nested value, and returns it as a part that a container can append.
  fileprivate func part<T: Encodable>(
    _ value: T, isMember: Bool, key: @autoclosure () -> any CodingKey
  ) throws -> EncodedNode.Part {
    if let scalar = try scalar(value, isMember: isMember) { return scalar }
    let inner = inside(key(), T.self, isMember: isMember)
    try inner.encodeItself(value)
    return .node(inner.node)
  }

  fileprivate func inside(
    _ key: any CodingKey, _ type: Any.Type? = nil, isMember: Bool
  ) -> ValueWriter {
    // After an error, which may be that the value is nested too deep, don't extend the path.
    let path = state.failure == nil ? codingPath + [key] : codingPath
    return ValueWriter(
      state: state, node: EncodedNode(), codingPath: path, type: type, isMember: isMember)
  }

  fileprivate func null() -> EncodedNode.Part {
    state.scalars.appendNull()
    return .scalar(state.scalars.bytes.count - 1..<state.scalars.bytes.count)
  }

  private func scalar(_ value: some Encodable, isMember: Bool) throws -> EncodedNode.Part? {
    let start = state.scalars.bytes.count
    guard let scalar = value as? any SPONScalar, try scalar.append(to: state, isMember: isMember)
    else {
      return nil
    }
    return .scalar(start..<state.scalars.bytes.count)
  }

  private func encodeItself<T: Encodable>(_ value: T) throws {
    if let failure = state.failure { throw failure }
    if let date = value as? Date, case .custom(let encode) = state.encoder.dateEncodingStrategy {
      try encode(date, self)
    } else if let data = value as? Data,
      case .custom(let encode) = state.encoder.dataEncodingStrategy
    {
      try encode(data, self)
    } else {
      try value.encode(to: self)
    }
    // A value that encodes nothing becomes an empty object.
    if node.kind == .empty { begin(.object) }
  }
}

// The protocols require a function for each of sixteen primitive types. One generic function
// implements them all. Only the 128-bit integers need their own functions, because the default
// implementations throw.

extension ValueWriter: SingleValueEncodingContainer {
  func encodeNil() throws { try set(null()) }

  func encode<T: Encodable>(_ value: T) throws { try encodeAny(value) }

  private func encodeAny<T: Encodable>(_ value: T) throws {
    if let scalar = try scalar(value, isMember: isMember) { return try set(scalar) }
    guard node.kind == .empty else { throw encodedTwiceError }
    var inner = self
    inner.type = T.self
    try inner.encodeItself(value)
  }
  func encode(_ value: Int128) throws { try encodeAny(value) }
  func encode(_ value: UInt128) throws { try encodeAny(value) }

  private func set(_ scalar: EncodedNode.Part) throws {
    guard node.kind == .empty else { throw encodedTwiceError }
    node.kind = .scalar
    node.append(scalar)
  }
}

/// A container that writes the members of an object.
struct KeyedWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let writer: ValueWriter

  var codingPath: [any CodingKey] { writer.codingPath }

  private func append(_ part: EncodedNode.Part, _ key: some CodingKey) throws {
    let name =
      switch writer.state.encoder.keyEncodingStrategy {
      case .convertToSnakeCase: SnakeCase.snakeCase(of: key.stringValue)
      case .custom(let convert): convert(codingPath + [key]).stringValue
      default: key.stringValue
      }
    guard writer.node.append(part, key: name) else {
      throw writer.invalid(name, "the key “\(name)” is encoded twice")
    }
  }

  func encodeNil(forKey key: Key) throws { try append(writer.null(), key) }
  func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    try append(writer.part(value, isMember: true, key: key), key)
  }
  func encode(_ value: Int128, forKey key: Key) throws {
    try append(writer.part(value, isMember: true, key: key), key)
  }
  func encode(_ value: UInt128, forKey key: Key) throws {
    try append(writer.part(value, isMember: true, key: key), key)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    inside(key).container(keyedBy: keyType)
  }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    inside(key).unkeyedContainer()
  }
  func superEncoder() -> any Encoder { inside(PathKey("super")) }
  func superEncoder(forKey key: Key) -> any Encoder { inside(key) }

  private func inside(_ key: some CodingKey) -> ValueWriter {
    let inner = writer.inside(key, isMember: true)
    do {
      if writer.state.failure == nil { try append(.node(inner.node), key) }
    } catch {
      writer.state.fail(error)
    }
    return inner
  }
}

/// A container that writes the elements of an array.
struct UnkeyedWriter: UnkeyedEncodingContainer {
  let writer: ValueWriter

  var codingPath: [any CodingKey] { writer.codingPath }
  var count: Int { writer.node.parts.count }

  func encodeNil() { writer.node.append(writer.null()) }
  func encode<T: Encodable>(_ value: T) throws {
    writer.node.append(try writer.part(value, isMember: false, key: PathKey(index: count)))
  }
  func encode(_ value: Int128) throws {
    writer.node.append(try writer.part(value, isMember: false, key: PathKey(index: count)))
  }
  func encode(_ value: UInt128) throws {
    writer.node.append(try writer.part(value, isMember: false, key: PathKey(index: count)))
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> {
    inside().container(keyedBy: keyType)
  }
  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { inside().unkeyedContainer() }
  func superEncoder() -> any Encoder { inside() }

  private func inside() -> ValueWriter {
    let inner = writer.inside(PathKey(index: count), isMember: false)
    if writer.state.failure == nil { writer.node.append(.node(inner.node)) }
    return inner
  }
}

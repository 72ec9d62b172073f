import ExactText
package import Essentials
import SQLiteCore

/// JSON as columns hold it: sorted keys, and dates as text of an exact round trip.
package enum NestedJSON {
  /// A new encoder.
  package static func encoder() -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(DateText.text(of: date))
    }
    return encoder
  }

  /// A decoder that stands at the top of `json`.
  static func decoder(of json: Data) throws -> any Decoder {
    try decoder().decode(Passthrough.self, from: json).decoder
  }

  /// A new decoder.
  package static func decoder() -> JSONDecoder {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      try DateText.date(from: decoder.singleValueContainer().decode(String.self))
    }
    return decoder
  }
}

/// Captures the decoder that it is decoded by, so that another value can be read from it.
struct Passthrough: Decodable {
  let decoder: any Decoder

  init(from decoder: any Decoder) throws {
    self.decoder = decoder
  }
}

/// A nested value that a type encodes piece by piece with `nestedContainer` or `superEncoder`.
final class JSONNode {
  private enum Content {
    case nothing
    case value(Data)
    case object([String: JSONNode])
    case array([JSONNode])
    /// The row has ended.
    case closed
  }

  private var content = Content.nothing

  var count: Int {
    if case .array(let elements) = content { elements.count } else { 0 }
  }

  /// Ends the value: whatever is encoded into it later throws.
  func close() {
    var open = [self]
    while let node = open.popLast() {
      switch node.content {
      case .object(let members): open += members.values
      case .array(let elements): open += elements
      case .nothing, .value, .closed: break
      }
      node.content = .closed
    }
  }

  func set(_ value: some Encodable) throws {
    if case .closed = content { throw SQLiteError.keptEncoder }
    content = .value(try NestedJSON.encoder().encode(value))
  }

  func beginObject() {
    switch content {
    case .object, .closed: return
    default: break
    }
    content = .object([:])
  }

  func beginArray() {
    switch content {
    case .array, .closed: return
    default: break
    }
    content = .array([])
  }

  /// A node that belongs to no value, closed if this one is.
  private var sibling: JSONNode {
    let node = JSONNode()
    if case .closed = content { node.content = .closed }
    return node
  }

  /// The member of a name, made if there is none.
  func member(_ name: String) -> JSONNode {
    guard case .object(var members) = content else { return sibling }
    if let known = members[name] { return known }
    let node = JSONNode()
    members[name] = node
    content = .object(members)
    return node
  }

  /// A new element at the end.
  func element() -> JSONNode {
    let node = JSONNode()
    guard case .array(var elements) = content else { return sibling }
    elements.append(node)
    content = .array(elements)
    return node
  }

  /// The JSON of the value; one that encoded nothing is an empty object.
  func data() throws -> Data {
    switch content {
    case .nothing, .closed: return Data("{}".utf8)
    case .value(let data): return data
    case .array(let elements):
      var data = Data("[".utf8)
      for (index, element) in elements.enumerated() {
        if index > 0 { data.append(UInt8(ascii: ",")) }
        data.append(try element.data())
      }
      data.append(UInt8(ascii: "]"))
      return data
    case .object(let members):
      var data = Data("{".utf8)
      for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
        if index > 0 { data.append(UInt8(ascii: ",")) }
        data.append(try NestedJSON.encoder().encode(member.key))
        data.append(UInt8(ascii: ":"))
        data.append(try member.value.data())
      }
      data.append(UInt8(ascii: "}"))
      return data
    }
  }
}

/// Encodes into a ``JSONNode``.
struct TreeEncoder: Encoder {
  let node: JSONNode
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    node.beginObject()
    return KeyedEncodingContainer(TreeKeyedContainer(node: node, codingPath: codingPath))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    node.beginArray()
    return TreeUnkeyedContainer(node: node, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension TreeEncoder: SingleValueEncodingContainer {
  func encodeNil() throws { try node.set(Bool?.none) }
  dynamic func encode(_ value: some Encodable) throws { try node.set(value) }
}

private struct TreeKeyedContainer<Key: CodingKey>: NestingKeyedEncoding {
  let node: JSONNode
  let codingPath: [any CodingKey]

  func encodeNil(forKey key: Key) throws { try node.member(key.stringValue).set(Bool?.none) }

  dynamic func encode(_ value: some Encodable, forKey key: Key) throws {
    try node.member(key.stringValue).set(value)
  }

  func encoder(forKey key: some CodingKey) -> any Encoder {
    TreeEncoder(node: node.member(key.stringValue), codingPath: codingPath + [key])
  }
}

private struct TreeUnkeyedContainer: NestingUnkeyedEncoding {
  let node: JSONNode
  let codingPath: [any CodingKey]
  var count: Int { node.count }

  func encodeNil() throws { try node.element().set(Bool?.none) }
  dynamic func encode(_ value: some Encodable) throws { try node.element().set(value) }

  func nextEncoder() -> any Encoder {
    TreeEncoder(node: node.element(), codingPath: codingPath)
  }
}

/// A container or an encoder that throws `error` at the first value.
struct NestingEncoder: Encoder, SingleValueEncodingContainer {
  let error: any Error

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(NestingKeyedContainer(error: error))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    NestingUnkeyedContainer(error: error)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }
  func encodeNil() throws { throw error }
  func encode(_ value: some Encodable) throws { throw error }
}

/// A container or an encoder that throws `error` at the first value.
struct NestingKeyedContainer<Key: CodingKey>: NestingKeyedEncoding {
  let error: any Error

  var codingPath: [any CodingKey] { [] }

  func encodeNil(forKey key: Key) throws { throw error }
  func encode(_ value: some Encodable, forKey key: Key) throws { throw error }

  func encoder(forKey key: some CodingKey) -> any Encoder { NestingEncoder(error: error) }
}

/// A container or an encoder that throws `error` at the first value.
struct NestingUnkeyedContainer: NestingUnkeyedEncoding {
  let error: any Error

  var codingPath: [any CodingKey] { [] }
  var count: Int { 0 }

  func encodeNil() throws { throw error }
  func encode(_ value: some Encodable) throws { throw error }

  func nextEncoder() -> any Encoder { NestingEncoder(error: error) }
}

extension SQLiteError {
  /// The error of a container or an encoder that is kept.
  static var keptEncoder: SQLiteError {
    SQLiteError(.misuse, "it was kept after its value was encoded")
  }
}

import ExactText
package import Essentials
import SQLiteCore

/// The JSON that columns store: with sorted keys, and with dates as text that allows an exact round
/// trip.
///
/// By default, structures, arrays and dictionaries are stored as this JSON, as text.
/// ``NestedStrategy`` selects a blob or another coder, and ``ColumnEncoder`` determines whether a
/// value is nested.
package enum NestedJSON {
  /// Returns a new encoder that writes JSON in the stored form.
  package static func encoder() -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(DateText.text(of: date))
    }
    return encoder
  }

  /// Returns a value as JSON.
  ///
  /// - Throws: `EncodingError`, for example if the value is nested more than 512 levels deep, or an
  ///   error from its `encode(to:)`.
  static func data(of value: some Encodable) throws -> Data {
    try checkDepth(of: value)
    return try encoder().encode(value)
  }

  /// Returns a decoder of the top-level value in `json`.
  static func decoder(of json: Data) throws -> any Decoder {
    try decoder().decode(Passthrough.self, from: json).decoder
  }

  /// Returns a new decoder that reads JSON in the stored form.
  package static func decoder() -> JSONDecoder {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      try DateText.date(from: decoder.singleValueContainer().decode(String.self))
    }
    return decoder
  }
}

/// A value that captures the decoder it is decoded from, so that the caller can use this decoder.
struct Passthrough: Decodable {
  let decoder: any Decoder

  init(from decoder: any Decoder) throws {
    self.decoder = decoder
  }
}

/// A nested value that a type encodes in parts, with `nestedContainer` or `superEncoder`. When it
/// is complete, the strategy for nested values encodes it.
final class NestedNode: Encodable {
  private enum Content {
    case nothing
    case value(any Encodable)
    case object([String: NestedNode])
    case array([NestedNode])
    /// A node that throws this error when something is encoded into it, because the row has ended
    /// or the value has no column.
    case refused(any Error)
  }

  private var content = Content.nothing

  /// Creates an empty node, which values can be encoded into.
  init() {}

  /// Creates a node that throws `error` when something is encoded into it.
  init(throwing error: any Error) {
    content = .refused(error)
  }

  var count: Int {
    if case .array(let elements) = content { elements.count } else { 0 }
  }

  /// Discards the content. Encoding anything into this node or the nodes inside it throws from now
  /// on.
  func close() {
    var open = [self]
    while let node = open.popLast() {
      switch node.content {
      case .object(let members): open += members.values
      case .array(let elements): open += elements
      case .nothing, .value, .refused: break
      }
      node.content = .refused(SQLiteError.expiredEncoder)
    }
  }

  func set(_ value: some Encodable) throws {
    if case .refused(let error) = content { throw error }
    // Also throws the errors of the value's own encoding.
    try checkDepth(of: value)
    content = .value(value)
  }

  func beginObject() {
    switch content {
    case .object, .refused: return
    case .nothing, .value, .array: content = .object([:])
    }
  }

  func beginArray() {
    switch content {
    case .array, .refused: return
    case .nothing, .value, .object: content = .array([])
    }
  }

  private var sibling: NestedNode {
    if case .refused(let error) = content { NestedNode(throwing: error) } else { NestedNode() }
  }

  /// Returns the member of this object with a name, after adding an empty member if it is missing.
  /// If the node isn't an object, returns a node that is not part of the value.
  func member(_ name: String) -> NestedNode {
    guard case .object(var members) = content else { return sibling }
    if let member = members[name] { return member }
    let member = NestedNode()
    content = .nothing
    members[name] = member
    content = .object(members)
    return member
  }

  /// Appends an empty element to this array and returns it. If the node isn't an array, returns a
  /// node that is not part of the value.
  func element() -> NestedNode {
    guard case .array(var elements) = content else { return sibling }
    let element = NestedNode()
    content = .nothing
    elements.append(element)
    content = .array(elements)
    return element
  }

  func encode(to encoder: any Encoder) throws {
    switch content {
    case .value(let value):
      var container = encoder.singleValueContainer()
      try container.encode(value)
    case .array(let elements):
      var container = encoder.unkeyedContainer()
      for element in elements { try container.encode(element) }
    case .object(let members):
      var container = encoder.container(keyedBy: PathKey.self)
      for (name, member) in members { try container.encode(member, forKey: PathKey(name)) }
    case .nothing, .refused: _ = encoder.container(keyedBy: PathKey.self)
    }
  }
}

/// An encoder that encodes into a ``NestedNode``.
struct TreeEncoder: Encoder {
  let node: NestedNode
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  init(_ node: NestedNode, _ codingPath: [any CodingKey]) {
    self.node = node
    self.codingPath = codingPath
  }

  /// Creates an encoder that throws `error` when a value is encoded.
  init(throwing error: any Error) { self.init(NestedNode(throwing: error), []) }

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
  let node: NestedNode
  let codingPath: [any CodingKey]

  func encodeNil(forKey key: Key) throws { try node.member(key.stringValue).set(Bool?.none) }

  dynamic func encode(_ value: some Encodable, forKey key: Key) throws {
    try node.member(key.stringValue).set(value)
  }

  func encoder(forKey key: some CodingKey) -> any Encoder {
    TreeEncoder(node.member(key.stringValue), codingPath + [key])
  }
}

private struct TreeUnkeyedContainer: NestingUnkeyedEncoding {
  let node: NestedNode
  let codingPath: [any CodingKey]
  var count: Int { node.count }

  func encodeNil() throws { try node.element().set(Bool?.none) }
  dynamic func encode(_ value: some Encodable) throws { try node.element().set(value) }

  func nextEncoder() -> any Encoder {
    TreeEncoder(node.element(), codingPath)
  }
}

extension SQLiteError {
  /// The error that a container or an encoder throws if it is used after its value has been
  /// encoded.
  static var expiredEncoder: SQLiteError {
    SQLiteError(.misuse, "an encoder was used after its value was encoded")
  }
}

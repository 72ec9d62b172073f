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

  /// Returns a value as JSON.
  ///
  /// - Throws: `EncodingError`, also if the value is nested more than 512 deep.
  static func data(of value: some Encodable) throws -> Data {
    try checkDepth(of: value)
    return try encoder().encode(value)
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
    /// The members, sorted by their names.
    case object([(name: String, node: JSONNode)])
    case array([JSONNode])
    /// Nothing can be encoded: the row has ended, or there is no place for the value.
    case refused(any Error)
    /// Something in it is nested too deeply.
    case tooDeep
  }

  private var content: Content
  private let depth: Int

  /// Makes a value that nothing was encoded into.
  convenience init() { self.init(depth: 1) }

  private init(depth: Int) {
    content = .nothing
    self.depth = depth
  }

  /// Makes a value that throws `error` when something is encoded into it.
  init(refusing error: any Error) {
    content = .refused(error)
    depth = 1
  }

  var count: Int {
    if case .array(let elements) = content { elements.count } else { 0 }
  }

  /// Ends the value: whatever is encoded into it later throws.
  func close() {
    var open = [self]
    while let node = open.popLast() {
      switch node.content {
      case .object(let members): open += members.map(\.node)
      case .array(let elements): open += elements
      case .nothing, .value, .refused, .tooDeep: break
      }
      node.content = .refused(SQLiteError.keptEncoder)
    }
  }

  func set(_ value: some Encodable) throws {
    if case .refused(let error) = content { throw error }
    content = .value(try NestedJSON.data(of: value))
  }

  func beginObject() {
    switch content {
    case .object, .refused, .tooDeep: return
    case .nothing, .value, .array: content = .object([])
    }
  }

  func beginArray() {
    switch content {
    case .array, .refused, .tooDeep: return
    case .nothing, .value, .object: content = .array([])
    }
  }

  /// A node outside the value, which refuses everything if this one does.
  private var sibling: JSONNode {
    if case .refused(let error) = content { JSONNode(refusing: error) } else { JSONNode() }
  }

  /// Makes a value in this one, or nil if it would be nested too deeply.
  private func child() -> JSONNode? {
    guard depth < maximumJSONDepth else {
      content = .tooDeep
      return nil
    }
    return JSONNode(depth: depth + 1)
  }

  /// The member of a name, made if there is none.
  func member(_ name: String) -> JSONNode {
    guard case .object(var members) = content else { return sibling }
    var range = members.indices
    while let middle = range.isEmpty ? nil : (range.lowerBound + range.upperBound) / 2 {
      if members[middle].name == name { return members[middle].node }
      range =
        members[middle].name < name
        ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    guard let node = child() else { return JSONNode(refusing: EncodingError.isTooDeep(name)) }
    content = .nothing
    members.insert((name, node), at: range.lowerBound)
    content = .object(members)
    return node
  }

  /// A new element at the end.
  func element() -> JSONNode {
    guard case .array(var elements) = content else { return sibling }
    guard let node = child() else { return JSONNode(refusing: EncodingError.isTooDeep(0)) }
    content = .nothing
    elements.append(node)
    content = .array(elements)
    return node
  }

  /// The JSON of the value; one that encoded nothing is an empty object.
  func data() throws -> Data {
    switch content {
    case .nothing, .refused: return Data("{}".utf8)
    case .tooDeep: throw EncodingError.isTooDeep(0)
    case .value(let data): return data
    case .array(let elements):
      return try Self.joined(elements.map { try $0.data() }, "[", "]")
    case .object(let members):
      return try Self.joined(
        members.map { try NestedJSON.encoder().encode($0.name) + Data(":".utf8) + $0.node.data() },
        "{", "}")
    }
  }

  private static func joined(_ parts: [Data], _ opening: String, _ closing: String) -> Data {
    var data = Data(opening.utf8)
    for (index, part) in parts.enumerated() {
      if index > 0 { data.append(UInt8(ascii: ",")) }
      data.append(part)
    }
    data.append(contentsOf: closing.utf8)
    return data
  }
}

/// Encodes into a ``JSONNode``.
struct TreeEncoder: Encoder {
  let node: JSONNode
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  init(_ node: JSONNode, _ codingPath: [any CodingKey]) {
    self.node = node
    self.codingPath = codingPath
  }

  /// Throws `error` at the first value that is encoded.
  init(refusing error: any Error) { self.init(JSONNode(refusing: error), []) }

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
    TreeEncoder(node.member(key.stringValue), codingPath + [key])
  }
}

private struct TreeUnkeyedContainer: NestingUnkeyedEncoding {
  let node: JSONNode
  let codingPath: [any CodingKey]
  var count: Int { node.count }

  func encodeNil() throws { try node.element().set(Bool?.none) }
  dynamic func encode(_ value: some Encodable) throws { try node.element().set(value) }

  func nextEncoder() -> any Encoder {
    TreeEncoder(node.element(), codingPath)
  }
}

extension SQLiteError {
  /// The error of a container or an encoder that is kept.
  static var keptEncoder: SQLiteError {
    SQLiteError(.misuse, "it was kept after its value was encoded")
  }
}

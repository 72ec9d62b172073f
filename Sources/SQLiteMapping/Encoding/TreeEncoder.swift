import ExactText

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
  func encode(_ value: some Encodable) throws { try node.set(value) }
}

private struct TreeKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let node: JSONNode
  let codingPath: [any CodingKey]

  func encodeNil(forKey key: Key) throws { try node.member(key.stringValue).set(Bool?.none) }

  func encode(_ value: some Encodable, forKey key: Key) throws {
    try node.member(key.stringValue).set(value)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    encoder(forKey: key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    encoder(forKey: key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { encoder(forKey: PathKey("super")) }
  func superEncoder(forKey key: Key) -> any Encoder { encoder(forKey: key) }

  private func encoder(forKey key: some CodingKey) -> TreeEncoder {
    TreeEncoder(node: node.member(key.stringValue), codingPath: codingPath + [key])
  }
}

private struct TreeUnkeyedContainer: UnkeyedEncodingContainer {
  let node: JSONNode
  let codingPath: [any CodingKey]
  var count: Int { node.count }

  func encodeNil() throws { try node.element().set(Bool?.none) }
  func encode(_ value: some Encodable) throws { try node.element().set(value) }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> {
    encoder().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }
  func superEncoder() -> any Encoder { encoder() }

  private func encoder() -> TreeEncoder {
    TreeEncoder(node: node.element(), codingPath: codingPath)
  }
}

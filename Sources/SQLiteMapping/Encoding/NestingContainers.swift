/// Thrown by a value that turns out to have containers, so that it is encoded as JSON instead.
struct NestingSignal: Error {}

/// Throws at the first value.
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

/// Throws at the first value.
struct NestingKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let error: any Error

  var codingPath: [any CodingKey] { [] }

  func encodeNil(forKey key: Key) throws { throw error }
  func encode(_ value: some Encodable, forKey key: Key) throws { throw error }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    KeyedEncodingContainer(NestingKeyedContainer<NestedKey>(error: error))
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    NestingUnkeyedContainer(error: error)
  }

  func superEncoder() -> any Encoder { NestingEncoder(error: error) }
  func superEncoder(forKey key: Key) -> any Encoder { NestingEncoder(error: error) }
}

/// Throws at the first value.
struct NestingUnkeyedContainer: UnkeyedEncodingContainer {
  let error: any Error

  var codingPath: [any CodingKey] { [] }
  var count: Int { 0 }

  func encodeNil() throws { throw error }
  func encode(_ value: some Encodable) throws { throw error }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> {
    KeyedEncodingContainer(NestingKeyedContainer<NestedKey>(error: error))
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
  func superEncoder() -> any Encoder { NestingEncoder(error: error) }
}

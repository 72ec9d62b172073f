import Essentials

/// Throws if a value is nested too deeply to be decoded from JSON again.
///
/// Foundation's decoder rejects more than 512 levels. Its encoder recurses without a limit, so a
/// deeper value would overflow the stack.
///
/// - Throws: `EncodingError` if the value has more than 512 levels, or an error from the value's
///   own `encode(to:)`.
package func checkDepth(
  of value: some Encodable, userInfo: [CodingUserInfoKey: Any] = [:]
) throws {
  let check = DepthCheck(depth: 0, levels: DepthCheck.Levels(), userInfo: userInfo)
  try check.encode(value)
  // `nestedContainer` cannot throw, so the depth of nested containers is checked afterwards.
  guard check.levels.count <= maximumJSONDepth else { throw EncodingError.isTooDeep(value) }
}

/// The maximum number of nested levels that Foundation's JSON decoder accepts.
let maximumJSONDepth = 512

extension EncodingError {
  static func isTooDeep(_ value: Any) -> EncodingError {
    .invalidValue(
      value,
      Context(
        codingPath: [],
        debugDescription: "the value is nested more than \(maximumJSONDepth) levels deep"))
  }
}

/// An encoder that discards its input and counts the nested levels.
private struct DepthCheck: Encoder {
  final class Levels {
    var count = 0
  }

  let depth: Int
  let levels: Levels
  let userInfo: [CodingUserInfoKey: Any]
  var codingPath: [any CodingKey] { [] }

  var next: DepthCheck { DepthCheck(depth: depth + 1, levels: levels, userInfo: userInfo) }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    levels.count = max(levels.count, depth)
    return KeyedEncodingContainer(DepthKeyedContainer(check: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    levels.count = max(levels.count, depth)
    return DepthUnkeyedContainer(check: self)
  }
  func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension DepthCheck: SingleValueEncodingContainer {
  func encodeNil() {}

  dynamic func encode<Source: Encodable>(_ value: Source) throws {
    // Most values have one of these types, which have no levels. `Data` would encode each of its
    // bytes, and a scalar would call this method again.
    let type: Any.Type = Source.self
    if type == String.self || type == Int.self || type == Double.self || type == Bool.self
      || type == Data.self || type is any ScalarValue.Type || type == Int128.self
      || type == UInt128.self
    {
      return
    }
    guard depth <= maximumJSONDepth else { throw EncodingError.isTooDeep(value) }
    try value.encode(to: next)
  }
}

private struct DepthKeyedContainer<Key: CodingKey>: NestingKeyedEncoding {
  let check: DepthCheck
  var codingPath: [any CodingKey] { [] }

  func encodeNil(forKey key: Key) {}
  dynamic func encode(_ value: some Encodable, forKey key: Key) throws { try check.encode(value) }
  func encoder(forKey key: some CodingKey) -> any Encoder { check.next }
}

private struct DepthUnkeyedContainer: NestingUnkeyedEncoding {
  let check: DepthCheck
  private(set) var count = 0
  var codingPath: [any CodingKey] { [] }

  mutating func encodeNil() { count += 1 }

  dynamic mutating func encode(_ value: some Encodable) throws {
    count += 1
    try check.encode(value)
  }

  func nextEncoder() -> any Encoder { check.next }
}

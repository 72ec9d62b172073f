/// A value that is being read: what a type's `init(from:)` is handed.
struct ValueReader: Decoder {
  let state: DecodingState
  let token: Int

  var codingPath: [any CodingKey] { state.path(to: token) }
  var userInfo: [CodingUserInfoKey: Any] { state.decoder.userInfo }

  func container<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> {
    guard state.document.tokens[token].kind == .object else {
      throw mismatch([String: Any].self, "an object")
    }
    return KeyedDecodingContainer(KeyedReader(reader: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard state.document.tokens[token].kind == .array else {
      throw mismatch([Any].self, "an array")
    }
    return UnkeyedReader(reader: self)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  /// Whether the value is a scalar with a mark.
  @inline(__always) func has(_ designator: Designator) -> Bool {
    state.document.tokens[token].kind == .scalar
      && state.document.tokens[token].designator == designator
  }

  /// What the value is, in words.
  private var found: String {
    let found = state.document.tokens[token]
    switch found.kind {
    case .object: return "an object"
    case .array: return "an array"
    case .scalar: return "\(found.designator.name)"
    }
  }

  private var place: Int { Int(state.document.tokens[token].start) }

  func mismatch(_ type: Any.Type, _ expected: String) -> DecodingError {
    let hint =
      type == String.self && state.document.tokens[token].kind != .scalar
      ? "; the first implementation of SPON wrote text that began with “@obj” or “@array[” so" : ""
    let context = DecodingError.Context(
      codingPath: codingPath,
      debugDescription: "byte \(place): expected \(expected), found \(found)\(hint)")
    return isNull ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }

  func corrupted(_ reason: String) -> DecodingError {
    .dataCorrupted(
      DecodingError.Context(codingPath: codingPath, debugDescription: "byte \(place): \(reason)"))
  }

  /// Whether there is no value; the seed wrote that as the text `<null>`.
  var isNull: Bool {
    if has(.null) { return true }
    return has(.described) && state.document.text(of: token) == "<null>"
  }

  func bool() throws -> Bool {
    guard has(.bool) else { throw mismatch(Bool.self, "a Boolean (%)") }
    switch state.document.text(of: token) {
    case "true": return true
    case "false": return false
    default: throw corrupted("a Boolean is true or false")
    }
  }

  func string() throws -> String {
    guard has(.text) || (has(.described) && !isNull) else {
      throw mismatch(String.self, "text ($)")
    }
    return state.document.text(of: token)
  }
}

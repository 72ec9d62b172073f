import ExactText

/// The decoder that reads one value. It is passed to a type's `init(from:)`.
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
    return KeyedDecodingContainer(KeyedReader(self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard state.document.tokens[token].kind == .array else {
      throw mismatch([Any].self, "an array")
    }
    return UnkeyedReader(reader: self)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  /// Whether the value is a scalar with the mark `designator`.
  @inline(__always) func has(_ designator: Designator) -> Bool {
    state.document.tokens[token].kind == .scalar
      && state.document.tokens[token].designator == designator
  }

  /// Whether the value has the mark `?` and isn't null. The first implementation wrote this mark
  /// for dates and most integers.
  var isDescribed: Bool { has(.described) && !isNull }

  /// The text of the scalar, with its escape sequences resolved.
  var text: String { state.document.text(of: token) }

  /// The kind of the value, for error messages.
  private var found: String {
    let found = state.document.tokens[token]
    switch found.kind {
    case .object: return "an object"
    case .array: return "an array"
    case .scalar: return "\(found.designator.name)"
    }
  }

  private var offset: Int { state.document.tokens[token].range.lowerBound }

  func mismatch(_ type: Any.Type, _ expected: String) -> DecodingError {
    let hint =
      type == String.self && state.document.tokens[token].kind != .scalar
      ? "; the first implementation of SPON wrote text that began with “@obj” or “@array[” "
        + "this way" : ""
    let context = DecodingError.Context(
      codingPath: codingPath,
      debugDescription: "byte \(offset): expected \(expected), found \(found)\(hint)")
    return isNull ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }

  func corrupted(_ reason: String) -> DecodingError {
    .dataCorrupted(
      DecodingError.Context(codingPath: codingPath, debugDescription: "byte \(offset): \(reason)"))
  }

  /// Whether the value is null. The first implementation wrote null as the text `<null>` with the
  /// mark `?`.
  var isNull: Bool {
    has(.null) || has(.described) && text == "<null>"
  }

  func bool() throws -> Bool {
    guard has(.bool) else { throw mismatch(Bool.self, "a Boolean (%)") }
    switch text {
    case "true": return true
    case "false": return false
    default: throw corrupted("a Boolean must be true or false")
    }
  }

  func string() throws -> String {
    guard has(.text) || isDescribed else {
      throw mismatch(String.self, "text ($)")
    }
    return text
  }
}

extension ValueReader {
  func integer<Integer: FixedWidthInteger>(as type: Integer.Type) throws -> Integer {
    guard has(.integer) || isDescribed else { return try wholeNumber(as: type) }
    guard let integer = state.document.integer(of: token, as: type) else {
      throw corrupted("“\(text)” is not a valid \(Integer.self)")
    }
    return integer
  }

  /// Reads an integer that was written as a floating-point number. Throws if the number has a
  /// fraction or doesn't fit `type`.
  private func wholeNumber<Integer: FixedWidthInteger>(as type: Integer.Type) throws -> Integer {
    guard has(.double) || has(.float) else { throw mismatch(type, "an integer (!)") }
    guard let number = state.document.double(of: token),
      let integer = Integer(exactly: number)
    else {
      throw corrupted("“\(text)” is not a valid \(Integer.self)")
    }
    return integer
  }

  /// Reads a number. Throws if `type` can't represent it exactly, or if it is infinite or NaN and
  /// the decoder's strategy rejects it.
  func number<Number: BinaryFloatingPoint & LosslessStringConvertible>(
    as type: Number.Type
  ) throws -> Number {
    var number: Number?
    if has(.integer) {
      number = state.document.integer(of: token, as: Int128.self).flatMap { Number(exactly: $0) }
    } else if has(.double) {
      let double = try found(state.document.double(of: token))
      number = double.isNaN ? .nan : Number(exactly: double)
    } else if has(.float) {
      // The digits identify a `Float`. As a `Double`, they would have a slightly different value.
      number = Number(try found(state.document.number(of: token, as: Float.self)))
    } else {
      return try nonFinite(as: type)
    }
    guard let number else {
      throw corrupted("“\(text)” does not fit \(type) exactly")
    }
    if number.isFinite { return number }
    guard case .literal = state.decoder.nonConformingFloatDecodingStrategy else {
      throw corrupted("the number is not finite")
    }
    return number
  }

  private func found<Number>(_ number: Number?) throws -> Number {
    guard let number else {
      throw corrupted("“\(text)” is not a number")
    }
    return number
  }

  /// Reads an infinite number or NaN from one of the texts that the decoder's strategy defines.
  /// Throws for any other value.
  private func nonFinite<Number: BinaryFloatingPoint>(as type: Number.Type) throws -> Number {
    if has(.text),
      case .convertFromString(let positive, let negative, let nan) =
        state.decoder.nonConformingFloatDecodingStrategy
    {
      switch text {
      case positive: return .infinity
      case negative: return -.infinity
      case nan: return .nan
      default: break
      }
    }
    throw mismatch(type, "a number (& or ^)")
  }
}

extension ValueReader {
  /// Reads the value as `type`: directly if it is a scalar type such as `Int` or `Date`, and
  /// otherwise with its `init(from:)`.
  func read<T: Decodable>(_ type: T.Type) throws -> T {
    func open<Known: SPONScalar>(_ scalar: Known.Type) throws -> T {
      same(try scalar.read(self), as: type)
    }
    if let scalar = type as? any SPONScalar.Type { return try open(scalar) }
    return try T(from: self)
  }
}

// The protocols require a function for each of sixteen primitive types. One generic function
// implements them all and is specialized for each type. Only the 128-bit integers need their own
// functions, because the default implementations throw.

extension ValueReader: SingleValueDecodingContainer {
  func decodeNil() -> Bool { isNull }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { try read(type) }
  func decode(_ type: Int128.Type) throws -> Int128 { try read(type) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try read(type) }
}

/// A container that reads the members of an object.
struct KeyedReader<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let reader: ValueReader
  /// The token index of each member, by its converted key. If the key strategy converts several
  /// keys to the same key, the first member is used.
  private let members: [KeyText: Int]

  init(_ reader: ValueReader) {
    self.reader = reader
    let document = reader.state.document
    var members: [KeyText: Int] = [:]
    members.reserveCapacity(document.tokens[reader.token].count)
    for member in document.children(of: reader.token) {
      let key = KeyText(text: reader.state.convertedKey(of: member))
      if members[key] == nil { members[key] = member }
    }
    self.members = members
  }

  var codingPath: [any CodingKey] { reader.codingPath }
  var allKeys: [Key] {
    members.sorted { $0.value < $1.value }.compactMap { Key(stringValue: $0.key.text) }
  }

  private func member(_ key: some CodingKey) -> ValueReader? {
    members[KeyText(text: key.stringValue)].map { ValueReader(state: reader.state, token: $0) }
  }

  private func value(_ key: some CodingKey) throws -> ValueReader {
    guard let value = member(key) else {
      throw DecodingError.keyNotFound(
        key,
        DecodingError.Context(
          codingPath: codingPath,
          debugDescription: "the object has no member “\(key.stringValue)”"))
    }
    return value
  }

  func contains(_ key: Key) -> Bool { member(key) != nil }
  func decodeNil(forKey key: Key) throws -> Bool { try value(key).isNull }
  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try value(key).read(type)
  }
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try value(key).read(type) }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try value(key).read(type) }
  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    guard let value = member(key), !value.isNull else { return nil }
    return try value.read(type)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try value(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try value(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try value(PathKey("super")) }

  func superDecoder(forKey key: Key) throws -> any Decoder { try value(key) }
}

/// A container that reads the elements of an array.
struct UnkeyedReader: UnkeyedDecodingContainer {
  let reader: ValueReader
  private(set) var currentIndex = 0
  private var element: Int
  private let end: Int

  init(reader: ValueReader) {
    self.reader = reader
    element = reader.token + 1
    end = reader.state.document.tokens[reader.token].next
  }

  var codingPath: [any CodingKey] { reader.codingPath }
  var count: Int? { reader.state.document.tokens[reader.token].count }
  var isAtEnd: Bool { element >= end }

  /// Reads the next element. If this throws, the next call reads the same element again.
  private mutating func next<Result>(
    _ type: Any.Type, _ read: (ValueReader) throws -> Result
  ) throws -> Result {
    guard element < end else { throw missingElementError(type) }
    let result = try read(ValueReader(state: reader.state, token: element))
    element = reader.state.document.tokens[element].next
    currentIndex += 1
    return result
  }

  private func missingElementError(_ type: Any.Type) -> DecodingError {
    .valueNotFound(
      type,
      DecodingError.Context(
        codingPath: codingPath + [PathKey(index: currentIndex)],
        debugDescription: "the array has only \(currentIndex) elements"))
  }

  mutating func decodeNil() throws -> Bool {
    guard element < end else { throw missingElementError(Never.self) }
    guard ValueReader(state: reader.state, token: element).isNull else { return false }
    return try next(Never.self) { _ in true }
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    try next(type) { try $0.read(type) }
  }
  mutating func decode(_ type: Int128.Type) throws -> Int128 {
    try next(type) { try $0.read(type) }
  }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 {
    try next(type) { try $0.read(type) }
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try next([String: Any].self) { try $0.container(keyedBy: type) }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try next([Any].self) { try $0.unkeyedContainer() }
  }

  mutating func superDecoder() throws -> any Decoder { try next((any Decoder).self) { $0 } }
}

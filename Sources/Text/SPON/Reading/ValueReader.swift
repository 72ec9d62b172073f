import Essentials
import ExactText

/// A value that is being read: the decoder that a type's `init(from:)` gets.
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

  /// The kind of the value, in words.
  private var found: String {
    let found = state.document.tokens[token]
    switch found.kind {
    case .object: return "an object"
    case .array: return "an array"
    case .scalar: return "\(found.designator.name)"
    }
  }

  private var offset: Int { Int(state.document.tokens[token].start) }

  func mismatch(_ type: Any.Type, _ expected: String) -> DecodingError {
    let hint =
      type == String.self && state.document.tokens[token].kind != .scalar
      ? "; the first implementation of SPON wrote text that began with “@obj” or “@array[” so" : ""
    let context = DecodingError.Context(
      codingPath: codingPath,
      debugDescription: "byte \(offset): expected \(expected), found \(found)\(hint)")
    return isNull ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }

  func corrupted(_ reason: String) -> DecodingError {
    .dataCorrupted(
      DecodingError.Context(codingPath: codingPath, debugDescription: "byte \(offset): \(reason)"))
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

extension ValueReader {
  func integer<Integer: FixedWidthInteger>(as type: Integer.Type) throws -> Integer {
    guard has(.integer) || (has(.described) && !isNull) else { return try wholeNumber(as: type) }
    guard let integer = state.document.integer(of: token, as: type) else {
      throw corrupted("“\(state.document.text(of: token))” is no \(Integer.self)")
    }
    return integer
  }

  /// An integer that was written as a number with a point.
  private func wholeNumber<Integer: FixedWidthInteger>(as type: Integer.Type) throws -> Integer {
    guard has(.double) || has(.float) else { throw mismatch(type, "an integer (!)") }
    guard let number = state.document.double(of: token),
      let integer = Integer(exactly: number)
    else {
      throw corrupted("“\(state.document.text(of: token))” is no \(Integer.self)")
    }
    return integer
  }

  /// Reads a number as a type that holds it exactly.
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
      // The digits of a single-precision number are those that tell it from others of its kind.
      number = Number(try found(state.document.number(of: token, as: Float.self)))
    } else {
      return try nonFinite(as: type)
    }
    guard let number else {
      throw corrupted("“\(state.document.text(of: token))” is no \(type) without rounding")
    }
    if number.isFinite { return number }
    guard case .literal = state.decoder.nonConformingFloatDecodingStrategy else {
      throw corrupted("the number is not finite")
    }
    return number
  }

  private func found<Number>(_ number: Number?) throws -> Number {
    guard let number else {
      throw corrupted("“\(state.document.text(of: token))” is not a number")
    }
    return number
  }

  /// Reads an infinite number that was written as text.
  private func nonFinite<Number: BinaryFloatingPoint>(as type: Number.Type) throws -> Number {
    if has(.text),
      case .convertFromString(let positive, let negative, let nan) =
        state.decoder.nonConformingFloatDecodingStrategy
    {
      switch state.document.text(of: token) {
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
  /// Reads a value of any type.
  ///
  /// Where the type is known, the compiler leaves one branch of it.
  @inline(__always) func read<T: Decodable>(_ type: T.Type) throws -> T {
    if type == String.self { return same(try string(), as: T.self) }
    if type == Int.self { return same(try integer(as: Int.self), as: T.self) }
    if type == Double.self { return same(try number(as: Double.self), as: T.self) }
    if type == Bool.self { return same(try bool(), as: T.self) }
    if type == Float.self { return same(try number(as: Float.self), as: T.self) }
    if type == Int8.self { return same(try integer(as: Int8.self), as: T.self) }
    if type == Int16.self { return same(try integer(as: Int16.self), as: T.self) }
    if type == Int32.self { return same(try integer(as: Int32.self), as: T.self) }
    if type == Int64.self { return same(try integer(as: Int64.self), as: T.self) }
    if type == Int128.self { return same(try integer(as: Int128.self), as: T.self) }
    if type == UInt.self { return same(try integer(as: UInt.self), as: T.self) }
    if type == UInt8.self { return same(try integer(as: UInt8.self), as: T.self) }
    if type == UInt16.self { return same(try integer(as: UInt16.self), as: T.self) }
    if type == UInt32.self { return same(try integer(as: UInt32.self), as: T.self) }
    if type == UInt64.self { return same(try integer(as: UInt64.self), as: T.self) }
    if type == UInt128.self { return same(try integer(as: UInt128.self), as: T.self) }
    return try readOther(type)
  }

  @inline(never) private func readOther<T: Decodable>(_ type: T.Type) throws -> T {
    if type == Date.self { return same(try date(), as: T.self) }
    if type == Data.self { return same(try data(), as: T.self) }
    if type == URL.self { return same(try url(), as: T.self) }
    if type == Decimal.self { return same(try decimal(), as: T.self) }
    return try T(from: self)
  }

  private func date() throws -> Date {
    switch state.decoder.dateDecodingStrategy {
    case .text, .iso8601:
      guard has(.date) || has(.text) || (has(.described) && !isNull) else {
        throw mismatch(Date.self, "a date (#)")
      }
      let text = state.document.text(of: token)
      guard let date = DateText.date(from: text) else { throw corrupted("“\(text)” is not a date") }
      return date
    case .deferredToDate:
      return Date(timeIntervalSinceReferenceDate: try number(as: Double.self))
    case .secondsSince1970:
      return Date(timeIntervalSince1970: try number(as: Double.self))
    case .millisecondsSince1970:
      return Date(timeIntervalSince1970: try number(as: Double.self) / 1_000)
    case .custom(let decode):
      return try decode(self)
    }
  }

  private func data() throws -> Data {
    switch state.decoder.dataDecodingStrategy {
    case .base64:
      guard has(.data) || has(.text) else { throw mismatch(Data.self, "bytes (*)") }
      let range = state.document.tokens[token].range
      guard let data = Data(base64Encoded: Data(state.document.bytes[range])) else {
        throw corrupted("the text is not base64")
      }
      return data
    case .deferredToData:
      return try Data(from: self)
    case .custom(let decode):
      return try decode(self)
    }
  }

  private func url() throws -> URL {
    let text = try string()
    guard let url = URL(string: text) else { throw corrupted("“\(text)” is no URL") }
    return url
  }

  private func decimal() throws -> Decimal {
    guard has(.text) || has(.integer) || has(.double) || has(.float) || has(.described) else {
      throw mismatch(Decimal.self, "text ($) or a number")
    }
    let text = state.document.text(of: token)
    // `Decimal` would read the beginning of a text and leave out the rest.
    let isNumber =
      !text.isEmpty
      && text.utf8.allSatisfy { (48...57).contains($0) || [43, 45, 46, 69, 101].contains($0) }
    guard isNumber || text == "NaN", let decimal = Decimal(string: text) else {
      throw corrupted("“\(text)” is not a decimal number")
    }
    return decimal
  }
}

// The standard library asks a container for a function for each of sixteen primitive types. One generic
// function serves for all of them, and is specialized for each; only the 128-bit integers, for which the
// library has a default that throws, are named.

extension ValueReader: SingleValueDecodingContainer {
  func decodeNil() -> Bool { isNull }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { try read(type) }
  func decode(_ type: Int128.Type) throws -> Int128 { try read(type) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try read(type) }
}

/// An object that is being read.
struct KeyedReader<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let reader: ValueReader

  var codingPath: [any CodingKey] { reader.codingPath }

  var allKeys: [Key] {
    var keys: [Key] = []
    keys.reserveCapacity(Int(reader.state.document.tokens[reader.token].count))
    reader.state.forEachMember(of: reader.token) { member in
      if let key = Key(stringValue: reader.state.convertedKey(of: member)) { keys.append(key) }
    }
    return keys
  }

  func contains(_ key: Key) -> Bool {
    reader.state.member(key.stringValue, of: reader.token) != nil
  }

  /// The value of a key.
  @inline(__always) private func value(_ key: some CodingKey) throws -> ValueReader {
    guard let member = reader.state.member(key.stringValue, of: reader.token) else {
      throw missing(key)
    }
    return ValueReader(state: reader.state, token: member)
  }

  /// The value of a key, unless there is none.
  @inline(__always) private func present(_ key: Key) -> ValueReader? {
    guard let member = reader.state.member(key.stringValue, of: reader.token) else { return nil }
    let value = ValueReader(state: reader.state, token: member)
    return value.isNull ? nil : value
  }

  @inline(never) private func missing(_ key: any CodingKey) -> DecodingError {
    .keyNotFound(
      key,
      DecodingError.Context(
        codingPath: codingPath,
        debugDescription: "the object has no member “\(key.stringValue)”"))
  }

  func decodeNil(forKey key: Key) throws -> Bool { try value(key).isNull }

  @inline(__always) func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try value(key).read(type)
  }
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try value(key).read(type) }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try value(key).read(type) }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try present(key)?.bool()
  }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try present(key)?.string()
  }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try present(key)?.number(as: type)
  }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try present(key)?.integer(as: type)
  }
  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    try present(key)?.read(type)
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

/// An array that is being read.
struct UnkeyedReader: UnkeyedDecodingContainer {
  let reader: ValueReader
  private(set) var currentIndex = 0
  private var element: Int
  private let end: Int

  init(reader: ValueReader) {
    self.reader = reader
    element = reader.token + 1
    end = Int(reader.state.document.tokens[reader.token].next)
  }

  var codingPath: [any CodingKey] { reader.codingPath }
  var count: Int? { Int(reader.state.document.tokens[reader.token].count) }
  var isAtEnd: Bool { element >= end }

  /// Reads the next element; after an error it is the next one still.
  @inline(__always)
  private mutating func next<Result>(
    _ type: Any.Type, _ read: (ValueReader) throws -> Result
  ) throws -> Result {
    guard element < end else { throw ended(type) }
    let result = try read(ValueReader(state: reader.state, token: element))
    element = Int(reader.state.document.tokens[element].next)
    currentIndex += 1
    return result
  }

  @inline(never) private func ended(_ type: Any.Type) -> DecodingError {
    .valueNotFound(
      type,
      DecodingError.Context(
        codingPath: codingPath + [PathKey(index: currentIndex)],
        debugDescription: "the array has only \(currentIndex) elements"))
  }

  mutating func decodeNil() throws -> Bool {
    guard element < end else { throw ended(Never.self) }
    guard ValueReader(state: reader.state, token: element).isNull else { return false }
    return try next(Never.self) { _ in true }
  }

  @inline(__always) mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
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

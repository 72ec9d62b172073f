import ExactText

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

  mutating func decode(_ type: Bool.Type) throws -> Bool { try next(type) { try $0.bool() } }
  mutating func decode(_ type: String.Type) throws -> String { try next(type) { try $0.string() } }
  mutating func decode(_ type: Double.Type) throws -> Double { try next(type) { try $0.double() } }
  mutating func decode(_ type: Float.Type) throws -> Float { try next(type) { try $0.float() } }
  mutating func decode(_ type: Int.Type) throws -> Int {
    try next(type) { try $0.integer(as: type) }
  }
  mutating func decode(_ type: Int8.Type) throws -> Int8 {
    try next(type) { try $0.integer(as: type) }
  }
  mutating func decode(_ type: Int16.Type) throws -> Int16 {
    try next(type) { try $0.integer(as: type) }
  }
  mutating func decode(_ type: Int32.Type) throws -> Int32 {
    try next(type) { try $0.integer(as: type) }
  }
  mutating func decode(_ type: Int64.Type) throws -> Int64 {
    try next(type) { try $0.integer(as: type) }
  }
  mutating func decode(_ type: Int128.Type) throws -> Int128 {
    try next(type) { try $0.integer(as: type) }
  }
  mutating func decode(_ type: UInt.Type) throws -> UInt {
    try next(type) { try $0.integer(as: type) }
  }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 {
    try next(type) { try $0.integer(as: type) }
  }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
    try next(type) { try $0.integer(as: type) }
  }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
    try next(type) { try $0.integer(as: type) }
  }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
    try next(type) { try $0.integer(as: type) }
  }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 {
    try next(type) { try $0.integer(as: type) }
  }
  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
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

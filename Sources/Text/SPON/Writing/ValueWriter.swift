import Essentials
import ExactText

/// Writes one value: the encoder that a value's `encode(to:)` gets.
struct ValueWriter: Encoder {
  let output: EncodingOutput
  let index: Int
  let serial: Int

  var codingPath: [any CodingKey] { output.codingPath(index) }
  var userInfo: [CodingUserInfoKey: Any] { output.state.encoder.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    begin(.keyed)
    return KeyedEncodingContainer(KeyedWriter(writer: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    begin(.unkeyed)
    return UnkeyedWriter(writer: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { SingleWriter(writer: self) }

  /// Whether nothing that was begun later is still open.
  @inline(__always) var isInnermost: Bool {
    output.frames.count == index + 1 && output.frames[index].serial == serial
  }

  /// Begins an object or an array, or goes on with it.
  func begin(_ kind: EncodingFrame.Kind) {
    guard isInnermost else { return output.state.fail(outOfTurn()) }
    let frame = output.frames[index]
    guard frame.kind == .empty else {
      if frame.kind != kind {
        output.state.fail(
          EncodingError.invalidValue((), output.context("the value is encoded in two kinds")))
      }
      return
    }
    guard output.checkDepth() else { return }
    output.frames[index].kind = kind
    if frame.isMember { output.text.append(Byte.equals) }
    if kind == .keyed {
      output.text.append("@obj")
      output.appendTypeName(frame)
      output.text.append(Byte.openObject)
    } else {
      output.text.append("@array[")
    }
  }

  /// Begins the next element of the array.
  @inline(__always) func beginElement() throws {
    guard isInnermost else { throw outOfTurn() }
    if output.frames[index].count > 0 {
      output.text.append(Byte.comma)
      output.text.append(Byte.space)
    }
    output.frames[index].count += 1
  }

  /// Begins the next member of the object.
  func beginMember(_ key: some CodingKey) throws {
    guard isInnermost else { throw outOfTurn() }
    if output.frames[index].count > 0 { output.text.append(Byte.space) }
    let name = output.state.usesDefaultKeys ? key.stringValue : converted(key)
    let hash = output.text.append(key: name)
    try addKey(name, hash)
    output.frames[index].count += 1
  }

  private func converted(_ key: some CodingKey) -> String {
    switch output.state.encoder.keyEncodingStrategy {
    case .useDefaultKeys: key.stringValue
    case .convertToSnakeCase: SnakeCase.snakeCase(of: key.stringValue)
    case .custom(let convert): convert(codingPath + [key]).stringValue
    }
  }

  /// Notes the key, unless the object has it.
  private func addKey(_ name: String, _ hash: UInt32) throws {
    if output.frames[index].count < 16 {
      for key in output.keys[output.frames[index].firstKey...]
      where key.hash == hash && KeyText(text: key.text) == KeyText(text: name) {
        throw twice(name)
      }
      output.keys.append(EncodedKey(hash: hash, text: name))
    } else {
      if output.frames[index].manyKeys == nil {
        let keys = output.keys[output.frames[index].firstKey...]
        output.frames[index].manyKeys = Set(keys.map { KeyText(text: $0.text) })
      }
      let inserted = output.frames[index].manyKeys?.insert(KeyText(text: name)).inserted
      if inserted == false { throw twice(name) }
    }
  }

  /// Begins and writes a member or an element, all of it or nothing.
  func part(_ begin: () throws -> Void, _ write: () throws -> Void) throws {
    let mark = output.mark
    do {
      try begin()
      try write()
    } catch {
      output.rollBack(to: mark, openFrames: index)
      throw error
    }
  }

  /// Begins a value that may be written later.
  func piece(
    _ key: () -> any CodingKey, isMember: Bool, _ begin: () throws -> Void
  ) -> ValueWriter {
    do {
      try begin()
    } catch {
      output.state.fail(error)
    }
    return output.addPiece(key(), of: index, isMember: isMember)
  }

  private func twice(_ name: String) -> EncodingError {
    .invalidValue(name, output.context("the key “\(name)” is encoded twice"))
  }

  func outOfTurn() -> EncodingError {
    .invalidValue(
      (), output.context("a container is used while one inside it is open, or after its value"))
  }
}

extension ValueWriter {
  /// Begins and writes a value whose writing cannot fail, or returns false for one of another type.
  ///
  /// Where the type is known, the compiler leaves one branch of it.
  @inline(__always)
  func encodePlain<T: Encodable>(
    _ value: T, isMember: Bool, _ begin: () throws -> Void
  ) throws -> Bool {
    @inline(__always) func write<Integer: FixedWidthInteger>(as type: Integer.Type) throws -> Bool {
      try begin()
      output.text.append(same(value, as: type), isMember: isMember)
      return true
    }
    if T.self == String.self {
      try begin()
      output.text.append(same(value, as: String.self), .text, isMember: isMember)
      return true
    }
    if T.self == Bool.self {
      try begin()
      output.text.append(same(value, as: Bool.self), isMember: isMember)
      return true
    }
    if T.self == Int.self { return try write(as: Int.self) }
    if T.self == Int8.self { return try write(as: Int8.self) }
    if T.self == Int16.self { return try write(as: Int16.self) }
    if T.self == Int32.self { return try write(as: Int32.self) }
    if T.self == Int64.self { return try write(as: Int64.self) }
    if T.self == Int128.self { return try write(as: Int128.self) }
    if T.self == UInt.self { return try write(as: UInt.self) }
    if T.self == UInt8.self { return try write(as: UInt8.self) }
    if T.self == UInt16.self { return try write(as: UInt16.self) }
    if T.self == UInt32.self { return try write(as: UInt32.self) }
    if T.self == UInt64.self { return try write(as: UInt64.self) }
    if T.self == UInt128.self { return try write(as: UInt128.self) }
    return false
  }

  /// Writes a value that was begun.
  ///
  /// - Parameter inside: Calls its argument with the encoder for a value that encodes itself.
  @inline(__always)
  func encode<T: Encodable>(
    _ value: T, isMember: Bool, inside: ((ValueWriter) throws -> Void) throws -> Void
  ) throws {
    if T.self == Double.self {
      return try encode(same(value, as: Double.self), .double, isMember: isMember)
    }
    if T.self == Float.self {
      return try encode(same(value, as: Float.self), .float, isMember: isMember)
    }
    if let failure = output.state.failure { throw failure }
    if try encodeFoundation(value, isMember: isMember, inside: inside) { return }
    try inside { try value.encode(to: $0) }
  }

  /// Opens a value in this one, and closes it when it was written.
  @inline(__always)
  func open(
    _ type: Any.Type, key: some CodingKey, isMember: Bool, _ write: (ValueWriter) throws -> Void
  ) throws {
    output.path.append(key)
    try write(output.open(type, isMember: isMember))
    output.close()
    output.path.removeLast()
  }

  private func encodeFoundation<T: Encodable>(
    _ value: T, isMember: Bool, inside: ((ValueWriter) throws -> Void) throws -> Void
  ) throws -> Bool {
    if T.self == Date.self {
      try encode(same(value, as: Date.self), isMember: isMember, inside: inside)
    } else if T.self == Data.self {
      try encode(same(value, as: Data.self), isMember: isMember, inside: inside)
    } else if T.self == URL.self {
      output.text.append(same(value, as: URL.self).absoluteString, .text, isMember: isMember)
    } else if T.self == Decimal.self {
      output.text.append(same(value, as: Decimal.self).description, .text, isMember: isMember)
    } else {
      return false
    }
    return true
  }

  private func encode<Number: BinaryFloatingPoint & CustomStringConvertible>(
    _ value: Number, _ designator: Designator, isMember: Bool
  ) throws {
    if !value.isFinite, let text = try text(ofNonFinite: Double(value)) {
      output.text.append(text, .text, isMember: isMember)
    } else {
      output.text.append(plain: value.description, designator, isMember: isMember)
    }
  }

  /// The text that stands for an infinite number, or nil if it is written as a number.
  private func text(ofNonFinite value: Double) throws -> String? {
    switch output.state.encoder.nonConformingFloatEncodingStrategy {
    case .literal: nil
    case .throw: throw EncodingError.invalidValue(value, output.context("\(value) is not finite"))
    case .convertToString(let positive, let negative, let nan):
      value.isNaN ? nan : value > 0 ? positive : negative
    }
  }

  private func encode(
    _ date: Date, isMember: Bool, inside: ((ValueWriter) throws -> Void) throws -> Void
  ) throws {
    switch output.state.encoder.dateEncodingStrategy {
    case .text:
      output.text.append(plain: DateText.text(of: date), .date, isMember: isMember)
    case .iso8601:
      guard let text = DateText.wholeSeconds(of: date) else {
        throw EncodingError.invalidValue(
          date, output.context("the date is not in the years 0000 to 9999"))
      }
      output.text.append(plain: text, .date, isMember: isMember)
    case .deferredToDate:
      try encode(date.timeIntervalSinceReferenceDate, .double, isMember: isMember)
    case .secondsSince1970:
      try encode(date.timeIntervalSince1970, .double, isMember: isMember)
    case .millisecondsSince1970:
      try encode(date.timeIntervalSince1970 * 1_000, .double, isMember: isMember)
    case .custom(let encode):
      try inside { try encode(date, $0) }
    }
  }

  private func encode(
    _ data: Data, isMember: Bool, inside: ((ValueWriter) throws -> Void) throws -> Void
  ) throws {
    switch output.state.encoder.dataEncodingStrategy {
    case .base64:
      output.text.append(plain: data.base64EncodedString(), .data, isMember: isMember)
    case .deferredToData:
      try inside { try data.encode(to: $0) }
    case .custom(let encode):
      try inside { try encode(data, $0) }
    }
  }
}

// The standard library asks a container for a function for each of sixteen primitive types. One generic
// function serves for all of them, and is specialized for each; only the 128-bit integers, for which the
// library has a default that throws, are named.

/// An object that is being written.
struct KeyedWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let writer: ValueWriter

  var codingPath: [any CodingKey] { writer.codingPath }

  mutating func encodeNil(forKey key: Key) throws {
    try writer.beginMember(key)
    writer.output.text.appendNull()
  }

  @inline(__always) private func write<T: Encodable>(_ value: T, _ key: Key) throws {
    if try writer.encodePlain(value, isMember: true, { try writer.beginMember(key) }) { return }
    try writer.part({ try writer.beginMember(key) }) {
      try writer.encode(value, isMember: true) {
        try writer.open(T.self, key: key, isMember: true, $0)
      }
    }
  }

  @inline(__always) mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    try write(value, key)
  }
  mutating func encode(_ value: Int128, forKey key: Key) throws { try write(value, key) }
  mutating func encode(_ value: UInt128, forKey key: Key) throws { try write(value, key) }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    piece(key).container(keyedBy: keyType)
  }

  mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    piece(key).unkeyedContainer()
  }

  mutating func superEncoder() -> any Encoder { piece(PathKey("super")) }

  mutating func superEncoder(forKey key: Key) -> any Encoder { piece(key) }

  private func piece(_ key: some CodingKey) -> ValueWriter {
    writer.piece({ key }, isMember: true) { try writer.beginMember(key) }
  }
}

/// An array that is being written.
struct UnkeyedWriter: UnkeyedEncodingContainer {
  let writer: ValueWriter

  var codingPath: [any CodingKey] { writer.codingPath }

  var count: Int { writer.isInnermost ? writer.output.frames[writer.index].count : 0 }

  /// The key of the element that was begun last.
  private var key: PathKey { PathKey(index: max(0, count - 1)) }

  mutating func encodeNil() throws {
    try writer.beginElement()
    writer.output.text.appendNull()
  }

  @inline(__always) private func write<T: Encodable>(_ value: T) throws {
    if try writer.encodePlain(value, isMember: false, { try writer.beginElement() }) { return }
    try writer.part(writer.beginElement) {
      try writer.encode(value, isMember: false) {
        try writer.open(T.self, key: key, isMember: false, $0)
      }
    }
  }

  @inline(__always) mutating func encode<T: Encodable>(_ value: T) throws { try write(value) }
  mutating func encode(_ value: Int128) throws { try write(value) }
  mutating func encode(_ value: UInt128) throws { try write(value) }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> {
    piece().container(keyedBy: keyType)
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    piece().unkeyedContainer()
  }

  mutating func superEncoder() -> any Encoder { piece() }

  private func piece() -> ValueWriter {
    writer.piece({ key }, isMember: false, writer.beginElement)
  }
}

/// A container of one value.
struct SingleWriter: SingleValueEncodingContainer {
  let writer: ValueWriter

  var codingPath: [any CodingKey] { writer.codingPath }

  private var isMember: Bool { writer.output.frames[writer.index].isMember }

  /// Checks that nothing was written here yet.
  private func begin() throws {
    guard writer.isInnermost else { throw writer.outOfTurn() }
    guard writer.output.frames[writer.index].kind == .empty else {
      throw EncodingError.invalidValue(
        (), writer.output.context("the value is encoded in two kinds, or twice"))
    }
    writer.output.frames[writer.index].kind = .scalar
  }

  mutating func encodeNil() throws {
    try begin()
    writer.output.text.appendNull()
  }

  @inline(__always) private func write<T: Encodable>(_ value: T) throws {
    try begin()
    if try writer.encodePlain(value, isMember: isMember, {}) { return }
    try writer.encode(value, isMember: isMember) { write in
      writer.output.frames[writer.index].kind = .empty
      writer.output.frames[writer.index].type = T.self
      try write(writer)
    }
  }

  @inline(__always) mutating func encode<T: Encodable>(_ value: T) throws { try write(value) }
  mutating func encode(_ value: Int128) throws { try write(value) }
  mutating func encode(_ value: UInt128) throws { try write(value) }
}

/// The same value as another type, which must be its own.
///
/// A cast of the runtime would take a hundred instructions for each value.
@inline(__always)
func same<Value, Result>(_ value: Value, as type: Result.Type) -> Result {
  unsafe unsafeBitCast(value, to: Result.self)
}

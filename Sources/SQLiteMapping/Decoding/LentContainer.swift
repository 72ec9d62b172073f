import Essentials
import SQLiteCore

/// The container that is handed to a type's `init(from:)` if its keys are bytes: five words that own
/// nothing.
///
/// The standard library copies its container at every value that is decoded. A copy of a reference
/// counts, which costs as much as to read the value.
///
/// Proof that none of the references is followed after what it leads to is gone: container and slots
/// are owned by the ``DecodedRow``, the statement by its ``RowReader``, and the ticket is valid only
/// while that reads a row. A copy that is kept is found when its row ends (``HandedOut``), and its ticket
/// is never valid again: it throws on any thread, and follows nothing.
@safe struct LentContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let ticket: RowTicket
  private let container: Unmanaged<RowDecodingContainer<Key>>
  private let slots: UnsafeMutablePointer<Int32>
  private let handle: BorrowedHandle

  /// Makes one, unless the keys are more than a byte.
  init?(_ container: RowDecodingContainer<Key>) {
    guard MemoryLayout<Key>.size == 1, let slots = unsafe container.slots.bytes else { return nil }
    ticket = container.row.ticket
    unsafe self.container = Unmanaged.passUnretained(container)
    unsafe self.slots = unsafe slots
    handle = container.row.handle
  }

  /// The column of a key; none if it was not looked up yet, or does not exist, or if the row is gone.
  @inline(__always)
  private func column(_ key: Key) -> Int32 {
    guard ticket.isValid else { return KeySlots<Key>.none }
    return unsafe slots[Int(unsafeBitCast(key, to: UInt8.self))]
  }

  @inline(__always)
  private func integer(_ key: Key) -> Int64? {
    let column = column(key)
    return column < 0 ? nil : handle.integer(at: column)
  }

  @inline(__always)
  private func real(_ key: Key) -> Double? {
    let column = column(key)
    return column < 0 ? nil : handle.real(at: column)
  }

  @inline(__always)
  private func text(_ key: Key) -> String? {
    let column = column(key)
    return column < 0 ? nil : handle.text(at: column)
  }

  @inline(__always)
  private func data(_ key: Key) -> Data? {
    let column = column(key)
    guard column >= 0, unsafe container._withUnsafeGuaranteedRef({ $0.row.readsBlobs }) else {
      return nil
    }
    return handle.data(at: column, ofText: false)
  }

  /// What is not read at once: other types, NULL and what is wrong.
  @inline(__always)
  private func lend<Result>(
    _ body: (RowDecodingContainer<Key>) throws -> Result
  ) throws -> Result {
    guard ticket.isValid else { throw DecodedRow.gone }
    return try unsafe container._withUnsafeGuaranteedRef(body)
  }
}

extension LentContainer {
  var codingPath: [any CodingKey] { (try? lend { $0.codingPath }) ?? [] }
  var allKeys: [Key] { (try? lend { $0.allKeys }) ?? [] }
  func contains(_ key: Key) -> Bool { (try? lend { $0.contains(key) }) ?? false }
  func decodeNil(forKey key: Key) throws -> Bool { try lend { try $0.decodeNil(forKey: key) } }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    let value = integer(key)
    if value == 0 { return false }
    if value == 1 { return true }
    return try lend { try $0.decode(type, forKey: key) }
  }

  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    if let value = text(key) { return value }
    return try lend { try $0.decode(type, forKey: key) }
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    if let value = real(key) { return value }
    return try lend { try $0.decode(type, forKey: key) }
  }

  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    try lend { try $0.decode(type, forKey: key) }
  }

  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    if let value = integer(key).flatMap(Int.init(exactly:)) { return value }
    return try lend { try $0.decode(type, forKey: key) }
  }

  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
    try lend { try $0.decode(type, forKey: key) }
  }

  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    try lend { try $0.decode(type, forKey: key) }
  }

  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try lend { try $0.decode(type, forKey: key) }
  }

  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    if let value = integer(key) { return value }
    return try lend { try $0.decode(type, forKey: key) }
  }

  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
    try lend { try $0.decode(type, forKey: key) }
  }

  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    try lend { try $0.decode(type, forKey: key) }
  }

  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    try lend { try $0.decode(type, forKey: key) }
  }

  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    try lend { try $0.decode(type, forKey: key) }
  }

  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    try lend { try $0.decode(type, forKey: key) }
  }

  func decode<Result: Decodable>(_ type: Result.Type, forKey key: Key) throws -> Result {
    if type == Data.self, let data = data(key) {
      // From the type to itself, which the comparison has just proved.
      return unsafe unsafeBitCast(data, to: type)
    }
    return try lend { try $0.decode(type, forKey: key) }
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    let value = integer(key)
    if value == 0 { return false }
    if value == 1 { return true }
    return try lend { try $0.decodeIfPresent(type, forKey: key) }
  }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    if let value = text(key) { return value }
    return try lend { try $0.decodeIfPresent(type, forKey: key) }
  }

  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    if let value = real(key) { return value }
    return try lend { try $0.decodeIfPresent(type, forKey: key) }
  }

  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    try lend { try $0.decodeIfPresent(type, forKey: key) }
  }

  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    if let value = integer(key).flatMap(Int.init(exactly:)) { return value }
    return try lend { try $0.decodeIfPresent(type, forKey: key) }
  }

  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
    try lend { try $0.decodeIfPresent(type, forKey: key) }
  }

  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
    try lend { try $0.decodeIfPresent(type, forKey: key) }
  }

  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
    try lend { try $0.decodeIfPresent(type, forKey: key) }
  }

  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    if let value = integer(key) { return value }
    return try lend { try $0.decodeIfPresent(type, forKey: key) }
  }

  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
    try lend { try $0.decodeIfPresent(type, forKey: key) }
  }

  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
    try lend { try $0.decodeIfPresent(type, forKey: key) }
  }

  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    try lend { try $0.decodeIfPresent(type, forKey: key) }
  }

  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    try lend { try $0.decodeIfPresent(type, forKey: key) }
  }

  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    try lend { try $0.decodeIfPresent(type, forKey: key) }
  }

  func decodeIfPresent<Result: Decodable>(
    _ type: Result.Type, forKey key: Key
  ) throws -> Result? {
    if type == Data.self, let data = data(key) {
      return unsafe unsafeBitCast(data, to: type)
    }
    return try lend { try $0.decodeIfPresent(type, forKey: key) }
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try lend { try $0.nestedContainer(keyedBy: type, forKey: key) }
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try lend { try $0.nestedUnkeyedContainer(forKey: key) }
  }

  func superDecoder() throws -> any Decoder { try lend { try $0.superDecoder() } }

  func superDecoder(forKey key: Key) throws -> any Decoder {
    try lend { try $0.superDecoder(forKey: key) }
  }
}

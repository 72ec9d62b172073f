import Essentials
import ExactText
import SQLiteCore

/// The columns of a row, by the coding keys of one type.
///
/// A class, since the standard library copies its containers at every call.
@safe final class RowDecodingContainer<Key: CodingKey>: OptionalKeyedDecoding, NestingKeyedDecoding
{
  let row: DecodedRow
  let slots: KeySlots<Key>
  private let permission: RowPermission

  // What the borrowed container needs for each value, one step away.
  private let bytes: UnsafeMutablePointer<Int32>?
  private let handle: BorrowedHandle
  private let forms: ScalarForms

  init(_ row: DecodedRow) {
    self.row = row
    permission = row.permission
    let slots = KeySlots<Key> { row.column(of: $0) ?? KeySlots<Key>.none }
    self.slots = slots
    unsafe bytes = unsafe slots.bytes
    handle = row.handle
    forms = row.forms
  }

  /// The column of a key of one byte; negative if it was not looked up yet, or does not exist.
  @unsafe @inline(__always)
  fileprivate func column(ofByte key: Key) -> Int32 {
    unsafe bytes.unsafelyUnwrapped[Int(unsafeBitCast(key, to: UInt8.self))]
  }

  /// Reads the usual storage class of a scalar; nil for NULL and what is wrong.
  @inline(__always)
  fileprivate func usual<Scalar: ScalarValue>(_ type: Scalar.Type, at column: Int32) -> Scalar? {
    handle.use { type.read(from: $0, at: column, forms) }
  }

  var codingPath: [any CodingKey] { row.codingPath }

  /// Throws if the row has ended.
  @inline(__always)
  private func check() throws {
    guard permission.isValid else { throw DecodingError.gone }
  }

  var allKeys: [Key] {
    // It cannot throw, but the next call does.
    guard permission.isValid else { return [] }
    return row.ownColumns.compactMap { column in
      let name = row.columns.names[Int(column)].utf8.dropFirst(row.prefix.utf8.count)
      return Key(stringValue: String(Substring(name)))
    }
  }

  func contains(_ key: Key) -> Bool {
    permission.isValid && (slots[key] >= 0 || row.child(of: key) != nil)
  }

  /// The column of a property.
  @inline(__always)
  func column(_ key: Key) throws -> Int32 {
    try check()
    let column = slots[key]
    if column < 0 { throw row.missing(key) }
    return column
  }

  func decodeNil(forKey key: Key) throws -> Bool {
    try check()
    if slots[key] < 0, let child = row.child(of: key) { return child.isNull }
    return try row.handle.isNull(at: column(key))
  }

  dynamic func decode<Result: Decodable>(_ type: Result.Type, forKey key: Key) throws -> Result {
    try check()
    let column = slots[key]
    if column >= 0 { return try row.value(type, at: column) }
    guard let child = row.child(of: key) else { throw row.missing(key) }
    return try child.decoder.value(as: type)
  }

  dynamic func decodeOptional<Result: Decodable>(
    _ type: Result.Type, _ key: Key
  ) throws -> Result? {
    try check()
    let column = slots[key]
    if column >= 0 {
      return row.handle.isNull(at: column) ? nil : try row.value(type, at: column)
    }
    guard let child = row.child(of: key) else {
      guard row.allowsMissingColumns else { throw row.missing(key) }
      return nil
    }
    return child.isNull ? nil : try child.decoder.value(as: type)
  }

  func decoder(forKey key: some CodingKey) throws -> any Decoder {
    try check()
    if let column = row.column(of: key) { return try row.decoder(ofColumn: column) }
    guard let child = row.child(of: key) else { throw row.missing(key) }
    return child.decoder
  }
}

/// The container that is handed to a type's `init(from:)` if its keys are bytes: three words that own
/// nothing.
///
/// The standard library copies its container at every value that is decoded. Copying a reference counts it,
/// which costs as much as reading the value.
///
/// Proof that none of the references is followed after what it leads to is gone: container and slots
/// are owned by the ``DecodedRow``, the statement by its ``RowReader``, and the permission is valid only
/// while that reads a row. A copy that is kept is found when its row ends (``ReusedContainer``), and its permission
/// is never valid again: it throws on any thread, and follows nothing.
@safe struct BorrowedDecodingContainer<Key: CodingKey>: OptionalKeyedDecoding, NestingKeyedDecoding
{
  private let permission: RowPermission
  private let container: Unmanaged<RowDecodingContainer<Key>>

  /// Creates a container, or nil if a key is more than a byte.
  init?(_ container: RowDecodingContainer<Key>) {
    guard MemoryLayout<Key>.size == 1, unsafe container.slots.bytes != nil else { return nil }
    permission = container.row.permission
    unsafe self.container = Unmanaged.passUnretained(container)
  }

  /// The column of a key; negative if it was not looked up yet, or does not exist, or if the row is gone.
  @inline(__always)
  private func column(_ key: Key) -> Int32 {
    guard permission.isValid else { return -1 }
    // Keys are bytes, as ``init(_:)`` has seen.
    return unsafe container._withUnsafeGuaranteedRef { unsafe $0.column(ofByte: key) }
  }

  /// Reads the usual storage class of a scalar; nil for other types, NULL and what is wrong.
  @inline(__always)
  private func usual<Scalar: ScalarValue>(_ type: Scalar.Type, _ key: Key) -> Scalar? {
    let column = column(key)
    guard column >= 0 else { return nil }
    return unsafe container._withUnsafeGuaranteedRef { $0.usual(type, at: column) }
  }

  /// Whether a column is there, and NULL.
  @inline(__always)
  private func isNull(_ column: Int32) -> Bool {
    guard column >= 0 else { return false }
    return unsafe container._withUnsafeGuaranteedRef { $0.row.handle.isNull(at: column) }
  }

  /// Lends the container that reads everything else: other types, NULL and wrong content.
  @inline(__always)
  private func lend<Result>(
    _ body: (RowDecodingContainer<Key>) throws -> Result
  ) throws -> Result {
    guard permission.isValid else { throw DecodingError.gone }
    return try unsafe container._withUnsafeGuaranteedRef(body)
  }
}

extension BorrowedDecodingContainer {
  var codingPath: [any CodingKey] { (try? lend { $0.codingPath }) ?? [] }
  var allKeys: [Key] { (try? lend { $0.allKeys }) ?? [] }
  func contains(_ key: Key) -> Bool { (try? lend { $0.contains(key) }) ?? false }
  func decodeNil(forKey key: Key) throws -> Bool { try lend { try $0.decodeNil(forKey: key) } }

  // One guard for both ways: nothing else than this reads the row between them.
  @inline(__always)
  func take<Scalar: ScalarValue & Decodable>(_ type: Scalar.Type, _ key: Key) throws -> Scalar {
    try lend { container in
      // Keys are bytes, as ``init(_:)`` has seen.
      let column = unsafe container.column(ofByte: key)
      if column >= 0, let value = container.usual(type, at: column) { return value }
      return try container.decode(type, forKey: key)
    }
  }

  @inline(__always)
  func takeOptional<Scalar: ScalarValue & Decodable>(
    _ type: Scalar.Type, _ key: Key
  ) throws -> Scalar? {
    try lend { container in
      let column = unsafe container.column(ofByte: key)
      if column >= 0 {
        if let value = container.usual(type, at: column) { return value }
        if container.row.handle.isNull(at: column) { return nil }
      }
      return try container.decodeOptional(type, key)
    }
  }

  // Not copied for each primitive type. (Dynamic functions are a call more.)
  @_semantics("optimize.sil.specialize.generic.never")
  func decode<Result: Decodable>(_ type: Result.Type, forKey key: Key) throws -> Result {
    if type == Data.self, let data = usual(Data.self, key) {
      // From the type to itself, which the comparison has just proven.
      return unsafe unsafeBitCast(data, to: type)
    }
    let column = column(key)
    guard column >= 0 else { return try lent(type, key) }
    return try unsafe container._withUnsafeGuaranteedRef { try $0.row.value(type, at: column) }
  }

  @_semantics("optimize.sil.specialize.generic.never")
  func decodeOptional<Result: Decodable>(_ type: Result.Type, _ key: Key) throws -> Result? {
    if type == Data.self, let data = usual(Data.self, key) {
      return unsafe unsafeBitCast(data, to: type)
    }
    let column = column(key)
    guard column >= 0 else { return try lentOptional(type, key) }
    if isNull(column) { return nil }
    return try unsafe container._withUnsafeGuaranteedRef { try $0.row.value(type, at: column) }
  }

  /// Reads a property whose column was not looked up yet, by the container.
  private dynamic func lent<Result: Decodable>(_ type: Result.Type, _ key: Key) throws -> Result {
    try lend { try $0.decode(type, forKey: key) }
  }

  private dynamic func lentOptional<Result: Decodable>(
    _ type: Result.Type, _ key: Key
  ) throws -> Result? {
    try lend { try $0.decodeOptional(type, key) }
  }

  func decoder(forKey key: some CodingKey) throws -> any Decoder {
    try lend { try $0.decoder(forKey: key) }
  }
}

extension Boxed {
  /// The container for the rows of a statement: the borrowed one if there is one.
  static func decoding<Key: CodingKey>(_ row: DecodedRow) -> Boxed<Content>
  where Content == KeyedDecodingContainer<Key> {
    let container = RowDecodingContainer<Key>(row)
    let handedOut =
      BorrowedDecodingContainer(container).map { KeyedDecodingContainer($0) }
      ?? KeyedDecodingContainer(container)
    return Boxed(handedOut, owner: container)
  }
}

extension BorrowedDecodingContainer {
  @inline(__always) func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try take(type, key)
  }
  @inline(__always) func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try take(type, key)
  }
  @inline(__always) func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try take(type, key)
  }
  @inline(__always) func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try take(type, key)
  }
  @inline(__always) func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try take(type, key)
  }

  @inline(__always) func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try takeOptional(type, key)
  }
  @inline(__always) func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try takeOptional(type, key)
  }
  @inline(__always) func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try takeOptional(type, key)
  }
  @inline(__always) func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try takeOptional(type, key)
  }
  @inline(__always) func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try takeOptional(type, key)
  }
}

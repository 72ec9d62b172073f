import Essentials
import ExactText
import SQLiteCore

/// The columns of a row, accessed by the coding keys of one type.
///
/// It is a class, so that the copies that the standard library makes in every call share one
/// object.
@safe final class RowDecodingContainer<Key: CodingKey>: OptionalKeyedDecoding, NestingKeyedDecoding
{
  let row: DecodedRow
  let slots: KeySlots<Key>
  private let permission: RowPermission

  // What the borrowed container needs for each value, without another indirection.
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

  /// Returns the index of the column for a one-byte key, or a negative number if no such column
  /// exists or the key has not been looked up yet.
  @unsafe @inline(__always)
  fileprivate func column(ofByte key: Key) -> Int32 {
    unsafe bytes.unsafelyUnwrapped[Int(unsafeBitCast(key, to: UInt8.self))]
  }

  /// Reads a scalar from a column that contains a value of its type in the usual storage class.
  /// Returns nil if the column contains NULL or anything else.
  @inline(__always)
  fileprivate func usual<Scalar: ScalarValue>(_ type: Scalar.Type, at column: Int32) -> Scalar? {
    handle.use { type.read(from: $0, at: column, forms) }
  }

  var codingPath: [any CodingKey] { row.codingPath }

  /// Throws if the row has ended.
  @inline(__always)
  private func check() throws {
    guard permission.isValid else { throw DecodingError.expiredDecoder }
  }

  var allKeys: [Key] {
    // This property cannot throw, but the next call does.
    guard permission.isValid else { return [] }
    return row.ownColumns.compactMap { column in
      let name = row.columns.names[Int(column)].utf8.dropFirst(row.prefix.utf8.count)
      return Key(stringValue: String(Substring(name)))
    }
  }

  func contains(_ key: Key) -> Bool {
    permission.isValid && (slots[key] >= 0 || row.child(of: key) != nil)
  }

  /// Returns the index of the column that stores the property of a key, or throws if no column has
  /// its name or the row has ended.
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

/// The container that a type's `init(from:)` receives if each of the type's coding keys is one
/// byte. It consists of three words and owns nothing.
///
/// The standard library copies its container for every decoded value. Copying an owned reference
/// would count it, which costs as much as reading the value.
///
/// Proof that no reference is followed after its object is released: the ``DecodedRow`` owns the
/// container and the slots, its ``RowReader`` owns the statement, and the permission is valid only
/// while the reader reads a row. When a row ends, copies of its container are detected
/// (``ReusedContainer``), and their permission never becomes valid again. Such a copy throws on any
/// thread, and follows no reference.
@safe struct BorrowedDecodingContainer<Key: CodingKey>: OptionalKeyedDecoding, NestingKeyedDecoding
{
  private let permission: RowPermission
  private let container: Unmanaged<RowDecodingContainer<Key>>

  /// Creates a container, or returns nil if a key isn't exactly one byte.
  init?(_ container: RowDecodingContainer<Key>) {
    guard MemoryLayout<Key>.size == 1, unsafe container.slots.bytes != nil else { return nil }
    permission = container.row.permission
    unsafe self.container = Unmanaged.passUnretained(container)
  }

  /// Returns the index of the column for a key, or a negative number if no such column exists, the
  /// key has not been looked up yet, or the row has ended.
  @inline(__always)
  private func column(_ key: Key) -> Int32 {
    guard permission.isValid else { return -1 }
    // ``init(_:)`` has checked that keys are bytes.
    return unsafe container._withUnsafeGuaranteedRef { unsafe $0.column(ofByte: key) }
  }

  /// Reads a scalar from a column that contains a value of its type in the usual storage class.
  /// Returns nil if the column contains anything else or doesn't exist, if the key has not been
  /// looked up yet, or if the row has ended.
  @inline(__always)
  private func usual<Scalar: ScalarValue>(_ type: Scalar.Type, _ key: Key) -> Scalar? {
    let column = column(key)
    guard column >= 0 else { return nil }
    return unsafe container._withUnsafeGuaranteedRef { $0.usual(type, at: column) }
  }

  /// Returns whether a column exists and is NULL.
  @inline(__always)
  private func isNull(_ column: Int32) -> Bool {
    guard column >= 0 else { return false }
    return unsafe container._withUnsafeGuaranteedRef { $0.row.handle.isNull(at: column) }
  }

  /// Calls `body` with the full container, which handles the cases without a fast path: other
  /// types, NULL and unexpected content. Throws if the row has ended.
  @inline(__always)
  private func withContainer<Result>(
    _ body: (RowDecodingContainer<Key>) throws -> Result
  ) throws -> Result {
    guard permission.isValid else { throw DecodingError.expiredDecoder }
    return try unsafe container._withUnsafeGuaranteedRef(body)
  }
}

extension BorrowedDecodingContainer {
  var codingPath: [any CodingKey] { (try? withContainer { $0.codingPath }) ?? [] }
  var allKeys: [Key] { (try? withContainer { $0.allKeys }) ?? [] }
  func contains(_ key: Key) -> Bool { (try? withContainer { $0.contains(key) }) ?? false }
  func decodeNil(forKey key: Key) throws -> Bool {
    try withContainer { try $0.decodeNil(forKey: key) }
  }

  // One check covers both paths, because nothing else reads the row between them.
  @inline(__always)
  func decodeScalar<Scalar: ScalarValue & Decodable>(_ type: Scalar.Type, _ key: Key) throws
    -> Scalar
  {
    try withContainer { container in
      // ``init(_:)`` has checked that keys are bytes.
      let column = unsafe container.column(ofByte: key)
      if column >= 0, let value = container.usual(type, at: column) { return value }
      return try container.decode(type, forKey: key)
    }
  }

  @inline(__always)
  func decodeOptionalScalar<Scalar: ScalarValue & Decodable>(
    _ type: Scalar.Type, _ key: Key
  ) throws -> Scalar? {
    try withContainer { container in
      let column = unsafe container.column(ofByte: key)
      if column >= 0 {
        if let value = container.usual(type, at: column) { return value }
        if container.row.handle.isNull(at: column) { return nil }
      }
      return try container.decodeOptional(type, key)
    }
  }

  // Not specialized for each primitive type. (A dynamic function would cost another call.)
  @_semantics("optimize.sil.specialize.generic.never")
  func decode<Result: Decodable>(_ type: Result.Type, forKey key: Key) throws -> Result {
    if type == Data.self, let data = usual(Data.self, key) {
      // The comparison above proves that both types are the same.
      return unsafe unsafeBitCast(data, to: type)
    }
    let column = column(key)
    guard column >= 0 else { return try decodeUncached(type, key) }
    return try unsafe container._withUnsafeGuaranteedRef { try $0.row.value(type, at: column) }
  }

  @_semantics("optimize.sil.specialize.generic.never")
  func decodeOptional<Result: Decodable>(_ type: Result.Type, _ key: Key) throws -> Result? {
    if type == Data.self, let data = usual(Data.self, key) {
      return unsafe unsafeBitCast(data, to: type)
    }
    let column = column(key)
    guard column >= 0 else { return try decodeOptionalUncached(type, key) }
    if isNull(column) { return nil }
    return try unsafe container._withUnsafeGuaranteedRef { try $0.row.value(type, at: column) }
  }

  /// Reads a property with the full container, because its column doesn't exist or has not been
  /// looked up yet.
  private dynamic func decodeUncached<Result: Decodable>(_ type: Result.Type, _ key: Key) throws
    -> Result
  {
    try withContainer { try $0.decode(type, forKey: key) }
  }

  private dynamic func decodeOptionalUncached<Result: Decodable>(
    _ type: Result.Type, _ key: Key
  ) throws -> Result? {
    try withContainer { try $0.decodeOptional(type, key) }
  }

  func decoder(forKey key: some CodingKey) throws -> any Decoder {
    try withContainer { try $0.decoder(forKey: key) }
  }
}

extension Boxed {
  /// Creates the keyed container for the rows of a statement: a ``BorrowedDecodingContainer`` if
  /// each key is one byte, otherwise a ``RowDecodingContainer``.
  static func decoding<Key: CodingKey>(_ row: DecodedRow) -> Boxed<Content>
  where Content == KeyedDecodingContainer<Key> {
    let container = RowDecodingContainer<Key>(row)
    let keyedContainer =
      BorrowedDecodingContainer(container).map { KeyedDecodingContainer($0) }
      ?? KeyedDecodingContainer(container)
    return Boxed(keyedContainer, owner: container)
  }
}

extension BorrowedDecodingContainer {
  @inline(__always) func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try decodeScalar(type, key)
  }
  @inline(__always) func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try decodeScalar(type, key)
  }
  @inline(__always) func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try decodeScalar(type, key)
  }
  @inline(__always) func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try decodeScalar(type, key)
  }
  @inline(__always) func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try decodeScalar(type, key)
  }

  @inline(__always) func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try decodeOptionalScalar(type, key)
  }
  @inline(__always) func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try decodeOptionalScalar(type, key)
  }
  @inline(__always) func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try decodeOptionalScalar(type, key)
  }
  @inline(__always) func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try decodeOptionalScalar(type, key)
  }
  @inline(__always) func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try decodeOptionalScalar(type, key)
  }
}

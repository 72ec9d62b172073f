import CSQLite

/// A blob or a text in a row, which can be read and written in place, piece by piece.
///
///     try connection.withBlob(table: "file", column: "content", rowID: 7) { blob in
///       let start = try blob.read(count: 1_024, at: 0)
///     }
///
/// You can't change the size of the content. To reserve space, insert `zeroblob(n)`, and then write
/// into it. If another statement changes the row, the blob becomes invalid: reading and writing
/// throw ``ResultCode/abort``.
@safe public final class Blob {
  private let connection: Connection
  private var pointer: OpaquePointer?
  private let isWritable: Bool

  fileprivate init(_ pointer: OpaquePointer, of connection: Connection, isWritable: Bool) {
    unsafe self.pointer = unsafe pointer
    self.connection = connection
    self.isWritable = isWritable
  }

  deinit {
    unsafe sqlite3_blob_close(pointer)
  }

  /// The size of the blob in bytes (`sqlite3_blob_bytes`).
  public var byteCount: Int { unsafe Int(sqlite3_blob_bytes(pointer)) }

  /// Reads bytes from the blob (`sqlite3_blob_read`).
  ///
  /// - Parameters:
  ///   - count: The number of bytes to read.
  ///   - offset: The position of the first byte, from 0.
  /// - Returns: The bytes. There are fewer than `count` if the blob ends earlier.
  /// - Throws: ``SQLiteError`` with ``ResultCode/range`` if the count is negative or the offset is
  ///   outside the blob, with ``ResultCode/abort`` if the row has been changed by a statement, or
  ///   with ``ResultCode/misuse`` if the blob is closed.
  public func read(count: Int, at offset: Int) throws(SQLiteError) -> [UInt8] {
    try checkOpen()
    guard count >= 0, offset >= 0, offset <= byteCount else { throw outside(offset) }
    let count = min(count, byteCount - offset)
    guard count > 0 else { return [] }
    var code = SQLITE_OK
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      unsafe code = sqlite3_blob_read(pointer, buffer.baseAddress, Int32(count), Int32(offset))
      initialized = code == SQLITE_OK ? count : 0
    }
    try check(code)
    return bytes
  }

  /// Overwrites bytes of the blob (`sqlite3_blob_write`).
  ///
  /// - Parameters:
  ///   - bytes: The new bytes.
  ///   - offset: The position of the first byte to overwrite, from 0. All bytes must fit into the
  ///     blob.
  /// - Throws: ``SQLiteError`` with ``ResultCode/range`` if the bytes don't fit, with
  ///   ``ResultCode/readOnly`` if the blob isn't writable, with ``ResultCode/abort`` if the row has
  ///   been changed by a statement, or with ``ResultCode/misuse`` if the blob is closed.
  public func write(_ bytes: [UInt8], at offset: Int) throws(SQLiteError) {
    try checkOpen()
    guard isWritable else {
      throw SQLiteError(
        .readOnly, "the blob is open for reading only; open it with isWritable: true")
    }
    guard offset >= 0, offset <= byteCount, bytes.count <= byteCount - offset else {
      throw outside(offset)
    }
    let code = unsafe bytes.withUnsafeBytes { buffer in
      let write = {
        unsafe sqlite3_blob_write(
          self.pointer, buffer.baseAddress ?? emptyBytes, Int32(buffer.count), Int32(offset))
      }
      guard let recorder = connection.hooks.recorder else { return write() }
      return unsafe recorder.writing(buffer, at: offset, write)
    }
    try check(code)
    connection.recording.hasWritten = true
  }

  /// Moves to the same column of another row (`sqlite3_blob_reopen`).
  ///
  /// - Parameter rowID: The rowid of the other row.
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if the blob is closed, or another
  ///   ``SQLiteError`` if the row does not exist or its column doesn't store a blob or text. After
  ///   the latter, the blob can't be used any more.
  public func reopen(rowID: Int64) throws(SQLiteError) {
    try checkOpen()
    try check(unsafe sqlite3_blob_reopen(pointer, rowID))
  }

  /// Closes the blob. Outside a transaction, this commits the writes.
  fileprivate func close() throws(SQLiteError) {
    defer { unsafe pointer = nil }
    let code = unsafe sqlite3_blob_close(pointer)
    if isWritable { try check(code) }
  }

  private func checkOpen() throws(SQLiteError) {
    guard unsafe pointer != nil else { throw SQLiteError(.misuse, "the blob is closed") }
    try connection.checkAccess()
    try connection.checkTransaction()
  }

  private func check(_ code: Int32) throws(SQLiteError) {
    guard code != SQLITE_OK else { return }
    throw connection.failure(code, sql: "a blob")
  }

  private func outside(_ offset: Int) -> SQLiteError {
    SQLiteError(.range, "offset \(offset) is outside the blob of \(byteCount) bytes")
  }
}

@available(*, unavailable)
extension Blob: Sendable {}

extension Connection {
  /// Opens a blob or a text in a row, and passes it to a closure (`sqlite3_blob_open`).
  ///
  /// - Parameters:
  ///   - table: The name of the table.
  ///   - column: The name of the column. If the blob is writable, no index and no foreign key may
  ///     use the column.
  ///   - rowID: The rowid of the row.
  ///   - schema: The name of the database: `main`, or that of an attached database.
  ///   - isWritable: Whether the blob can be written.
  ///   - body: A closure that uses the blob, which is valid only inside the closure.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`; ``SQLiteError`` if the blob can't be opened, if the last write
  ///   has failed, or if writes outside a transaction can't be committed.
  @discardableResult
  public func withBlob<Result>(
    table: String, column: String, rowID: Int64, schema: String = "main", isWritable: Bool = false,
    _ body: (Blob) throws -> Result
  ) throws -> Result {
    try checkAccess()
    try require(.blobs)
    try checkTransaction()
    if isWritable, refusesWrites {
      throw SQLiteError(.readOnly, "a read cannot write; use write instead")
    }
    var pointer: OpaquePointer?
    let code = unsafe sqlite3_blob_open(
      handle.pointer, schema, table, column, rowID, isWritable ? 1 : 0, &pointer)
    guard code == SQLITE_OK, let pointer = unsafe pointer else { throw handle.error(code) }
    let blob = unsafe Blob(pointer, of: self, isWritable: isWritable)
    do {
      let result = try body(blob)
      try blob.close()
      return result
    } catch {
      try? blob.close()
      throw error
    }
  }
}

import SQLiteCore

import Essentials

/// A statement of which this has no part: to use it counts no references, and to keep it keeps no
/// statement alive, so that SQLite finalizes each where its connection is used.
///
/// Proof that it leads to a living statement: it is used by a ``DecodedRow`` or an ``EncodedRow`` on
/// behalf of decoders, encoders and containers, each of which asks its ``RowMark`` first. A mark is
/// valid during one call of ``RowReader`` or ``RowBinder`` only, which own the statement.
@safe struct BorrowedHandle {
  private let handle: Unmanaged<StatementHandle>

  init(_ handle: StatementHandle) {
    unsafe self.handle = Unmanaged.passUnretained(handle)
  }

  /// Lends the statement.
  @inline(__always)
  func use<Result>(_ body: (StatementHandle) throws -> Result) rethrows -> Result {
    try unsafe handle._withUnsafeGuaranteedRef(body)
  }

  /// Lends the statement to what fails as SQLite does.
  @inline(__always)
  private func attempt<Success>(
    _ body: (StatementHandle) throws(SQLiteError) -> Success
  ) throws(SQLiteError) -> Success {
    let result = use { handle -> Result<Success, SQLiteError> in
      do throws(SQLiteError) { return .success(try body(handle)) } catch { return .failure(error) }
    }
    return try result.get()
  }

  var sql: String { use { $0.sql } }

  func storageClass(at column: Int32) -> String { use { $0.storageClass(at: column) } }

  @inline(__always)
  func isNull(at column: Int32) -> Bool { use { $0.isNull(at: column) } }

  @inline(__always)
  func integer(at column: Int32) -> Int64? { use { $0.integer(at: column) } }

  @inline(__always)
  func real(at column: Int32) -> Double? { use { $0.real(at: column) } }

  @inline(__always)
  func text(at column: Int32) -> String? { use { $0.text(at: column) } }

  @inline(__always)
  func data(at column: Int32, ofText isText: Bool) -> Data? {
    use { $0.data(at: column, ofText: isText) }
  }

  func value(at column: Int32) throws(SQLiteError) -> Value {
    try attempt { handle throws(SQLiteError) in try handle.value(at: column) }
  }

  func withBytes<Result>(
    at column: Int32, ofText isText: Bool, _ body: (RawSpan) throws -> Result
  ) throws -> Result? {
    try use { try $0.withBytes(at: column, ofText: isText, body) }
  }
}

extension BorrowedHandle {
  func bindNull(at parameter: Int32) throws(SQLiteError) {
    try attempt { handle throws(SQLiteError) in try handle.bindNull(at: parameter) }
  }

  @inline(__always)
  func bind(_ integer: Int64, at parameter: Int32) throws(SQLiteError) {
    try attempt { handle throws(SQLiteError) in try handle.bind(integer, at: parameter) }
  }

  @inline(__always)
  func bind(_ real: Double, at parameter: Int32) throws(SQLiteError) {
    try attempt { handle throws(SQLiteError) in try handle.bind(real, at: parameter) }
  }

  @inline(__always)
  func bind(_ text: String, at parameter: Int32) throws(SQLiteError) {
    try attempt { handle throws(SQLiteError) in try handle.bind(text, at: parameter) }
  }

  @inline(__always)
  func bind(
    bytes: RawSpan, asText isText: Bool = false, at parameter: Int32
  ) throws(SQLiteError) {
    try attempt { handle throws(SQLiteError) in
      try handle.bind(bytes: bytes, asText: isText, at: parameter)
    }
  }

  func bind(_ value: Value, at parameter: Int32) throws(SQLiteError) {
    try attempt { handle throws(SQLiteError) in try handle.bind(value, at: parameter) }
  }
}

import CSQLite

/// A prepared statement of the C baseline that is reused.
@safe final class CStatement {
  let pointer: OpaquePointer
  private let connection: CConnection

  init(_ sql: String, _ connection: CConnection) throws {
    self.connection = connection
    unsafe pointer = try unsafe connection.prepare(sql)
  }

  deinit {
    unsafe sqlite3_finalize(pointer)
  }

  func bind(_ value: Int64, at index: Int32) throws {
    try connection.check(unsafe sqlite3_bind_int64(pointer, index, value))
  }

  func bind(_ value: Double, at index: Int32) throws {
    try connection.check(unsafe sqlite3_bind_double(pointer, index, value))
  }

  func bind(_ text: String, at index: Int32) throws {
    var text = text
    let code = text.withUTF8 {
      unsafe csqlite_bind_text(pointer, index, $0.baseAddress, UInt64($0.count))
    }
    try connection.check(code)
  }

  func bindNull(at index: Int32) throws {
    try connection.check(unsafe sqlite3_bind_null(pointer, index))
  }

  func step() throws -> Bool { try unsafe connection.step(pointer) }

  /// Runs a statement that returns no rows, and resets it.
  func run() throws {
    _ = try step()
    try reset()
  }

  /// The first column of the current row as an integer.
  var integer: Int64 { unsafe sqlite3_column_int64(pointer, 0) }

  func reset() throws { try connection.check(unsafe sqlite3_reset(pointer)) }
}

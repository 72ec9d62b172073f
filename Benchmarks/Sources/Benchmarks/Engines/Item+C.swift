import CSQLite
import Foundation

extension Item {
  /// Creates an item from the current row of `statement`.
  @unsafe init(_ statement: OpaquePointer) throws {
    id = unsafe sqlite3_column_int64(statement, 0)
    guard let name = unsafe Self.text(statement, 1) else { throw Failure("an item has no name") }
    self.name = name
    quantity = unsafe sqlite3_column_int64(statement, 2)
    price = unsafe sqlite3_column_double(statement, 3)
    isActive = unsafe sqlite3_column_int64(statement, 4) != 0
    note = unsafe Self.text(statement, 5)
    rating =
      unsafe sqlite3_column_type(statement, 6) == SQLITE_NULL
      ? nil : unsafe sqlite3_column_double(statement, 6)
    payload = unsafe Self.data(statement, 7)
  }

  /// Binds all columns, in the order of ``Item/insert``.
  @unsafe func bind(to statement: OpaquePointer, of connection: CConnection) throws {
    try connection.check(unsafe sqlite3_bind_int64(statement, 1, id))
    try connection.check(unsafe Self.bind(name, to: statement, 2))
    try connection.check(unsafe sqlite3_bind_int64(statement, 3, quantity))
    try connection.check(unsafe sqlite3_bind_double(statement, 4, price))
    try connection.check(unsafe sqlite3_bind_int64(statement, 5, isActive ? 1 : 0))
    if let note {
      try connection.check(unsafe Self.bind(note, to: statement, 6))
    } else {
      try connection.check(unsafe sqlite3_bind_null(statement, 6))
    }
    if let rating {
      try connection.check(unsafe sqlite3_bind_double(statement, 7, rating))
    } else {
      try connection.check(unsafe sqlite3_bind_null(statement, 7))
    }
    try connection.check(unsafe Self.bind(payload, to: statement, 8))
  }

  @unsafe private static func text(_ statement: OpaquePointer, _ column: Int32) -> String? {
    guard let start = unsafe sqlite3_column_text(statement, column) else { return nil }
    let count = unsafe sqlite3_column_bytes(statement, column)
    return unsafe String(
      decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
  }

  /// Returns the bytes of a column. SQLite returns a null pointer for an empty blob.
  @unsafe private static func data(_ statement: OpaquePointer, _ column: Int32) -> Data {
    guard let start = unsafe sqlite3_column_blob(statement, column) else { return Data() }
    return unsafe Data(bytes: start, count: Int(sqlite3_column_bytes(statement, column)))
  }

  @unsafe private static func bind(
    _ text: String, to statement: OpaquePointer, _ index: Int32
  ) -> Int32 {
    var text = text
    return text.withUTF8 {
      unsafe csqlite_bind_text(statement, index, $0.baseAddress, UInt64($0.count))
    }
  }

  /// Binds bytes. Binds empty data as a zeroblob, because a null pointer would bind NULL.
  @unsafe private static func bind(
    _ data: Data, to statement: OpaquePointer, _ index: Int32
  ) -> Int32 {
    unsafe data.withUnsafeBytes {
      unsafe $0.baseAddress == nil
        ? sqlite3_bind_zeroblob(statement, index, 0)
        : csqlite_bind_blob(statement, index, $0.baseAddress, UInt64($0.count))
    }
  }
}

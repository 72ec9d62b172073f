import CSQLite

/// A borrowed `sqlite3_value`: the content of a column, an argument of a function, or a value of a
/// changed row.
///
/// Only this type calls `sqlite3_value_…`. SQLite may free or overwrite the value as soon as the
/// statement steps or the callback returns, so read it immediately and don't store the view. The
/// value of a column is an unprotected `sqlite3_value`: no other thread may use its connection
/// meanwhile. This holds, because only one thread at a time uses a connection.
///
/// Reading both the storage class and the content through one view looks up the column only once.
@safe struct ValueView {
  private let pointer: OpaquePointer?

  /// Creates a view of a value. The caller must ensure that the value stays valid while the view is
  /// used.
  @unsafe @inline(__always) init(_ pointer: OpaquePointer?) {
    unsafe self.pointer = unsafe pointer
  }

  /// SQLite's number for the storage class, such as `SQLITE_TEXT` (`sqlite3_value_type`).
  @inline(__always) var type: Int32 { unsafe sqlite3_value_type(pointer) }

  @inline(__always) var isNull: Bool { type == SQLITE_NULL }

  /// The value as an integer. SQLite converts other storage classes (`sqlite3_value_int64`).
  @inline(__always) var convertedInteger: Int64 { unsafe sqlite3_value_int64(pointer) }

  /// The value as a real. SQLite converts other storage classes (`sqlite3_value_double`).
  @inline(__always) var convertedReal: Double { unsafe sqlite3_value_double(pointer) }

  /// The integer, or nil if the value has another storage class.
  @inline(__always) var integer: Int64? { type == SQLITE_INTEGER ? convertedInteger : nil }

  /// The real, or nil if the value has another storage class.
  @inline(__always) var real: Double? { type == SQLITE_FLOAT ? convertedReal : nil }

  /// The text, or nil if the value has another storage class or is not valid UTF-8.
  @inline(__always) var text: String? { type == SQLITE_TEXT ? convertedText : nil }

  /// The value as text; nil if it is not valid UTF-8, or if memory is exhausted. SQLite converts a
  /// number in place.
  @inline(__always) var convertedText: String? {
    // Read the text before its size, because reading the text may convert the value.
    guard let start = unsafe sqlite3_value_text(pointer) else { return nil }
    return unsafe SQLiteCore.text(copying: start, count: Int(sqlite3_value_bytes(pointer)))
  }

  /// Whether the value is a text that SQLite can't return for lack of memory.
  var lacksText: Bool { unsafe type == SQLITE_TEXT && sqlite3_value_text(pointer) == nil }

  /// Returns the bytes of a blob, or the UTF-8 bytes of a text. SQLite converts a number to text in
  /// place.
  ///
  /// - Parameter isText: Whether the value isn't a blob.
  @unsafe @inline(__always) func bytes(ofText isText: Bool) -> UnsafeRawBufferPointer {
    // `sqlite3_value_text` converts UTF-16 to UTF-8. Otherwise, reading the size would convert it
    // and move the bytes.
    let start =
      unsafe isText ? UnsafeRawPointer(sqlite3_value_text(pointer)) : sqlite3_value_blob(pointer)
    let count = unsafe start == nil ? 0 : Int(sqlite3_value_bytes(pointer))
    return unsafe UnsafeRawBufferPointer(start: start, count: count)
  }

  /// The UTF-8 bytes of a text without a terminating NUL. Reading them doesn't copy a text that is
  /// part of a row, as SQLite would to add a NUL.
  @unsafe @inline(__always) var textBytesInPlace: UnsafeRawBufferPointer {
    // Reading the size converts UTF-16 to UTF-8. Reading the blob after that changes nothing.
    let count = unsafe Int(sqlite3_value_bytes(pointer))
    let start = unsafe sqlite3_value_blob(pointer)
    return unsafe UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
  }

  /// Calls `body` with a copy of the value. Converting the copy doesn't move the bytes of the value
  /// itself (`sqlite3_value_dup`).
  func withCopy<Result>(_ body: (ValueView) throws -> Result) rethrows -> Result {
    let copy = unsafe sqlite3_value_dup(pointer)
    defer { unsafe sqlite3_value_free(copy) }
    return try body(unsafe ValueView(copy))
  }

  /// The value as a Swift value, or nil if it is a text that is not valid UTF-8.
  var value: Value? {
    switch type {
    case SQLITE_INTEGER: .integer(convertedInteger)
    case SQLITE_FLOAT: .real(convertedReal)
    case SQLITE_TEXT: convertedText.map { .text($0) }
    case SQLITE_BLOB: .blob(copiedBytes)
    default: .null
    }
  }

  /// A copy of the bytes of a blob or a text.
  var copiedBytes: [UInt8] {
    let bytes = unsafe bytes(ofText: type != SQLITE_BLOB)
    return unsafe SQLiteCore.copiedBytes(bytes.baseAddress, count: bytes.count)
  }

  /// Returns the pointer that was bound with the type `type`, or nil if there is none
  /// (`sqlite3_value_pointer`).
  @unsafe func pointer(of type: UnsafePointer<CChar>) -> UnsafeMutableRawPointer? {
    unsafe sqlite3_value_pointer(pointer, type)
  }
}

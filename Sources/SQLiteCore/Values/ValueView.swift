import CSQLite

/// A value that SQLite lends: the content of a column, an argument of a function, a value of a row that
/// changes (`sqlite3_value`).
///
/// This is the one place that calls `sqlite3_value_…`. A view is valid until SQLite goes on: it is asked
/// at once and never kept. SQLite calls the value of a column unprotected, to be read only where no other
/// thread uses the connection; ours are used by one thread at a time, where SQLite makes no difference.
/// One look-up then serves the questions for the type and for the content.
@safe struct ValueView {
  private let pointer: OpaquePointer?

  /// Wraps a value that lives as long as the view is used.
  @unsafe @inline(__always) init(_ pointer: OpaquePointer?) {
    unsafe self.pointer = unsafe pointer
  }

  /// The storage class as SQLite's number, such as `SQLITE_TEXT` (`sqlite3_value_type`).
  @inline(__always) var type: Int32 { unsafe sqlite3_value_type(pointer) }

  @inline(__always) var isNull: Bool { type == SQLITE_NULL }

  /// The integer; SQLite converts another storage class (`sqlite3_value_int64`).
  @inline(__always) var convertedInteger: Int64 { unsafe sqlite3_value_int64(pointer) }

  /// The real; SQLite converts another storage class (`sqlite3_value_double`).
  @inline(__always) var convertedReal: Double { unsafe sqlite3_value_double(pointer) }

  /// The integer, or nil for another storage class.
  @inline(__always) var integer: Int64? { type == SQLITE_INTEGER ? convertedInteger : nil }

  /// The real, or nil for another storage class.
  @inline(__always) var real: Double? { type == SQLITE_FLOAT ? convertedReal : nil }

  /// The text, or nil for another storage class and for invalid UTF-8.
  @inline(__always) var text: String? { type == SQLITE_TEXT ? convertedText : nil }

  /// The text, or nil for invalid UTF-8. SQLite turns a number into its text, in place.
  @inline(__always) var convertedText: String? {
    // First the text, then its size: asking for the text may convert the value.
    guard let start = unsafe sqlite3_value_text(pointer) else { return nil }
    return unsafe SQLiteCore.text(copying: start, count: Int(sqlite3_value_bytes(pointer)))
  }

  /// Whether SQLite has no memory for the text that is stored.
  var lacksText: Bool { unsafe type == SQLITE_TEXT && sqlite3_value_text(pointer) == nil }

  /// The bytes of a blob, or the UTF-8 of a text. SQLite turns a number into its text, in place.
  ///
  /// - Parameter isText: Whether the value is anything but a blob.
  @unsafe @inline(__always) func bytes(ofText isText: Bool) -> UnsafeRawBufferPointer {
    // The bytes of a text in UTF-16 become UTF-8 now: asked for their count later, they would move.
    let start =
      unsafe isText ? UnsafeRawPointer(sqlite3_value_text(pointer)) : sqlite3_value_blob(pointer)
    let count = unsafe start == nil ? 0 : Int(sqlite3_value_bytes(pointer))
    return unsafe UnsafeRawBufferPointer(start: start, count: count)
  }

  /// The UTF-8 of a text without a NUL behind it, for which SQLite would copy a text that lies in a row.
  @unsafe @inline(__always) var textBytesInPlace: UnsafeRawBufferPointer {
    // Asked for the count, SQLite turns UTF-16 into UTF-8; asked for a blob then, it changes nothing.
    let count = unsafe Int(sqlite3_value_bytes(pointer))
    let start = unsafe sqlite3_value_blob(pointer)
    return unsafe UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
  }

  /// Lends a copy, whose conversion moves no bytes of the value itself (`sqlite3_value_dup`).
  func withCopy<Result>(_ body: (ValueView) throws -> Result) rethrows -> Result {
    let copy = unsafe sqlite3_value_dup(pointer)
    defer { unsafe sqlite3_value_free(copy) }
    return try body(unsafe ValueView(copy))
  }

  /// The value, or nil for text that is not valid UTF-8.
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

  /// The pointer that a caller has bound, or nil if it was bound as another type
  /// (`sqlite3_value_pointer`).
  @unsafe func pointer(of type: UnsafePointer<CChar>) -> UnsafeMutableRawPointer? {
    unsafe sqlite3_value_pointer(pointer, type)
  }
}

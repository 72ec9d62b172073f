import CSQLite

extension StatementHandle {
  /// Binds NULL (`sqlite3_bind_null`).
  @inline(__always) package func bindNull(at parameter: Int32) throws(SQLiteError) {
    try check(unsafe sqlite3_bind_null(pointer, parameter), parameter)
  }

  /// Binds an integer (`sqlite3_bind_int64`).
  @inline(__always) package func bind(_ integer: Int64, at parameter: Int32) throws(SQLiteError) {
    try check(unsafe sqlite3_bind_int64(pointer, parameter, integer), parameter)
  }

  /// Binds a real (`sqlite3_bind_double`). Throws if it is NaN, because SQLite would store NULL.
  @inline(__always) package func bind(_ real: Double, at parameter: Int32) throws(SQLiteError) {
    if real.isNaN { throw Double.nanError }
    try check(unsafe sqlite3_bind_double(pointer, parameter, real), parameter)
  }

  /// Begins to bind a whole row. The caller must bind every parameter before the next run, with
  /// NULL if there is no value.
  ///
  /// Short texts and blobs of the row are copied into a buffer of the handle. SQLite would allocate
  /// and free memory for each of them, which takes longer than the rest of the binding (benchmark
  /// `insert`).
  package func beginRow() {
    isInRow = true
    unsafe bindingBuffer?.clear()
  }

  /// Copies bytes of a row into the buffer, where they stay until the next row. Returns the address
  /// of the copy; nil if no row is being bound, or if SQLite must copy the bytes instead.
  @unsafe @inline(__always) private func stored(
    _ bytes: UnsafeRawBufferPointer
  ) -> UnsafeRawPointer? {
    guard isInRow else { return nil }
    if unsafe bindingBuffer == nil { unsafe bindingBuffer = BindingBuffer() }
    return unsafe bindingBuffer?.copy(bytes)
  }

  /// Binds text byte for byte, including embedded NULs (`sqlite3_bind_text64`).
  package func bind(_ text: String, at parameter: Int32) throws(SQLiteError) {
    var text = text
    let code = text.withUTF8 { bytes in
      unsafe bind(UnsafeRawBufferPointer(bytes), asText: true, to: parameter)
    }
    try check(code, parameter)
  }

  @unsafe @inline(__always) func bind(
    _ bytes: UnsafeRawBufferPointer, asText isText: Bool, to parameter: Int32
  ) -> Int32 {
    let count = UInt64(bytes.count)
    if let start = unsafe stored(bytes) {
      return unsafe bind(stored: start, count, asText: isText, to: parameter)
    }
    needsClearing = true
    // A null pointer would bind NULL.
    let start = unsafe bytes.baseAddress ?? emptyBytes
    return unsafe isText
      ? csqlite_bind_text(pointer, parameter, start, count)
      : csqlite_bind_blob(pointer, parameter, start, count)
  }

  /// Binds bytes that stay at their address until the run ends. SQLite doesn't copy them, because
  /// it gets no destructor (`SQLITE_STATIC`).
  @unsafe @inline(__always) private func bind(
    stored start: UnsafeRawPointer, _ count: UInt64, asText isText: Bool, to parameter: Int32
  ) -> Int32 {
    unsafe isText
      ? sqlite3_bind_text64(
        pointer, parameter, start.assumingMemoryBound(to: CChar.self), count, nil,
        UInt8(SQLITE_UTF8))
      : sqlite3_bind_blob64(pointer, parameter, start, count, nil)
  }

  /// Binds bytes as a blob, or as UTF-8 text. An empty span is an empty blob or text, not NULL.
  package func bind(
    bytes: RawSpan, asText isText: Bool = false, at parameter: Int32
  ) throws(SQLiteError) {
    let code = unsafe bytes.withUnsafeBytes { unsafe bind($0, asText: isText, to: parameter) }
    try check(code, parameter)
  }

  /// Binds a blob without copying it. The bytes must stay valid until the run ends. Copying 1 MiB
  /// takes 1,000,000 instructions (benchmark `blob`).
  @unsafe final func bind(
    borrowed bytes: UnsafeRawBufferPointer, at parameter: Int32
  ) throws(SQLiteError) {
    needsClearing = true
    // A null pointer would bind NULL.
    let start = unsafe bytes.baseAddress ?? emptyBytes
    try check(
      unsafe bind(stored: start, UInt64(bytes.count), asText: false, to: parameter), parameter)
  }

  /// Returns whether a value of `count` bytes is so long that binding it without a copy saves time.
  static func isLong(_ count: Int) -> Bool { unsafe count > BindingBuffer.longest }

  /// Binds the address of a variable, for a function that requires a pointer of `type`
  /// (`sqlite3_bind_pointer`).
  func bind(
    pointerTo variable: UnsafeMutableRawPointer, ofType type: StaticString, at parameter: Int32
  ) {
    needsClearing = true
    let name = unsafe UnsafeRawPointer(type.utf8Start).assumingMemoryBound(to: CChar.self)
    _ = unsafe sqlite3_bind_pointer(pointer, parameter, variable, name, nil)
  }

  /// Binds a value in one of SQLite's storage classes.
  package func bind(_ value: Value, at parameter: Int32) throws(SQLiteError) {
    switch value {
    case .null: try bindNull(at: parameter)
    case .integer(let integer): try bind(integer, at: parameter)
    case .real(let real): try bind(real, at: parameter)
    case .text(let text): try bind(text, at: parameter)
    case .blob(let bytes): try unsafe bind(bytes: bytes.span.bytes, at: parameter)
    }
  }

  /// Sets all parameters to NULL (`sqlite3_clear_bindings`).
  func clearBindings() {
    isInRow = false
    isStale = false
    needsClearing = false
    // Unlike most of SQLite's functions, this one doesn't accept a null pointer.
    guard unsafe pointer != nil else { return }
    unsafe sqlite3_clear_bindings(pointer)
  }

  /// Ends a use that has bound values. Short values stay bound until the next use, because most
  /// uses bind all parameters again. A use that doesn't must call ``clearBindings()`` first.
  func endUse() {
    isBound = false
    isInRow = false
    if needsClearing { clearBindings() } else { isStale = true }
  }

  /// Returns the number of a named parameter; nil if no parameter has this name.
  ///
  /// - Parameter name: The parameter's name with its prefix, such as `:name`.
  func parameterIndex(_ name: String) -> Int? {
    let index = unsafe sqlite3_bind_parameter_index(pointer, name)
    return index == 0 ? nil : Int(index)
  }

  /// Returns the name of a parameter with its prefix; nil if it has no name
  /// (`sqlite3_bind_parameter_name`).
  func parameterName(_ index: Int) -> String? {
    guard let name = unsafe sqlite3_bind_parameter_name(pointer, Int32(clamping: index)) else {
      return nil
    }
    return unsafe String(cString: name)
  }

  @inline(__always) func check(_ code: Int32, _ parameter: Int32) throws(SQLiteError) {
    guard code == SQLITE_OK else { throw bindError(code, parameter) }
    isBound = true
  }

  @inline(never) private func bindError(_ code: Int32, _ parameter: Int32) -> SQLiteError {
    guard !isOrphan else { return orphanError }
    return switch code {
    case SQLITE_RANGE:
      SQLiteError(
        .range, "the statement has no parameter \(parameter), only \(parameterCount)", sql: sql)
    case SQLITE_MISUSE:
      SQLiteError(.misuse, "call reset() before you bind values", sql: sql)
    default: SQLiteError(ResultCode(rawValue: code), sql: sql)
    }
  }
}

/// A buffer for the short texts and blobs of the rows that a statement binds. Each row reuses it.
///
/// Proof: The handle frees the memory after it has finalized the statement, so the memory exists as
/// long as SQLite refers to it. It is overwritten by the next row, or by a row of a later use. A
/// row binds every parameter before the statement runs. A later use that doesn't bind them all
/// clears the parameters first. SQLite doesn't read bound values until the statement runs.
@unsafe struct BindingBuffer {
  private let start: UnsafeMutableRawPointer
  private var count = 0

  private static let capacity = 4_096
  /// The maximum size of a value in bytes. Longer values would fill the buffer, and their
  /// allocation costs relatively little.
  static let longest = 512

  init() {
    unsafe start = .allocate(byteCount: Self.capacity, alignment: 8)
  }

  /// Copies bytes into the buffer and returns the address of the copy; nil if there are more than
  /// ``longest`` bytes, or if the buffer is full.
  @inline(__always) mutating func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
    let from = unsafe count
    let next = from + bytes.count
    guard unsafe bytes.count <= Self.longest, unsafe next <= Self.capacity else { return nil }
    if let source = bytes.baseAddress {
      unsafe (start + from).copyMemory(from: source, byteCount: bytes.count)
    }
    unsafe count = next
    return unsafe UnsafeRawPointer(start) + from
  }

  mutating func clear() { unsafe count = 0 }

  func release() { unsafe start.deallocate() }
}

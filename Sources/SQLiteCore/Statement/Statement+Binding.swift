import CSQLite

extension Statement {
  /// Binds a value to a parameter (`sqlite3_bind_…`).
  ///
  /// - Parameters:
  ///   - value: What to bind; nil binds NULL.
  ///   - parameter: The parameter's number, from 1.
  /// - Throws: ``SQLiteError`` with ``ResultCode/range`` for a number without a parameter, or that
  ///   says why the value cannot be stored. A statement between two rows must be reset first.
  @inlinable  // Benchmark `insert`.
  public mutating func bind(_ value: some Bindable, at parameter: Int) throws(SQLiteError) {
    try value.bind(to: &self, at: parameter)
  }

  /// Binds a value to a named parameter.
  ///
  /// - Parameters:
  ///   - value: What to bind; nil binds NULL.
  ///   - name: The parameter's name, with its prefix (`:name`, `@name`, `$name`) or without.
  /// - Throws: ``SQLiteError`` with ``ResultCode/range`` if there is no such parameter.
  public mutating func bind(_ value: some Bindable, named name: String) throws(SQLiteError) {
    try value.bind(to: &self, at: parameter(named: name))
  }

  /// Binds a stored form to a parameter.
  ///
  /// - Parameters:
  ///   - value: What to bind.
  ///   - parameter: The parameter's number, from 1.
  /// - Throws: ``SQLiteError``.
  public mutating func bind(_ value: Value, at parameter: Int) throws(SQLiteError) {
    switch value {
    case .null: try bindNull(at: parameter)
    case .integer(let integer): try bind(integer, at: parameter)
    case .real(let real): try bind(real, at: parameter)
    case .text(let text): try bind(text, at: parameter)
    case .blob(let bytes): try bind(bytes, at: parameter)
    }
  }

  /// Binds NULL (`sqlite3_bind_null`).
  public mutating func bindNull(at parameter: Int) throws(SQLiteError) {
    try check(unsafe sqlite3_bind_null(handle.pointer, index(parameter)), parameter)
  }

  /// Binds an integer (`sqlite3_bind_int64`).
  public mutating func bind(_ integer: Int64, at parameter: Int) throws(SQLiteError) {
    try check(unsafe sqlite3_bind_int64(handle.pointer, index(parameter), integer), parameter)
  }

  /// Binds an integer (`sqlite3_bind_int64`).
  public mutating func bind(_ integer: Int, at parameter: Int) throws(SQLiteError) {
    try bind(Int64(integer), at: parameter)
  }

  /// Binds a real (`sqlite3_bind_double`); a NaN is refused, since SQLite would store NULL.
  public mutating func bind(_ real: Double, at parameter: Int) throws(SQLiteError) {
    if real.isNaN { _ = try real.databaseValue }
    try check(unsafe sqlite3_bind_double(handle.pointer, index(parameter), real), parameter)
  }

  /// Binds `text` byte for byte, embedded NULs included (`sqlite3_bind_text64`).
  public mutating func bind(_ text: String, at parameter: Int) throws(SQLiteError) {
    var text = text
    let code = text.withUTF8 { bytes in
      unsafe csqlite_bind_text(
        handle.pointer, index(parameter),
        bytes.baseAddress.map { unsafe UnsafeRawPointer($0) } ?? emptyBytes, UInt64(bytes.count))
    }
    try check(code, parameter)
  }

  /// Binds bytes; none of them are an empty blob, not NULL (`sqlite3_bind_blob64`).
  public mutating func bind(_ bytes: [UInt8], at parameter: Int) throws(SQLiteError) {
    try check(unsafe bytes.withUnsafeBytes { unsafe bindBlob($0, at: parameter) }, parameter)
  }

  /// Binds a copy of lent bytes; none of them are an empty blob, not NULL (`sqlite3_bind_blob64`).
  public mutating func bind(_ bytes: RawSpan, at parameter: Int) throws(SQLiteError) {
    try check(unsafe bytes.withUnsafeBytes { unsafe bindBlob($0, at: parameter) }, parameter)
  }

  @unsafe private func bindBlob(_ bytes: UnsafeRawBufferPointer, at parameter: Int) -> Int32 {
    // A null pointer would bind NULL.
    unsafe csqlite_bind_blob(
      handle.pointer, index(parameter), bytes.baseAddress ?? emptyBytes, UInt64(bytes.count))
  }

  /// Makes all parameters NULL (`sqlite3_clear_bindings`).
  public mutating func clearBindings() {
    handle.clearBindings()
    handle.isBound = true
  }

  /// Binds values to the parameters from 1 on.
  ///
  /// - Parameter values: One value for each parameter.
  /// - Throws: ``SQLiteError`` with ``ResultCode/range`` if there are more or fewer.
  @inline(__always) @inlinable  // Benchmark `insert`.
  public mutating func bind<each Argument: Bindable>(
    _ values: repeat each Argument
  ) throws(SQLiteError) {
    try checkCount(bindEach(repeat each values))
  }

  /// Binds values as long as there are parameters, and returns how many values there are.
  @inline(__always) @inlinable mutating func bindEach<each Argument: Bindable>(
    _ values: repeat each Argument
  ) throws(SQLiteError) -> Int {
    let count = parameterCount
    var parameter = 0
    repeat try bind(each values, behind: &parameter, of: count)
    return parameter
  }

  @inline(__always) @inlinable mutating func bind(
    _ value: some Bindable, behind parameter: inout Int, of count: Int
  ) throws(SQLiteError) {
    parameter += 1
    if parameter <= count { try value.bind(to: &self, at: parameter) }
  }

  /// Binds the values of a literal, from parameter 1 on.
  mutating func bind(_ pieces: [SQL.Piece]) throws(SQLiteError) {
    try checkCount(pieces.count)
    for index in pieces.indices { try bind(pieces[index].argument, at: index + 1) }
  }

  mutating func bind(_ argument: SQL.Argument, at parameter: Int) throws(SQLiteError) {
    switch argument {
    case .value(let value): try bind(value, at: parameter)
    case .list(let values): try bind(list: values, at: parameter)
    }
  }

  /// Binds a list to the argument of the table-valued function `magicdata_list`.
  package mutating func bind(list: [Value], at parameter: Int) throws(SQLiteError) {
    try connection.registerListModule()
    let code = unsafe sqlite3_bind_pointer(
      handle.pointer, index(parameter), ListModule.retained(list), ListModule.pointerType,
      { unsafe ListModule.release($0) })
    try check(code, parameter)
  }

  func parameter(named name: String) throws(SQLiteError) -> Int {
    for candidate in [name, ":\(name)", "@\(name)", "$\(name)"] {
      if let index = handle.parameterIndex(candidate) { return index }
    }
    throw SQLiteError(.range, "there is no parameter named \(name)", sql: sql)
  }

  @usableFromInline func checkCount(_ count: Int) throws(SQLiteError) {
    guard count == handle.parameterCount else {
      throw SQLiteError(
        .range, "\(handle.parameterCount) parameters, but \(count) values", sql: sql)
    }
  }

  private func index(_ parameter: Int) -> Int32 { Int32(clamping: parameter) }

  @inline(__always) func check(_ code: Int32, _ parameter: Int) throws(SQLiteError) {
    guard code == SQLITE_OK else { throw refusal(code, parameter) }
    handle.isBound = true
  }

  @inline(never) private func refusal(_ code: Int32, _ parameter: Int) -> SQLiteError {
    guard !handle.isOrphan else { return connection.orphanError(sql) }
    if code == SQLITE_RANGE {
      return SQLiteError(
        .range, "parameter \(parameter) does not exist: there are \(handle.parameterCount)",
        sql: sql)
    }
    if code == SQLITE_MISUSE {
      return SQLiteError(.misuse, "the statement must be reset before values are bound", sql: sql)
    }
    return connection.handle.error(code, sql: sql)
  }
}

import CSQLite

extension Statement {
  /// Runs to the end with the values of a literal, whose texts and bytes SQLite reads where they are:
  /// other ways of binding copy them (benchmark `insert`).
  ///
  /// The statement must be given back at once: it is bound to memory that is gone.
  ///
  /// - Complexity: O(1) in stack space: each lent value takes some, so that only the first are.
  mutating func runToEnd(lending pieces: [SQL.Piece]) throws(SQLiteError) -> Change {
    try checkCount(pieces.count)
    return try run(pieces, from: 0, lendable: 16)
  }

  /// Binds the values from an index on and runs the statement, inside the calls that lend the bytes.
  private mutating func run(
    _ pieces: [SQL.Piece], from first: Int, lendable: Int
  ) throws(SQLiteError) -> Change {
    var index = first
    while index < pieces.count {
      let argument = pieces[index].argument
      index += 1
      let lent: Result<Change, SQLiteError>?
      switch argument {
      case .value(.text(let text)) where lendable > 0:
        lent = unsafe text.utf8.withContiguousStorageIfAvailable { bytes in
          unsafe run(
            pieces, from: index, lendable: lendable - 1, lending: UnsafeRawBufferPointer(bytes),
            isText: true)
        }
      case .value(.blob(let bytes)) where lendable > 0:
        lent = unsafe bytes.withUnsafeBytes { bytes in
          unsafe run(
            pieces, from: index, lendable: lendable - 1, lending: bytes, isText: false)
        }
      default: lent = nil
      }
      if let lent { return try lent.get() }
      try bind(argument, at: index)
    }
    return try runToEnd()
  }

  @unsafe private mutating func run(
    _ pieces: [SQL.Piece], from index: Int, lendable: Int, lending bytes: UnsafeRawBufferPointer,
    isText: Bool
  ) -> Result<Change, SQLiteError> {
    Result { () throws(SQLiteError) in
      // No bytes at all would be a null pointer, which binds NULL. Without a destructor SQLite takes
      // the bytes to stay where they are.
      let start = unsafe bytes.baseAddress ?? emptyBytes
      let (parameter, count) = (Int32(clamping: index), UInt64(bytes.count))
      let code =
        unsafe isText
        ? sqlite3_bind_text64(
          handle.pointer, parameter, start.assumingMemoryBound(to: CChar.self), count, nil,
          UInt8(SQLITE_UTF8))
        : sqlite3_bind_blob64(handle.pointer, parameter, start, count, nil)
      try check(code, index)
      return try run(pieces, from: index, lendable: lendable)
    }
  }
}

extension Statement {
  /// Binds the values and runs the statement to its end.
  ///
  ///     try insert.run("Toronto", 2_615_060)
  ///
  /// Rows that it returns are passed over.
  ///
  /// - Parameter values: One value for each parameter; none at all to keep what is bound.
  /// - Returns: What changed.
  /// - Throws: ``SQLiteError``.
  @inline(__always) @inlinable  // Benchmark `insert`.
  @discardableResult
  public mutating func run<each Argument: Bindable>(
    _ values: repeat each Argument
  ) throws(SQLiteError) -> Change {
    endRun()
    try bindUnlessEmpty(repeat each values)
    return try runToEnd()
  }

  /// Binds the values and returns the first row, or nil if there is none.
  ///
  /// The statement is ended after that row. One that changes the database is run to its end.
  ///
  /// - Parameter values: One value for each parameter; none at all to keep what is bound.
  /// - Throws: ``SQLiteError``.
  public mutating func firstRow<each Argument: Bindable>(
    _ values: repeat each Argument
  ) throws(SQLiteError) -> Row? {
    endRun()
    try bindUnlessEmpty(repeat each values)
    guard try step() else { return nil }
    let row = try row()
    try finish()
    return row
  }

  /// The row that the statement stands on.
  ///
  /// - Throws: ``SQLiteError`` if a text is not valid UTF-8.
  /// - Complexity: O(*n*) in the number of columns and the size of their content.
  public func row() throws(SQLiteError) -> Row {
    let columns = handle.columnNames
    var values: [Value] = []
    values.reserveCapacity(columns.count)
    for index in 0..<columns.count { values.append(try value(at: index)) }
    return Row(columns: columns, values: values)
  }

  /// Ends the statement: one that only reads at once, one that writes after its last row.
  @usableFromInline mutating func finish() throws(SQLiteError) {
    if !isReadOnly { while try step() {} }
    handle.reset()
  }

  @usableFromInline mutating func endRun() {
    if handle.isRunning { handle.reset() }
  }

  @usableFromInline mutating func runToEnd() throws(SQLiteError) -> Change {
    let before = connection.handle.totalChanges
    while try step() {}
    let changed = connection.handle.totalChanges != before
    return Change(
      rows: changed ? Int(connection.handle.changes) : 0,
      lastInsertedRowID: connection.handle.lastInsertedRowID)
  }

  // Each level of packs that is not inlined would copy the values into a tuple.
  @inline(__always) @inlinable mutating func bindUnlessEmpty<each Argument: Bindable>(
    _ values: repeat each Argument
  ) throws(SQLiteError) {
    let count = try bindEach(repeat each values)
    if count > 0 { try checkCount(count) }
  }
}

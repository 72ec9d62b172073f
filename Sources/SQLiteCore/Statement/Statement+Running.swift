extension Statement {
  /// Binds values and runs the statement to completion.
  ///
  ///     try insert.run("Toronto", 2_615_060)
  ///
  /// Rows that the statement returns are discarded.
  ///
  /// - Parameter values: One value for each parameter, or no values to keep the current bindings.
  /// - Returns: The effect of the statement.
  /// - Throws: ``SQLiteError`` if the number of values differs from the number of parameters, if a
  ///   value can't be bound, or if the statement fails.
  @inline(__always) @inlinable  // Benchmark `insert`.
  @discardableResult
  public mutating func run<each Argument: Bindable>(
    _ values: repeat each Argument
  ) throws(SQLiteError) -> Change {
    try reset()
    try bindUnlessEmpty(repeat each values)
    return try runToEnd()
  }

  /// Binds values and returns the first row, or nil if the statement returns no rows.
  ///
  /// The statement is reset after the first row. If it changes the database, it runs to completion
  /// first.
  ///
  /// - Parameter values: One value for each parameter, or no values to keep the current bindings.
  /// - Throws: ``SQLiteError`` if the number of values differs from the number of parameters, if a
  ///   value can't be bound, if the statement fails, or if a text of the row is not valid UTF-8.
  public mutating func firstRow<each Argument: Bindable>(
    _ values: repeat each Argument
  ) throws(SQLiteError) -> Row? {
    try reset()
    try bindUnlessEmpty(repeat each values)
    guard try step() else { return nil }
    let row = try row()
    try finish()
    return row
  }

  /// Returns a copy of the current row.
  ///
  /// - Throws: ``SQLiteError`` if a text is not valid UTF-8.
  /// - Complexity: O(*n*) in the number of columns and the size of their content.
  @inline(never)
  public func row() throws(SQLiteError) -> Row {
    let columns = handle.columnNames
    var values: [Value] = []
    values.reserveCapacity(columns.count)
    for index in 0..<columns.count { values.append(try value(at: index)) }
    return Row(columns: columns, values: values)
  }

  /// Resets a statement that is at a row. A statement that writes runs to completion first.
  @usableFromInline mutating func finish() throws(SQLiteError) {
    if !isReadOnly { while try step() {} }
    try reset()
  }

  @usableFromInline mutating func runToEnd() throws(SQLiteError) -> Change {
    let before = connection.totalChanges
    while try step() {}
    return connection.change(since: before)
  }

  @inline(never)
  mutating func allRows() throws(SQLiteError) -> [Row] {
    var rows: [Row] = []
    while try step() { rows.append(try row()) }
    return rows
  }

  // Inlined, because each level of packs that isn't inlined copies the values into a tuple.
  @inline(__always) @inlinable mutating func bindUnlessEmpty<each Argument: Bindable>(
    _ values: repeat each Argument
  ) throws(SQLiteError) {
    let count = try bindEach(repeat each values)
    if count > 0 { try checkCount(count) }
  }
}

// Swift 6.3.1 does not unroll parameter packs: the generic `run` copies the values into a tuple and
// calls a generic function for each of them. This takes 138 more instructions per value (callgrind:
// 6,721 instead of 6,308 for three values). These overloads are compiled for concrete types in the
// calling module, and not in this one.
extension Statement {
  /// Runs the statement to completion with the current bindings.
  ///
  /// - Returns: The effect of the statement.
  /// - Throws: ``SQLiteError`` if the statement fails.
  @discardableResult
  public mutating func run() throws(SQLiteError) -> Change {
    try reset()
    return try runToEnd()
  }

  /// Binds one value and runs the statement to completion.
  ///
  /// This is a faster overload of the generic ``run(_:)``.
  ///
  /// - Parameter a: The value of the first parameter.
  /// - Returns: The effect of the statement.
  /// - Throws: The errors of the generic ``run(_:)``.
  @inline(__always) @_alwaysEmitIntoClient  // Benchmark `insert`.
  @discardableResult
  public mutating func run<A: Bindable>(
    _ a: A
  ) throws(SQLiteError) -> Change {
    try endRun(andCheck: 1)
    try a.bind(to: &self, at: 1)
    return try runToEnd()
  }

  /// Binds two values and runs the statement to completion.
  ///
  /// This is a faster overload of the generic `run(_:)`.
  ///
  /// - Parameters:
  ///   - a: The value of the first parameter.
  ///   - b: The value of the second parameter.
  /// - Returns: The effect of the statement.
  /// - Throws: The errors of the generic `run(_:)`.
  @inline(__always) @_alwaysEmitIntoClient  // Benchmark `insert`.
  @discardableResult
  public mutating func run<A: Bindable, B: Bindable>(
    _ a: A, _ b: B
  ) throws(SQLiteError) -> Change {
    try endRun(andCheck: 2)
    try a.bind(to: &self, at: 1)
    try b.bind(to: &self, at: 2)
    return try runToEnd()
  }

  /// Binds three values and runs the statement to completion.
  ///
  /// This is a faster overload of the generic `run(_:)`.
  ///
  /// - Parameters:
  ///   - a: The value of the first parameter.
  ///   - b: The value of the second parameter.
  ///   - c: The value of the third parameter.
  /// - Returns: The effect of the statement.
  /// - Throws: The errors of the generic `run(_:)`.
  @inline(__always) @_alwaysEmitIntoClient  // Benchmark `insert`.
  @discardableResult
  public mutating func run<A: Bindable, B: Bindable, C: Bindable>(
    _ a: A, _ b: B, _ c: C
  ) throws(SQLiteError) -> Change {
    try endRun(andCheck: 3)
    try a.bind(to: &self, at: 1)
    try b.bind(to: &self, at: 2)
    try c.bind(to: &self, at: 3)
    return try runToEnd()
  }

  @usableFromInline mutating func endRun(andCheck count: Int) throws(SQLiteError) {
    try reset()
    try checkCount(count)
  }
}

extension Statement {
  /// Binds the values and runs the statement to its end.
  ///
  ///     try insert.run("Toronto", 2_615_060)
  ///
  /// Rows that it returns are passed over.
  ///
  /// - Parameter values: One value for each parameter; none at all to keep what is bound.
  /// - Returns: The change.
  /// - Throws: ``SQLiteError``.
  @inline(__always) @inlinable  // Benchmark `insert`.
  @discardableResult
  public mutating func run<each Argument: Bindable>(
    _ values: repeat each Argument
  ) throws(SQLiteError) -> Change {
    try reset()
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
    try reset()
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
  @inline(never)
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

  // Each level of packs that is not inlined would copy the values into a tuple.
  @inline(__always) @inlinable mutating func bindUnlessEmpty<each Argument: Bindable>(
    _ values: repeat each Argument
  ) throws(SQLiteError) {
    let count = try bindEach(repeat each values)
    if count > 0 { try checkCount(count) }
  }
}

// Swift 6.3.1 does not unroll packs: `run` of any number of values makes a tuple of them and calls a
// generic function for each, which takes 138 instructions more for each value (callgrind: 6,721 and not
// 6,308 for three). These forms are compiled for their types, in the module that calls them and not here.
extension Statement {
  /// Runs the statement to its end, with the values that are bound.
  ///
  /// - Returns: The change.
  /// - Throws: ``SQLiteError``.
  @discardableResult
  public mutating func run() throws(SQLiteError) -> Change {
    try reset()
    return try runToEnd()
  }

  /// As ``run(_:)`` of any number of values, for one.
  @inline(__always) @_alwaysEmitIntoClient  // Benchmark `insert`.
  @discardableResult
  public mutating func run<A: Bindable>(
    _ a: A
  ) throws(SQLiteError) -> Change {
    try endRun(andCheck: 1)
    try a.bind(to: &self, at: 1)
    return try runToEnd()
  }

  /// As `run(_:)` of any number of values, for two.
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

  /// As `run(_:)` of any number of values, for three.
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

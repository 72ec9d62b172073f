public import SQLiteCore

extension Connection {
  /// Reads the value that has a primary key.
  ///
  ///     let city = try connection.object(of: City.self, primary: 7)
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - key: The key.
  ///   - rest: The rest of a key of several parts, in the order of ``Record/primaryKeys``.
  /// - Throws: `SQLiteError`, with `ResultCode.notFound` if there is no such row, or no table yet;
  ///   ``RowDecodingError`` if the row does not fit the type.
  public func object<Value: Record, each Rest: Bindable>(
    of type: Value.Type, primary key: Value.PrimaryKey, _ rest: repeat each Rest
  ) throws -> Value {
    let plan = try plan(of: type)
    guard let statement = try statement(onRow: Value.bound(key), repeat each rest, of: plan) else {
      throw SQLiteError(.notFound, "no row of “\(plan.name)” has this primary key")
    }
    return try plan.reader(of: statement).row(as: type)
  }

  /// Reads the value that has a primary key, if there is one.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - key: The key.
  ///   - rest: The rest of a key of several parts, in the order of ``Record/primaryKeys``.
  /// - Returns: The value, or nil if there is no such row, or no table yet.
  /// - Throws: `SQLiteError`; ``RowDecodingError`` if the row does not fit the type.
  public func object<Value: Record, each Rest: Bindable>(
    of type: Value.Type, ifPresent key: Value.PrimaryKey, _ rest: repeat each Rest
  ) throws -> Value? {
    let plan = try plan(of: type)
    guard let statement = try statement(onRow: Value.bound(key), repeat each rest, of: plan) else {
      return nil
    }
    return try plan.reader(of: statement).row(as: type)
  }

  /// Returns a statement that stands on the row with a key, or nil if there is no such row, or no table yet.
  private func statement<each Rest: Bindable>(
    onRow key: any Bindable, _ rest: repeat each Rest, of plan: RecordPlan
  ) throws -> Statement? {
    do {
      var statement = try statement(plan.selectByKey(on: self))
      try statement.bind(key: key, repeat each rest, of: plan)
      guard try statement.step() else { return nil }
      return statement
    } catch {
      try checkMissing(plan, error)
      return nil
    }
  }

  /// Reads values.
  ///
  ///     let big = try connection.objects(
  ///       of: City.self, where: "population > \(1_000_000)", orderedBy: .column("name"), limit: 10)
  ///
  /// - Parameters:
  ///   - type: The type of the values.
  ///   - condition: SQL for the rows that are wanted, or nil for all.
  ///   - order: The order, or nil for whichever is fastest.
  ///   - limit: How many at most, or nil for all.
  ///   - offset: How many to pass over first.
  /// - Throws: `SQLiteError`; ``RowDecodingError`` if a row does not fit the type.
  @inlinable  // Benchmark `fetch`.
  public func objects<Value: Record>(
    of type: Value.Type, where condition: SQL? = nil, orderedBy order: Ordering? = nil,
    limit: Int? = nil, offset: Int = 0
  ) throws -> [Value] {
    try fetch(RecordQuery(type, condition, order, limit, offset))
  }

  /// Reads the first of some values.
  ///
  /// - Parameters:
  ///   - type: The type of the values.
  ///   - condition: SQL for the rows that are wanted, or nil for all.
  ///   - order: The order, or nil for whichever is fastest.
  /// - Returns: The value, or nil if there is none.
  /// - Throws: `SQLiteError`; ``RowDecodingError`` if the row does not fit the type.
  public func object<Value: Record>(
    of type: Value.Type, where condition: SQL? = nil, orderedBy order: Ordering? = nil
  ) throws -> Value? {
    try fetch(RecordQuery(type, condition, order).first)
  }

  /// Returns whether a row has a primary key.
  ///
  /// - Parameters:
  ///   - type: The type of the row.
  ///   - key: The key.
  ///   - rest: The rest of a key of several parts, in the order of ``Record/primaryKeys``.
  /// - Throws: `SQLiteError`.
  public func has<Value: Record, each Rest: Bindable>(
    of type: Value.Type, primary key: Value.PrimaryKey, _ rest: repeat each Rest
  ) throws -> Bool {
    let plan = try plan(of: type)
    switch try statement(onRow: Value.bound(key), repeat each rest, of: plan) {
    case .some: return true
    case .none: return false
    }
  }

  /// Returns whether there is a row with the primary key of a value.
  ///
  /// - Parameter value: A value. One without a key is not there.
  /// - Throws: `SQLiteError`.
  public func has(_ value: some Record) throws -> Bool {
    let plan = try plan(of: type(of: value))
    return try reading(plan, without: false) {
      var statement = try statement(SQL(unchecked: plan.selectByKey))
      try plan.keyBinder(of: statement).bind(value)
      return try statement.step()
    }
  }

  /// Counts rows.
  ///
  /// - Parameters:
  ///   - type: The type of the rows.
  ///   - condition: SQL for the rows that are wanted, or nil for all.
  /// - Throws: `SQLiteError`.
  public func count<Value: Record>(of type: Value.Type, where condition: SQL? = nil) throws -> Int {
    try fetch(RecordQuery(type, condition).count)
  }

  /// Runs `body`, or returns `nothing` if the table is not there yet.
  func reading<Result>(
    _ plan: RecordPlan, without nothing: Result, _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch let error as SQLiteError {
      try checkMissing(plan, error)
      return nothing
    }
  }

  /// Throws `error` unless it says that the table is not there yet.
  private func checkMissing(_ plan: RecordPlan, _ error: SQLiteError) throws {
    // It may be another table that is missing, one that the user's SQL names.
    guard error.code.primary == .error, error.message.hasPrefix("no such table"),
      try !hasTable(plan)
    else { throw error }
  }

  /// Returns whether the table of a type is there.
  ///
  /// - Throws: ``SQLiteError`` if it is not, and the type is read-only: nobody will make it.
  func hasTable(_ plan: RecordPlan) throws -> Bool {
    guard try columnNames(of: plan.name).isEmpty else { return true }
    guard plan.type.isReadOnly else { return false }
    throw SQLiteError(
      .error, "there is no table “\(plan.name)”, which \(plan.type) only reads")
  }
}

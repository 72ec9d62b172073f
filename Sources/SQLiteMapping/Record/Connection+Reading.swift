public import SQLiteCore

extension Connection {
  /// Fetches the record with a primary key.
  ///
  ///     let city = try connection.object(of: City.self, primary: 7)
  ///
  /// - Parameters:
  ///   - type: The type of the record.
  ///   - key: The primary key, or its first part.
  ///   - rest: The other parts of a primary key with several parts, in the order of
  ///     ``Record/primaryKeys``.
  /// - Returns: The record.
  /// - Throws: `SQLiteError` if a statement fails, with `ResultCode.notFound` if the row or the
  ///   table doesn't exist, or with `ResultCode.range` if the number of parts is not that of the
  ///   primary key; ``RowDecodingError`` if the row cannot be decoded as the type; ``SchemaError``
  ///   if rows are equal in properties that the type declares as unique.
  public func object<Value: Record, each Rest: Bindable>(
    of type: Value.Type, primary key: Value.PrimaryKey, _ rest: repeat each Rest
  ) throws -> Value {
    let plan = try plan(of: type)
    guard let statement = try statement(onRow: Value.bound(key), repeat each rest, of: plan) else {
      throw SQLiteError(.notFound, "no row of “\(plan.name)” has this primary key")
    }
    return try plan.reader(of: statement).row(as: type)
  }

  /// Fetches the record with a primary key, if it exists.
  ///
  /// - Parameters:
  ///   - type: The type of the record.
  ///   - key: The primary key, or its first part.
  ///   - rest: The other parts of a primary key with several parts, in the order of
  ///     ``Record/primaryKeys``.
  /// - Returns: The record, or nil if the row or the table doesn't exist.
  /// - Throws: `SQLiteError` if a statement fails, if the type is ``Record/isReadOnly`` and its
  ///   table doesn't exist, or with `ResultCode.range` if the number of parts is not that of the
  ///   primary key; ``RowDecodingError`` if the row cannot be decoded as the type; ``SchemaError``
  ///   if rows are equal in properties that the type declares as unique.
  public func object<Value: Record, each Rest: Bindable>(
    of type: Value.Type, ifPresent key: Value.PrimaryKey, _ rest: repeat each Rest
  ) throws -> Value? {
    let plan = try plan(of: type)
    guard let statement = try statement(onRow: Value.bound(key), repeat each rest, of: plan) else {
      return nil
    }
    return try plan.reader(of: statement).row(as: type)
  }

  /// Returns a statement positioned on the row with a key, or nil if the row or the table doesn't
  /// exist.
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

  /// Fetches the records that match a condition.
  ///
  ///     let big = try connection.objects(
  ///       of: City.self, where: "population > \(1_000_000)", orderedBy: .column("name"), limit: 10)
  ///
  /// - Parameters:
  ///   - type: The type of the records.
  ///   - condition: SQL for a condition, or nil for all records.
  ///   - order: The order of the result, or nil for whichever order is fastest.
  ///   - limit: The maximum number of records, or nil for no limit.
  ///   - offset: The number of records to skip.
  /// - Returns: The records. Empty if none matches, or if the table doesn't exist yet.
  /// - Throws: `SQLiteError` if a statement fails, or if the type is ``Record/isReadOnly`` and its
  ///   table doesn't exist; ``RowDecodingError`` if a row cannot be decoded as the type;
  ///   ``SchemaError`` if rows are equal in properties that the type declares as unique.
  @inlinable  // Benchmark `fetch`.
  public func objects<Value: Record>(
    of type: Value.Type, where condition: SQL? = nil, orderedBy order: Ordering? = nil,
    limit: Int? = nil, offset: Int = 0
  ) throws -> [Value] {
    try fetch(RecordQuery(type, condition, order, limit, offset))
  }

  /// Fetches the first record that matches a condition.
  ///
  /// - Parameters:
  ///   - type: The type of the record.
  ///   - condition: SQL for a condition, or nil for all records.
  ///   - order: The order that determines the first record, or nil for whichever order is fastest.
  /// - Returns: The record, or nil if no record matches or the table doesn't exist yet.
  /// - Throws: `SQLiteError` if a statement fails, or if the type is ``Record/isReadOnly`` and its
  ///   table doesn't exist; ``RowDecodingError`` if the row cannot be decoded as the type;
  ///   ``SchemaError`` if rows are equal in properties that the type declares as unique.
  public func object<Value: Record>(
    of type: Value.Type, where condition: SQL? = nil, orderedBy order: Ordering? = nil
  ) throws -> Value? {
    try fetch(RecordQuery(type, condition, order).first)
  }

  /// Returns whether a row with a primary key exists.
  ///
  /// - Parameters:
  ///   - type: The type of the row.
  ///   - key: The primary key, or its first part.
  ///   - rest: The other parts of a primary key with several parts, in the order of
  ///     ``Record/primaryKeys``.
  /// - Returns: Whether the row exists. The result is false if the table doesn't exist yet.
  /// - Throws: `SQLiteError` if a statement fails, if the type is ``Record/isReadOnly`` and its
  ///   table doesn't exist, or with `ResultCode.range` if the number of parts is not that of the
  ///   primary key; ``SchemaError`` if rows are equal in properties that the type declares as
  ///   unique.
  public func has<Value: Record, each Rest: Bindable>(
    of type: Value.Type, primary key: Value.PrimaryKey, _ rest: repeat each Rest
  ) throws -> Bool {
    let plan = try plan(of: type)
    switch try statement(onRow: Value.bound(key), repeat each rest, of: plan) {
    case .some: return true
    case .none: return false
    }
  }

  /// Returns whether a row with the primary key of a value exists.
  ///
  /// - Parameter value: The value.
  /// - Returns: Whether the row exists. The result is false if the value has no primary key, or if
  ///   the table doesn't exist yet.
  /// - Throws: `SQLiteError` if a statement fails, or if the type is ``Record/isReadOnly`` and its
  ///   table doesn't exist; ``SchemaError`` if rows are equal in properties that the type declares
  ///   as unique; an error from the value's `encode(to:)`.
  public func has(_ value: some Record) throws -> Bool {
    let plan = try plan(of: type(of: value))
    return try reading(plan, without: false) {
      var statement = try statement(SQL(unchecked: plan.selectByKey))
      try plan.keyBinder(of: statement).bind(value)
      return try statement.step()
    }
  }

  /// Returns the number of rows that match a condition.
  ///
  /// - Parameters:
  ///   - type: The type of the rows.
  ///   - condition: SQL for a condition, or nil for all rows.
  /// - Returns: The number of rows, which is 0 if the table doesn't exist yet.
  /// - Throws: `SQLiteError` if a statement fails, or if the type is ``Record/isReadOnly`` and its
  ///   table doesn't exist; ``SchemaError`` if rows are equal in properties that the type declares
  ///   as unique.
  public func count<Value: Record>(of type: Value.Type, where condition: SQL? = nil) throws -> Int {
    try fetch(RecordQuery(type, condition).count)
  }

  /// Returns the result of `body`, or `nothing` if `body` fails because the table of the type
  /// doesn't exist yet.
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

  /// Rethrows `error`, unless it means that the table of the type doesn't exist yet.
  private func checkMissing(_ plan: RecordPlan, _ error: SQLiteError) throws {
    // The missing table may be another one, which the caller's SQL uses.
    guard error.code.primary == .error, error.message.hasPrefix("no such table"),
      try !hasTable(plan)
    else { throw error }
  }

  /// Returns whether the table of a type exists.
  ///
  /// - Throws: ``SQLiteError`` if it doesn't exist and the type is read-only, because no write will
  ///   create it.
  func hasTable(_ plan: RecordPlan) throws -> Bool {
    guard try columnNames(of: plan.name).isEmpty else { return true }
    guard plan.type.isReadOnly else { return false }
    throw SQLiteError(
      .error,
      "there is no table “\(plan.name)”, and the read-only type \(plan.type) does not "
        + "create it")
  }
}

public import SQLiteCore

// Each call reads one snapshot, or is part of the `read` or `write` around it. Values that cross threads are given
// away: nobody else uses an instance of a class meanwhile, and the caller owns what is handed back.
extension Database {
  /// Reads the value that has a primary key.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - key: The key.
  ///   - rest: The rest of a key of several parts, in the order of ``Record/primaryKeys``.
  /// - Throws: `SQLiteError`, with `ResultCode.notFound` if there is no such row, or no table yet;
  ///   ``RowDecodingError`` if the row does not fit the type.
  @inlinable  // Benchmark `call`.
  public func object<Value: Record, each Rest: Bindable>(
    of type: Value.Type, primary key: Value.PrimaryKey, _ rest: repeat each Rest
  ) throws -> Value {
    try read { try $0.object(of: type, primary: key, repeat each rest) }
  }

  /// As the blocking ``object(of:primary:_:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func object<Value: Record, each Rest: Bindable & Sendable>(
    of type: Value.Type, primary key: Value.PrimaryKey, _ rest: repeat each Rest
  ) async throws -> sending Value {
    try await readBrieflyGiving { try $0.object(of: type, primary: key, repeat each rest) }
  }

  /// Reads the value that has a primary key, if there is one.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - key: The key.
  ///   - rest: The rest of a key of several parts, in the order of ``Record/primaryKeys``.
  /// - Returns: The value, or nil if there is no such row, or no table yet.
  /// - Throws: `SQLiteError`; ``RowDecodingError`` if the row does not fit the type.
  @inlinable  // Benchmark `call`.
  public func object<Value: Record, each Rest: Bindable>(
    of type: Value.Type, ifPresent key: Value.PrimaryKey, _ rest: repeat each Rest
  ) throws -> Value? {
    try read { try $0.object(of: type, ifPresent: key, repeat each rest) }
  }

  /// As the blocking ``object(of:ifPresent:_:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func object<Value: Record, each Rest: Bindable & Sendable>(
    of type: Value.Type, ifPresent key: Value.PrimaryKey, _ rest: repeat each Rest
  ) async throws -> sending Value? {
    try await readBrieflyGiving { try $0.object(of: type, ifPresent: key, repeat each rest) }
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
    try read { try $0.object(of: type, where: condition, orderedBy: order) }
  }

  /// As the blocking ``object(of:where:orderedBy:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func object<Value: Record>(
    of type: Value.Type, where condition: SQL? = nil, orderedBy order: Ordering? = nil
  ) async throws -> sending Value? {
    try await readBrieflyGiving { try $0.object(of: type, where: condition, orderedBy: order) }
  }

  /// Reads values.
  ///
  ///     let big = try database.objects(
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
    try read {
      try $0.objects(of: type, where: condition, orderedBy: order, limit: limit, offset: offset)
    }
  }

  /// As the blocking ``objects(of:where:orderedBy:limit:offset:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func objects<Value: Record>(
    of type: Value.Type, where condition: SQL? = nil, orderedBy order: Ordering? = nil,
    limit: Int? = nil, offset: Int = 0
  ) async throws -> sending [Value] {
    try await readBrieflyGiving {
      try $0.objects(of: type, where: condition, orderedBy: order, limit: limit, offset: offset)
    }
  }

  /// Lends values one by one, in the memory of one.
  ///
  /// They are of one snapshot: changes that are committed meanwhile are not seen.
  ///
  /// - Parameters:
  ///   - type: The type of the values.
  ///   - condition: SQL for the rows that are wanted, or nil for all.
  ///   - order: The order, or nil for whichever is fastest.
  ///   - body: Takes a value. An error of it ends the query.
  /// - Throws: `SQLiteError`; ``RowDecodingError`` if a row does not fit the type; what `body`
  ///   throws.
  @inlinable  // Benchmark `fetch`.
  public func forEachObject<Value: Record>(
    of type: Value.Type, where condition: SQL? = nil, orderedBy order: Ordering? = nil,
    _ body: (Value) throws -> Void
  ) throws {
    try read { try $0.forEachObject(of: type, where: condition, orderedBy: order, body) }
  }

  /// As the blocking ``forEachObject(of:where:orderedBy:_:)``, without blocking the task.
  ///
  /// - Parameters:
  ///   - type: The type of the values.
  ///   - condition: SQL for the rows that are wanted, or nil for all.
  ///   - order: The order, or nil for whichever is fastest.
  ///   - body: Takes a value, on a thread of the database's own, since a transaction never waits for a task.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func forEachObject<Value: Record>(
    of type: Value.Type, where condition: SQL? = nil, orderedBy order: Ordering? = nil,
    _ body: @escaping @Sendable (Value) throws -> Void
  ) async throws {
    try await read { try $0.forEachObject(of: type, where: condition, orderedBy: order, body) }
  }

  /// Reads the rows of a query as any `Decodable` type.
  ///
  /// - Parameters:
  ///   - type: The type of the values.
  ///   - sql: A single statement. One that writes (RETURNING) is a transaction.
  /// - Throws: `SQLiteError`; ``RowDecodingError`` if a row does not fit the type.
  @inlinable  // Benchmark `fetch`.
  public func objects<Value: Decodable>(of type: Value.Type, sql: SQL) throws -> [Value] {
    try query(sql) { try $0.objects(of: type, sql: sql) }
  }

  /// As the blocking ``objects(of:sql:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func objects<Value: Decodable & SendableMetatype>(of type: Value.Type, sql: SQL)
    async throws
    -> [Value]
  {
    try await queryGiving(sql) { try $0.objects(of: type, sql: sql) }
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
    try read { try $0.has(of: type, primary: key, repeat each rest) }
  }

  /// As the blocking ``has(of:primary:_:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func has<Value: Record, each Rest: Bindable & Sendable>(
    of type: Value.Type, primary key: Value.PrimaryKey, _ rest: repeat each Rest
  ) async throws -> Bool {
    try await readBriefly { try $0.has(of: type, primary: key, repeat each rest) }
  }

  /// Returns whether there is a row with the primary key of a value.
  ///
  /// - Parameter value: A value. One without a key is not there.
  /// - Throws: `SQLiteError`.
  public func has(_ value: some Record) throws -> Bool {
    try read { try $0.has(value) }
  }

  /// As the blocking ``has(_:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func has(_ value: sending some Record) async throws -> Bool {
    try await read(giving: value) { try $0.has($1) }
  }

  /// Counts rows.
  ///
  /// - Parameters:
  ///   - type: The type of the rows.
  ///   - condition: SQL for the rows that are wanted, or nil for all.
  /// - Throws: `SQLiteError`.
  public func count<Value: Record>(of type: Value.Type, where condition: SQL? = nil) throws -> Int {
    try read { try $0.count(of: type, where: condition) }
  }

  /// As the blocking ``count(of:where:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func count<Value: Record>(of type: Value.Type, where condition: SQL? = nil)
    async throws -> Int
  {
    try await readBriefly { try $0.count(of: type, where: condition) }
  }

  /// Lends the rows of a query one by one as any `Decodable` type, in the memory of one.
  ///
  /// They are of one snapshot: changes that are committed meanwhile are not seen.
  ///
  /// - Parameters:
  ///   - type: The type of the values.
  ///   - sql: A single statement.
  ///   - body: Takes a value. An error of it ends the query.
  /// - Throws: `SQLiteError`; ``RowDecodingError`` if a row does not fit the type; what `body`
  ///   throws.
  public func forEachObject<Value: Decodable>(
    of type: Value.Type, sql: SQL, _ body: (Value) throws -> Void
  ) throws {
    try read { try $0.forEachObject(of: type, sql: sql, body) }
  }

  /// As the blocking ``forEachObject(of:sql:_:)``, without blocking the task.
  ///
  /// - Parameters:
  ///   - type: The type of the values.
  ///   - sql: A single statement.
  ///   - body: Takes a value, on a thread of the database's own, since a transaction never waits for a task.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func forEachObject<Value: Decodable & SendableMetatype>(
    of type: Value.Type, sql: SQL, _ body: @escaping @Sendable (Value) throws -> Void
  ) async throws {
    try await read { try $0.forEachObject(of: type, sql: sql, body) }
  }
}

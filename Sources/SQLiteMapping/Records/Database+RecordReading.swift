public import SQLiteCore

// Each call reads one snapshot, or is part of the `read` or `write` around it.
extension Database {
  /// Reads the value that has a primary key.
  ///
  /// - Parameters:
  ///   - type: What to read.
  ///   - key: The key.
  ///   - rest: The rest of a key of several parts, in the order of ``Record/primaryKeys``.
  /// - Returns: The value, or nil if there is none, or no table yet.
  /// - Throws: ``SQLiteError``; ``RowDecodingError`` if the row does not fit the type.
  public func object<Value: Record, each Rest: Bindable>(
    of type: Value.Type, primary key: Value.PrimaryKey, _ rest: repeat each Rest
  ) throws -> Value? {
    try read { try $0.object(of: type, primary: key, repeat each rest) }
  }

  /// Reads the first of some values.
  ///
  /// - Parameters:
  ///   - type: What to read.
  ///   - condition: SQL for the rows that are wanted, or nil for all.
  ///   - order: The order, or nil for whichever is fastest.
  /// - Returns: The value, or nil if there is none.
  /// - Throws: ``SQLiteError``; ``RowDecodingError`` if the row does not fit the type.
  public func object<Value: Record>(
    of type: Value.Type, where condition: SQL? = nil, orderedBy order: Ordering? = nil
  ) throws -> Value? {
    try read { try $0.object(of: type, where: condition, orderedBy: order) }
  }

  /// Reads values.
  ///
  ///     let big = try database.objects(
  ///       of: City.self, where: "population > \(1_000_000)", orderedBy: .column("name"), limit: 10)
  ///
  /// - Parameters:
  ///   - type: What to read.
  ///   - condition: SQL for the rows that are wanted, or nil for all.
  ///   - order: The order, or nil for whichever is fastest.
  ///   - limit: How many at most, or nil for all.
  ///   - offset: How many to pass over first.
  /// - Throws: ``SQLiteError``; ``RowDecodingError`` if a row does not fit the type.
  @inlinable  // Benchmark `fetch`.
  public func objects<Value: Record>(
    of type: Value.Type, where condition: SQL? = nil, orderedBy order: Ordering? = nil,
    limit: Int? = nil, offset: Int = 0
  ) throws -> [Value] {
    try read {
      try $0.objects(of: type, where: condition, orderedBy: order, limit: limit, offset: offset)
    }
  }

  /// Lends values one by one, in the memory of one.
  ///
  /// - Parameters:
  ///   - type: What to read.
  ///   - condition: SQL for the rows that are wanted, or nil for all.
  ///   - order: The order, or nil for whichever is fastest.
  ///   - body: Takes a value. What it throws ends the query.
  /// - Throws: ``SQLiteError``; ``RowDecodingError`` if a row does not fit the type; what `body`
  ///   throws.
  @inlinable  // Benchmark `fetch`.
  public func forEachObject<Value: Record>(
    of type: Value.Type, where condition: SQL? = nil, orderedBy order: Ordering? = nil,
    _ body: (Value) throws -> Void
  ) throws {
    try read { try $0.forEachObject(of: type, where: condition, orderedBy: order, body) }
  }

  /// Reads the rows of a query as any `Decodable` type.
  ///
  /// - Parameters:
  ///   - type: What to read.
  ///   - sql: A single statement. One that writes (RETURNING) is a transaction.
  /// - Throws: ``SQLiteError``; ``RowDecodingError`` if a row does not fit the type.
  @inlinable  // Benchmark `fetch`.
  public func objects<Value: Decodable>(of type: Value.Type, sql: SQL) throws -> [Value] {
    try query(sql) { try $0.objects(of: type, sql: sql) }
  }

  /// Says whether a row has a primary key.
  ///
  /// - Parameters:
  ///   - type: The type of the row.
  ///   - key: The key.
  ///   - rest: The rest of a key of several parts, in the order of ``Record/primaryKeys``.
  /// - Throws: ``SQLiteError``.
  public func has<Value: Record, each Rest: Bindable>(
    of type: Value.Type, primary key: Value.PrimaryKey, _ rest: repeat each Rest
  ) throws -> Bool {
    try read { try $0.has(of: type, primary: key, repeat each rest) }
  }

  /// Says whether there is a row with the primary key of a value.
  ///
  /// - Parameter value: A value. One without a key is not there.
  /// - Throws: ``SQLiteError``.
  public func has(_ value: some Record) throws -> Bool {
    try read { try $0.has(value) }
  }

  /// Counts rows.
  ///
  /// - Parameters:
  ///   - type: The type of the rows.
  ///   - condition: SQL for the rows that are wanted, or nil for all.
  /// - Throws: ``SQLiteError``.
  public func count<Value: Record>(of type: Value.Type, where condition: SQL? = nil) throws -> Int {
    try read { try $0.count(of: type, where: condition) }
  }
}

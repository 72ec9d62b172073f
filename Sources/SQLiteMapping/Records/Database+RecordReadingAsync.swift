public import SQLiteCore

// As the blocking forms. Values cross threads: an instance of a class is given away, so that nobody else
// uses it meanwhile, and what is handed back belongs to the caller.
extension Database {
  /// Reads the value that has a primary key, suspending the task.
  ///
  /// - Parameters:
  ///   - type: What to read.
  ///   - key: The key.
  ///   - rest: The rest of a key of several parts, in the order of ``Record/primaryKeys``.
  /// - Returns: The value, or nil if there is none, or no table yet.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func object<Value: Record, each Rest: Bindable & Sendable>(
    of type: Value.Type, primary key: Value.PrimaryKey, _ rest: repeat each Rest
  ) async throws -> sending Value? {
    try await readGiving { try $0.object(of: type, primary: key, repeat each rest) }
  }

  /// Reads the first of some values, suspending the task.
  ///
  /// - Parameters:
  ///   - type: What to read.
  ///   - condition: SQL for the rows that are wanted, or nil for all.
  ///   - order: The order, or nil for whichever is fastest.
  /// - Returns: The value, or nil if there is none.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func object<Value: Record>(
    of type: Value.Type, where condition: SQL? = nil, orderedBy order: Ordering? = nil
  ) async throws -> sending Value? {
    try await readGiving { try $0.object(of: type, where: condition, orderedBy: order) }
  }

  /// Reads values, suspending the task.
  ///
  /// - Parameters:
  ///   - type: What to read.
  ///   - condition: SQL for the rows that are wanted, or nil for all.
  ///   - order: The order, or nil for whichever is fastest.
  ///   - limit: How many at most, or nil for all.
  ///   - offset: How many to pass over first.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func objects<Value: Record>(
    of type: Value.Type, where condition: SQL? = nil, orderedBy order: Ordering? = nil,
    limit: Int? = nil, offset: Int = 0
  ) async throws -> sending [Value] {
    try await readGiving {
      try $0.objects(of: type, where: condition, orderedBy: order, limit: limit, offset: offset)
    }
  }

  /// Reads the rows of a query as any `Decodable` type, suspending the task.
  ///
  /// - Parameters:
  ///   - type: What to read.
  ///   - sql: A single statement. One that writes (RETURNING) is a transaction.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func objects<Value: Decodable & SendableMetatype>(of type: Value.Type, sql: SQL)
    async throws
    -> [Value]
  {
    try await queryGiving(sql) { try $0.objects(of: type, sql: sql) }
  }

  /// Says whether a row has a primary key, suspending the task.
  ///
  /// - Parameters:
  ///   - type: The type of the row.
  ///   - key: The key.
  ///   - rest: The rest of a key of several parts, in the order of ``Record/primaryKeys``.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func has<Value: Record, each Rest: Bindable & Sendable>(
    of type: Value.Type, primary key: Value.PrimaryKey, _ rest: repeat each Rest
  ) async throws -> Bool {
    try await read { try $0.has(of: type, primary: key, repeat each rest) }
  }

  /// Says whether there is a row with the primary key of a value, suspending the task.
  ///
  /// - Parameter value: A value. One without a key is not there.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func has(_ value: sending some Record) async throws -> Bool {
    try await read(giving: value) { try $0.has($1) }
  }

  /// Counts rows, suspending the task.
  ///
  /// - Parameters:
  ///   - type: The type of the rows.
  ///   - condition: SQL for the rows that are wanted, or nil for all.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func count<Value: Record>(of type: Value.Type, where condition: SQL? = nil)
    async throws -> Int
  {
    try await read { try $0.count(of: type, where: condition) }
  }
}

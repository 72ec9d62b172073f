public import SQLiteCore

// As the blocking forms. Values cross threads: an instance of a class is given away, so that nobody else
// uses it meanwhile, and what is handed back belongs to the caller.
extension Database {
  /// Inserts a value, or changes the row that has its primary key, suspending the task.
  ///
  /// - Parameter value: What to write. Without a key it is inserted.
  /// - Returns: The value, with the key that the database made if it had none.
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func update<Value: Record>(_ value: sending Value) async throws -> sending Value {
    try await write(giving: value) { try $0.update($1) }
  }

  /// Inserts a value, or changes the row that has the same values in other unique properties, suspending the task.
  ///
  /// - Parameters:
  ///   - value: What to write. A row that is changed keeps its own primary key.
  ///   - properties: Properties that are ``PropertyTrait/unique(_:)`` together.
  /// - Returns: The value as its row is now.
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func update<Value: Record>(
    _ value: sending Value, matching properties: [String]
  ) async throws -> sending Value {
    try await write(giving: value) { try $0.update($1, matching: properties) }
  }

  /// Inserts a value, suspending the task.
  ///
  /// - Parameter value: What to write.
  /// - Returns: The value, with the key that the database made if it had none.
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func insert<Value: Record>(_ value: sending Value) async throws -> sending Value {
    try await write(giving: value) { try $0.insert($1) }
  }

  /// Changes the row that has the value's primary key, suspending the task.
  ///
  /// - Parameter value: What to write.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func updateExisting(_ value: sending some Record) async throws {
    try await write(giving: value) { try $0.updateExisting($1) }
  }

  /// Updates many values by one statement, in one transaction: all of them or none, suspending the task.
  ///
  /// - Parameter values: What to write.
  /// - Returns: How many there were.
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func update<Value: Record>(
    contentsOf values: sending some Sequence<Value> & SendableMetatype
  )
    async throws -> Int
  {
    try await write(giving: values) { try $0.update(contentsOf: $1) }
  }

  /// Inserts many values by one statement, in one transaction: all of them or none, suspending the task.
  ///
  /// - Parameter values: What to write.
  /// - Returns: How many there were.
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func insert<Value: Record>(
    contentsOf values: sending some Sequence<Value> & SendableMetatype
  )
    async throws -> Int
  {
    try await write(giving: values) { try $0.insert(contentsOf: $1) }
  }

  /// Changes the rows of many values by one statement, in one transaction: all of them or none, suspending the task.
  ///
  /// - Parameter values: What to write.
  /// - Returns: How many there were.
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func updateExisting<Value: Record>(
    contentsOf values: sending some Sequence<Value> & SendableMetatype
  ) async throws -> Int {
    try await write(giving: values) { try $0.updateExisting(contentsOf: $1) }
  }

  /// Deletes the row with the primary key of a value, suspending the task.
  ///
  /// - Parameter value: A value. One without a key is not there.
  /// - Returns: Whether there was such a row.
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func remove(_ value: sending some Record) async throws -> Bool {
    try await write(giving: value) { try $0.remove($1) }
  }

  /// Deletes the rows with the primary keys of values, in one transaction, suspending the task.
  ///
  /// - Parameter values: Values. Those without a key are not there.
  /// - Returns: How many rows there were.
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func remove<Value: Record>(
    contentsOf values: sending some Sequence<Value> & SendableMetatype
  )
    async throws -> Int
  {
    try await write(giving: values) { try $0.remove(contentsOf: $1) }
  }

  /// Deletes the row that has a primary key, suspending the task.
  ///
  /// - Parameters:
  ///   - type: The type of the row.
  ///   - key: The key.
  ///   - rest: The rest of a key of several parts, in the order of ``Record/primaryKeys``.
  /// - Returns: Whether there was such a row.
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func remove<Value: Record, each Rest: Bindable & Sendable>(
    of type: Value.Type, primary key: Value.PrimaryKey, _ rest: repeat each Rest
  ) async throws -> Bool {
    try await write { try $0.remove(of: type, primary: key, repeat each rest) }
  }

  /// Deletes all rows of a type, or some of them, suspending the task.
  ///
  /// - Parameters:
  ///   - type: The type of the rows.
  ///   - condition: SQL for the rows that go, or nil for all.
  /// - Returns: How many there were.
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func removeAll<Value: Record>(
    of type: Value.Type, where condition: SQL? = nil
  ) async throws -> Int {
    try await write { try $0.removeAll(of: type, where: condition) }
  }

  /// Makes a key for a new value, without using it up, suspending the task.
  ///
  /// - Parameter type: The type of the value.
  /// - Returns: The key as it is stored; nil if the caller makes the keys of the type.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func makeKey(for type: (some Record).Type) async throws -> sending Value? {
    try await read { try $0.makeKey(for: type) }
  }
}

public import SQLiteCore

// Each call is a transaction of its own, or part of the `write` or `read` around it. Values that cross threads are
// given away: nobody else uses an instance of a class meanwhile, and the caller owns what is handed back.
extension Database {
  /// Inserts a value, or changes the row that has its primary key.
  ///
  ///     let toronto = try database.update(City(name: "Toronto", population: 2_615_060))
  ///
  /// - Parameter value: The value. Without a key it is inserted.
  /// - Returns: The value, with the key that the database made if it had none.
  /// - Throws: As `SQLiteCore.Connection.update(_:)`.
  @discardableResult
  public func update<Value: Record>(_ value: Value) throws -> Value {
    try write { try $0.update(value) }
  }

  /// As the blocking ``update(_:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func update<Value: Record>(_ value: sending Value) async throws -> sending Value {
    try await write(giving: value) { try $0.update($1) }
  }

  /// Inserts a value, or changes the row that has the same values in other unique properties.
  ///
  /// - Parameters:
  ///   - value: The value. A row that is changed keeps its own primary key.
  ///   - properties: Properties that are ``PropertyTrait/unique(_:)`` together.
  /// - Returns: The value as its row is now.
  /// - Throws: `SQLiteError`, also if the properties are not unique.
  @discardableResult
  public func update<Value: Record>(
    _ value: Value, matching properties: [String]
  ) throws -> Value {
    try write { try $0.update(value, matching: properties) }
  }

  /// As the blocking ``update(_:matching:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func update<Value: Record>(
    _ value: sending Value, matching properties: [String]
  ) async throws -> sending Value {
    try await write(giving: value) { try $0.update($1, matching: properties) }
  }

  /// Inserts a value.
  ///
  /// - Parameter value: The value.
  /// - Returns: The value, with the key that the database made if it had none.
  /// - Throws: `SQLiteError` with a constraint code if its key is there already.
  @discardableResult
  public func insert<Value: Record>(_ value: Value) throws -> Value {
    try write { try $0.insert(value) }
  }

  /// As the blocking ``insert(_:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func insert<Value: Record>(_ value: sending Value) async throws -> sending Value {
    try await write(giving: value) { try $0.insert($1) }
  }

  /// Changes the row that has the value's primary key.
  ///
  /// - Parameter value: The value.
  /// - Throws: `SQLiteError` with `ResultCode.notFound` if there is no such row.
  public func updateExisting(_ value: some Record) throws {
    try write { try $0.updateExisting(value) }
  }

  /// As the blocking ``updateExisting(_:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func updateExisting(_ value: sending some Record) async throws {
    try await write(giving: value) { try $0.updateExisting($1) }
  }

  /// Updates many values by one statement, in one transaction: all of them or none.
  ///
  /// - Parameter values: The values.
  /// - Returns: How many there were.
  /// - Throws: As `update(_:)`.
  @discardableResult
  public func update<Value: Record>(contentsOf values: some Sequence<Value>) throws -> Int {
    try write { try $0.update(contentsOf: values) }
  }

  /// As the blocking ``update(contentsOf:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func update<Value: Record>(
    contentsOf values: sending some Sequence<Value> & SendableMetatype
  )
    async throws -> Int
  {
    try await write(giving: values) { try $0.update(contentsOf: $1) }
  }

  /// Inserts many values by one statement, in one transaction: all of them or none.
  ///
  /// - Parameter values: The values.
  /// - Returns: How many there were.
  /// - Throws: As `insert(_:)`.
  @discardableResult
  public func insert<Value: Record>(contentsOf values: some Sequence<Value>) throws -> Int {
    try write { try $0.insert(contentsOf: values) }
  }

  /// As the blocking ``insert(contentsOf:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func insert<Value: Record>(
    contentsOf values: sending some Sequence<Value> & SendableMetatype
  )
    async throws -> Int
  {
    try await write(giving: values) { try $0.insert(contentsOf: $1) }
  }

  /// Changes the rows of many values by one statement, in one transaction: all of them or none.
  ///
  /// - Parameter values: The values.
  /// - Returns: How many there were.
  /// - Throws: As `updateExisting(_:)`.
  @discardableResult
  public func updateExisting<Value: Record>(
    contentsOf values: some Sequence<Value>
  ) throws -> Int {
    try write { try $0.updateExisting(contentsOf: values) }
  }

  /// As the blocking ``updateExisting(contentsOf:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func updateExisting<Value: Record>(
    contentsOf values: sending some Sequence<Value> & SendableMetatype
  ) async throws -> Int {
    try await write(giving: values) { try $0.updateExisting(contentsOf: $1) }
  }

  /// Deletes the row with the primary key of a value.
  ///
  /// - Parameter value: A value. One without a key is not there.
  /// - Returns: Whether there was such a row.
  /// - Throws: `SQLiteError`, also if a foreign key forbids it.
  @discardableResult
  public func remove(_ value: some Record) throws -> Bool {
    try write { try $0.remove(value) }
  }

  /// As the blocking ``remove(_:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func remove(_ value: sending some Record) async throws -> Bool {
    try await write(giving: value) { try $0.remove($1) }
  }

  /// Deletes the rows with the primary keys of values, in one transaction.
  ///
  /// - Parameter values: Values. Those without a key are not there.
  /// - Returns: How many rows there were.
  /// - Throws: `SQLiteError`, also if a foreign key forbids it; nothing is deleted then.
  @discardableResult
  public func remove<Value: Record>(contentsOf values: some Sequence<Value>) throws -> Int {
    try write { try $0.remove(contentsOf: values) }
  }

  /// As the blocking ``remove(contentsOf:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func remove<Value: Record>(
    contentsOf values: sending some Sequence<Value> & SendableMetatype
  )
    async throws -> Int
  {
    try await write(giving: values) { try $0.remove(contentsOf: $1) }
  }

  /// Deletes the row that has a primary key.
  ///
  /// - Parameters:
  ///   - type: The type of the row.
  ///   - key: The key.
  ///   - rest: The rest of a key of several parts, in the order of ``Record/primaryKeys``.
  /// - Returns: Whether there was such a row.
  /// - Throws: `SQLiteError`, also if a foreign key forbids it.
  @discardableResult
  public func remove<Value: Record, each Rest: Bindable>(
    of type: Value.Type, primary key: Value.PrimaryKey, _ rest: repeat each Rest
  ) throws -> Bool {
    try write { try $0.remove(of: type, primary: key, repeat each rest) }
  }

  /// As the blocking ``remove(of:primary:_:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func remove<Value: Record, each Rest: Bindable & Sendable>(
    of type: Value.Type, primary key: Value.PrimaryKey, _ rest: repeat each Rest
  ) async throws -> Bool {
    try await write { try $0.remove(of: type, primary: key, repeat each rest) }
  }

  /// Deletes all rows of a type, or some of them.
  ///
  /// - Parameters:
  ///   - type: The type of the rows.
  ///   - condition: SQL for the rows that go, or nil for all.
  /// - Returns: How many there were.
  /// - Throws: `SQLiteError`, also if a foreign key forbids it.
  @discardableResult
  public func removeAll<Value: Record>(
    of type: Value.Type, where condition: SQL? = nil
  ) throws -> Int {
    try write { try $0.removeAll(of: type, where: condition) }
  }

  /// As the blocking ``removeAll(of:where:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func removeAll<Value: Record>(
    of type: Value.Type, where condition: SQL? = nil
  ) async throws -> Int {
    try await write { try $0.removeAll(of: type, where: condition) }
  }

  /// Makes a key for a new value, without using it up.
  ///
  /// - Parameter type: The type of the value.
  /// - Returns: The key as it is stored; nil if the caller makes the keys of the type.
  /// - Throws: `SQLiteError`.
  public func makeKey(for type: (some Record).Type) throws -> Value? {
    try read { try $0.makeKey(for: type) }
  }

  /// As the blocking ``makeKey(for:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func makeKey(for type: (some Record).Type) async throws -> sending Value? {
    try await read { try $0.makeKey(for: type) }
  }

  /// Updates values in one transaction, all of them or none, and hands their keys back.
  ///
  /// - Parameter values: The values. Those without a key are inserted.
  /// - Returns: The values, in order, with the keys that the database made.
  /// - Throws: As `update(_:)-(Value)`.
  @discardableResult
  public func update<Value: Record>(_ values: [Value]) throws -> [Value] {
    try write { try $0.update(values) }
  }

  /// As the blocking ``update(_:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func update<Value: Record>(_ values: sending [Value]) async throws -> sending [Value] {
    try await write(giving: values) { try $0.update($1) }
  }

  /// Inserts values in one transaction, all of them or none, and hands their keys back.
  ///
  /// - Parameter values: The values.
  /// - Returns: The values, in order, with the keys that the database made.
  /// - Throws: As `insert(_:)-(Value)`.
  @discardableResult
  public func insert<Value: Record>(_ values: [Value]) throws -> [Value] {
    try write { try $0.insert(values) }
  }

  /// As the blocking ``insert(_:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func insert<Value: Record>(_ values: sending [Value]) async throws -> sending [Value] {
    try await write(giving: values) { try $0.insert($1) }
  }

  /// Makes the table of a type without writing a row, or gives it the columns that it lacks.
  ///
  /// - Parameter type: The type.
  /// - Throws: As ``SQLiteCore/Connection/prepare(_:)``.
  public func prepare(_ type: (some Record).Type) throws {
    try write { try $0.prepare(type) }
  }

  /// As the blocking ``prepare(_:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func prepare(_ type: (some Record).Type) async throws {
    try await write { try $0.prepare(type) }
  }

  /// Returns whether the table of a type is there.
  ///
  /// - Parameter type: The type.
  /// - Throws: `SQLiteError`.
  public func tableExists(of type: (some Record).Type) throws -> Bool {
    try tableExists(type.tableName)
  }

  /// As the blocking ``tableExists(of:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func tableExists(of type: (some Record).Type) async throws -> Bool {
    try await tableExists(type.tableName)
  }

  /// Deletes the table of a type with its rows, its indexes and its full-text index.
  ///
  /// - Parameter type: The type.
  /// - Returns: Whether there was a table.
  /// - Throws: As ``SQLiteCore/Connection/drop(_:)``.
  @discardableResult
  public func drop(_ type: (some Record).Type) throws -> Bool {
    try write { try $0.drop(type) }
  }

  /// As the blocking ``drop(_:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func drop(_ type: (some Record).Type) async throws -> Bool {
    try await write { try $0.drop(type) }
  }
}

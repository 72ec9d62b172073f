public import SQLiteCore

// Each call is a transaction of its own, or part of the `write` or `read` around it.
extension Database {
  /// Inserts a value, or changes the row that has its primary key.
  ///
  ///     let toronto = try database.update(City(name: "Toronto", population: 2_615_060))
  ///
  /// - Parameter value: What to write. Without a key it is inserted.
  /// - Returns: The value, with the key that the database made if it had none.
  /// - Throws: As ``SQLiteCore/Connection/update(_:)``.
  @discardableResult
  public func update<Value: Record>(_ value: Value) throws -> Value {
    try write { try $0.update(value) }
  }

  /// Inserts a value, or changes the row that has the same values in other unique properties.
  ///
  /// - Parameters:
  ///   - value: What to write. A row that is changed keeps its own primary key.
  ///   - properties: Properties that are ``PropertyTrait/unique(_:)`` together.
  /// - Returns: The value as its row is now.
  /// - Throws: ``SQLiteError``, also if the properties are not unique.
  @discardableResult
  public func update<Value: Record>(
    _ value: Value, matching properties: [String]
  ) throws -> Value {
    try write { try $0.update(value, matching: properties) }
  }

  /// Inserts a value.
  ///
  /// - Parameter value: What to write.
  /// - Returns: The value, with the key that the database made if it had none.
  /// - Throws: ``SQLiteError`` with a constraint code if its key is there already.
  @discardableResult
  public func insert<Value: Record>(_ value: Value) throws -> Value {
    try write { try $0.insert(value) }
  }

  /// Changes the row that has the value's primary key.
  ///
  /// - Parameter value: What to write.
  /// - Throws: ``SQLiteError`` with ``ResultCode/notFound`` if there is no such row.
  public func updateExisting(_ value: some Record) throws {
    try write { try $0.updateExisting(value) }
  }

  /// Updates many values by one statement, in one transaction: all of them or none.
  ///
  /// - Parameter values: What to write.
  /// - Returns: How many there were.
  /// - Throws: As ``update(_:)``.
  @discardableResult
  public func update<Value: Record>(contentsOf values: some Sequence<Value>) throws -> Int {
    try write { try $0.update(contentsOf: values) }
  }

  /// Inserts many values by one statement, in one transaction: all of them or none.
  ///
  /// - Parameter values: What to write.
  /// - Returns: How many there were.
  /// - Throws: As ``insert(_:)``.
  @discardableResult
  public func insert<Value: Record>(contentsOf values: some Sequence<Value>) throws -> Int {
    try write { try $0.insert(contentsOf: values) }
  }

  /// Changes the rows of many values by one statement, in one transaction: all of them or none.
  ///
  /// - Parameter values: What to write.
  /// - Returns: How many there were.
  /// - Throws: As ``updateExisting(_:)``.
  @discardableResult
  public func updateExisting<Value: Record>(
    contentsOf values: some Sequence<Value>
  ) throws -> Int {
    try write { try $0.updateExisting(contentsOf: values) }
  }

  /// Deletes the row with the primary key of a value.
  ///
  /// - Parameter value: A value. One without a key is not there.
  /// - Returns: Whether there was such a row.
  /// - Throws: ``SQLiteError``, also if a foreign key forbids it.
  @discardableResult
  public func remove(_ value: some Record) throws -> Bool {
    try write { try $0.remove(value) }
  }

  /// Deletes the rows with the primary keys of values, in one transaction.
  ///
  /// - Parameter values: Values. Those without a key are not there.
  /// - Returns: How many rows there were.
  /// - Throws: ``SQLiteError``, also if a foreign key forbids it; nothing is deleted then.
  @discardableResult
  public func remove<Value: Record>(contentsOf values: some Sequence<Value>) throws -> Int {
    try write { try $0.remove(contentsOf: values) }
  }

  /// Deletes the row that has a primary key.
  ///
  /// - Parameters:
  ///   - type: The type of the row.
  ///   - key: The key.
  ///   - rest: The rest of a key of several parts, in the order of ``Record/primaryKeys``.
  /// - Returns: Whether there was such a row.
  /// - Throws: ``SQLiteError``, also if a foreign key forbids it.
  @discardableResult
  public func remove<Value: Record, each Rest: Bindable>(
    of type: Value.Type, primary key: Value.PrimaryKey, _ rest: repeat each Rest
  ) throws -> Bool {
    try write { try $0.remove(of: type, primary: key, repeat each rest) }
  }

  /// Deletes all rows of a type, or some of them.
  ///
  /// - Parameters:
  ///   - type: The type of the rows.
  ///   - condition: SQL for the rows that go, or nil for all.
  /// - Returns: How many there were.
  /// - Throws: ``SQLiteError``, also if a foreign key forbids it.
  @discardableResult
  public func removeAll<Value: Record>(
    of type: Value.Type, where condition: SQL? = nil
  ) throws -> Int {
    try write { try $0.removeAll(of: type, where: condition) }
  }

  /// Makes a key for a new value, without using it up.
  ///
  /// - Parameter type: The type of the value.
  /// - Returns: The key as it is stored; nil if the caller makes the keys of the type.
  /// - Throws: ``SQLiteError``.
  public func makeKey(for type: (some Record).Type) throws -> Value? {
    try read { try $0.makeKey(for: type) }
  }
}

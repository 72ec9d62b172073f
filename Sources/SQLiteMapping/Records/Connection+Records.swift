public import SQLiteCore

extension Connection {
  /// Inserts a value, or changes the row that has its primary key.
  ///
  ///     let toronto = try connection.update(City(name: "Toronto", population: 2_615_060))
  ///
  /// The table is made first if there is none, and gets the columns that it lacks. A row that is
  /// changed stays the same row: what refers to it by a foreign key is not touched.
  ///
  /// - Parameter value: What to write. Without a key it is inserted.
  /// - Returns: The value, with the key that the database made if it had none.
  /// - Throws: ``SQLiteError``; ``SchemaError`` if the table would lose something.
  @discardableResult
  public func update<Value: Record>(_ value: Value) throws -> Value {
    try write(value, by: .update)
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
    let names = properties.map { Value.strategies.keys.column(for: $0) }
    guard !names.isEmpty else { return try update(value) }
    return try write(value, by: .updateMatching(names))
  }

  /// Inserts a value.
  ///
  /// - Parameter value: What to write.
  /// - Returns: The value, with the key that the database made if it had none.
  /// - Throws: ``SQLiteError`` with a constraint code if its key is there already.
  @discardableResult
  public func insert<Value: Record>(_ value: Value) throws -> Value {
    try write(value, by: .insert)
  }

  /// Changes the row that has the value's primary key.
  ///
  /// - Parameter value: What to write.
  /// - Throws: ``SQLiteError`` with ``ResultCode/notFound`` if there is no such row.
  public func updateExisting(_ value: some Record) throws {
    _ = try write(value, by: .updateExisting)
  }

  /// Updates many values by one statement, in one transaction: all of them or none.
  ///
  /// Keys that the database makes are not handed back: to get them, call ``update(_:)-(Value)`` for
  /// each value inside one `write`.
  ///
  /// - Parameter values: What to write.
  /// - Returns: How many there were.
  /// - Throws: As ``update(_:)-(Value)``.
  @discardableResult
  public func update<Value: Record>(contentsOf values: some Sequence<Value>) throws -> Int {
    try write(contentsOf: values, by: .update)
  }

  /// Inserts many values by one statement, in one transaction: all of them or none.
  ///
  /// Keys that the database makes are not handed back: to get them, call ``insert(_:)`` for each
  /// value inside one `write`.
  ///
  /// - Parameter values: What to write.
  /// - Returns: How many there were.
  /// - Throws: As ``insert(_:)``.
  @discardableResult
  public func insert<Value: Record>(contentsOf values: some Sequence<Value>) throws -> Int {
    try write(contentsOf: values, by: .insert)
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
    try write(contentsOf: values, by: .updateExisting)
  }
}

public import SQLiteCore

extension Connection {
  /// Deletes the row with the primary key of a value.
  ///
  /// - Parameter value: A value. One without a key is not there.
  /// - Returns: Whether there was such a row.
  /// - Throws: `SQLiteError`, also if a foreign key forbids it.
  @discardableResult
  public func remove(_ value: some Record) throws -> Bool {
    let plan = try plan(of: type(of: value))
    try plan.checkWritable()
    return try reading(plan, without: false) {
      var remover = try RecordRemover(plan, on: self)
      return try remover.remove(value)
    }
  }

  /// Deletes the rows with the primary keys of values, in one transaction.
  ///
  /// - Parameter values: Values. Those without a key are not there.
  /// - Returns: How many rows there were.
  /// - Throws: `SQLiteError`, also if a foreign key forbids it; nothing is deleted then.
  @discardableResult
  public func remove<Value: Record>(contentsOf values: some Sequence<Value>) throws -> Int {
    let plan = try plan(of: Value.self)
    try plan.checkWritable()
    return try savepoint {
      try reading(plan, without: 0) {
        var remover = try RecordRemover(plan, on: self)
        var count = 0
        try unsafe forEachBuffer(of: values) { buffer in
          for index in buffer.indices where try unsafe remover.remove(buffer[index]) {
            count += 1
          }
        }
        return count
      }
    }
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
    let plan = try plan(of: type)
    try plan.checkWritable()
    return try reading(plan, without: false) {
      var statement = try statement(SQL(unchecked: plan.deleteByKey))
      try statement.bind(key: Value.bound(key), repeat each rest, of: plan)
      return try statement.run().rows > 0
    }
  }

  /// Deletes all rows of a type, or some of them.
  ///
  /// - Parameters:
  ///   - type: The type of the rows.
  ///   - condition: SQL for the rows that go, or nil for all.
  /// - Returns: How many there were.
  /// - Throws: `SQLiteError`, also if a foreign key forbids it; nothing is deleted then.
  @discardableResult
  public func removeAll<Value: Record>(
    of type: Value.Type, where condition: SQL? = nil
  ) throws -> Int {
    let plan = try plan(of: type)
    try plan.checkWritable()
    return try reading(plan, without: 0) {
      try executeChange(plan.table.delete(where: condition)).rows
    }
  }
}

/// Deletes rows of one type by the primary keys of values, by one statement.
struct RecordRemover: ~Copyable {
  private let binder: RowBinder
  private let connection: Connection
  private var statement: Statement

  init(_ plan: RecordPlan, on connection: Connection) throws {
    // Calls that throw come first: a noncopyable value must not be left half initialized.
    let statement = try connection.statement(SQL(unchecked: plan.deleteByKey))
    self.connection = connection
    binder = plan.keyBinder(of: statement)
    self.statement = statement
  }

  /// Deletes the row with the primary key of a value, and says whether there was one.
  mutating func remove(_ value: some Record) throws -> Bool {
    try binder.bind(value)
    while try statement.step() {}
    return connection.numberOfRowsModified > 0
  }
}

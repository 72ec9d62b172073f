public import SQLiteCore

extension Connection {
  /// Deletes the row that has the primary key of a value.
  ///
  /// - Parameter value: The value. If it has no primary key, nothing is deleted.
  /// - Returns: Whether the row existed.
  /// - Throws: `SQLiteError` if the statement fails, for example because a foreign key forbids the
  ///   deletion, or with `ResultCode.readOnly` if the type is ``Record/isReadOnly``;
  ///   ``SchemaError`` if rows are equal in properties that the type declares as unique; an error
  ///   from the value's `encode(to:)`.
  @discardableResult
  public func remove(_ value: some Record) throws -> Bool {
    let plan = try plan(of: type(of: value))
    try plan.checkWritable()
    return try reading(plan, without: false) {
      var remover = try RecordRemover(plan, on: self)
      return try remover.remove(value)
    }
  }

  /// Deletes the rows that have the primary keys of values, in one atomic transaction.
  ///
  /// - Parameter values: The values. Those without a primary key are ignored.
  /// - Returns: The number of deleted rows.
  /// - Throws: `SQLiteError` if a statement fails, for example because a foreign key forbids the
  ///   deletion, or with `ResultCode.readOnly` if the type is ``Record/isReadOnly``;
  ///   ``SchemaError`` if rows are equal in properties that the type declares as unique; an error
  ///   from the `encode(to:)` of a value. Nothing is deleted in these cases.
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

  /// Deletes the row with a primary key.
  ///
  /// - Parameters:
  ///   - type: The type of the row.
  ///   - key: The primary key, or its first part.
  ///   - rest: The other parts of a primary key with several parts, in the order of
  ///     ``Record/primaryKeys``.
  /// - Returns: Whether the row existed.
  /// - Throws: `SQLiteError` if the statement fails, for example because a foreign key forbids the
  ///   deletion, with `ResultCode.readOnly` if the type is ``Record/isReadOnly``, or with
  ///   `ResultCode.range` if the number of parts is not that of the primary key; ``SchemaError`` if
  ///   rows are equal in properties that the type declares as unique.
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

  /// Deletes the rows of a type that match a condition.
  ///
  /// - Parameters:
  ///   - type: The type of the rows.
  ///   - condition: SQL for a condition, or nil to delete all rows.
  /// - Returns: The number of deleted rows.
  /// - Throws: `SQLiteError` if the statement fails, for example because a foreign key forbids the
  ///   deletion, or with `ResultCode.readOnly` if the type is ``Record/isReadOnly``;
  ///   ``SchemaError`` if rows are equal in properties that the type declares as unique. Nothing is
  ///   deleted in these cases.
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

/// A statement that deletes rows of one type by the primary keys of values.
struct RecordRemover: ~Copyable {
  private let binder: RowBinder
  private let connection: Connection
  private var statement: Statement

  init(_ plan: RecordPlan, on connection: Connection) throws {
    // The throwing calls come first, because a noncopyable value must not be left partially
    // initialized.
    let statement = try connection.statement(SQL(unchecked: plan.deleteByKey))
    self.connection = connection
    binder = plan.keyBinder(of: statement)
    self.statement = statement
  }

  /// Deletes the row that has the primary key of a value, and returns whether it existed.
  mutating func remove(_ value: some Record) throws -> Bool {
    try binder.bind(value)
    while try statement.step() {}
    return connection.numberOfRowsModified > 0
  }
}

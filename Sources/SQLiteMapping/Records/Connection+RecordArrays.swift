public import SQLiteCore

extension Connection {
  /// Updates values in one transaction, all of them or none, and hands their keys back.
  ///
  ///     let cities = try connection.update([City(name: "Toronto"), City(name: "Bern")])
  ///
  /// - Parameter values: What to write. Those without a key are inserted.
  /// - Returns: The values, in order, with the keys that the database made.
  /// - Throws: As ``update(_:)-(Value)``.
  @discardableResult
  public func update<Value: Record>(_ values: [Value]) throws -> [Value] {
    try write(values, by: .update)
  }

  /// Inserts values in one transaction, all of them or none, and hands their keys back.
  ///
  /// - Parameter values: What to write.
  /// - Returns: The values, in order, with the keys that the database made.
  /// - Throws: As ``insert(_:)-(Value)``.
  @discardableResult
  public func insert<Value: Record>(_ values: [Value]) throws -> [Value] {
    try write(values, by: .insert)
  }

  private func write<Value: Record>(_ values: [Value], by write: RecordWrite) throws -> [Value] {
    try savepoint { try values.map { try self.write($0, by: write) } }
  }
}

extension Database {
  /// Updates values in one transaction, all of them or none, and hands their keys back.
  ///
  /// - Parameter values: What to write. Those without a key are inserted.
  /// - Returns: The values, in order, with the keys that the database made.
  /// - Throws: As ``update(_:)-(Value)``.
  @discardableResult
  public func update<Value: Record>(_ values: [Value]) throws -> [Value] {
    try write { try $0.update(values) }
  }

  /// Inserts values in one transaction, all of them or none, and hands their keys back.
  ///
  /// - Parameter values: What to write.
  /// - Returns: The values, in order, with the keys that the database made.
  /// - Throws: As ``insert(_:)-(Value)``.
  @discardableResult
  public func insert<Value: Record>(_ values: [Value]) throws -> [Value] {
    try write { try $0.insert(values) }
  }

  /// As the blocking ``update(_:)-([Value])``, suspending the task.
  ///
  /// - Parameter values: What to write. Those without a key are inserted.
  /// - Returns: The values, in order, with the keys that the database made.
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func update<Value: Record>(_ values: sending [Value]) async throws -> sending [Value] {
    try await write(giving: values) { try $0.update($1) }
  }

  /// As the blocking ``insert(_:)-([Value])``, suspending the task.
  ///
  /// - Parameter values: What to write.
  /// - Returns: The values, in order, with the keys that the database made.
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func insert<Value: Record>(_ values: sending [Value]) async throws -> sending [Value] {
    try await write(giving: values) { try $0.insert($1) }
  }
}

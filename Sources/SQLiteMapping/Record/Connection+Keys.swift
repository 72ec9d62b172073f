public import SQLiteCore

extension Connection {
  /// Makes a key for a new value, without using it up.
  ///
  /// - Parameter type: The type of the value.
  /// - Returns: The number that the next value gets, if no other is written before it, or a new UUID
  ///   as it is stored; nil if the caller makes the keys of the type.
  /// - Throws: `SQLiteError`.
  public func makeKey(for type: (some Record).Type) throws -> Value? {
    let plan = try plan(of: type)
    switch type.primaryKeyType {
    case .unique: return nil
    case .uuid: return plan.newUUID()
    case .computedInt, .autoIncrement:
      let greatest = try reading(plan, without: 0) { try greatestKey(of: plan.table) }
      guard greatest < .max else { throw SQLiteError(.full, "there is no greater key") }
      return .integer(greatest + 1)
    }
  }
}

extension Connection {
  /// The column that tells the rows of a type apart.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if there are several.
  package func keyColumn(of type: any Record.Type) throws -> String {
    let plan = try plan(of: type)
    guard plan.keys.count == 1 else {
      throw SQLiteError(.misuse, "\(type) has several primary keys, so nothing can refer to it")
    }
    return plan.keys[0]
  }

  /// The primary key of a value.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if it has none yet.
  package func keyValue<Object: Record>(of object: Object) throws -> Value {
    let value = try self.value(of: keyColumn(of: Object.self), in: object)
    guard !value.isNull else {
      throw SQLiteError(.misuse, "a \(Object.self) without a key was never written")
    }
    return value
  }

  /// Lends the values that have certain primary keys, each with its key as the row has it: that is ten
  /// times cheaper than encoding the value to find it (benchmark `relations`).
  package func forEachObject<Object: Record>(
    of type: Object.Type, withKeys keys: [Value], _ body: (_ key: Value, Object) throws -> Void
  ) throws {
    let key: SQL = "\(identifier: try keyColumn(of: type))"
    try forEachRow(
      of: type, besides: [key], from: "\(identifier: type.tableName) WHERE \(key) IN \(keys)"
    ) { reader, besides in
      try body(try besides(0), try reader.row(as: type))
    }
  }

  /// Calls `body` for each row of a query, with the reader of the row and with further columns.
  ///
  /// - Parameters:
  ///   - type: The type of the rows.
  ///   - columns: SQL for the columns besides.
  ///   - source: What stands behind FROM.
  ///   - body: Takes the reader, and what reads a column besides, from 0.
  package func forEachRow(
    of type: any Record.Type, besides columns: [SQL], from source: SQL,
    _ body: (RowReader, (Int) throws -> Value) throws -> Void
  ) throws {
    let plan = try plan(of: type)
    // By names that no property has.
    let besides = columns.enumerated().map { index, column -> SQL in
      "\(column) AS \(identifier: "magicdata_\(index)")"
    }
    let list = SQL(joining: ["\(identifier: plan.name).*"] + besides, separator: ", ")
    let sql: SQL = "SELECT \(list) FROM \(source)"
    try reading(plan, without: ()) {
      var statement = try boundStatement(sql)
      guard try statement.step() else { return }
      let reader = try reader(of: statement, plan)
      let handle = statement.handle
      let first = statement.columnCount - columns.count
      repeat {
        try body(reader) { try handle.value(at: Int32(first + $0)) }
      } while try statement.step()
    }
  }

  /// Returns the stored form of a value in a column.
  package func value(of column: String, in object: some Record) throws -> Value {
    try plan(of: type(of: object)).shapeReader(of: column).value(in: object)
  }
}

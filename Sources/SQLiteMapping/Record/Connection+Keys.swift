public import SQLiteCore

extension Connection {
  /// Returns a primary key for a new value, without reserving it.
  ///
  /// - Parameter type: The type of the value.
  /// - Returns: The integer that the next value gets if no other value is written first, or a new
  ///   UUID in its stored form. Nil if you assign the keys of the type yourself.
  /// - Throws: `SQLiteError` if a statement fails, or with `ResultCode.full` if no greater integer
  ///   exists; ``SchemaError`` if rows are equal in properties that the type declares as unique.
  public func makeKey(for type: (some Record).Type) throws -> Value? {
    let plan = try plan(of: type)
    switch type.primaryKeyType {
    case .unique: return nil
    case .uuid: return plan.newUUID()
    case .computedInt, .autoIncrement:
      let greatest = try reading(plan, without: (keyRange?.lowerBound ?? 1) - 1) {
        try greatestKey(of: plan.table)
      }
      guard greatest < .max else {
        throw SQLiteError(.full, "no integer key is left: the greatest possible key is in use")
      }
      return .integer(greatest + 1)
    }
  }
}

extension Connection {
  /// Returns the name of the column that contains the primary key of a type.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if the key consists of several columns.
  package func keyColumn(of type: any Record.Type) throws -> String {
    let plan = try plan(of: type)
    guard plan.keys.count == 1 else {
      throw SQLiteError(
        .misuse, "\(type) has several primary keys, so it cannot be referenced by key")
    }
    return plan.keys[0]
  }

  /// Returns the primary key of a value.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if the value has no key yet, or if the
  ///   keys of its type consist of several columns.
  package func keyValue<Object: Record>(of object: Object) throws -> Value {
    try keyReader(of: Object.self).key(of: object)
  }

  /// Returns the primary keys of values, in the order of the values.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if one of the values has no key yet, or
  ///   if the keys of their type consist of several columns.
  package func keyValues<Object: Record>(of objects: [Object]) throws -> [Value] {
    let reader = try keyReader(of: Object.self)
    return try objects.map { try reader.key(of: $0) }
  }

  private func keyReader(of type: any Record.Type) throws -> ShapeReader {
    let column = try keyColumn(of: type)
    return try plan(of: type).shapeReader(of: column)
  }

  /// Calls `body` with each record that has one of the primary keys, and with its key as stored in
  /// the row. Reading the key from the row is ten times cheaper than encoding the record to get it
  /// (benchmark `relations`).
  package func forEachObject<Object: Record>(
    of type: Object.Type, withKeys keys: [Value], _ body: (_ key: Value, Object) throws -> Void
  ) throws {
    let key: SQL = "\(identifier: try keyColumn(of: type))"
    try forEachRow(
      of: type, additional: [key], from: "\(identifier: type.tableName) WHERE \(key) IN \(keys)"
    ) { reader, additional in
      try body(try additional.value(at: 0), try reader.row(as: type))
      return true
    }
  }

  /// Calls `body` with the reader and the additional columns of each row of a query, until `body`
  /// returns false.
  ///
  /// - Parameters:
  ///   - type: The type of the rows.
  ///   - columns: SQL for the additional columns, which follow the columns of the type.
  ///   - source: The SQL after FROM.
  ///   - body: Receives the reader of the row and the additional columns. Returns whether to
  ///     continue with the next row.
  package func forEachRow(
    of type: any Record.Type, additional columns: [SQL], from source: SQL,
    _ body: (RowReader, AdditionalColumns) throws -> Bool
  ) throws {
    let plan = try plan(of: type)
    // No property has such a name.
    let additional = columns.enumerated().map { index, column -> SQL in
      "\(column) AS \(identifier: "magicdata_\(index)")"
    }
    try reading(plan, without: ()) {
      let all = try plan.columns("\(identifier: plan.name).*", on: self)
      let list = SQL(joining: [all] + additional, separator: ", ")
      var print: [Value]?
      var first: Int32?
      try forEachRow("SELECT \(list) FROM \(source)", { plan.reader(of: $0) }, &print) { reader in
        let index = first ?? Int32(reader.content.columns.count - columns.count)
        first = index
        return try body(reader, AdditionalColumns(handle: reader.handle, first: index))
      }
    }
  }

  /// Returns the value that a record stores in the column `column`, or NULL if it stores none.
  package func value(of column: String, in object: some Record) throws -> Value {
    try plan(of: type(of: object)).shapeReader(of: column).value(in: object)
  }
}

/// The columns of a row that don't belong to the record in the row. Valid only inside the closure
/// that receives them.
package struct AdditionalColumns {
  fileprivate let handle: StatementHandle
  fileprivate let first: Int32

  /// Returns the value of an additional column, counted from 0.
  ///
  /// - Throws: ``SQLiteError`` if the column contains text that is not valid UTF-8.
  package func value(at index: Int32) throws(SQLiteError) -> Value {
    try handle.value(at: first + index)
  }

  /// Returns the integer in an additional column, counted from 0, or nil if the column contains
  /// another storage class.
  package func integer(at index: Int32) -> Int64? { handle.integer(at: first + index) }
}

extension ShapeReader {
  /// Returns the primary key of a value. The reader must have been created for the primary key
  /// column.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if the value has no key yet.
  fileprivate func key<Object: Record>(of object: Object) throws -> Value {
    let value = try value(in: object)
    guard !value.isNull else {
      throw SQLiteError(
        .misuse, "this \(Object.self) has no key, because it was never written; write it first")
    }
    return value
  }
}

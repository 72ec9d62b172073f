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
    try keyReader(of: Object.self).key(of: object)
  }

  /// The primary keys of values.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if one has none yet.
  package func keyValues<Object: Record>(of objects: [Object]) throws -> [Value] {
    let reader = try keyReader(of: Object.self)
    return try objects.map { try reader.key(of: $0) }
  }

  private func keyReader(of type: any Record.Type) throws -> ShapeReader {
    let column = try keyColumn(of: type)
    return try plan(of: type).shapeReader(of: column)
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
      try body(try besides.value(at: 0), try reader.row(as: type))
      return true
    }
  }

  /// Calls `body` for each row of a query, with the reader of the row and with further columns, as long as it
  /// returns true.
  ///
  /// - Parameters:
  ///   - type: The type of the rows.
  ///   - columns: SQL for the columns besides.
  ///   - source: What stands behind FROM.
  ///   - body: Takes the reader, and what reads the columns besides; returns whether it wants the next row.
  package func forEachRow(
    of type: any Record.Type, besides columns: [SQL], from source: SQL,
    _ body: (RowReader, ColumnsBesides) throws -> Bool
  ) throws {
    let plan = try plan(of: type)
    // By names that no property has.
    let besides = columns.enumerated().map { index, column -> SQL in
      "\(column) AS \(identifier: "magicdata_\(index)")"
    }
    try reading(plan, without: ()) {
      let all = try plan.columns("\(identifier: plan.name).*", on: self)
      let list = SQL(joining: [all] + besides, separator: ", ")
      var print: [Value]?
      var first: Int32?
      try forEachRow("SELECT \(list) FROM \(source)", { plan.reader(of: $0) }, &print) { reader in
        let index = first ?? Int32(reader.content.columns.count - columns.count)
        first = index
        return try body(reader, ColumnsBesides(handle: reader.handle, first: index))
      }
    }
  }

  /// Returns the stored form of a value in a column.
  package func value(of column: String, in object: some Record) throws -> Value {
    try plan(of: type(of: object)).shapeReader(of: column).value(in: object)
  }
}

/// The columns of a row that do not belong to its value, during the call that lends them.
package struct ColumnsBesides {
  fileprivate let handle: StatementHandle
  fileprivate let first: Int32

  /// Returns a column, counted from 0.
  ///
  /// - Throws: ``SQLiteError`` if a text is not valid UTF-8.
  package func value(at index: Int32) throws(SQLiteError) -> Value {
    try handle.value(at: first + index)
  }

  /// Returns the integer in a column, counted from 0; nil if it holds something else.
  package func integer(at index: Int32) -> Int64? { handle.integer(at: first + index) }
}

extension ShapeReader {
  /// Returns the key of a value, which is the only column that is read.
  fileprivate func key<Object: Record>(of object: Object) throws -> Value {
    let value = try value(in: object)
    guard !value.isNull else {
      throw SQLiteError(.misuse, "a \(Object.self) without a key was never written")
    }
    return value
  }
}

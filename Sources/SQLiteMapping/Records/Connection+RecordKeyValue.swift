package import SQLiteCore

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
    let plan = try plan(of: type)
    let key = try keyColumn(of: type)
    let sql = try plan.selection(
      "*, \(identifier: key) AS magicdata_key", where: "\(identifier: key) IN \(keys)",
      orderedBy: nil, nil, 0)
    try reading(plan, without: ()) {
      var statement = try boundStatement(sql)
      guard try statement.step() else { return }
      let decoder = plan.decoder(of: statement)
      try prepare(decoder, for: plan.directType)
      decoder.enter()
      defer { decoder.leave() }
      let last = statement.columnCount - 1
      repeat {
        try body(try statement.value(at: last), try decoder.row(as: type))
      } while try statement.step()
    }
  }

  /// What a value has in a column.
  package func value(of column: String, in object: some Record) throws -> Value {
    try ShapeEncoder(object, strategies: plan(of: type(of: object)).strategies).value(in: column)
  }
}

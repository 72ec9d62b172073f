public import SQLiteCore

extension Connection {
  /// Reads the rows of a query as any `Decodable` type.
  ///
  ///     struct Summary: Decodable { var country: String; var n: Int }
  ///     let summaries = try connection.objects(
  ///       of: Summary.self, sql: "SELECT country, count(*) AS n FROM city GROUP BY country")
  ///
  /// Columns are found by name. A property without a column of its own is read from the columns
  /// whose names begin with its name and a dot, as a join gives them; if all of those are NULL, an
  /// optional property is nil:
  ///
  ///     SELECT city.name, country.name AS "country.name", country.code AS "country.code" …
  ///
  /// A query of one column is read as a single value, such as `String`, or as an array in JSON.
  ///
  /// - Parameters:
  ///   - type: What to read.
  ///   - sql: A single statement.
  ///   - strategies: How values are stored; those of `type` if it is a ``Record``.
  /// - Throws: ``SQLiteError``; ``RowDecodingError`` if a row does not fit the type.
  @inlinable  // Benchmark `fetch`.
  public func objects<Value: Decodable>(
    of type: Value.Type, sql: SQL, strategies: MappingStrategies? = nil
  ) throws -> [Value] {
    var values: [Value] = []
    try forEachRow(of: type, sql: sql, strategies) { values.append(try $0.row(as: type)) }
    return values
  }

  /// Reads the first row of a query as any `Decodable` type.
  ///
  /// - Parameters:
  ///   - type: What to read.
  ///   - sql: A single statement. One that writes is run to its end.
  ///   - strategies: How values are stored; those of `type` if it is a ``Record``.
  /// - Returns: The value, or nil if there is no row.
  /// - Throws: ``SQLiteError``; ``RowDecodingError`` if the row does not fit the type.
  public func object<Value: Decodable>(
    of type: Value.Type, sql: SQL, strategies: MappingStrategies? = nil
  ) throws -> Value? {
    var statement = try boundStatement(sql)
    guard try statement.step() else { return nil }
    let reader = RowReader(statement, as: type, strategies: strategies ?? type.ownStrategies)
    if strategies == nil { try prepare(reader, for: type as? any DirectRecord.Type) }
    let value = try reader.row(as: type)
    if !statement.isReadOnly { while try statement.step() {} }
    return value
  }

  /// Lends the rows of a query one by one as any `Decodable` type, in the memory of one.
  ///
  /// - Parameters:
  ///   - type: What to read.
  ///   - sql: A single statement.
  ///   - strategies: How values are stored; those of `type` if it is a ``Record``.
  ///   - body: Takes a value. What it throws ends the query.
  /// - Throws: ``SQLiteError``; ``RowDecodingError`` if a row does not fit the type; what `body`
  ///   throws.
  @inlinable  // Benchmark `fetch`.
  public func forEachObject<Value: Decodable>(
    of type: Value.Type, sql: SQL, strategies: MappingStrategies? = nil,
    _ body: (Value) throws -> Void
  ) throws {
    try forEachRow(of: type, sql: sql, strategies) { try body(try $0.row(as: type)) }
  }

  /// Lends what reads rows, which stands on each row in turn.
  @usableFromInline func forEachRow(
    of type: any Decodable.Type, sql: SQL, _ strategies: MappingStrategies?,
    _ body: (RowReader) throws -> Void
  ) throws {
    var statement = try boundStatement(sql)
    guard try statement.step() else { return }
    let reader = RowReader(statement, as: type, strategies: strategies ?? type.ownStrategies)
    if strategies == nil { try prepare(reader, for: type as? any DirectRecord.Type) }
    repeat { try body(reader) } while try statement.step()
  }
}

extension Decodable {
  /// The strategies that a type declares, or the defaults.
  fileprivate static var ownStrategies: MappingStrategies {
    (self as? any Record.Type)?.strategies ?? MappingStrategies()
  }
}

public import SQLiteCore

/// A query that fetches the records of a type, or the rows of an SQL statement as values of any
/// `Decodable` type.
///
///     let large = Town.where("population > \(1_000_000)").ordered(by: .column("name"))
///     let towns = try database.fetch(large)
///     let count = try await database.fetch(large.count)
///     for try await towns in database.observe(large.limit(10)) { … }
///
/// A query is a value that isn't bound to a database. Methods such as `where(_:)` return another
/// query. Properties such as ``count`` return a request for another result. The order of the calls
/// doesn't matter: all conditions must hold, and `limit(_:offset:)` applies last. If a query
/// contains an error, fetching it throws.
public struct RecordQuery<Row: Decodable & SendableMetatype>: Sendable {
  @usableFromInline package private(set) var parts: RecordQueryParts

  /// Returns a query with an additional condition. Rows must match all conditions.
  ///
  /// - Parameter condition: SQL for a condition, such as `"population > \(1_000_000)"`.
  public func `where`(_ condition: SQL) -> RecordQuery {
    with { $0.condition = $0.condition.map { "(\($0)\n) AND (\(condition)\n)" } ?? condition }
  }

  /// Returns this query with another order.
  ///
  /// - Parameter order: The new order, which replaces the order of the query. Rows of a query
  ///   without an order are returned in whichever order is fastest.
  public func ordered(by order: Ordering) -> RecordQuery { with { $0.order = order } }

  /// Returns a query for some of the rows of this query: at most `limit` rows after the first
  /// `offset` rows.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of rows, or nil for no limit. It replaces the limit of the
  ///     query.
  ///   - offset: The number of rows to skip. It replaces the offset of the query. SQLite still
  ///     reads the skipped rows.
  public func limit(_ limit: Int?, offset: Int = 0) -> RecordQuery {
    with { ($0.limit, $0.offset) = (limit, offset) }
  }

  private func with(_ change: (inout RecordQueryParts) -> Void) -> RecordQuery {
    var query = self
    change(&query.parts)
    return query
  }
}

extension RecordQuery {
  /// Returns a query for the rows of an SQL statement.
  ///
  ///     struct Summary: Decodable { var country: String; var n: Int }
  ///     let summaries = try connection.fetch(
  ///       .sql("SELECT country, count(*) AS n FROM city GROUP BY country", as: Summary.self))
  ///
  /// Each property is decoded from the column with its name. If no such column exists, it is
  /// decoded from the columns whose names begin with its name and a dot, which a join can return.
  /// If all of those are NULL, an optional property is nil:
  ///
  ///     SELECT city.name, country.name AS "country.name", country.code AS "country.code" …
  ///
  /// If a row has one column, you can decode it as a single value, such as `String`. If that column
  /// contains a JSON array, you can decode it as an array.
  ///
  /// - Parameters:
  ///   - sql: A single statement. If it changes rows, such as `INSERT … RETURNING`, fetch it on a
  ///     connection that can write. Such a statement always runs to its end, even if you fetch only
  ///     the first row.
  ///   - type: The type of the rows.
  ///   - strategies: The forms in which values are stored. If nil, the query uses the strategies of
  ///     `type` if it is a ``Record``, otherwise the default strategies.
  public static func sql(
    _ sql: SQL, as type: Row.Type = Row.self, strategies: MappingStrategies? = nil
  ) -> RecordQuery {
    RecordQuery(parts: RecordQueryParts(source: .sql(sql, type, strategies)))
  }

  /// A request for all rows of the query, for functions that take a ``RecordRequest``.
  public var objects: RecordRequest<[Row]> {
    RecordRequest { [parts] connection, print in
      var rows: [Row] = []
      try connection.forEachRow(parts, &print) {
        rows.append(try $0.row(as: Row.self))
        return true
      }
      return rows
    }
  }

  /// A request for the first row of the query. Its result is nil if the query has no rows.
  public var first: RecordRequest<Row?> {
    RecordRequest { [parts] connection, print in
      var first: Row?
      try connection.forEachRow(parts.limitedToOneRow, &print) {
        first = try $0.row(as: Row.self)
        return false
      }
      return first
    }
  }

  /// A request for the number of rows that the query returns, within its limit and offset. Fetching
  /// the request doesn't decode the rows.
  public var count: RecordRequest<Int> {
    RecordRequest { [parts] connection, print in
      let count = try connection.count(parts)
      print?.append(.integer(Int64(count)))
      return count
    }
  }
}

extension RecordQuery where Row: Record {
  @usableFromInline init(
    _ type: Row.Type, _ condition: SQL? = nil, _ order: Ordering? = nil, _ limit: Int? = nil,
    _ offset: Int = 0
  ) {
    parts = RecordQueryParts(
      source: .table(type), condition: condition, order: order, limit: limit, offset: offset)
  }

  /// Returns a request for a full-text search in the properties that the type declares as
  /// ``PropertyTrait/searched(_:)``. The best match comes first.
  ///
  ///     for result in try connection.fetch(Note.all.search(.all(of: "milk bread"))) {
  ///       print(result.value.title, result.snippet)
  ///     }
  ///
  /// - Parameters:
  ///   - pattern: The pattern to search for. An empty pattern matches nothing.
  ///   - marks: The markers around matching words in ``SearchResult/snippet`` and
  ///     ``SearchResult/highlights``.
  /// - Returns: A request. Fetching it throws `SQLiteError` if the type declares no searched
  ///   property, if the table has no full-text index of exactly these properties, or if the query
  ///   has an order or was created from SQL.
  public func search(
    _ pattern: SearchPattern, marks: SearchMarks = SearchMarks()
  ) -> RecordRequest<[SearchResult<Row>]> {
    RecordRequest { [parts] connection, print in
      try connection.search(Row.self, parts, pattern, marks, &print)
    }
  }
}

extension Record {
  /// A query for all records of the type.
  public static var all: RecordQuery<Self> { RecordQuery(self) }

  /// Returns a query for the records that match a condition.
  ///
  /// - Parameter condition: SQL for a condition, such as `"population > \(1_000_000)"`.
  public static func `where`(_ condition: SQL) -> RecordQuery<Self> { all.where(condition) }

  /// Returns a query for all records of the type, sorted by an order.
  ///
  /// - Parameter order: The order of the records, such as `.column("name")`.
  public static func ordered(by order: Ordering) -> RecordQuery<Self> { all.ordered(by: order) }
}

/// A description of a fetch and its result, such as `Town.where("population >
/// \(1_000_000)").count`.
///
/// A request is a value that isn't bound to a database: you can store it, pass it to a function,
/// fetch it from several databases, and observe it.
public struct RecordRequest<Result>: Sendable {
  /// A closure that reads the result. If `print` isn't nil, the closure appends values to it that
  /// identify the result: observations compare them to detect that the result has changed.
  package let read: @Sendable (_ connection: Connection, _ print: inout [Value]?) throws -> Result

  init(
    _ read: @escaping @Sendable (_ connection: Connection, _ print: inout [Value]?) throws -> Result
  ) {
    self.read = read
  }
}

/// The parts of a ``RecordQuery``, independent of the type of its rows.
@usableFromInline package struct RecordQueryParts: Sendable {
  /// The source of the rows.
  @usableFromInline enum Source: Sendable {
    case table(any Record.Type)
    case sql(SQL, any (Decodable & SendableMetatype).Type, MappingStrategies?)
  }

  let source: Source
  var condition: SQL?
  var order: Ordering?
  package internal(set) var limit: Int?
  package internal(set) var offset = 0

  /// The query with a limit of one row. A query that was created from SQL is returned unchanged,
  /// because its statement may change rows and must run to its end.
  fileprivate var limitedToOneRow: RecordQueryParts {
    guard case .table = source else { return self }
    var parts = self
    parts.limit = min(limit ?? 1, 1)
    return parts
  }

  /// The SQL that the query was created from. Nil if the source is a table, or if a condition, an
  /// order or a limit was added.
  fileprivate var plainSQL: SQL? {
    guard case .sql(let sql, _, _) = source, condition == nil, order == nil, limit == nil,
      offset == 0
    else { return nil }
    return sql
  }

  /// Returns a SELECT statement with the condition, the order and the limit of the query. `columns`
  /// and `source` are its SQL after SELECT and FROM.
  fileprivate func select(_ columns: SQL, from source: SQL) -> SQL {
    var sql: SQL = "SELECT \(columns) FROM \(source)"
    sql.append(condition: condition)
    if let order { sql.append(" ORDER BY \(order.sql)\n") }
    sql.append(limit: limit, offset: offset)
    return sql
  }
}

extension Connection {
  /// Calls `body` with the reader for each row of a query, until `body` returns false.
  @usableFromInline func forEachRow(
    _ query: RecordQueryParts, _ body: (RowReader) throws -> Bool
  ) throws {
    var print: [Value]?
    try forEachRow(query, &print, body)
  }

  /// Calls `body` with the reader for each row of a query, until `body` returns false. If `print`
  /// isn't nil, appends the column names and the values of these rows to it.
  fileprivate func forEachRow(
    _ query: RecordQueryParts, _ print: inout [Value]?, _ body: (RowReader) throws -> Bool
  ) throws {
    switch query.source {
    case .table(let type):
      let plan = try plan(of: type)
      try reading(plan, without: ()) {
        let sql = query.select(try plan.columns(on: self), from: "\(identifier: plan.name)")
        try forEachRow(sql, { plan.reader(of: $0) }, &print, body)
      }
    case .sql(let sql, let type, let strategies):
      try forEachRow(
        query.plainSQL ?? query.select("*", from: "(\(sql)\n)"),
        { RowReader($0, as: type, strategies: strategies ?? type.ownStrategies) }, &print, body)
    }
  }

  /// Calls `body` with the reader for each row of a statement, until `body` returns false. `reader`
  /// creates the reader on the first row. If `print` isn't nil, appends the column names and the
  /// values of these rows to it.
  func forEachRow(
    _ sql: SQL, _ reader: (borrowing Statement) -> RowReader, _ print: inout [Value]?,
    _ body: (RowReader) throws -> Bool
  ) throws {
    var statement = try boundStatement(sql)
    guard try statement.step() else { return }
    let reader = reader(statement)
    print?.append(.text(statement.columnNames.joined(separator: "\0")))
    var isWanted = true
    repeat {
      if isWanted {
        if print != nil { try statement.append(to: &print) }
        isWanted = try body(reader)
      }
      // A statement that changes rows runs to its end.
      if !isWanted, statement.isReadOnly { return }
    } while try statement.step()
  }

  /// Returns the number of rows of a query.
  fileprivate func count(_ query: RecordQueryParts) throws -> Int {
    let isPart = query.limit != nil || query.offset > 0
    func count(from source: SQL) throws -> Int {
      let sql: SQL =
        isPart
        ? "SELECT count(*) FROM (\(query.select("1", from: source)))"
        : query.select("count(*)", from: source)
      return try firstRow(sql, as: Int.self) ?? 0
    }
    switch query.source {
    case .table(let type):
      let plan = try plan(of: type)
      return try reading(plan, without: 0) { try count(from: "\(identifier: plan.name)") }
    case .sql(let sql, _, _): return try count(from: "(\(sql)\n)")
    }
  }
}

extension Statement {
  /// Appends the values of the current row to `print`, unless `print` is nil.
  func append(to print: inout [Value]?) throws(SQLiteError) {
    for column in 0..<(print == nil ? 0 : columnCount) {
      print?.append(try handle.value(at: Int32(column)))
    }
  }
}

extension Decodable {
  /// The strategies that the type declares if it is a ``Record``, otherwise the defaults.
  fileprivate static var ownStrategies: MappingStrategies {
    (self as? any Record.Type)?.strategies ?? MappingStrategies()
  }
}

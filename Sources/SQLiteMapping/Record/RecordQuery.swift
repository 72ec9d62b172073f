public import SQLiteCore

/// The records of a type that match a condition, in an order; or the rows that a SELECT returns, as any `Decodable` type.
///
///     let large = Town.where("population > \(1_000_000)").ordered(by: .column("name"))
///     let towns = try database.fetch(large)
///     let count = try await database.fetch(large.count)
///     for try await towns in database.observe(large.limit(10)) { … }
///
/// A query is a value that isn't bound to a database. Its methods return another query, or a request for something else than
/// the rows, such as their number. The order of the calls doesn't matter: all conditions must hold, and `limit(_:offset:)`
/// applies last. Errors in it are thrown when you fetch it.
public struct RecordQuery<Row: Decodable & SendableMetatype>: Sendable {
  @usableFromInline private(set) var parts: RecordQueryParts

  /// Returns the query for the rows that match another condition, too.
  ///
  /// - Parameter condition: SQL for a condition, such as `"population > \(1_000_000)"`.
  public func `where`(_ condition: SQL) -> RecordQuery {
    with { $0.condition = $0.condition.map { "(\($0)\n) AND (\(condition)\n)" } ?? condition }
  }

  /// Returns the query in another order.
  ///
  /// - Parameter order: The order. It replaces that of the query. Without one, rows come in the order that is fastest.
  public func ordered(by order: Ordering) -> RecordQuery { with { $0.order = order } }

  /// Returns the query for a part of the rows.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of rows; nil for no limit. It replaces the limit of the query.
  ///   - offset: The number of rows to skip first. SQLite reads them.
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
  /// The query for the rows that SQL returns.
  ///
  ///     struct Summary: Decodable { var country: String; var n: Int }
  ///     let summaries = try connection.fetch(
  ///       .sql("SELECT country, count(*) AS n FROM city GROUP BY country", as: Summary.self))
  ///
  /// Columns are found by name. A property without a column is decoded from the columns whose names begin with its name and a
  /// dot, as a join returns them. If all of those are NULL, an optional property is nil:
  ///
  ///     SELECT city.name, country.name AS "country.name", country.code AS "country.code" …
  ///
  /// A row of one column is decoded as a single value, such as `String`, or as an array in JSON.
  ///
  /// - Parameters:
  ///   - sql: A single statement. One that changes rows, such as `INSERT … RETURNING`, must be fetched on a connection that
  ///     writes. It runs to its end even if only its first row is fetched.
  ///   - type: The type of the rows.
  ///   - strategies: How values are stored; those of `type` if it is a ``Record``.
  public static func sql(
    _ sql: SQL, as type: Row.Type = Row.self, strategies: MappingStrategies? = nil
  ) -> RecordQuery {
    RecordQuery(parts: RecordQueryParts(source: .sql(sql, type, strategies)))
  }

  /// The request for the rows, for a function that takes any request.
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

  /// The request for the first row, or nil if there is none.
  public var first: RecordRequest<Row?> {
    RecordRequest { [parts] connection, print in
      var first: Row?
      try connection.forEachRow(parts.ofOneRow, &print) {
        first = try $0.row(as: Row.self)
        return false
      }
      return first
    }
  }

  /// The request for the number of rows.
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

  /// The request for records with words in the properties that the type declares as ``PropertyTrait/searched(_:)``, the best
  /// match first.
  ///
  ///     for result in try connection.fetch(Note.all.search(.all(of: "milk bread"))) {
  ///       print(result.value.title, result.snippet)
  ///     }
  ///
  /// - Parameters:
  ///   - pattern: The pattern. An empty pattern matches nothing.
  ///   - marks: The marks around matching words in ``SearchResult/snippet`` and ``SearchResult/highlights``.
  /// - Returns: A request. Fetching it throws `SQLiteError` if the type declares no searched property, if the table has no
  ///   index of exactly these properties, or if the query has an order or is SQL.
  public func search(
    _ pattern: SearchPattern, marks: SearchMarks = SearchMarks()
  ) -> RecordRequest<[SearchResult<Row>]> {
    RecordRequest { [parts] connection, print in
      try connection.search(Row.self, parts, pattern, marks, &print)
    }
  }
}

extension Record {
  /// The query for all records of the type.
  public static var all: RecordQuery<Self> { RecordQuery(self) }

  /// Returns the query for the records that match a condition.
  ///
  /// - Parameter condition: SQL for a condition, such as `"population > \(1_000_000)"`.
  public static func `where`(_ condition: SQL) -> RecordQuery<Self> { all.where(condition) }

  /// Returns the query for all records of the type in an order.
  ///
  /// - Parameter order: The order.
  public static func ordered(by order: Ordering) -> RecordQuery<Self> { all.ordered(by: order) }
}

/// A description of a fetch and its result, such as `Town.where("population > \(1_000_000)").count`.
///
/// A request is a value. It isn't bound to a database: you can keep it, pass it to a function, fetch it from several
/// databases, and observe it.
public struct RecordRequest<Result>: Sendable {
  /// Reads the result. If `print` isn't nil, it receives what distinguishes the result from others.
  package let read: @Sendable (_ connection: Connection, _ print: inout [Value]?) throws -> Result

  init(
    _ read: @escaping @Sendable (_ connection: Connection, _ print: inout [Value]?) throws -> Result
  ) {
    self.read = read
  }
}

/// What a ``RecordQuery`` asks for, whatever the type of its rows.
@usableFromInline struct RecordQueryParts: Sendable {
  /// Where the rows come from.
  @usableFromInline enum Source: Sendable {
    case table(any Record.Type)
    case sql(SQL, any (Decodable & SendableMetatype).Type, MappingStrategies?)
  }

  let source: Source
  var condition: SQL?
  var order: Ordering?
  var limit: Int?
  var offset = 0

  /// The parts of a query of which only the first row is read. SQL isn't changed, since it may change rows.
  fileprivate var ofOneRow: RecordQueryParts {
    guard case .table = source else { return self }
    var parts = self
    parts.limit = min(limit ?? 1, 1)
    return parts
  }

  /// The SQL of the query itself, if nothing was added to it.
  fileprivate var plainSQL: SQL? {
    guard case .sql(let sql, _, _) = source, condition == nil, order == nil, limit == nil,
      offset == 0
    else { return nil }
    return sql
  }

  /// A SELECT of columns from the source.
  fileprivate func select(_ columns: SQL, from source: SQL) -> SQL {
    var sql: SQL = "SELECT \(columns) FROM \(source)"
    sql.append(condition: condition)
    if let order { sql.append(" ORDER BY \(order.sql)\n") }
    sql.append(limit: limit, offset: offset)
    return sql
  }
}

extension Connection {
  /// Calls `body` for each row of a query with its reader, as long as it returns true.
  @usableFromInline func forEachRow(
    _ query: RecordQueryParts, _ body: (RowReader) throws -> Bool
  ) throws {
    var print: [Value]?
    try forEachRow(query, &print, body)
  }

  /// As ``forEachRow(_:_:)``; if `print` isn't nil, it receives the values of the rows.
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

  /// Calls `body` for each row of a statement, as long as it returns true. `reader` makes the reader on the first row.
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
      // SQL that changes rows runs to its end.
      if !isWanted, statement.isReadOnly { return }
    } while try statement.step()
  }

  /// Counts the rows of a query.
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
  /// Appends the values of the row to a print, if one is wanted.
  func append(to print: inout [Value]?) throws(SQLiteError) {
    for column in 0..<(print == nil ? 0 : columnCount) {
      print?.append(try handle.value(at: Int32(column)))
    }
  }
}

extension Decodable {
  /// The strategies that a type declares, or the defaults.
  fileprivate static var ownStrategies: MappingStrategies {
    (self as? any Record.Type)?.strategies ?? MappingStrategies()
  }
}

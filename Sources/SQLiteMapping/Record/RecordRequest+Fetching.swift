public import SQLiteCore

extension Connection {
  /// Fetches the rows of a query.
  ///
  ///     let towns = try connection.fetch(Town.where("population > \(1_000_000)"))
  ///
  /// - Parameter query: The query for the rows.
  /// - Returns: The rows, decoded as `Row`. Empty if none matches, or if the query is for a record
  ///   type whose table doesn't exist yet.
  /// - Throws: `SQLiteError` if a statement fails, or if the query is for a ``Record/isReadOnly``
  ///   type without a table; ``RowDecodingError`` if a row cannot be decoded as the type;
  ///   ``SchemaError`` if rows are equal in properties that the type declares as unique.
  @inlinable  // Benchmark `fetch`.
  public func fetch<Row>(_ query: RecordQuery<Row>) throws -> [Row] {
    var rows: [Row] = []
    // `forEach` isn't used, because its closure would copy each row.
    try forEachRow(query.parts) {
      rows.append(try $0.row(as: Row.self))
      return true
    }
    return rows
  }

  /// Fetches the result of a request.
  ///
  /// - Parameter request: A request, which you get from a ``RecordQuery``.
  /// - Returns: The result that the request describes, such as a number of rows.
  /// - Throws: `SQLiteError` if a statement fails, or if the query is for a ``Record/isReadOnly``
  ///   type without a table; ``RowDecodingError`` if a row cannot be decoded as the type;
  ///   ``SchemaError`` if rows are equal in properties that the type declares as unique.
  public func fetch<Result>(_ request: RecordRequest<Result>) throws -> Result {
    var print: [Value]?
    return try request.read(self, &print)
  }

  /// Fetches the rows of a query one at a time, in constant memory.
  ///
  ///     try connection.forEach(Town.ordered(by: .column("name"))) { town in print(town.name) }
  ///
  /// - Parameters:
  ///   - query: The query for the rows.
  ///   - body: Receives each row. If it throws, the fetch ends and rethrows the error.
  /// - Throws: `SQLiteError` if a statement fails, or if the query is for a ``Record/isReadOnly``
  ///   type without a table; ``RowDecodingError`` if a row cannot be decoded as the type;
  ///   ``SchemaError`` if rows are equal in properties that the type declares as unique; an error
  ///   from `body`.
  @inlinable  // Benchmark `fetch`.
  public func forEach<Row>(_ query: RecordQuery<Row>, _ body: (Row) throws -> Void) throws {
    try forEachRow(query.parts) {
      try body(try $0.row(as: Row.self))
      return true
    }
  }
}

extension Database {
  /// Fetches the rows of a query. Blocks the thread.
  ///
  ///     let towns = try database.fetch(Town.where("population > \(1_000_000)"))
  ///
  /// - Parameter query: The query for the rows.
  /// - Returns: The rows, decoded as `Row`. Empty if none matches, or if the query is for a record
  ///   type whose table doesn't exist yet.
  /// - Throws: `SQLiteError` if a statement fails, or if the query is for a ``Record/isReadOnly``
  ///   type without a table; ``RowDecodingError`` if a row cannot be decoded as the type;
  ///   ``SchemaError`` if rows are equal in properties that the type declares as unique.
  public func fetch<Row>(_ query: RecordQuery<Row>) throws -> [Row] { try fetch(query.objects) }

  /// Fetches the rows of a query. Suspends the task meanwhile.
  ///
  /// - Parameter query: The query for the rows.
  /// - Returns: The rows, decoded as `Row`. Empty if none matches, or if the query is for a record
  ///   type whose table doesn't exist yet.
  /// - Throws: The errors of the blocking ``fetch(_:)-(RecordQuery<Row>)``, and `CancellationError`
  ///   if the task was cancelled.
  public func fetch<Row>(_ query: RecordQuery<Row>) async throws -> sending [Row] {
    try await fetch(query.objects)
  }

  /// Fetches the result of a request. Blocks the thread.
  ///
  ///     let count = try database.fetch(Town.where("population > \(1_000_000)").count)
  ///
  /// - Parameter request: A request, which you get from a ``RecordQuery``.
  /// - Returns: The result that the request describes, such as a number of rows.
  /// - Throws: `SQLiteError` if a statement fails, or if the query is for a ``Record/isReadOnly``
  ///   type without a table; ``RowDecodingError`` if a row cannot be decoded as the type;
  ///   ``SchemaError`` if rows are equal in properties that the type declares as unique.
  public func fetch<Result>(_ request: RecordRequest<Result>) throws -> Result {
    try read { try $0.fetch(request) }
  }

  /// Fetches the result of a request. Suspends the task meanwhile.
  ///
  /// - Parameter request: A request, which you get from a ``RecordQuery``.
  /// - Returns: The result that the request describes, such as a number of rows.
  /// - Throws: The errors of the blocking ``fetch(_:)-(RecordRequest<Result>)``, and
  ///   `CancellationError` if the task was cancelled.
  public func fetch<Result>(_ request: RecordRequest<Result>) async throws -> sending Result {
    try await readGiving { try $0.fetch(request) }
  }

  /// Returns an asynchronous sequence of a query's rows: the current rows, and all rows again
  /// whenever a commit has changed them. One element may reflect several commits.
  ///
  ///     for try await towns in database.observe(Town.ordered(by: .column("name"))) { … }
  ///
  /// - Parameter query: The query to observe.
  /// - Returns: A sequence that throws the errors of fetching the query.
  public func observe<Row>(_ query: RecordQuery<Row>) -> ObservedResults<[Row]> {
    observe(query.objects)
  }

  /// Returns an asynchronous sequence of a request's results: the current result, and the new
  /// result whenever a commit has changed it. One element may reflect several commits.
  ///
  ///     for try await count in database.observe(Town.where("population > \(1_000_000)").count) { … }
  ///
  /// - Parameter request: A request, which you get from a ``RecordQuery``.
  /// - Returns: A sequence that throws the errors of fetching the request.
  public func observe<Result>(_ request: RecordRequest<Result>) -> ObservedResults<Result> {
    ObservedResults(of: self) { observation in
      try await self.read { connection in
        try observation.take(connection) {
          var print: [Value]? = []
          let result = Handoff(try request.read(connection, &print))
          return (print ?? [], { result.take() })
        }
      }
    }
  }
}

public import SQLiteCore

extension Connection {
  /// Fetches the rows of a query.
  ///
  ///     let towns = try connection.fetch(Town.where("population > \(1_000_000)"))
  ///
  /// - Parameter query: The rows.
  /// - Throws: `SQLiteError`; ``RowDecodingError`` if a row does not fit the type.
  @inlinable  // Benchmark `fetch`.
  public func fetch<Row>(_ query: RecordQuery<Row>) throws -> [Row] {
    var rows: [Row] = []
    // Not by `forEach`, whose closure would copy each row.
    try forEachRow(query.parts) {
      rows.append(try $0.row(as: Row.self))
      return true
    }
    return rows
  }

  /// Fetches the result of a request.
  ///
  /// - Parameter request: A request that was made from a ``RecordQuery``.
  /// - Throws: `SQLiteError`; ``RowDecodingError`` if a row does not fit the type.
  public func fetch<Result>(_ request: RecordRequest<Result>) throws -> Result {
    var print: [Value]?
    return try request.read(self, &print)
  }

  /// Fetches rows one by one, in the memory of one.
  ///
  ///     try connection.forEach(Town.ordered(by: .column("name"))) { town in print(town.name) }
  ///
  /// - Parameters:
  ///   - query: The rows.
  ///   - body: Receives each row. An error that it throws ends the fetch.
  /// - Throws: `SQLiteError`; ``RowDecodingError`` if a row does not fit the type; what `body` throws.
  @inlinable  // Benchmark `fetch`.
  public func forEach<Row>(_ query: RecordQuery<Row>, _ body: (Row) throws -> Void) throws {
    try forEachRow(query.parts) {
      try body(try $0.row(as: Row.self))
      return true
    }
  }
}

extension Database {
  /// Fetches the rows of a query, blocking the thread.
  ///
  ///     let towns = try database.fetch(Town.where("population > \(1_000_000)"))
  ///
  /// - Parameter query: The rows.
  /// - Throws: `SQLiteError`; ``RowDecodingError`` if a row does not fit the type.
  public func fetch<Row>(_ query: RecordQuery<Row>) throws -> [Row] { try fetch(query.objects) }

  /// The suspending form of ``fetch(_:)-(RecordQuery<Row>)``. Also throws `CancellationError`.
  public func fetch<Row>(_ query: RecordQuery<Row>) async throws -> sending [Row] {
    try await fetch(query.objects)
  }

  /// Fetches the result of a request, blocking the thread.
  ///
  ///     let count = try database.fetch(Town.where("population > \(1_000_000)").count)
  ///
  /// - Parameter request: A request that was made from a ``RecordQuery``.
  /// - Throws: `SQLiteError`; ``RowDecodingError`` if a row does not fit the type.
  public func fetch<Result>(_ request: RecordRequest<Result>) throws -> Result {
    try read { try $0.fetch(request) }
  }

  /// The suspending form of ``fetch(_:)-(RecordRequest<Result>)``. Also throws `CancellationError`.
  public func fetch<Result>(_ request: RecordRequest<Result>) async throws -> sending Result {
    try await readGiving { try $0.fetch(request) }
  }

  /// Fetches the rows of a query, and fetches them again after each commit that changes one of them.
  ///
  ///     for try await towns in database.observe(Town.ordered(by: .column("name"))) { … }
  ///
  /// - Parameter query: The rows.
  public func observe<Row>(_ query: RecordQuery<Row>) -> ObservedResults<[Row]> {
    observe(query.objects)
  }

  /// Fetches the result of a request, and fetches it again after each commit that changes it.
  ///
  ///     for try await count in database.observe(Town.where("population > \(1_000_000)").count) { … }
  ///
  /// - Parameter request: A request that was made from a ``RecordQuery``.
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

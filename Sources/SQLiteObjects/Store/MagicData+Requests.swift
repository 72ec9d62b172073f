import SQLiteCore
import SQLiteMapping

extension MagicData {
  /// Fetches the objects of a query with everything that they reference, blocking the thread.
  ///
  ///     let cities = try magic.fetch(City.where(\.$population > 2_000_000))
  ///
  /// - Parameter query: The query for the objects.
  /// - Returns: The objects in the order of the query.
  /// - Throws: ``MagicError``, for example if a stored value can't be converted to the type of its
  ///   property, or `SQLiteError`.
  public func fetch<Object: MagicObject>(_ query: Query<Object>) throws -> [Object] {
    try fetch(query.objects)
  }

  /// Fetches the objects of a query with everything that they reference. Suspends the task
  /// meanwhile.
  ///
  /// For details, see the blocking ``fetch(_:)-(Query<Object>)``.
  ///
  /// - Parameter query: The query for the objects.
  /// - Returns: The objects in the order of the query.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was
  ///   cancelled.
  nonisolated(nonsending) public func fetch<Object: MagicObject>(
    _ query: Query<Object>
  ) async throws -> sending [Object] {
    try await fetch(query.objects)
  }

  /// Fetches the result of a request, blocking the thread.
  ///
  ///     let count = try magic.fetch(City.where(\.$population > 2_000_000).count)
  ///
  /// - Parameter request: A request created from a ``Query``.
  /// - Returns: The result of the request.
  /// - Throws: ``MagicError``, `SQLiteError`, `RowDecodingError` if a row doesn't fit the type that
  ///   the request decodes, or any error of a closure that you passed to ``Request/map(_:)``.
  public func fetch<Result>(_ request: Request<Result>) throws -> Result {
    let prepared = try request.prepare(self)
    // Captured instead of returned through `read`, where each generic call would look up the
    // metadata of the closure's type (benchmark `query`).
    var make: (@Sendable () throws -> sending Result)?
    try read(prepared.plan, isOneStatement: prepared.isOneStatement) { connection in
      var print: ResultFingerprint?
      make = try prepared.read(connection, &print)
    }
    guard let make else { throw SQLiteError(.error, "the request returned no result") }
    return try make()
  }

  /// Fetches the result of a request. Suspends the task meanwhile.
  ///
  /// For details, see the blocking ``fetch(_:)-(Request<Result>)``.
  ///
  /// - Parameter request: A request created from a ``Query``.
  /// - Returns: The result of the request.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was
  ///   cancelled.
  nonisolated(nonsending) public func fetch<Result>(
    _ request: Request<Result>
  ) async throws -> sending Result {
    let prepared = try await preparingQuery { try request.prepare(self) }
    return try await read(prepared.plan, isOneStatement: prepared.isOneStatement) { connection in
      var print: ResultFingerprint?
      return try prepared.read(connection, &print)
    }()
  }

  /// Fetches values row by row, blocking the thread.
  ///
  ///     try magic.forEach(Track.all.values(\.$name, \.$album.$title)) { name, title in print(name, title ?? "") }
  ///
  /// All rows are read from one snapshot, so changes that are saved meanwhile don't affect them.
  /// For requests created by `values` and `aggregate`, memory use doesn't depend on the number of
  /// rows. Other results are fetched as a whole.
  ///
  /// - Parameters:
  ///   - request: A request for values.
  ///   - body: A closure that receives each row. If it throws, the fetch ends.
  /// - Throws: ``MagicError``, `SQLiteError`, `RowDecodingError` if a row doesn't fit the type that
  ///   the request decodes, or any error that `body` or a closure passed to ``Request/map(_:)``
  ///   throws.
  @available(
    *, noasync,
    message: "blocks the thread; `await` needs a @Sendable closure, in a function"
  )
  public func forEach<Row>(
    _ request: Request<[Row]>, _ body: (sending Row) throws -> Void
  ) throws {
    guard let rows = request.rows else {
      for row in try fetch(request) { try body(Handoff(row).take()) }
      return
    }
    let query = try rows.query(in: self)
    try read(query.plan) { try rows.forEach(query, in: self, $0, body) }
  }

  /// Fetches values row by row. Suspends the task meanwhile.
  ///
  /// `body` runs on a thread of the database. For details, see the blocking
  /// ``forEach(_:_:)-(Request<[Row]>,_)``.
  ///
  /// - Parameters:
  ///   - request: A request for values.
  ///   - body: A closure that receives each row. If it throws, the fetch ends.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was
  ///   cancelled.
  nonisolated(nonsending) public func forEach<Row>(
    _ request: Request<[Row]>, _ body: @escaping @Sendable (sending Row) throws -> Void
  ) async throws {
    guard let rows = request.rows else {
      for row in try await fetch(request) { try body(Handoff(row).take()) }
      return
    }
    let query = try await preparingQuery { try rows.query(in: self) }
    try await read(query.plan) { try rows.forEach(query, in: self, $0, body) }
  }

  /// Fetches objects in batches, blocking the thread.
  ///
  ///     try magic.forEach(Track.where(\.$length > 300)) { track in print(track.name) }
  ///
  /// All objects are read from one snapshot, so changes that are saved meanwhile don't affect them.
  /// The keys of all objects are read first and stay in memory. The objects are loaded one batch at
  /// a time.
  ///
  /// - Parameters:
  ///   - query: The query for the objects.
  ///   - batch: The maximum number of objects in a batch.
  ///   - body: A closure that receives each object. If it throws, the fetch ends.
  /// - Throws: ``MagicError``, `SQLiteError`, or any error that `body` throws.
  @available(
    *, noasync,
    message: "blocks the thread; `await` needs a @Sendable closure, in a function"
  )
  public func forEach<Object: MagicObject>(
    _ query: Query<Object>, batch: Int = 500, _ body: (Object) throws -> Void
  ) throws {
    let query = try ObjectQuery(self, query.parts)
    try read(query.plan) { try query.forEach($0, batch, body) }
  }

  /// Fetches objects in batches. Suspends the task meanwhile.
  ///
  /// `body` runs on a thread of the database. For details, see the blocking
  /// ``forEach(_:batch:_:)``.
  ///
  /// - Parameters:
  ///   - query: The query for the objects.
  ///   - batch: The maximum number of objects in a batch.
  ///   - body: A closure that receives each object. If it throws, the fetch ends.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was
  ///   cancelled.
  nonisolated(nonsending) public func forEach<Object: MagicObject>(
    _ query: Query<Object>, batch: Int = 500,
    _ body: @escaping @Sendable (Object) throws -> Void
  ) async throws {
    let query = try await preparingQuery { try ObjectQuery(self, query.parts) }
    try await read(query.plan) { try query.forEach($0, batch, body) }
  }
}

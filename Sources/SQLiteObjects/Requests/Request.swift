import SQLiteCore

/// A description of a fetch and its result, such as `City.where(\.$population > 1_000_000).count`.
///
/// A request is a value. It isn't bound to a store: you can keep it, pass it to a function, fetch it from several stores,
/// and observe it. Errors in it, such as a filter on a property of another type, are thrown when you fetch it.
public struct Request<Result>: Sendable {
  let prepare: @Sendable (any ObjectStore) throws -> PreparedRequest<Result>
  /// The query, columns and grouping, if the result is an array of rows with values; otherwise nil.
  var rows: RowRequest?

  init(
    rows: RowRequest? = nil,
    _ prepare: @escaping @Sendable (any ObjectStore) throws -> PreparedRequest<Result>
  ) {
    self.prepare = prepare
    self.rows = rows
  }

  /// Returns a request whose result is computed from this request's result.
  ///
  ///     let names = City.all.values(\.$name).map { Set($0) }
  ///
  /// - Parameter transform: Computes the result. It runs where the result is received, not on a
  ///   thread of the database. Fetching throws any error that it throws.
  public func map<Other>(
    _ transform: @escaping @Sendable (sending Result) throws -> sending Other
  ) -> Request<Other> {
    Request<Other> { [prepare] store in
      let prepared = try prepare(store)
      return PreparedRequest(
        prepared.plan, isOneStatement: prepared.isOneStatement, prepared.filter
      ) {
        connection, print in
        let result = try prepared.read(connection, &print)
        return { try transform(result()) }
      }
    }
  }
}

/// A request whose SQL has been written for one store.
struct PreparedRequest<Result>: Sendable {
  let plan: ObjectPlan
  /// Whether a single SELECT reads the result, so that no transaction is needed.
  let isOneStatement: Bool
  /// The filter, if the result depends only on the rows of the type that match it; otherwise nil.
  /// An observation can then decide from the changed rows alone whether to fetch again.
  let filter: QueryNode?
  /// Whether the result is an array of the fetched objects in the order of the query, so that
  /// ``ObservedDifference`` can identify them.
  var identifiesObjects = false
  /// A closure that reads in the transaction of a connection, and returns a closure that creates
  /// the result where it is received.
  ///
  /// If `print` isn't nil, it is set to a fingerprint of the result.
  let read:
    @Sendable (_ connection: Connection, _ print: inout ResultFingerprint?) throws -> (
      @Sendable () throws -> sending Result
    )

  init(
    _ plan: ObjectPlan, isOneStatement: Bool, _ filter: QueryNode? = nil,
    _ read:
      @escaping @Sendable (_ connection: Connection, _ print: inout ResultFingerprint?) throws -> (
        @Sendable () throws -> sending Result
      )
  ) {
    self.plan = plan
    self.isOneStatement = isOneStatement
    self.filter = filter
    self.read = read
  }
}

/// The rows of a request: one for each object, or one for each group of objects.
///
/// A class, because copying a struct would retain each of its parts (benchmark `query`).
final class RowRequest: Sendable {
  let query: QueryParts
  /// The grouping, or nil for one row per object.
  let groups: Groups?
  /// The columns of a row.
  let layout: TupleLayout

  init(_ query: QueryParts, _ groups: Groups? = nil, _ layout: TupleLayout) {
    self.query = query
    self.groups = groups
    self.layout = layout
  }

  /// Returns the request for an array of the rows.
  ///
  /// - Parameter type: The type of a row, which must fit the layout.
  func request<Row>(_ type: Row.Type = Row.self) -> Request<[Row]> {
    Request(rows: self) { store in
      let query = try self.query(in: store)
      return PreparedRequest(query.plan, isOneStatement: true, query.rowFilter) {
        connection, print in
        let rows = Handoff(
          try query.rows(self.layout, as: Row.self, from: connection, in: store, &print))
        return { rows.take() }
      }
    }
  }

  /// Returns the query, with its SQL written for a store.
  func query(in store: any ObjectStore) throws -> ValueQuery {
    try ValueQuery(layout.nodes, of: query, groups, in: store)
  }

  /// Calls a closure with each row of the query.
  func forEach<Row>(
    _ query: ValueQuery, in store: any ObjectStore, _ connection: Connection,
    _ body: (sending Row) throws -> Void
  ) throws {
    try query.forEachRow(connection, in: store) { row in
      try body(Handoff(layout.columns.tuple(row, as: Row.self)).take())
    }
  }
}

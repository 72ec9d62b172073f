import SQLiteCore

/// A query for the objects of a type that match a filter, in a given order.
///
///     let large = City.where(\.$population > 2_000_000).ordered(by: .descending(\.$population))
///     let cities = try magic.fetch(large)
///     let names = try await magic.fetch(large.values(\.$name))
///     for try await count in magic.observe(large.count) { … }
///
/// A query is a value that isn't bound to a store. Its methods return another query, or a request
/// for something other than the objects, such as their number. The order of the calls doesn't
/// matter: all filters must match, and `limit(_:offset:)` applies last.
public struct Query<Object: MagicObject>: Sendable {
  package internal(set) var parts = QueryParts(type: Object.self)

  init(filter: QueryNode? = nil) { parts.filter = filter }

  init(
    _ filter: Filter<Object>?, _ order: [SortKey<Object>], _ limit: Int? = nil, _ offset: Int = 0
  ) {
    parts.filter = filter?.node
    parts.order = order.map { $0.order }
    parts.limit = limit
    parts.offset = offset
  }

  init(from origin: some QueryOrigin) { parts.origin = origin }

  private func with(_ change: (inout QueryParts) -> Void) -> Query {
    var query = self
    change(&query.parts)
    return query
  }

  /// Returns a copy of the query with an additional filter. Objects must match all filters.
  ///
  /// - Parameter filter: A condition, such as `\.$population > 1_000_000`.
  public func `where`(_ filter: Filter<Object>) -> Query {
    with { $0.filter = $0.filter.map { .and($0, filter.node) } ?? filter.node }
  }

  /// Returns a copy of the query with other sort keys.
  ///
  /// Objects with equal sort keys, and all objects of a query without sort keys, are ordered by row
  /// key. That is usually the order in which they were first saved.
  ///
  /// - Parameter keys: The sort keys, the most significant first. They replace those of the query.
  public func ordered(by keys: SortKey<Object>...) -> Query { ordered(by: keys) }

  /// Returns a copy of the query with other sort keys, given as an array.
  ///
  /// - Parameter keys: The sort keys, the most significant first. They replace those of the query.
  public func ordered(by keys: [SortKey<Object>]) -> Query {
    with { $0.order = keys.map { $0.order } }
  }

  /// Returns a copy of the query that is limited to some of the objects.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of objects; nil for no limit. It replaces the limit of the query.
  ///   - offset: The number of objects to skip first. SQLite reads the skipped rows, so prefer
  ///     ``page(after:limit:)-(PagePosition<Object>?,_)`` to large offsets.
  public func limit(_ limit: Int?, offset: Int = 0) -> Query {
    with { ($0.limit, $0.offset) = (limit, offset) }
  }

  /// Returns a copy of the query whose `values` requests return no duplicate rows.
  ///
  ///     let countries = try magic.fetch(City.all.distinct().values(\.$country))
  ///
  /// All other requests ignore it. A query never returns the same object twice.
  public func distinct() -> Query { with { $0.isDistinct = true } }
}

extension MagicObject {
  /// The query for all objects of the type.
  public static var all: Query<Self> { Query() }

  /// Returns the query for the objects that match a filter.
  ///
  /// - Parameter filter: A condition, such as `\.$population > 1_000_000`.
  public static func `where`(_ filter: Filter<Self>) -> Query<Self> { Query(filter: filter.node) }

  /// Returns the query for all objects of the type, sorted.
  ///
  /// - Parameter keys: The sort keys, the most significant first.
  public static func ordered(by keys: SortKey<Self>...) -> Query<Self> { Query(nil, keys) }

  /// Returns the query for all objects of the type, sorted by an array of sort keys.
  ///
  /// - Parameter keys: The sort keys, the most significant first.
  public static func ordered(by keys: [SortKey<Self>]) -> Query<Self> { Query(nil, keys) }
}

extension Query {
  /// The request for the objects of the query. Use it to pass a query to a function that takes a
  /// request.
  public var objects: Request<[Object]> {
    Query.request { [parts] in try ObjectQuery($0, parts) }
  }

  /// Returns the request for the objects of a query.
  ///
  /// - Parameter make: Creates the query for a store.
  static func request(
    _ make: @escaping @Sendable (any ObjectStore) throws -> ObjectQuery
  ) -> Request<[Object]> {
    Request { store in
      let query = try make(store)
      var prepared = PreparedRequest(
        query.plan, isOneStatement: !query.plan.needsContext, query.rowFilter
      ) { connection, print in
        let fetched = try query.fetch(connection)
        if print != nil { print = try ResultFingerprint(fetched, connection) }
        return { try query.objects(Object.self, fetched) }
      }
      prepared.identifiesObjects = true
      return prepared
    }
  }

  /// The request for the first object of the query; the result is nil if no object matches.
  public var first: Request<Object?> {
    one.objects.map { $0.first }
  }

  /// The request for the number of objects that the query returns.
  public var count: Request<Int> {
    Request { [parts] store in
      let query = try ObjectQuery(store, parts)
      return PreparedRequest(query.plan, isOneStatement: true, query.rowFilter) {
        connection, print in
        let count = try query.count(connection)
        if print != nil { print = ResultFingerprint(values: [.integer(Int64(count))]) }
        return { count }
      }
    }
  }

  /// The request for a Boolean value that indicates whether no object matches.
  public var isEmpty: Request<Bool> { one.count.map { $0 == 0 } }

  private var one: Query { with { $0.limit = Swift.min($0.limit ?? 1, 1) } }
}

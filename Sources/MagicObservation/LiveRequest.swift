public import SQLiteCore
public import SQLiteMapping
public import SQLiteObjects

/// A request that ``LiveResults`` can keep up to date.
///
/// `Query` and `Request` conform to this protocol for a store of objects, and `RecordQuery` and
/// `RecordRequest` for a database. To run several fetches on one snapshot, use ``LiveFetch``.
/// Declare a conforming type only if you want to change its properties later, such as the text of a
/// search field:
///
///     struct ShipSearch: LiveRequest {
///       var text = ""
///       func observe(in magic: MagicData) -> ObservedResults<[SearchResult<Ship>]> {
///         magic.observe(Ship.all.search(.prefix(text)))
///       }
///     }
public protocol LiveRequest<Value>: Sendable {
  /// The type of the result.
  associatedtype Value
  /// The type of the store: `MagicData` or `Database`.
  associatedtype Store: Sendable

  /// Returns a sequence of the results of the request in a store.
  ///
  /// The sequence fetches nothing until it is iterated.
  ///
  /// - Parameter store: The store to observe.
  func observe(in store: Store) -> ObservedResults<Value>
}

/// A request for a list that can be limited, so that ``LiveResults`` can show it in pages.
public protocol LiveListRequest<Element>: LiveRequest where Value == [Element] {
  /// The type of the list's elements.
  associatedtype Element

  /// Returns a request for the first elements of the list.
  ///
  /// - Parameter count: The maximum number of elements. If the request already has a smaller limit,
  ///   it keeps that.
  func limited(to count: Int) -> Self
}

extension Query: LiveListRequest {
  /// The type of the fetched objects.
  public typealias Element = Object

  /// Returns a sequence of the query's objects, like `MagicData.observe(_:)`.
  ///
  /// - Parameter magic: The store to observe.
  public func observe(in magic: MagicData) -> ObservedResults<[Object]> { magic.observe(self) }

  /// Returns a query for the first objects of this one.
  ///
  /// - Parameter count: The maximum number of objects. If the query already has a smaller limit, it
  ///   keeps that.
  public func limited(to count: Int) -> Query {
    limit(min(parts.limit ?? count, count), offset: parts.offset)
  }
}

extension Request: LiveRequest {
  /// Returns a sequence of the request's results, like `MagicData.observe(_:)`.
  ///
  /// - Parameter magic: The store to observe.
  public func observe(in magic: MagicData) -> ObservedResults<Result> { magic.observe(self) }
}

extension RecordQuery: LiveListRequest {
  /// The type of the fetched rows.
  public typealias Element = Row

  /// Returns a sequence of the query's rows, like `Database.observe(_:)`.
  ///
  /// - Parameter database: The database to observe.
  public func observe(in database: Database) -> ObservedResults<[Row]> { database.observe(self) }

  /// Returns a query for the first rows of this one.
  ///
  /// - Parameter count: The maximum number of rows. If the query already has a smaller limit, it
  ///   keeps that.
  public func limited(to count: Int) -> RecordQuery {
    limit(min(parts.limit ?? count, count), offset: parts.offset)
  }
}

extension RecordRequest: LiveRequest {
  /// Returns a sequence of the request's results, like `Database.observe(_:)`.
  ///
  /// - Parameter database: The database to observe.
  public func observe(in database: Database) -> ObservedResults<Result> { database.observe(self) }
}

/// A request that runs several fetches on one snapshot of a store.
///
///     let totals = LiveResults(
///       LiveFetch { magic in
///         [try magic.count(of: Ship.self), try magic.count(of: Port.self)]
///       }, in: magic)
public struct LiveFetch<Value: Equatable & Sendable>: LiveRequest {
  private let body: @Sendable (MagicData) throws -> Value

  /// Creates a request from a closure.
  ///
  /// - Parameter body: A closure with the fetches, as blocking calls. It runs on a thread of the
  ///   database. Calls that save or remove throw `SQLiteError` with `ResultCode.misuse`.
  public init(_ body: @escaping @Sendable (MagicData) throws -> Value) { self.body = body }

  /// Returns a sequence of the closure's results, like `MagicData.observe(_:)`.
  ///
  /// - Parameter magic: The store to observe.
  public func observe(in magic: MagicData) -> ObservedResults<Value> { magic.observe(body) }
}

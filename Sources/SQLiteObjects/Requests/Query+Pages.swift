import SQLiteCore

extension Query {
  /// Returns a request for one page of the objects.
  ///
  ///     let tracks = Track.ordered(by: .ascending(\.$name))
  ///     var page = try magic.fetch(tracks.page(limit: 50))
  ///     while page.hasMore { page = try magic.fetch(tracks.page(after: page.end, limit: 50)) }
  ///
  /// A page starts after a position, not after a number of objects. With an index on the sort keys,
  /// every page takes the same time. No object is skipped or repeated when other objects are
  /// inserted or deleted between two fetches. An object whose sort keys change in between moves to
  /// its new position, so it may be skipped or repeated. Nil sorts before all other values.
  ///
  /// - Parameters:
  ///   - position: The ``ObjectPage/end`` of the previous page, or nil for the first page. Fetching
  ///     throws `SQLiteError` with `ResultCode.misuse` if it belongs to a query with other sort
  ///     keys.
  ///   - limit: The maximum number of objects. Fetching throws `SQLiteError` with
  ///     `ResultCode.range` if it isn't positive.
  public func page(
    after position: PagePosition<Object>? = nil, limit: Int
  ) -> Request<ObjectPage<Object>> {
    page(limit: limit) { query, _, _ in try query.starting(after: position) }
  }

  /// Returns a request for the page that starts after an object, in the order of the query.
  ///
  /// - Parameters:
  ///   - object: The object that precedes the page. It doesn't need to match the query. Its sort
  ///     keys are read from the store. Fetching throws ``MagicError/notSaved(type:)`` if it isn't
  ///     in the store.
  ///   - limit: The maximum number of objects. Fetching throws `SQLiteError` with
  ///     `ResultCode.range` if it isn't positive.
  public func page(after object: Object, limit: Int) -> Request<ObjectPage<Object>> {
    let storage = PropertyCollector.firstCell(of: object)?.address?.storage
    return page(limit: limit) { query, store, connection in
      guard let key = storage?.zIndex(in: store.identity) else {
        throw MagicError.notSaved(type: "\(Object.self)")
      }
      return try query.starting(after: query.position(ofRow: key, connection))
    }
  }

  private func page(
    limit: Int,
    _ start:
      @escaping @Sendable (PageQuery<Object>, any ObjectStore, Connection) throws -> PageQuery<
        Object
      >
  ) -> Request<ObjectPage<Object>> {
    Request { [parts] store in
      let query = try PageQuery<Object>(store, parts, limit: limit)
      return PreparedRequest(query.plan, isOneStatement: false) { connection, print in
        let found = try start(query, store, connection).find(connection)
        if print != nil {
          print = try ResultFingerprint(.graph(found.graph), connection)
          print?.add([.integer(found.hasMore ? 1 : 0)])
        }
        return { try query.page(found) }
      }
    }
  }
}

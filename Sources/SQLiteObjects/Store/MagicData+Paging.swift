import SQLiteCore

extension MagicData {
  /// Fetches a page of objects, blocking the thread.
  ///
  ///     var position: PagePosition<Track>?
  ///     repeat {
  ///       let page = try magic.page(of: Track.self, after: position, orderedBy: [.ascending(\.$name)], limit: 50)
  ///       for track in page.objects { … }
  ///       position = page.end
  ///     } while …
  ///
  /// A page begins behind a place and not behind a number of objects: with an index on the sort keys it costs the
  /// same wherever it is, and objects that come or go between two calls make none be left out or come twice. One
  /// whose sort keys change meanwhile is met where it is then. Objects that are equal in all sort keys come in
  /// the order in which they were first saved, that of their Int primary values; nil comes before all others.
  ///
  /// - Parameters:
  ///   - type: The objects' type.
  ///   - position: The ``ObjectPage/end`` of the page before, or nil for the first page.
  ///   - filter: The condition that they fulfil, the same for all pages.
  ///   - order: The sort keys, the most significant first, the same for all pages.
  ///   - limit: The most objects to fetch, at least 1.
  /// - Throws: `SQLiteError` with `ResultCode.range` for a limit below 1, with `ResultCode.misuse` for a
  ///   position of another order; ``MagicError``.
  public func page<Object: MagicObject>(
    of type: Object.Type, after position: PagePosition<Object>? = nil,
    where filter: Filter<Object>? = nil, orderedBy order: [SortKey<Object>] = [], limit: Int
  ) throws -> ObjectPage<Object> {
    let query = try PageQuery(self, after: position, filter, order, limit: limit)
    return try query.page(reading(plan(type)) { try query.find($0) })
  }

  /// As ``page(of:after:where:orderedBy:limit:)``, without blocking the task. Throws `CancellationError` too.
  nonisolated(nonsending) public func page<Object: MagicObject>(
    of type: Object.Type, after position: PagePosition<Object>? = nil,
    where filter: Filter<Object>? = nil, orderedBy order: [SortKey<Object>] = [], limit: Int
  ) async throws -> ObjectPage<Object> {
    let query = try await making {
      try PageQuery(self, after: position, filter, order, limit: limit)
    }
    return try query.page(try await reading(plan(type)) { try query.find($0) })
  }

  /// Fetches the page behind an object as it is in the store now, blocking the thread.
  ///
  ///     let next = try magic.page(after: lastSeen, orderedBy: [.descending(\.$date)], limit: 50)
  ///
  /// - Parameters:
  ///   - object: An object that is in the store, whether the filter holds for it or not.
  ///   - filter: The condition that the objects fulfil.
  ///   - order: The sort keys, the most significant first.
  ///   - limit: The most objects to fetch, at least 1.
  /// - Throws: ``MagicError/notSaved(type:)`` if the object is not there any more: the position of a page is known
  ///   all the same, for `page(of:after:where:orderedBy:limit:)`; else as that.
  public func page<Object: MagicObject>(
    after object: Object, where filter: Filter<Object>? = nil,
    orderedBy order: [SortKey<Object>] = [], limit: Int
  ) throws -> ObjectPage<Object> {
    let query = try PageQuery<Object>(self, after: nil, filter, order, limit: limit)
    let key = try savedKey(of: object)
    return try query.page(reading(plan(Object.self)) { try query.find($0, afterRow: key) })
  }

  /// As ``page(after:where:orderedBy:limit:)``, without blocking the task. Throws `CancellationError` too.
  nonisolated(nonsending) public func page<Object: MagicObject>(
    after object: Object, where filter: Filter<Object>? = nil,
    orderedBy order: [SortKey<Object>] = [], limit: Int
  ) async throws -> ObjectPage<Object> {
    let query = try await making {
      try PageQuery<Object>(self, after: nil, filter, order, limit: limit)
    }
    let key = try savedKey(of: object)
    return try query.page(
      try await reading(plan(Object.self)) { try query.find($0, afterRow: key) })
  }

  private func savedKey<Object: MagicObject>(of object: Object) throws -> Int64 {
    guard let key = object.zIndex(in: identity) else {
      throw MagicError.notSaved(type: "\(Object.self)")
    }
    return key
  }
}

extension PageQuery {
  /// Reads the page behind the object in a row.
  fileprivate func find(_ connection: Connection, afterRow key: Int64) throws -> Found {
    try starting(after: position(ofRow: key, connection)).find(connection)
  }
}

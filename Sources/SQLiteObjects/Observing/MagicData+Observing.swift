public import SQLiteCore

extension MagicData {
  /// Returns a sequence that reports commits that change objects of a type, or their links. It
  /// fetches nothing.
  ///
  ///     for try await _ in magic.changes(of: Person.self) { … }
  ///
  /// A commit by a store on this path in this process is reported immediately. A commit by another
  /// process is reported within a second, whatever it changes. Several commits may be reported as
  /// one, and the last one is never missed. Every commit after this call is reported, even if the
  /// loop starts later. A write that runs during the call, and a `restore`, are reported whatever
  /// they change. The sequence supports one loop and ends when the loop's task is cancelled.
  ///
  /// - Parameter type: The type of the objects.
  /// - Returns: The sequence. Its iterator throws ``MagicError/closed`` if the store was closed,
  ///   an error that states the reason if the type can't be stored, and `SQLiteError` if other
  ///   processes' commits can't be watched.
  public func changes<Object: MagicObject>(of type: Object.Type) -> ObjectChanges<Object> {
    ObjectChanges(self)
  }

  /// Returns a sequence of the results of a query. It fetches the objects, and fetches them again
  /// after each commit that may change the result: the matching objects, their order, or anything
  /// that is loaded with them.
  ///
  ///     for try await adults in magic.observe(Person.where(\.$age >= 18)) { … }
  ///
  /// Content that isn't loaded with the objects, such as that of an ``AsyncMagical`` or a
  /// ``ReverseMagicValue``, isn't observed. `differences()` adds the differences from the previous
  /// result.
  ///
  /// A commit that changes no matching object is cheap if the objects have no relations and the
  /// filter only compares properties with values. The database isn't queried then, and the cost
  /// doesn't depend on the size of the result, unless the commit changes more than 256 KiB of rows.
  /// In all other respects, this works like ``observe(_:)-((MagicData)->Result)``.
  ///
  /// - Parameter query: The query.
  /// - Returns: A sequence of results. Its iterator throws the errors of the fetches, for example
  ///   if the store was closed.
  public func observe<Object: MagicObject>(_ query: Query<Object>) -> ObservedResults<[Object]> {
    observe(query.objects)
  }

  /// Returns a sequence of the results of a request. It fetches the result, and fetches it again
  /// after each commit that may change it. Equal results aren't repeated. Works like
  /// ``observe(_:)-(Query<Object>)``.
  ///
  ///     for try await count in magic.observe(Order.where(\.$isPaid == false).count) { … }
  ///
  /// - Parameter request: A request created from a ``Query``.
  /// - Returns: A sequence of results. Its iterator throws the errors of the fetches, for example
  ///   if the store was closed.
  public func observe<Result>(_ request: Request<Result>) -> ObservedResults<Result> {
    ObservedResults(of: database, condition(of: request)) { observation in
      let prepared = try await self.preparingQuery { try request.prepare(self) }
      return try await self.read(prepared.plan) { connection in
        try observation.take(
          connection,
          comparing: { prepared.identifiesObjects ? ObservedList(before: $0, after: $1) : nil }
        ) {
          var print: ResultFingerprint? = ResultFingerprint()
          let make = try prepared.read(connection, &print)
          return (print ?? ResultFingerprint(), make)
        }
      }
    }
  }

  /// Returns a sequence of the results of a closure with several fetches. It runs the closure on
  /// one snapshot, and runs it again after each commit that may change a result.
  ///
  ///     let numbers = magic.observe { magic in
  ///       [try magic.count(of: Order.self), try magic.count(of: Order.self, where: \.$isPaid == true)]
  ///     }
  ///     for try await number in numbers { … }
  ///
  /// The first result arrives immediately, and equal results aren't repeated. `body` runs again
  /// after a commit that changes a table that it has read: immediately for a store on this path in
  /// this process, and within a second for another process. Several commits may be reported as one,
  /// and the last state is never missed. If your loop is slow, intermediate results are skipped,
  /// and only one result occupies memory. The loop waits while the database is suspended, and
  /// during a write that takes longer than `Database.Options.accessTimeout`.
  ///
  /// Each loop is independent. It ends when its task is cancelled, or when `body` throws, for
  /// example because the store was closed.
  ///
  /// - Parameter body: A closure with the fetches, as blocking calls. It runs on a thread of the
  ///   database. Calls that save or remove throw `SQLiteError` with `ResultCode.misuse`.
  /// - Returns: A sequence of results. Its iterator throws the errors of `body`,
  ///   ``MagicError/closed`` if the store was closed, and `SQLiteError` if the database can't be
  ///   read.
  public func observe<Result: Equatable & Sendable>(
    _ body: @escaping @Sendable (MagicData) throws -> Result
  ) -> ObservedResults<Result> {
    ObservedResults(of: database) { observation in
      try await self.read(nil) { connection in
        try observation.take(connection) {
          let result = try body(self)
          return (result, { result })
        }
      }
    }
  }

  /// Returns the test of whether a changed row can affect the result of a request, or nil if the
  /// result doesn't depend only on the rows that match a filter.
  private func condition<Result>(of request: Request<Result>) -> ChangeTest? {
    // Doesn't wait for the database, because the caller may be on the main actor. A filter on
    // related objects is not a condition on single rows anyway. If the request is invalid, fetching
    // it throws the error.
    let prepared = try? ExpressionSQL.$mayInspectTables.withValue(false) {
      try request.prepare(self)
    }
    guard let prepared, let filter = prepared.filter else { return nil }
    return RowCondition(filter, on: prepared.plan, in: self)?.test
  }

  /// Returns the lowercased names of the tables that a type uses: those of its objects, their
  /// full-text index, their links and their assets.
  fileprivate func tables<Object: MagicObject>(of type: Object.Type) throws -> Set<String> {
    let plan = try plan(type)
    var names = plan.claims.map(\.table)
    if plan.properties.contains(where: \.role.isAsset) { names.append("magicdata_asset") }
    return Set(names.map(asciiLowercased))
  }
}

/// An asynchronous sequence that reports commits that change objects of a type, created by
/// ``MagicData/changes(of:)``. An element has no content, and may stand for several commits.
public struct ObjectChanges<Object: MagicObject>: AsyncSequence, Sendable {
  private let store: MagicData
  private let signal = ChangeSignal()
  private let failure: (any Error)?

  init(_ store: MagicData) {
    self.store = store
    do {
      signal.subscribe(to: try store.tables(of: Object.self), of: store.database)
      failure = nil
    } catch {
      failure = error
    }
  }

  /// The iterator, which waits for commits.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let changes: ObjectChanges

    /// Waits for the next commit that changes objects of the type. Returns immediately if there has
    /// been one since the previous call or, in the first call, since the sequence was created.
    ///
    /// - Returns: An empty value for a commit, or nil if the task was cancelled.
    /// - Throws: ``MagicError/closed`` if the store was closed, an error that states the reason
    ///   if the type can't be stored, or `SQLiteError` if the commits of other processes can't be
    ///   watched.
    nonisolated(nonsending) public mutating func next() async throws -> Void? {
      if let failure = changes.failure { throw failure }
      try changes.checkOpen()
      guard try await changes.signal.wait() else { return nil }
      try changes.checkOpen()
      return ()
    }
  }

  /// Creates an iterator that waits for the next commit.
  public func makeAsyncIterator() -> Iterator { Iterator(changes: self) }

  /// Throws ``MagicError/closed`` if the database is closed, because no more commits are reported
  /// then.
  fileprivate func checkOpen() throws(MagicError) {
    // A fetch in the loop would throw the same error.
    if store.database.isClosed { throw MagicError.closed }
  }
}

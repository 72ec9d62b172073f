public import SQLiteCore

extension MagicData {
  /// Reports commits that change objects of a type, or their links, without fetching anything.
  ///
  ///     for try await _ in magic.changes(of: Person.self) { … }
  ///
  /// A commit by a store on this path in this process is reported at once. A commit by another process is reported
  /// within a second, whatever it changes. Several commits may be reported as one, and the last one is never missed.
  /// Every commit after this call is reported, even if the loop starts later. A write that runs during the call, and a
  /// `restore`, are reported whatever they change. The sequence serves one loop and ends with its task.
  ///
  /// - Parameter type: The objects' type.
  public func changes<Object: MagicObject>(of type: Object.Type) -> ObjectChanges<Object> {
    ObjectChanges(self)
  }

  /// Fetches the objects of a query, and fetches them again after each commit that changes one of them or what it
  /// references.
  ///
  ///     for try await adults in magic.observe(Person.where(\.$age >= 18)) { … }
  ///
  /// Content that isn't loaded with the objects, of an ``AsyncMagical`` or a ``ReverseMagicValue``, isn't observed.
  /// `differences()` returns the differences between two results. A commit costs the same whatever the
  /// size of the result if the objects reference no others, if the filter only compares properties with values, and if no
  /// changed object matches it; unless more than 256 KiB of rows have changed, the database isn't queried. Otherwise as
  /// ``observe(_:)-((MagicData)->Result)``.
  ///
  /// - Parameter query: The objects.
  public func observe<Object: MagicObject>(_ query: Query<Object>) -> ObservedResults<[Object]> {
    observe(query.objects)
  }

  /// Fetches the result of a request, and fetches it again after each commit that changes it. Like
  /// ``observe(_:)-(Query<Object>)``.
  ///
  ///     for try await count in magic.observe(Order.where(\.$isPaid == false).count) { … }
  ///
  /// - Parameter request: A request that was made from a ``Query``.
  public func observe<Result>(_ request: Request<Result>) -> ObservedResults<Result> {
    ObservedResults(of: database, condition(of: request)) { observation in
      let prepared = try await self.making { try request.prepare(self) }
      return try await self.read(prepared.plan) { connection in
        try observation.take(
          connection,
          comparing: { prepared.identifiesObjects ? ObservedList(before: $0, after: $1) : nil }
        ) {
          var print: ResultPrint? = ResultPrint()
          let make = try prepared.read(connection, &print)
          return (print ?? ResultPrint(), make)
        }
      }
    }
  }

  /// Runs several fetches on one snapshot, and runs them again after each commit that changes their results.
  ///
  ///     let numbers = magic.observe { magic in
  ///       [try magic.count(of: Order.self), try magic.count(of: Order.self, where: \.$isPaid == true)]
  ///     }
  ///     for try await number in numbers { … }
  ///
  /// The first result arrives at once, and equal results aren't repeated. `body` runs again after a commit that changes a
  /// table that it has read: at once for a store on this path in this process, and within a second for another process.
  /// Several commits may be reported as one, and the last state is never missed. A slow reader costs the memory of one
  /// result. The loop waits while the database is suspended, and during a write that takes longer than
  /// `Database.Options.accessTimeout`. Each loop is independent. It ends with its task, or when a fetch throws, for
  /// example because the store was closed.
  ///
  /// - Parameter body: The fetches, as blocking calls. It runs on a thread of the database. Calls that save or remove
  ///   throw.
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

  /// The filter of a request as a test of single rows, if the result depends on nothing else.
  private func condition<Result>(of request: Request<Result>) -> ChangeTest? {
    // The caller may be on the main actor, so it doesn't wait for the database: a filter on related objects is no
    // condition on single rows. An error in the request is thrown when it is fetched.
    let prepared = try? ExpressionSQL.$mayLookAtTables.withValue(false) {
      try request.prepare(self)
    }
    guard let prepared, let filter = prepared.filter else { return nil }
    return RowCondition(filter, on: prepared.plan, in: self)?.test
  }

  /// The names of the tables that hold a type's objects, in lower case.
  ///
  /// - Parameter type: The objects' type.
  fileprivate func tables<Object: MagicObject>(of type: Object.Type) throws -> Set<String> {
    let plan = try plan(type)
    var names = plan.claims.map(\.table)
    if plan.properties.contains(where: \.role.isAsset) { names.append("magicdata_asset") }
    return Set(names.map(asciiLowercased))
  }
}

/// The moments after commits that touched the objects of a type: ``MagicData/changes(of:)``.
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

  /// Waits for commits.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let changes: ObjectChanges

    /// Waits for the next commit, or returns at once if there was one since the last call.
    ///
    /// - Returns: Nil once the task is cancelled.
    /// - Throws: ``MagicError``, such as ``MagicError/closed``, or `SQLiteError`.
    nonisolated(nonsending) public mutating func next() async throws -> Void? {
      if let failure = changes.failure { throw failure }
      try changes.checkOpen()
      guard try await changes.signal.wait() else { return nil }
      try changes.checkOpen()
      return ()
    }
  }

  /// Begins to wait.
  public func makeAsyncIterator() -> Iterator { Iterator(changes: self) }

  /// Throws if the database was closed: there are no more changes then.
  fileprivate func checkOpen() throws(MagicError) {
    // The fetch that follows a change says the same.
    if store.database.isClosed { throw MagicError.closed }
  }
}

import SQLiteCore

extension MagicData {
  /// Tells of each commit that touches objects of a type, or their links.
  ///
  ///     for try await _ in magic.changes(of: Person.self) { … }
  ///
  /// Commits of any store on this path in this process are told at once, those of other processes
  /// within a second, then without knowing what they touched. Several may be told as one; the last is
  /// never missed. What commits after this call is told, also if the loop begins later; a write that
  /// runs during the call is told when it ends, whatever it touches. So is a `restore`. The sequence is
  /// for one loop, and ends with its task.
  ///
  /// - Parameter type: The objects' type.
  public func changes<Object: MagicObject>(of type: Object.Type) -> ObjectChanges<Object> {
    ObjectChanges(self)
  }

  /// Fetches objects, and fetches them anew after each commit that has changed them or what they lead to.
  ///
  ///     for try await adults in magic.observe(Person.self, where: \.$age >= 18) { … }
  ///
  /// Content that is left in the store, behind an ``AsyncMagical`` or a ``ReverseMagicValue``, is not a
  /// part of the objects here. ``ObservedResults/differences()`` tells what has changed between two
  /// results. If the objects lead to no others, and the filter only compares properties with values, a
  /// commit that changes no object which fulfils it costs the same whatever the size of the result: the
  /// database is not asked, unless more than 256 KiB of rows have changed. Else as ``observe(_:)``.
  ///
  /// - Parameters:
  ///   - type: The objects' type.
  ///   - filter: What they have in common.
  ///   - order: What they are sorted by.
  ///   - limit: The most objects to fetch.
  ///   - offset: How many to pass over first.
  public func observe<Object: MagicObject>(
    _ type: Object.Type, where filter: Filter<Object>? = nil,
    orderedBy order: [SortKey<Object>] = [], limit: Int? = nil, offset: Int = 0
  ) -> ObservedResults<[Object]> {
    ObservedResults(self, condition(type, filter?.node, others: order.map(\.order.node))) {
      magic, observation in
      let query = try Query<Object>(magic, filter, order, limit, offset)
      return try await magic.reading(magic.plan(type)) { connection in
        try observation.take(connection) {
          let fetched = try query.fetch(connection)
          return (try ResultPrint(fetched, connection), { try query.objects(fetched) })
        }
      }
    }
  }

  /// Counts objects, and counts them anew after each commit that has changed their number.
  ///
  ///     for try await number in magic.observeCount(of: Order.self, where: \.$isPaid == false) { … }
  ///
  /// Else as ``observe(_:)``.
  ///
  /// - Parameters:
  ///   - type: The objects' type.
  ///   - filter: The condition that they fulfil.
  public func observeCount<Object: MagicObject>(
    of type: Object.Type, where filter: Filter<Object>? = nil
  ) -> ObservedResults<Int> {
    ObservedResults(self, condition(type, filter?.node)) { magic, observation in
      let query = try Query<Object>(magic, filter)
      return try await magic.reading(magic.plan(type)) { connection in
        try observation.take(connection) {
          let count = try query.count(connection)
          return (ResultPrint(values: [.integer(Int64(count))]), { count })
        }
      }
    }
  }

  /// Searches the texts of objects, and searches them anew after each commit that has changed what is found,
  /// its ranks or its marked texts.
  ///
  ///     for try await found in magic.observe(Note.self, matching: .prefix(field.text), limit: 20) { … }
  ///
  /// Else as ``observe(_:)``.
  ///
  /// - Parameters:
  ///   - type: The objects' type.
  ///   - pattern: The pattern. An empty one finds nothing.
  ///   - filter: The condition that they fulfil besides.
  ///   - marks: The marks around words that were found.
  ///   - limit: The most objects to fetch.
  ///   - offset: How many to pass over first.
  public func observe<Object: MagicObject>(
    _ type: Object.Type, matching pattern: SearchPattern, where filter: Filter<Object>? = nil,
    marks: SearchMarks = SearchMarks(), limit: Int? = nil, offset: Int = 0
  ) -> ObservedResults<[SearchResult<Object>]> {
    ObservedResults(self) { magic, observation in
      let search = try ObjectSearch<Object>(magic, pattern, filter, marks, limit, offset)
      return try await magic.reading(magic.plan(type)) { connection in
        try observation.take(connection) {
          let found = try search.find(connection)
          var print = try ResultPrint(.graph(found.graph), connection)
          print.add(found.hits)
          return (print, { try search.results(found) })
        }
      }
    }
  }

  /// Runs any fetches on one snapshot, and runs them anew after each commit that has changed what they bring.
  ///
  ///     let numbers = magic.observe { magic in
  ///       [try magic.count(of: Order.self), try magic.count(of: Order.self, where: \.$isPaid == true)]
  ///     }
  ///     for try await number in numbers { … }
  ///
  /// The first result is there at once, and none comes that is equal to the one before. A commit is seen if
  /// it touches a table that `body` has read: of any store on this path in this process at once, of other
  /// processes within a second. Several may be seen as one; the last state is never missed, and a reader that
  /// is slow costs no memory but that of one result. Where others are in the way, as a write that takes longer
  /// than `Database.Options.accessTimeout`, or while the database is suspended, the loop waits for them. Each
  /// loop is on its own. It ends with its task; what a fetch throws ends it too, as when the store was closed.
  ///
  /// - Parameter body: The fetches: the blocking calls, on a thread of the database's own. Calls that save or
  ///   remove throw.
  public func observe<Result: Equatable & Sendable>(
    _ body: @escaping @Sendable (MagicData) throws -> Result
  ) -> ObservedResults<Result> {
    ObservedResults(self) { magic, observation in
      try await magic.read { (connection: Connection) in
        try observation.take(connection, isSame: ==) { try body(magic) }
      }
    }
  }

  /// The filter of a query as a condition on single rows, if it is plain and no other row counts.
  ///
  /// - Parameter others: What the query asks besides.
  func condition<Object: MagicObject>(
    _ type: Object.Type, _ filter: QueryNode?, others: [QueryNode] = []
  ) -> RowCondition? {
    // An error of the type is thrown when it is read.
    guard let filter, let plan = try? plan(type), !plan.needsContext,
      others.allSatisfy(\.isOfOneRow)
    else { return nil }
    return RowCondition(filter, on: plan, in: self)
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
      store.watch.add(signal)
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

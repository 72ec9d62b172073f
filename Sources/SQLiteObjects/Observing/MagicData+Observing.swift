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

  /// Fetches objects, and fetches them anew after each commit that touches them or what they lead to.
  ///
  ///     for try await adults in magic.observe(Person.self, where: \.$age >= 18) { … }
  ///
  /// The first element is there at once. Commits of any store on this path in this process are seen
  /// at once, those of other processes within a second. Several may be seen as one; the last state is
  /// never missed. Where others are in the way, as a write that takes longer than
  /// ``Database/Options/accessTimeout``, or while the database is suspended, the loop waits for them.
  /// Each loop is on its own, and ends with its task.
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
  ) -> ObservedObjects<Object> {
    ObservedObjects(store: self, filter: filter, order: order, limit: limit, offset: offset)
  }

  /// The names of the tables that hold a type's objects, in lower case.
  ///
  /// - Parameters:
  ///   - type: The objects' type.
  ///   - isDeep: Whether to include the tables of the objects that they lead to.
  func tables<Object: MagicObject>(of type: Object.Type, isDeep: Bool) throws -> Set<String> {
    let plan = try plan(type)
    var names =
      try isDeep
      ? ObjectSchema(reachedFrom: [plan], self.plan).tables.map(\.definition.name)
      : plan.claims.map(\.table)
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
      signal.subscribe(to: try store.tables(of: Object.self, isDeep: false), of: store.database)
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
    /// - Throws: ``MagicError`` or ``SQLiteError``, such as when the database was closed.
    nonisolated(nonsending) public mutating func next() async throws -> Void? {
      if let failure = changes.failure { throw failure }
      return try await changes.signal.wait() ? () : nil
    }
  }

  /// Begins to wait.
  public func makeAsyncIterator() -> Iterator { Iterator(changes: self) }
}

/// The objects of a query, fetched anew after commits: ``MagicData/observe(_:where:orderedBy:limit:offset:)``.
public struct ObservedObjects<Object: MagicObject>: AsyncSequence, Sendable {
  fileprivate let store: MagicData
  fileprivate let filter: Filter<Object>?
  fileprivate let order: [SortKey<Object>]
  fileprivate let limit: Int?
  fileprivate let offset: Int

  /// Fetches the objects, and waits for commits.
  public struct Iterator: AsyncIteratorProtocol {
    private let objects: ObservedObjects
    private var signal: ChangeSignal?

    fileprivate init(_ objects: ObservedObjects) {
      self.objects = objects
    }

    /// Fetches the objects: at once the first time, later when something has changed.
    ///
    /// - Returns: Nil once the task is cancelled.
    /// - Throws: ``MagicError`` or ``SQLiteError``, such as when the database was closed.
    nonisolated(nonsending) public mutating func next() async throws -> [Object]? {
      do {
        if let signal {
          guard try await signal.wait() else { return nil }
        } else {
          signal = try objects.listen()
        }
        return try await objects.fetch()
      } catch is CancellationError {
        return nil
      }
    }
  }

  /// Begins with the objects as they are.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  private func listen() throws -> ChangeSignal {
    let signal = ChangeSignal()
    signal.subscribe(to: try store.tables(of: Object.self, isDeep: true), of: store.database)
    store.watch.add(signal)
    return signal
  }

  /// Fetches the objects, as often as it takes if others are in the way.
  nonisolated(nonsending) private func fetch() async throws -> [Object] {
    while true {
      do {
        return try await store.objects(
          of: Object.self, where: filter, orderedBy: order, limit: limit, offset: offset)
      } catch let error as SQLiteError where error.isPassing {
        try await Task.sleep(for: ForeignWatch.interval)
      }
    }
  }
}

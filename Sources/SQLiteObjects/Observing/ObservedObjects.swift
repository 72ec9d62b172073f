import SQLiteCore

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

extension MagicData {
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
}

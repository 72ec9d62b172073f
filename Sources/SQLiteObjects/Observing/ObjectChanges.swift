import SQLiteCore

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

  /// The names of the tables that hold a type's objects, in lower case.
  ///
  /// - Parameters:
  ///   - type: The objects' type.
  ///   - isDeep: Whether to include the tables of the objects that they lead to.
  func tables<Object: MagicObject>(of type: Object.Type, isDeep: Bool) throws -> Set<String> {
    let plan = try plan(type)
    var names =
      try isDeep
      ? SchemaWriter.tables(reachedFrom: [plan], self.plan).map(\.definition.name)
      : plan.claims.map(\.table)
    if plan.properties.contains(where: \.role.isAsset) { names.append("magicdata_asset") }
    return Set(names.map(asciiLowercased))
  }
}

import Synchronization

/// A test of the changed rows of one table. A commit that changes only rows of this table is
/// ignored if all of them fail the test.
package struct ChangeTest: Sendable {
  /// The lowercased name of the table.
  let table: String
  /// A closure that returns the test, or nil if every change matters. It can use the connection to
  /// look up the table's columns.
  let judge: @Sendable (Connection) throws -> (@Sendable (RowChange) -> Bool)?

  package init(
    table: String,
    judge: @escaping @Sendable (Connection) throws -> (@Sendable (RowChange) -> Bool)?
  ) {
    self.table = table
    self.judge = judge
  }
}

/// A signal that wakes a task that waits for changes. Changes that occur while no task waits are
/// combined into one signal.
package final class ChangeSignal: Sendable {
  private struct State {
    var isRaised = false
    var failure: (any Error)?
  }

  private let state = Awaited(State())
  /// The subscription to changes in this process, and the watch for commits of other processes.
  private let sources = Mutex<(Registration, ForeignWatch?)?>(nil)

  /// The tables whose changes raise the signal.
  private struct Watched {
    /// The lowercased names; nil for all tables.
    var tables: Set<String>?
    /// A counter that increases whenever `tables` may be stale.
    var version = 0
    /// A closure that returns whether the change of a row matters; nil if every change does.
    var matters: (@Sendable (RowChange) -> Bool)?
  }

  private let watched = Mutex(Watched())
  /// The maximum size, in bytes, of the changed rows of one transaction that are recorded and
  /// tested. Recording and testing delay the writing thread; running the query again doesn't.
  private static let testedByteCount = 1 << 18
  let test: ChangeTest?

  package init(_ test: ChangeTest? = nil) {
    self.test = test
  }

  /// Raises the signal after each commit that has changed, or may have changed, one of the tables,
  /// unless all changed rows fail ``test``.
  ///
  /// - Parameters:
  ///   - tables: The lowercased names of the tables. If nil, the signal watches the tables passed
  ///     to ``watch(_:_:version:)``, and all tables until that call.
  ///   - database: The database to observe.
  package func subscribe(to tables: Set<String>? = nil, of database: Database) {
    let made = database.subscribe(
      to: test == nil ? .tables : .values, tables: test.map { [$0.table] },
      atMost: Self.testedByteCount
    ) { [weak self] changes in
      guard let self else { return }
      if changes.changesSchema { return raise() }
      let known = watched.withLock { $0 }
      guard let tables = tables ?? known.tables else { return wake() }
      let touched = changes.tables.map(asciiLowercased).filter { tables.contains($0) }
      if touched.isEmpty || passes(touched, changes, known.matters) { return }
      wake()
    }
    let watch = database.foreignWatch
    sources.withLock { $0 = (made, watch) }
    watch?.add(self)
  }

  /// Returns whether it is certain that a commit has changed only rows of the test's table, and
  /// that none of these changes matters.
  private func passes(
    _ tables: [String], _ changes: CommittedChanges, _ matters: (@Sendable (RowChange) -> Bool)?
  ) -> Bool {
    guard let test, let matters, tables == [test.table], !changes.isIncomplete else { return false }
    let recorded = changes.recorded
    guard recorded.byteCount <= Self.testedByteCount else { return false }
    let isOwn = recorded.layouts.map { asciiLowercased($0.table) == test.table }
    var concerns = false
    do {
      try recorded.forEach(where: { isOwn[$0] && !concerns }) {
        if matters($0) { concerns = true }
      }
    } catch {
      return false
    }
    return !concerns
  }

  /// The version to pass to ``watch(_:_:version:)`` while the signal reacts to changes of all
  /// tables; nil if the tables to watch are already known.
  var unwatchedVersion: Int? { watched.withLock { $0.tables == nil ? $0.version : nil } }

  /// Makes the signal ignore later commits that change none of `tables`, or only rows that don't
  /// matter. Does nothing if the schema may have changed since `version` was read.
  ///
  /// - Parameters:
  ///   - tables: The lowercased names of the tables.
  ///   - matters: The test of changed rows; nil if every change matters.
  ///   - version: The value of ``unwatchedVersion`` before the tables were determined.
  func watch(
    _ tables: Set<String>, _ matters: (@Sendable (RowChange) -> Bool)?, version: Int
  ) {
    watched.withLock {
      guard $0.version == version else { return }
      $0.tables = tables
      $0.matters = matters
    }
  }

  /// Raises the signal because anything may have changed, and watches all tables again.
  func raise() {
    watched.withLock {
      $0.tables = nil
      $0.matters = nil
      $0.version += 1
    }
    wake()
  }

  private func wake() { state.change { $0.isRaised = true } }

  /// Makes the current and all later calls of ``wait()`` throw `error`.
  func fail(_ error: any Error) { state.change { $0.failure = $0.failure ?? error } }

  /// Waits until the signal is raised, and resets it.
  ///
  /// - Returns: True after the signal was raised; false if the task was cancelled.
  /// - Throws: The error passed to ``fail(_:)``.
  package func wait() async throws -> Bool {
    await state.wait { $0.isRaised || $0.failure != nil }
    if Task.isCancelled { return false }
    return try state.withLock { state in
      if let failure = state.failure { throw failure }
      defer { state.isRaised = false }
      return true
    }
  }
}

import Synchronization

/// A test of single changed rows: commits of one table that change no row which passes it don't matter.
package struct ChangeTest: Sendable {
  /// The table in lower case.
  let table: String
  /// Looks up the columns of the table, and returns the test; nil if every change matters.
  let judge: @Sendable (Connection) throws -> (@Sendable (RowChange) -> Bool)?

  package init(
    table: String,
    judge: @escaping @Sendable (Connection) throws -> (@Sendable (RowChange) -> Bool)?
  ) {
    self.table = table
    self.judge = judge
  }
}

/// Wakes a task that waits for changes. Changes while nobody waits are kept as one signal.
package final class ChangeSignal: Sendable {
  private struct State {
    var isRaised = false
    var failure: (any Error)?
  }

  private let state = Awaited(State())
  /// Keeps the news of this process and of others coming.
  private let sources = Mutex<(Registration, ForeignWatch?)?>(nil)

  /// The tables whose changes are awaited.
  private struct Watched {
    /// Nil for any.
    var tables: Set<String>?
    /// The number of times that the tables may have changed, so that others are to be watched.
    var version = 0
    /// Returns whether a change of a row matters; nil if every change does.
    var matters: (@Sendable (RowChange) -> Bool)?
  }

  private let watched = Mutex(Watched())
  /// The most bytes of a transaction's rows that are recorded for judging them and judged: both hold up the thread
  /// that writes, and asking the database anew does not.
  private static let judgedByteCount = 1 << 18
  let test: ChangeTest?

  package init(_ test: ChangeTest? = nil) {
    self.test = test
  }

  /// Raises the signal after each commit that touches one of some tables, or may have.
  ///
  /// - Parameters:
  ///   - tables: The tables; nil for those of ``watch(_:_:version:)``, until then for any.
  ///   - database: The database.
  package func subscribe(to tables: Set<String>? = nil, of database: Database) {
    let made = database.subscribe(
      to: test == nil ? .tables : .values, tables: test.map { [$0.table] },
      atMost: Self.judgedByteCount
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

  /// Returns whether a commit has only changed rows of the test's table, none of which matters.
  private func passes(
    _ tables: [String], _ changes: CommittedChanges, _ matters: (@Sendable (RowChange) -> Bool)?
  ) -> Bool {
    guard let test, let matters, tables == [test.table], !changes.isIncomplete else { return false }
    let recorded = changes.recorded
    guard recorded.byteCount <= Self.judgedByteCount else { return false }
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

  /// The number for ``watch(_:_:version:)`` if the tables to watch are not known, else nil.
  var unwatchedVersion: Int? { watched.withLock { $0.tables == nil ? $0.version : nil } }

  /// Lets commits that touch other tables pass, unless the schema may have changed since a number was asked for.
  ///
  /// - Parameters:
  ///   - tables: The tables.
  ///   - matters: The test of changed rows; nil lets no commit pass.
  ///   - version: The number.
  func watch(
    _ tables: Set<String>, _ matters: (@Sendable (RowChange) -> Bool)?, version: Int
  ) {
    watched.withLock {
      guard $0.version == version else { return }
      $0.tables = tables
      $0.matters = matters
    }
  }

  /// Raises the signal for an unknown change.
  func raise() {
    watched.withLock {
      $0.tables = nil
      $0.matters = nil
      $0.version += 1
    }
    wake()
  }

  private func wake() { state.change { $0.isRaised = true } }

  /// Ends the waiting, now and later, by an error.
  func fail(_ error: any Error) { state.change { $0.failure = $0.failure ?? error } }

  /// Waits for the signal, and takes it back.
  ///
  /// - Returns: False if the task was cancelled.
  /// - Throws: The error that the waiting was ended by.
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

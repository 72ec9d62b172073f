import SQLiteCore
import Synchronization

/// Wakes a task that waits for changes. Changes while nobody waits are kept as one signal.
final class ChangeSignal: Sendable {
  private struct State {
    var isRaised = false
    var failure: (any Error)?
  }

  private let state = Awaited(State())
  /// Keeps the news of this process coming.
  private let subscription = Mutex<ChangeSubscription?>(nil)

  /// The tables whose changes are awaited.
  private struct Watched {
    /// Nil for any.
    var tables: Set<String>?
    /// The number of times that the tables may have changed, so that others are to be watched.
    var version = 0
    /// The columns of the condition's table, if they are known.
    var layout: RowCondition.Layout?
  }

  private let watched = Mutex(Watched())
  /// The most bytes of a transaction's rows that are recorded for judging them and judged: both hold up the thread
  /// that writes, and asking the database anew does not.
  private static let judgedByteCount = 1 << 18
  /// The condition on rows without which a commit of their table passes; nil for none.
  let condition: RowCondition?

  init(_ condition: RowCondition? = nil) {
    self.condition = condition
  }

  /// Raises the signal after each commit that touches one of some tables, or may have.
  ///
  /// - Parameters:
  ///   - tables: The tables; nil for those of ``watch(_:_:version:)``, until then for any.
  ///   - database: The database.
  func subscribe(to tables: Set<String>? = nil, of database: Database) {
    let made = database.subscribe(
      to: condition == nil ? .tables : .values, tables: condition.map { [$0.table] },
      atMost: Self.judgedByteCount
    ) { [weak self] changes in
      guard let self else { return }
      if changes.changesSchema { return raise() }
      let known = watched.withLock { $0 }
      guard let tables = tables ?? known.tables else { return wake() }
      let touched = changes.tables.map(asciiLowercased).filter { tables.contains($0) }
      if touched.isEmpty || passes(touched, changes, known.layout) { return }
      wake()
    }
    subscription.withLock { $0 = made }
  }

  /// Returns whether a commit has changed rows of the condition's table only, of which none fulfils it.
  private func passes(
    _ tables: [String], _ changes: CommittedChanges, _ layout: RowCondition.Layout?
  ) -> Bool {
    guard let condition, let layout, tables == [condition.table], !changes.isIncomplete else {
      return false
    }
    let recorded = changes.recorded
    guard recorded.byteCount <= Self.judgedByteCount else { return false }
    let isOwn = recorded.layouts.map { asciiLowercased($0.table) == condition.table }
    var concerns = false
    do {
      try recorded.forEach(where: { isOwn[$0] && !concerns }) {
        if condition.mayConcern($0, layout) { concerns = true }
      }
    } catch {
      return false
    }
    return !concerns
  }

  /// The number for ``watch(_:version:)`` if the tables to watch are not known, else nil.
  var unwatchedVersion: Int? { watched.withLock { $0.tables == nil ? $0.version : nil } }

  /// Lets commits that touch other tables pass, unless the schema may have changed since a number was asked for.
  ///
  /// - Parameters:
  ///   - tables: The tables.
  ///   - layout: The columns of the condition's table; nil lets no commit of it pass.
  ///   - version: The number.
  func watch(_ tables: Set<String>, _ layout: RowCondition.Layout?, version: Int) {
    watched.withLock {
      guard $0.version == version else { return }
      $0.tables = tables
      $0.layout = layout
    }
  }

  /// Raises the signal for an unknown change.
  func raise() {
    watched.withLock {
      $0.tables = nil
      $0.layout = nil
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
  func wait() async throws -> Bool {
    await state.wait { $0.isRaised || $0.failure != nil }
    if Task.isCancelled { return false }
    return try state.withLock { state in
      if let failure = state.failure { throw failure }
      defer { state.isRaised = false }
      return true
    }
  }
}

/// Notices commits that were not made by a store's own database: other processes', and those of
/// other databases of this process.
///
/// SQLite has no message for them. While somebody listens, the connection that writes is asked twice
/// a second for its `data_version`, which its own commits leave alone. Which objects have changed is not known.
final class ForeignWatch: Sendable {
  private struct WeakSignal {
    weak var signal: ChangeSignal?
  }

  private struct Listener {
    let weak: WeakSignal
    /// The version of the last commit that it was told, nil for none.
    var version: ForeignVersion?
  }

  private struct State {
    var listeners: [Listener] = []
    /// The version that was seen last.
    var version: ForeignVersion?
    var isRunning = false
  }

  /// How long to wait between two looks, or before a read that others have kept waiting is tried again.
  static let interval = Duration.milliseconds(400)

  private let database: Database
  private let state: Mutex<State>

  /// Watches from now on.
  init(_ database: Database) {
    self.database = database
    // A database without a file is used by nobody else.
    state = Mutex(State(version: database.mayHaveOthers ? database.foreignVersionAtOnce() : nil))
  }

  /// Raises a signal after each foreign commit from now on, as long as the signal lives. Does not block.
  func add(_ signal: ChangeSignal) {
    guard database.mayHaveOthers else { return }
    // If a write is running, the version that was seen last: then earlier commits are told, too.
    let version = database.foreignVersionAtOnce()
    let mustStart = state.withLock { state in
      state.listeners.append(
        Listener(weak: WeakSignal(signal: signal), version: version ?? state.version))
      state.version = version ?? state.version
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if mustStart { start() }
  }

  private func start() {
    Task.detached { [weak self] in
      // The watch is not kept while this sleeps.
      while await self?.look() ?? false { try? await Task.sleep(for: ForeignWatch.interval) }
    }
  }

  /// Looks once, and returns false if nobody listens any more.
  private func look() async -> Bool {
    guard hasListeners else { return false }
    do {
      let version = try await database.foreignVersion()
      for signal in news(version) { signal.raise() }
    } catch let error as SQLiteError where error.isPassing || error.code.primary == .interrupt {
      // The next look tries again.
    } catch {
      end(database.namingClosure(error))
    }
    return true
  }

  /// Ends the waiting of all listeners with an error.
  func end(_ error: any Error) {
    for signal in removeListeners() { signal.fail(error) }
  }

  /// Whether anybody listens. If not, the watch ends.
  private var hasListeners: Bool {
    state.withLock { state in
      state.listeners.removeAll { $0.weak.signal == nil }
      state.isRunning = !state.listeners.isEmpty
      return state.isRunning
    }
  }

  /// The signals of those that did not know this version.
  private func news(_ version: ForeignVersion) -> [ChangeSignal] {
    state.withLock { state in
      state.version = version
      var told: [ChangeSignal] = []
      for index in state.listeners.indices where state.listeners[index].version != version {
        state.listeners[index].version = version
        if let signal = state.listeners[index].weak.signal { told.append(signal) }
      }
      return told
    }
  }

  private func removeListeners() -> [ChangeSignal] {
    let listeners = state.withLock { state in
      defer { state.listeners = [] }
      return state.listeners
    }
    return listeners.compactMap(\.weak.signal)
  }
}

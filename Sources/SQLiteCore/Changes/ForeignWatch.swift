import Synchronization

/// A watch that detects commits that a database didn't make itself, such as those of other
/// processes.
///
/// SQLite doesn't report them. While a signal listens, the watch reads the `data_version` of the
/// writer connection about twice a second. The connection's own commits don't change that number.
/// The watch can't determine which rows have changed.
final class ForeignWatch: Sendable {
  private struct WeakSignal {
    weak var signal: ChangeSignal?
  }

  private struct Listener {
    let weak: WeakSignal
    /// The file's version when the signal was last raised or, before that, when it was added; nil
    /// if unknown.
    var version: ForeignVersion?
  }

  private struct State {
    var listeners: [Listener] = []
    /// The file's version when it was last read; nil if unknown.
    var version: ForeignVersion?
    var isRunning = false
  }

  /// The time to wait between two checks, and before the retry of a read that failed only
  /// temporarily, for example because of a lock.
  static let interval = Duration.milliseconds(400)

  private let database: Database
  private let state = Mutex(State())

  fileprivate init(_ database: Database) {
    self.database = database
  }

  /// Makes the watch raise `signal` after each later commit that the database didn't make itself,
  /// as long as the signal exists. Doesn't block on other accesses.
  func add(_ signal: ChangeSignal) {
    // While a write is running, use the version that was read last. The signal may then be raised
    // for an earlier commit.
    let version = database.foreignVersionIfIdle()
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
      // The task doesn't retain the watch while it sleeps.
      while await self?.checkVersion() ?? false {
        try? await Task.sleep(for: ForeignWatch.interval)
      }
    }
  }

  /// Checks the version once. Returns false if no signal listens any more, or if the database is
  /// closed.
  private func checkVersion() async -> Bool {
    guard hasListeners else { return false }
    do {
      let version = try await database.foreignVersion()
      for signal in signalsToRaise(version) { signal.raise() }
    } catch let error as SQLiteError where error.isTransient || error.code.primary == .interrupt {
      // The next check retries.
    } catch {
      // Closing the database has already raised the signals.
      if database.isClosed { return false }
      for signal in removeListeners() { signal.fail(error) }
    }
    return true
  }

  /// Whether a signal still listens. Reading this property removes released signals, and marks the
  /// watch as stopped if none is left.
  private var hasListeners: Bool {
    state.withLock { state in
      state.listeners.removeAll { $0.weak.signal == nil }
      state.isRunning = !state.listeners.isEmpty
      return state.isRunning
    }
  }

  /// Stores a new version and returns the signals that must be raised for it.
  private func signalsToRaise(_ version: ForeignVersion) -> [ChangeSignal] {
    state.withLock { state in
      state.version = version
      var signals: [ChangeSignal] = []
      for index in state.listeners.indices where state.listeners[index].version != version {
        state.listeners[index].version = version
        if let signal = state.listeners[index].weak.signal { signals.append(signal) }
      }
      return signals
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

extension Database {
  /// A weak reference to the watch of a database. The signals retain the watch.
  struct WeakWatch {
    weak var watch: ForeignWatch?
  }

  /// The watch that all signals of this database share; nil if nothing else can change the content
  /// of the database.
  var foreignWatch: ForeignWatch? {
    guard mayHaveOthers else { return nil }
    return heldWatch.withLock { known in
      if let watch = known.watch { return watch }
      let watch = ForeignWatch(self)
      known.watch = watch
      return watch
    }
  }
}

import Synchronization

/// Notices commits that a database didn't make itself: those of other processes.
///
/// SQLite doesn't report them. While a signal listens, the `data_version` of the connection that writes is read about twice
/// a second. Its own commits don't change that number. Which rows have changed is unknown.
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
  private let state = Mutex(State())

  fileprivate init(_ database: Database) {
    self.database = database
  }

  /// Raises a signal after each foreign commit from now on, as long as the signal lives. Does not block.
  func add(_ signal: ChangeSignal) {
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
      // Closing the database has raised the signals.
      if database.isClosed { return false }
      for signal in removeListeners() { signal.fail(error) }
    }
    return true
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

extension Database {
  /// Holds the watch of a database, as long as a signal does.
  struct WeakWatch {
    weak var watch: ForeignWatch?
  }

  /// The watch for all signals of this database, or nil if nobody else can change its content.
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

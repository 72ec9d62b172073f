import SQLiteCore
import Synchronization

/// Notices commits that were not made by a store's own database: other processes', and those of
/// other databases of this process.
///
/// SQLite has no message for them. While somebody listens, the connection that writes is asked twice
/// a second for its `data_version`, which its own commits leave alone. What has changed is not known.
final class ForeignWatch: Sendable {
  private struct WeakSignal {
    weak var signal: ChangeSignal?
  }

  private struct Listener {
    let weak: WeakSignal
    /// What it knows, nil for nothing.
    var version: ForeignVersion?
  }

  private struct State {
    var listeners: [Listener] = []
    /// What was seen last.
    var version: ForeignVersion?
    var isRunning = false
  }

  /// How long to wait between two looks, or before something is tried again that others were in the way of.
  static let interval = Duration.milliseconds(400)

  private let database: Database
  private let state: Mutex<State>

  /// Watches from now on.
  init(_ database: Database) {
    self.database = database
    // A database without a file has no strangers.
    state = Mutex(State(version: database.path.flatMap { _ in database.foreignVersionAtOnce() }))
  }

  /// Raises a signal after each foreign commit from now on, as long as the signal lives. This waits for
  /// nobody.
  func add(_ signal: ChangeSignal) {
    guard database.path != nil else { return }
    // If a write is running, what was seen last: then commits from before are told, too.
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
      // The next look will tell.
    } catch {
      for signal in removeListeners() { signal.fail(error) }
    }
    return true
  }

  /// Says whether anybody listens, and ends the watch if not.
  private var hasListeners: Bool {
    state.withLock { state in
      state.listeners.removeAll { $0.weak.signal == nil }
      state.isRunning = !state.listeners.isEmpty
      return state.isRunning
    }
  }

  /// Those who did not know this version.
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

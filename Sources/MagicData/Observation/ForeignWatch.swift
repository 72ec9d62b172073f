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

  private struct State {
    var signals: [WeakSignal] = []
    var version: Int64?
    var isRunning = false
  }

  private static let interval = Duration.milliseconds(400)

  private let database: Database
  private let state = Mutex(State())

  init(_ database: Database) {
    self.database = database
  }

  /// Raises a signal after each foreign commit from now on, as long as the signal lives.
  func add(_ signal: ChangeSignal) async throws {
    // A database without a file has no strangers.
    guard database.path != nil else { return }
    // Before the listener reads its first state, so that nothing falls between.
    let version = try await currentVersion()
    let mustStart = state.withLock { state in
      if state.version == nil || state.signals.isEmpty { state.version = version }
      state.signals.append(WeakSignal(signal: signal))
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if mustStart { start() }
  }

  private func start() {
    Task.detached { [weak self] in
      while let watch = self, watch.hasListeners {
        await watch.look()
        try? await Task.sleep(for: ForeignWatch.interval)
      }
    }
  }

  private var hasListeners: Bool {
    state.withLock { state in
      state.signals.removeAll { $0.signal == nil }
      state.isRunning = !state.signals.isEmpty
      return state.isRunning
    }
  }

  private func look() async {
    do {
      let version = try await currentVersion()
      for signal in news(version) { signal.raise() }
    } catch {
      for signal in listeners() { signal.fail(error) }
    }
  }

  private func news(_ version: Int64) -> [ChangeSignal] {
    state.withLock { state in
      guard state.version != version else { return [] }
      state.version = version
      return state.signals.compactMap(\.signal)
    }
  }

  private func listeners() -> [ChangeSignal] {
    state.withLock { $0.signals.compactMap(\.signal) }
  }

  private func currentVersion() async throws -> Int64 {
    try await database.withoutTransaction {
      try $0.firstRow("PRAGMA data_version", as: Int64.self) ?? 0
    }
  }
}

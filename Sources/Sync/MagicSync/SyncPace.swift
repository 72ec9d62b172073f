import SQLiteCore

/// Wakes the loop of a ``Sync`` after commits of this process that changed synced tables.
final class SyncAlarm: Sendable {
  private let isRaised: Awaited<Bool>
  private let subscription: Registration

  init(_ database: Database, _ tables: SyncedTables) {
    let isRaised = Awaited(false)
    self.isRaised = isRaised
    subscription = database.subscribe(to: .tables) { changes in
      if changes.changesSchema || changes.tables.contains(where: tables.contains) {
        isRaised.change { $0 = true }
      }
    }
  }

  /// Waits for a commit, or until a time has passed.
  ///
  /// - Returns: Whether a commit ended the wait, or happened before it.
  /// - Throws: `CancellationError` if the task was cancelled.
  func wait(_ pause: SyncPace.Pause) async throws -> Bool {
    let isRaised = isRaised
    try await Task.sleep(for: pause.least)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { try? await Task.sleep(for: pause.most - pause.least) }
      group.addTask { await isRaised.wait { $0 } }
      await group.next()
      group.cancelAll()
    }
    try Task.checkCancellation()
    return isRaised.withLock { isRaised in
      defer { isRaised = false }
      return isRaised
    }
  }
}

/// The times between the passes of a ``Sync`` that runs continuously.
struct SyncPace {
  struct Pause: Equatable {
    /// The time that passes even if something is committed.
    let least: Duration
    let most: Duration
  }

  /// The longest time before a failed pass is repeated.
  private static let longestDelay = Duration.seconds(60)

  private let interval: Duration
  private var delay: Duration

  init(_ interval: Duration) {
    // Without limits, an interval of 0 would occupy a processor, and a clock can't represent the end
    // of a very long one.
    self.interval = min(max(interval, .milliseconds(1)), .seconds(365 * 86_400))
    delay = self.interval
  }

  /// Returns the pause after a pass. Each failure of several in a row doubles it.
  mutating func pause(hasFailed: Bool) -> Pause {
    guard hasFailed else {
      delay = interval
      // Commits in quick succession become one file.
      return Pause(least: min(interval / 5, .seconds(1)), most: interval)
    }
    delay = max(interval, min(delay * 2, Self.longestDelay))
    return Pause(least: interval, most: delay)
  }

  /// Makes the next pause as short as after the first failure.
  mutating func restart() { delay = interval }
}

import Dispatch
import SQLiteCore
import Synchronization

/// Wakes one who waits for changes; what happens while nobody waits is kept as one signal.
final class ChangeSignal: Sendable {
  private struct State {
    var isRaised = false
    var failure: (any Error)?
    var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var lastID: UInt64 = 0
  }

  private let state = Mutex(State())
  /// Keeps the news of this process coming.
  private let subscription = Mutex<ChangeSubscription?>(nil)
  /// Where tasks are resumed. A task cannot be resumed while its cancellation handlers run, and these
  /// may wait for the access that tells the news.
  private let messenger = DispatchQueue(label: "MagicData.ChangeSignal")

  /// Raises the signal after each commit that touches one of the tables, or may have.
  func subscribe(to tables: Set<String>, of database: Database) {
    let made = database.subscribe(to: .tables) { [weak self] changes in
      let isTouched =
        changes.changesSchema || changes.tables.contains { tables.contains(asciiLowercased($0)) }
      if isTouched { self?.raise() }
    }
    subscription.withLock { $0 = made }
  }

  func raise() { wake { $0.isRaised = true } }

  /// Ends the waiting, now and later, by an error.
  func fail(_ error: any Error) { wake { $0.failure = $0.failure ?? error } }

  /// Waits for the signal, and takes it back.
  ///
  /// - Returns: False if the task was cancelled.
  /// - Throws: The error that the waiting was ended by.
  func wait() async throws -> Bool {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.isRaised || state.failure != nil || Task.isCancelled { return true }
          state.waiters[id] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      // Nobody but this task: another one's lock may be waiting for this one's.
      state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
    }
    if Task.isCancelled { return false }
    return try state.withLock { state in
      if let failure = state.failure { throw failure }
      defer { state.isRaised = false }
      return true
    }
  }

  private func wake(_ change: (inout State) -> Void) {
    let waiters = state.withLock { state in
      change(&state)
      defer { state.waiters = [:] }
      return state.waiters
    }
    guard !waiters.isEmpty else { return }
    messenger.async { for waiter in waiters.values { waiter.resume() } }
  }
}

import Synchronization

/// A state whose changes tasks wait for.
package final class Awaited<State: Sendable>: Sendable {
  private struct Content {
    var state: State
    var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var lastID: UInt64 = 0
  }

  private let content: Mutex<Content>
  /// Where tasks are resumed. A task cannot be resumed while its cancellation handlers run, and these may wait
  /// for the access whose thread changes the state.
  private let worker = Worker()

  package init(_ state: State) {
    content = Mutex(Content(state: state))
  }

  /// Reads the state, or changes it so that nobody need know.
  package func withLock<Result>(
    _ body: (inout State) throws -> sending Result
  ) rethrows -> sending Result {
    try content.withLock { try body(&$0.state) }
  }

  /// Changes the state, and wakes all that wait.
  package func change(_ change: (inout State) -> Void) {
    let waiters = content.withLock { content in
      change(&content.state)
      defer { content.waiters = [:] }
      return content.waiters
    }
    guard !waiters.isEmpty else { return }
    worker.start { for waiter in waiters.values { waiter.resume() } }
  }

  /// Waits for the next change, unless the state is as wanted already, or until the task is cancelled.
  package func wait(unless isWanted: @Sendable (State) -> Bool) async {
    let id = content.withLock { content in
      content.lastID += 1
      return content.lastID
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = content.withLock { content in
          if isWanted(content.state) || Task.isCancelled { return true }
          content.waiters[id] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      // Only this task is resumed: the lock of another task may wait for that of this one.
      content.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
    }
  }
}

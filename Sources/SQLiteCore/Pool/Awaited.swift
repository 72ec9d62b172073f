import Synchronization

/// A state that is protected by a lock. Tasks can suspend until it changes.
package final class Awaited<State: Sendable>: Sendable {
  private struct Content {
    var state: State
    var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var lastID: UInt64 = 0
  }

  private let content: Mutex<Content>
  /// The worker that resumes the tasks. A task can't be resumed while its cancellation handlers
  /// run, and these may wait for the access whose thread changes the state.
  private let worker = Worker()

  package init(_ state: State) {
    content = Mutex(Content(state: state))
  }

  /// Reads or changes the state under the lock, without waking the waiting tasks.
  package func withLock<Result>(
    _ body: (inout State) throws -> sending Result
  ) rethrows -> sending Result {
    try content.withLock { try body(&$0.state) }
  }

  /// Changes the state and wakes all waiting tasks.
  package func change(_ change: (inout State) -> Void) {
    let waiters = content.withLock { content in
      change(&content.state)
      defer { content.waiters = [:] }
      return content.waiters
    }
    guard !waiters.isEmpty else { return }
    worker.start { for waiter in waiters.values { waiter.resume() } }
  }

  /// Suspends the task until the next change of the state or the cancellation of the task. Returns
  /// immediately if `isWanted` accepts the current state.
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
      // Resumes only this task: resuming another one here could deadlock with its lock.
      content.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
    }
  }
}

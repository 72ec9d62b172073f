import Synchronization

/// Work on a dedicated thread that stops when the task that waits for it is cancelled.
package final class CancellableWork: Sendable {
  private struct State {
    var isCancelled = false
    var handlers: [@Sendable () -> Void] = []
  }

  private let state = Mutex(State())

  package init() {}

  /// Throws `CancellationError` if the task has been cancelled.
  package func check() throws {
    if state.withLock({ $0.isCancelled }) { throw CancellationError() }
  }

  /// Calls `handler` when the task is cancelled. Has no effect if the task has already been
  /// cancelled.
  package func onCancel(_ handler: @escaping @Sendable () -> Void) {
    state.withLock { $0.handlers.append(handler) }
  }

  private func cancel() {
    let handlers = state.withLock { state in
      state.isCancelled = true
      return state.handlers
    }
    for handler in handlers { handler() }
  }

  /// Runs work on a thread of `worker` and suspends the task meanwhile.
  ///
  /// - Parameters:
  ///   - worker: The worker that provides the thread.
  ///   - progress: Receives the progress that `body` reports. If it throws, so does `report`.
  ///   - body: The work. It receives the `CancellableWork` and a `report` function, which throws if
  ///     the task was cancelled.
  /// - Returns: The result of `body`.
  /// - Throws: `CancellationError` if the task was cancelled; the error of `body`.
  package nonisolated(nonsending) static func run<Progress, Result: Sendable>(
    on worker: Worker, _ progress: @escaping @Sendable (Progress) throws -> Void,
    _ body:
      @escaping @Sendable (
        CancellableWork, _ report: @escaping @Sendable (Progress) throws -> Void
      ) throws -> Result
  ) async throws -> Result {
    let work = CancellableWork()
    return try await withTaskCancellationHandler {
      try await worker.run {
        do {
          return try body(work) {
            try work.check()
            try progress($0)
          }
        } catch {
          // Interrupted work may fail with various errors.
          try work.check()
          throw error
        }
      }
    } onCancel: {
      work.cancel()
    }
  }
}

import Synchronization

/// Work on a thread of its own that stops when the task that waits for it is cancelled.
package final class CancellableWork: Sendable {
  private struct State {
    var isCancelled = false
    var handlers: [@Sendable () -> Void] = []
  }

  private let state = Mutex(State())

  package init() {}

  /// Throws if the task was cancelled.
  package func check() throws {
    if state.withLock({ $0.isCancelled }) { throw CancellationError() }
  }

  /// Calls a function if the task is cancelled from now on.
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

  /// Runs work without blocking the task.
  ///
  /// - Parameters:
  ///   - worker: What runs it.
  ///   - progress: Called by the work.
  ///   - body: The work, with a function that reports its progress, and throws if the task was cancelled.
  /// - Throws: `CancellationError` if the task was cancelled, or what `body` throws.
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
          // What was interrupted says so in many ways.
          try work.check()
          throw error
        }
      }
    } onCancel: {
      work.cancel()
    }
  }
}

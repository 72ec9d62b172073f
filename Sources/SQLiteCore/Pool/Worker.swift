import Dispatch
import Synchronization

import Platform

/// Threads for work that blocks, such as SQLite and file operations. Swift's few cooperative
/// threads must not block.
///
/// Each running work item has its own serial queue, and thereby its own thread. A concurrent queue
/// would use the threads of the global queues and deadlock if all of these were blocked by work
/// that waits for it.
///
/// A queue is reused only after it has resumed the task of its last work item. A task can't be
/// resumed while its cancellation handlers run. If each connection had its own queue, a handler
/// that waits for the connection would deadlock.
package final class Worker: Sendable {
  private let idle = Mutex<[DispatchQueue]>([])
  private let capacity: Int

  /// Creates a worker that creates its queues on demand.
  ///
  /// - Parameter capacity: The maximum number of idle queues to keep for reuse.
  package init(capacity: Int = 4) {
    self.capacity = capacity
  }

  /// Starts `body` on a thread that runs nothing else until `body` returns. Doesn't wait for it.
  package func start(_ body: @escaping @Sendable () -> Void) {
    let queue =
      idle.withLock { $0.popLast() }
      ?? DispatchQueue(label: "MagicData.Worker", autoreleaseFrequency: .workItem)
    queue.async { [self] in
      body()
      idle.withLock { if $0.count < capacity { $0.append(queue) } }
    }
  }

  /// Runs `body` on a thread that can block, and suspends the task meanwhile.
  ///
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`; `CancellationError` if the task was cancelled before the call.
  package nonisolated(nonsending) func run<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try Task.checkCancellation()
    return try await withCheckedThrowingContinuation { continuation in
      start {
        // Not `resume(with:)`, which would leave a reference to the result on this thread after
        // the task has resumed.
        do {
          continuation.resume(returning: try body())
        } catch {
          continuation.resume(throwing: error)
        }
      }
    }
  }
}

/// Returns a number that identifies the current thread.
package func currentThread() -> UInt {
  #if canImport(Darwin)
    unsafe UInt(bitPattern: pthread_self())
  #else
    UInt(pthread_self())
  #endif
}

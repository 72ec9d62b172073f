import Dispatch
import Synchronization

import Platform

/// Threads for work that blocks, such as SQLite and files: Swift's own threads, of which there are few, must
/// not wait.
///
/// Each work that runs has a serial queue, which has a thread of its own; a concurrent queue would share
/// those of the global queues, and stand still when these are all blocked by works that wait for it.
///
/// A queue serves the next work only after the task of the one before has been resumed. A task cannot be
/// resumed while its cancellation handlers run: if the queue belonged to a connection, a handler that waits
/// for the connection would wait for itself.
package final class Worker: Sendable {
  private let idle = Mutex<[DispatchQueue]>([])
  private let capacity: Int

  /// - Parameter capacity: The most idle queues that are kept.
  package init(capacity: Int = 4) {
    self.capacity = capacity
  }

  /// Runs `body` on a thread that nobody else uses until it returns.
  package func start(_ body: @escaping @Sendable () -> Void) {
    let queue =
      idle.withLock { $0.popLast() }
      ?? DispatchQueue(label: "MagicData.Worker", autoreleaseFrequency: .workItem)
    queue.async { [self] in
      body()
      idle.withLock { if $0.count < capacity { $0.append(queue) } }
    }
  }

  /// Runs `body` on a thread that may wait, suspending the task.
  ///
  /// - Throws: What `body` throws, or `CancellationError` if the task was cancelled before.
  package nonisolated(nonsending) func run<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try Task.checkCancellation()
    return try await withCheckedThrowingContinuation { continuation in
      start { continuation.resume(with: Swift.Result { try body() }) }
    }
  }
}

/// A number for the running thread.
package func currentThread() -> UInt {
  #if canImport(Darwin)
    unsafe UInt(bitPattern: pthread_self())
  #else
    UInt(pthread_self())
  #endif
}

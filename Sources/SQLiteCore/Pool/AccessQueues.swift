import Dispatch
import Synchronization

/// The threads of a database's asynchronous accesses: a serial queue for each that runs.
///
/// Serial queues have threads of their own; a concurrent one would share those of the global queues,
/// and stand still when these are all blocked by accesses that wait for it.
///
/// A queue serves the next access only after the task of the one before has been resumed. A task
/// cannot be resumed while its cancellation handlers run; were the queue that of a place, a handler
/// that waits for the place would wait for itself.
final class AccessQueues: Sendable {
  private let idle = Mutex<[DispatchQueue]>([])
  private let capacity: Int

  /// - Parameter capacity: The most idle queues that are kept.
  init(capacity: Int) {
    self.capacity = capacity
  }

  /// Runs `body` on a thread that nobody else uses until it returns.
  func run(_ body: @escaping @Sendable () -> Void) {
    let queue =
      idle.withLock { $0.popLast() } ?? DispatchQueue(label: "MagicData.Database.access")
    queue.async { [self] in
      body()
      idle.withLock { if $0.count < capacity { $0.append(queue) } }
    }
  }
}

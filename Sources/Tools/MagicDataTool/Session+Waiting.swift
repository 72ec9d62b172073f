import Dispatch
import Synchronization

extension Session {
  /// Runs an asynchronous operation, and blocks the thread until it ends. An interruption cancels
  /// it.
  ///
  /// - Parameters:
  ///   - body: The operation.
  ///   - meanwhile: A closure that is called on this thread several times a second. If it throws,
  ///     the operation is cancelled.
  /// - Throws: The error of `body` or of `meanwhile`; `Interrupted` after an interruption.
  func waiting<Result: Sendable>(
    _ body: @escaping @Sendable () async throws -> Result, meanwhile: () throws -> Void = {}
  ) throws -> Result {
    let outcome = Mutex<Swift.Result<Result, any Error>?>(nil)
    let end = DispatchSemaphore(value: 0)
    let task = Task(executorPreference: QueueExecutor()) {
      let result: Swift.Result<Result, any Error>
      do {
        result = .success(try await body())
      } catch {
        result = .failure(error)
      }
      outcome.withLock { $0 = result }
      end.signal()
    }
    var failure: (any Error)?
    while end.wait(timeout: .now() + .milliseconds(50)) == .timedOut {
      if interruption.isRaised { task.cancel() }
      guard failure == nil else { continue }
      do {
        try meanwhile()
      } catch {
        failure = error
        task.cancel()
      }
    }
    if let failure { throw failure }
    try interruption.check()
    try meanwhile()
    return try outcome.withLock { try $0?.get() } ?? { throw Interrupted() }()
  }
}

/// Runs tasks on private threads. The threads that tasks usually share may all be blocked by callers
/// that wait for a task.
private final class QueueExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "magicdata", attributes: .concurrent)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

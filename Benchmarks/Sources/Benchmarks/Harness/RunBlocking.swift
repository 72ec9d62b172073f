import Foundation
import Synchronization

/// Runs asynchronous work and blocks until it ends. Must not be called on a thread of Swift's
/// concurrency pool.
func runBlocking<Output: Sendable>(
  _ work: @escaping @Sendable () async throws -> Output
) throws -> Output {
  let done = DispatchSemaphore(value: 0)
  let stored = Mutex<Result<Output, any Error>?>(nil)
  Task.detached {
    let result: Result<Output, any Error>
    do { result = .success(try await work()) } catch { result = .failure(error) }
    stored.withLock { $0 = result }
    done.signal()
  }
  done.wait()
  guard let result = stored.withLock({ $0 }) else { throw Failure("the work returned no result") }
  return try result.get()
}

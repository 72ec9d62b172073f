import Foundation
import Synchronization

/// Runs `body` on a new thread and waits until it finishes. Rethrows its error.
func onAnotherThread(_ body: @escaping @Sendable () throws -> Void) throws {
  let outcome = Mutex<(any Error)?>(nil)
  let done = DispatchSemaphore(value: 0)
  Thread.detachNewThread {
    do {
      try body()
    } catch {
      outcome.withLock { $0 = error }
    }
    done.signal()
  }
  done.wait()
  if let error = outcome.withLock({ $0 }) { throw error }
}

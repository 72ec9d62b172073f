import Foundation
import Synchronization

/// Runs `body` on a thread of its own, and waits for it.
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

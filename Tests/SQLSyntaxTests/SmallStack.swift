import Foundation
import Synchronization

/// Runs `body` on a thread with 512 KiB of stack, as Apple's threads have it.
func onSmallStack(_ body: @escaping @Sendable () throws -> Void) throws {
  let result = Mutex<Result<Void, any Error>?>(nil)
  let done = DispatchSemaphore(value: 0)
  let thread = Thread {
    let outcome = Result { try body() }
    result.withLock { $0 = outcome }
    done.signal()
  }
  thread.stackSize = 512 << 10
  thread.start()
  done.wait()
  try result.withLock { try $0?.get() }
}

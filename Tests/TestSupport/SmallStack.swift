import Foundation
import Synchronization

/// Returns what `body` returns on a thread with little stack: 512 KiB, as Apple's threads have it, unless it is told
/// otherwise.
///
/// Code made for a sanitizer needs more: `MAGICDATA_TEST_STACK` is another size in KiB.
package func onSmallStack<Value: Sendable>(
  kibibytes: Int = 512, _ body: @escaping @Sendable () throws -> Value
) throws -> Value {
  let result = Mutex<Result<Value, any Error>>(.failure(CancellationError()))
  let done = DispatchSemaphore(value: 0)
  let thread = Thread {
    let outcome = Result { try body() }
    result.withLock { $0 = outcome }
    done.signal()
  }
  let size = ProcessInfo.processInfo.environment["MAGICDATA_TEST_STACK"].flatMap { Int($0) }
  thread.stackSize = (size ?? kibibytes) << 10
  thread.start()
  done.wait()
  return try result.withLock { $0 }.get()
}

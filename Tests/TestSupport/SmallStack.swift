import Foundation
import Synchronization

/// Runs `body` on a thread with a small stack and returns its result. The default, 512 KiB, is the
/// stack of secondary threads on Apple platforms.
///
/// Code that is instrumented by a sanitizer needs more: `MAGICDATA_TEST_STACK` sets another size in
/// KiB.
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

import CSQLite

import Platform

/// Waits for the lock of another connection, of this process or of another one.
///
/// SQLite asks it again and again, on the thread that runs the statement, instead of failing with
/// ``ResultCode/busy``. The wait ends with the lock, with the timeout, or with the access.
final class BusyHandler {
  /// How long to wait.
  var timeout: Duration
  private let interruption: Interruption
  /// When the present wait began.
  private var waitingSince: Moment?

  init(timeout: Duration, _ interruption: Interruption) {
    self.timeout = timeout
    self.interruption = interruption
  }

  /// Lets a connection wait by this (`sqlite3_busy_handler`). The caller keeps it alive.
  func install(on handle: ConnectionHandle) {
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe sqlite3_busy_handler(handle.pointer, busy, context)
  }

  /// Returns whether to try once more for the lock, after a pause of 1 to 10 ms.
  ///
  /// The lock has no queue: of several connections it goes to the one that asks just when it is free. One
  /// that asks only each 100 ms, as SQLite does, may find it taken until its timeout by others that write
  /// without a pause.
  fileprivate func waitForLock(attempt: Int32) -> Bool {
    if interruption.place == .task { _ = interruption.giveUp() }
    let now = Moment.now
    if attempt == 0 || waitingSince == nil { waitingSince = now }
    guard interruption.reason == nil, let waitingSince, now - waitingSince < timeout else {
      return false
    }
    usleep(UInt32(min(10_000, 1_000 << min(attempt, 4))))
    return true
  }
}

/// Tries again for a lock by a result other than 0.
private func busy(context: UnsafeMutableRawPointer?, attempt: Int32) -> Int32 {
  guard let context = unsafe context else { return 0 }
  let handler = unsafe Unmanaged<BusyHandler>.fromOpaque(context).takeUnretainedValue()
  return handler.waitForLock(attempt: attempt) ? 1 : 0
}

import CSQLite

import Platform

/// A handler that waits while another connection, in this or another process, holds a lock.
///
/// Instead of failing with ``ResultCode/busy``, SQLite calls the handler repeatedly on the
/// statement's thread. The wait ends when the lock is free, at the timeout, or when the access must
/// end.
final class BusyHandler {
  /// The maximum time to wait for a lock.
  var timeout: Duration
  private let interruption: Interruption
  /// The time at which the last wait began; nil before the first one.
  private var waitingSince: Moment?

  init(timeout: Duration, _ interruption: Interruption) {
    self.timeout = timeout
    self.interruption = interruption
  }

  /// Installs this handler on a connection (`sqlite3_busy_handler`). SQLite doesn't retain this
  /// object, so the connection must.
  func install(on handle: ConnectionHandle) {
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe sqlite3_busy_handler(handle.pointer, busy, context)
  }

  /// Pauses for 1 to 10 ms and returns true, so that SQLite tries again to get the lock. Returns
  /// false without a pause if the timeout has passed or the access must end.
  ///
  /// The pauses are short because locks have no queue: a free lock goes to the first connection
  /// that tries. SQLite's own handler pauses for up to 100 ms. With such pauses, a connection may
  /// time out without getting the lock while other connections write continuously.
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

/// The C callback that SQLite calls while another connection holds a lock. A nonzero result makes
/// SQLite try again.
private func busy(context: UnsafeMutableRawPointer?, attempt: Int32) -> Int32 {
  guard let context = unsafe context else { return 0 }
  let handler = unsafe Unmanaged<BusyHandler>.fromOpaque(context).takeUnretainedValue()
  return handler.waitForLock(attempt: attempt) ? 1 : 0
}

import CSQLite
import Synchronization

import Platform

/// A request, from any thread, that one access end soon.
final class Cancellation: Sendable {
  /// The origin of the request.
  enum Reason: UInt8 {
    case task = 1
    case interrupt
    case suspension

    var message: String {
      switch self {
      case .task: "the task was cancelled"
      case .interrupt: "the access was interrupted"
      case .suspension: SQLiteError.suspensionMessage
      }
    }
  }

  private let requested = Atomic<UInt8>(0)
  /// The access's number in the queue, 0 before it waits. Written under the scheduler's lock.
  let ticket = Atomic<UInt64>(0)

  /// Why the access must end, if it must.
  var reason: Reason? { Reason(rawValue: requested.load(ordering: .relaxed)) }

  var isRequested: Bool { requested.load(ordering: .relaxed) != 0 }

  /// Makes the request, unless one was made before.
  func request(_ reason: Reason) {
    _ = requested.compareExchange(expected: 0, desired: reason.rawValue, ordering: .relaxed)
  }
}

/// The deadline and the cancellation of the access that runs, asked by SQLite's progress and busy handlers.
///
/// The handlers run on the thread that runs the statement, so the plain properties need no lock.
final class Interruption {
  /// How long to wait for another connection's lock.
  var busyTimeout: Duration
  /// The time at which the access must be over.
  var deadline: ContinuousClock.Instant? {
    didSet { hasDeadline = deadline != nil }
  }
  /// Spares the access without a deadline the copying of an instant (benchmark `cache`).
  private var hasDeadline = false
  /// Asked by the task that made the access.
  var cancellation: Cancellation?
  /// True while ROLLBACK runs, which must not be stopped.
  var isExempt = false
  /// When the present wait for a lock began.
  private var waitingSince: ContinuousClock.Instant?

  init(busyTimeout: Duration) {
    self.busyTimeout = busyTimeout
  }

  /// Whether the access must end now.
  @inline(__always) var isDue: Bool {
    guard cancellation?.isRequested == true || hasDeadline else { return false }
    return reason != nil
  }

  /// Why the access must end now, if it must.
  var reason: String? {
    if isExempt { return nil }
    if let cancelled = cancellation?.reason { return cancelled.message }
    if hasDeadline, let deadline, ContinuousClock.now >= deadline {
      return SQLiteError.deadlineMessage
    }
    return nil
  }

  /// Returns whether to try once more for a lock, after a pause that grows to 100 ms.
  func waitForLock(attempt: Int32) -> Bool {
    let now = ContinuousClock.now
    if attempt == 0 || waitingSince == nil { waitingSince = now }
    guard reason == nil, let waitingSince, now - waitingSince < busyTimeout else { return false }
    usleep(UInt32(min(100_000, 1_000 << min(attempt, 7))))
    return true
  }
}

/// Stops the running statement by a result other than 0 (`sqlite3_progress_handler`).
private func progress(context: UnsafeMutableRawPointer?) -> Int32 {
  guard let context = unsafe context else { return 0 }
  let interruption = unsafe Unmanaged<Interruption>.fromOpaque(context).takeUnretainedValue()
  return interruption.isDue ? 1 : 0
}

/// Tries again for a lock by a result other than 0 (`sqlite3_busy_handler`).
private func busy(context: UnsafeMutableRawPointer?, attempt: Int32) -> Int32 {
  guard let context = unsafe context else { return 0 }
  let interruption = unsafe Unmanaged<Interruption>.fromOpaque(context).takeUnretainedValue()
  return interruption.waitForLock(attempt: attempt) ? 1 : 0
}

extension Interruption {
  /// Lets this stop the statements and the waits of a connection. The caller keeps it alive.
  func install(on handle: ConnectionHandle) {
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    // A handler each 1,000 instructions costs less than the noise of a measurement.
    unsafe sqlite3_progress_handler(handle.pointer, 1_000, progress, context)
    unsafe sqlite3_busy_handler(handle.pointer, busy, context)
  }
}

/// A number for the running thread.
package func currentThread() -> UInt {
  #if canImport(Darwin)
    unsafe UInt(bitPattern: pthread_self())
  #else
    UInt(pthread_self())
  #endif
}

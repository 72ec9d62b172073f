import CSQLite

/// The deadline and the cancellation of the access that runs, asked by SQLite's progress handler and between
/// statements.
///
/// The handler runs on the thread that runs the statement, so the properties need no lock.
final class Interruption {
  /// The time at which the access must be over.
  var deadline: Moment?
  /// Asked by the task that made the access.
  var cancellation: Cancellation?
  /// True while ROLLBACK runs, which must not be stopped.
  var isExempt = false
  /// Where the access runs.
  private(set) var place = Access.Place.anywhere
  /// How often SQLite has asked since an access has begun on its task's thread.
  private var progressCount = 0

  /// Notes where the access runs that begins, or that it has ended.
  func begin(at place: Access.Place) {
    self.place = place
    progressCount = 0
  }

  /// Ends an access on its task's thread, which must not wait: it runs once more, elsewhere.
  @inline(never)
  func giveUp() -> SQLiteError {
    cancellation?.request(.length)
    return SQLiteError(.interrupt, Cancellation.Reason.length.message)
  }

  /// Returns whether the running statement must stop; asked each 1,000 instructions.
  fileprivate func mustStop() -> Bool {
    if place == .task {
      progressCount += 1
      // The instructions of former runs count too, so the first time says little.
      if progressCount > 1 { _ = giveUp() }
    }
    return isDue
  }

  /// Whether the access must end now.
  @inline(__always) var isDue: Bool {
    guard cancellation?.isRequested == true || deadline != nil else { return false }
    return reason != nil
  }

  /// Why the access must end now, if it must.
  var reason: String? {
    if isExempt { return nil }
    if let cancelled = cancellation?.reason { return cancelled.message }
    if let deadline, .now >= deadline { return SQLiteError.deadlineMessage }
    return nil
  }

  /// Lets this stop the statements of a connection (`sqlite3_progress_handler`). The caller keeps it alive.
  func install(on handle: ConnectionHandle) {
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    // A handler each 1,000 instructions costs less than the noise of a measurement.
    unsafe sqlite3_progress_handler(handle.pointer, 1_000, progress, context)
  }
}

/// Stops the running statement by a result other than 0.
private func progress(context: UnsafeMutableRawPointer?) -> Int32 {
  guard let context = unsafe context else { return 0 }
  let interruption = unsafe Unmanaged<Interruption>.fromOpaque(context).takeUnretainedValue()
  return interruption.mustStop() ? 1 : 0
}

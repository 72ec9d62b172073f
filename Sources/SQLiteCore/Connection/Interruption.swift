import CSQLite

/// The deadline and the cancellation of the running access. SQLite's progress handler checks them
/// while a statement runs, and the connection checks them between statements.
///
/// The handler runs on the statement's thread, so the properties need no lock.
final class Interruption {
  /// The time by which the access must end, or nil.
  var deadline: Moment?
  /// The cancellation of the outermost access, or nil if none is running.
  var cancellation: Cancellation?
  /// Whether the running statement, such as a ROLLBACK, must not be interrupted.
  var isExempt = false
  /// The kind of thread on which the access runs.
  private(set) var place = Access.Place.anywhere
  /// The number of progress callbacks since an access began on its task's thread.
  private var progressCount = 0

  /// Records the kind of thread on which an access begins to run, or `.anywhere` at its end.
  func begin(at place: Access.Place) {
    self.place = place
    progressCount = 0
  }

  /// Requests that an access on its task's thread end, because that thread must not block, and
  /// returns the error to throw. The access then runs again on another thread.
  @inline(never)
  func giveUp() -> SQLiteError {
    cancellation?.request(.length)
    return SQLiteError(.interrupt, Cancellation.Reason.length.message)
  }

  /// Returns whether to interrupt the running statement. Called after every 1,000 instructions of
  /// SQLite's virtual machine.
  fileprivate func mustStop() -> Bool {
    if place == .task {
      progressCount += 1
      // The count includes instructions of the statement's earlier runs, so the first callback
      // proves nothing.
      if progressCount > 1 { _ = giveUp() }
    }
    return isDue
  }

  /// Whether the access must end now.
  @inline(__always) var isDue: Bool {
    guard cancellation?.isRequested == true || deadline != nil else { return false }
    return reason != nil
  }

  /// The reason why the access must end now, or nil.
  var reason: String? {
    if isExempt { return nil }
    if let cancelled = cancellation?.reason { return cancelled.message }
    if let deadline, .now >= deadline { return SQLiteError.deadlineMessage }
    return nil
  }

  /// Installs a progress handler that interrupts the connection's statements when their access must
  /// end (`sqlite3_progress_handler`). SQLite doesn't retain this object, so the connection must.
  func install(on handle: ConnectionHandle) {
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    // The cost of a callback every 1,000 instructions is below the noise of a measurement.
    unsafe sqlite3_progress_handler(handle.pointer, 1_000, progress, context)
  }
}

/// The C callback that SQLite calls while a statement runs. A nonzero result interrupts the
/// statement.
private func progress(context: UnsafeMutableRawPointer?) -> Int32 {
  guard let context = unsafe context else { return 0 }
  let interruption = unsafe Unmanaged<Interruption>.fromOpaque(context).takeUnretainedValue()
  return interruption.mustStop() ? 1 : 0
}

import Dispatch

extension Database {
  /// Closes the database: waits for the accesses that run, refuses those that wait or come later.
  ///
  /// Without it the database is closed when its last reference goes.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if called inside an access.
  public func close() throws(SQLiteError) {
    try end(with: SQLiteError(.misuse, "the database was closed"))
  }

  /// Lets go of all file locks until ``resume()``, for an app that is sent to the background.
  ///
  /// Running accesses are interrupted and waited for; their transactions are undone. Accesses that
  /// come meanwhile throw ``ResultCode/abort``. A database in memory keeps its content.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if called inside an access.
  public func suspend() throws(SQLiteError) {
    scheduler.cancelAll()
    try end(with: SQLiteError(.abort, "the database is suspended"))
  }

  /// Ends ``suspend()``.
  public func resume() {
    scheduler.allow()
  }

  /// Stops the statements that run now, in all accesses; these throw ``ResultCode/interrupt``.
  public func interrupt() {
    scheduler.cancelAll()
  }

  private func end(with error: SQLiteError) throws(SQLiteError) {
    guard !scheduler.isHeldByThisThread else {
      throw SQLiteError(.misuse, "this cannot be called inside an access to the database")
    }
    let semaphore = DispatchSemaphore(value: 0)
    scheduler.refuse(error) { semaphore.signal() }
    semaphore.wait()
    let isClosed = error.code == .misuse
    if case .file = file.location {
      closeConnections()
    } else if isClosed {
      closeConnections()
    }
  }
}

extension Scheduler {
  /// Leaves the queue at a point in time, unless a place was found before.
  func giveUp(_ id: UInt64, at deadline: ContinuousClock.Instant) {
    let left = max(0, (deadline - .now) / .nanoseconds(1))
    DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(min(left, 1e18)))) {
      [weak self] in self?.giveUp(id, Scheduler.lateError)
    }
  }
}

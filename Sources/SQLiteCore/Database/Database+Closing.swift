import Dispatch

extension Database {
  /// Closes the database: waits for the accesses that run, refuses those that wait or come later.
  ///
  /// Without it the database is closed when its last reference goes.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if called inside an access.
  public func close() throws(SQLiteError) {
    try end(with: .closed, isClosed: true)
  }

  /// As ``close()``, without blocking the task.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if called inside an access.
  public func close() async throws(SQLiteError) {
    try await end(with: .closed, isClosed: true)
  }

  /// Whether an access was refused with `error` because the database was closed.
  package func wasClosed(_ error: any Error) -> Bool {
    isClosed && (error as? SQLiteError) == .closed
  }

  /// Whether the database was closed.
  package var isClosed: Bool { scheduler.isClosed }

  /// Throws the error of all accesses to a closed database if this one was closed.
  package func checkOpen() throws(SQLiteError) { if isClosed { throw .closed } }

  /// Lets go of all file locks until ``resume()``, for an app that is sent to the background.
  ///
  /// Running accesses are interrupted and waited for; their transactions are undone. Accesses that
  /// come meanwhile throw ``ResultCode/abort``. A database in memory keeps its content.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if called inside an access.
  public func suspend() throws(SQLiteError) {
    try checkOutside()
    scheduler.cancelAll(.suspension)
    try end(with: .suspended, isClosed: false)
  }

  /// As ``suspend()``, without blocking the task.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if called inside an access.
  public func suspend() async throws(SQLiteError) {
    try checkOutside()
    scheduler.cancelAll(.suspension)
    try await end(with: .suspended, isClosed: false)
  }

  /// Ends `suspend()`. A database that was closed stays closed.
  public func resume() {
    scheduler.allow()
  }

  /// Stops the statements that run now, in all accesses; these throw ``ResultCode/interrupt``.
  public func interrupt() {
    scheduler.cancelAll(.interrupt)
  }

  /// The number of accesses that wait for others to end.
  package var waitingAccessCount: Int { scheduler.waiterCount }

  /// The number of deadlines that are looked after for accesses that wait.
  package var pendingDeadlineCount: Int { scheduler.deadlineCount }

  private func checkOutside() throws(SQLiteError) {
    try scheduler.checkProcess()
    guard !scheduler.isHeldByThisThread else {
      throw SQLiteError(.misuse, "this cannot be called inside an access to the database")
    }
  }

  private func end(with error: SQLiteError, isClosed: Bool) throws(SQLiteError) {
    try checkOutside()
    let semaphore = DispatchSemaphore(value: 0)
    scheduler.refuse(error, isClosed: isClosed) { semaphore.signal() }
    semaphore.wait()
    didEnd(isClosed: isClosed)
  }

  private func end(with error: SQLiteError, isClosed: Bool) async throws(SQLiteError) {
    try checkOutside()
    await withCheckedContinuation { continuation in
      scheduler.refuse(error, isClosed: isClosed) { [self] in
        // Closing the last connection makes a checkpoint.
        worker.start {
          self.didEnd(isClosed: isClosed)
          continuation.resume()
        }
      }
    }
  }

  private func didEnd(isClosed: Bool) {
    defer { scheduler.ended() }
    // Those that wait for changes look again, and learn of it.
    if isClosed { shared.feed.publishClosure(of: self) }
    // A database that is not in a file would be lost.
    if isClosed || path != nil { closeConnections(updatingStatistics: isClosed) }
  }
}

extension SQLiteError {
  /// The error of all accesses to a closed database.
  fileprivate static let closed = SQLiteError(.misuse, "the database was closed")
}

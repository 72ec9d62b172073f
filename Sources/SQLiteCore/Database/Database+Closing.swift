import Dispatch

extension Database {
  /// Closes the database, and blocks the thread until running accesses have ended. Waiting and
  /// later accesses throw ``ResultCode/misuse``.
  ///
  /// A database is also closed when its last reference is released.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if called inside an access, or in a
  ///   process that was forked after the database was opened.
  public func close() throws(SQLiteError) {
    try end(with: .closed, isClosed: true)
  }

  /// Closes the database, and suspends the task until running accesses have ended. Waiting and
  /// later accesses throw ``ResultCode/misuse``.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if called inside an access, or in a
  ///   process that was forked after the database was opened.
  public func close() async throws(SQLiteError) {
    try await end(with: .closed, isClosed: true)
  }

  /// Returns whether an access threw `error` because the database was closed.
  package func wasClosed(_ error: any Error) -> Bool {
    isClosed && (error as? SQLiteError) == .closed
  }

  /// Whether the database has been closed.
  package var isClosed: Bool { scheduler.isClosed }

  /// Throws if the database has been closed.
  package func checkOpen() throws(SQLiteError) { if isClosed { throw .closed } }

  /// Releases all file locks until you call ``resume()``, for example when an app moves to the
  /// background. Blocks the thread until running accesses have ended.
  ///
  /// Running accesses are interrupted and their transactions rolled back; they throw
  /// ``ResultCode/interrupt``. Waiting and later accesses throw ``ResultCode/abort``. An in-memory
  /// database keeps its content.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if called inside an access, or in a
  ///   process that was forked after the database was opened.
  public func suspend() throws(SQLiteError) {
    try checkOutside()
    scheduler.cancelAll(.suspension)
    try end(with: .suspended, isClosed: false)
  }

  /// Releases all file locks until you call ``resume()``, and suspends the task until running
  /// accesses have ended.
  ///
  /// Running accesses are interrupted and their transactions rolled back; they throw
  /// ``ResultCode/interrupt``. Waiting and later accesses throw ``ResultCode/abort``. An in-memory
  /// database keeps its content.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if called inside an access, or in a
  ///   process that was forked after the database was opened.
  public func suspend() async throws(SQLiteError) {
    try checkOutside()
    scheduler.cancelAll(.suspension)
    try await end(with: .suspended, isClosed: false)
  }

  /// Accepts accesses again after `suspend()`. Has no effect on a closed database.
  public func resume() {
    scheduler.allow()
  }

  /// Interrupts all running accesses, which then throw ``ResultCode/interrupt`` and roll back their
  /// transactions. Waiting accesses aren't affected.
  public func interrupt() {
    scheduler.cancelAll(.interrupt)
  }

  /// The number of waiting accesses.
  package var waitingAccessCount: Int { scheduler.waiterCount }

  /// The number of waiting accesses that have a deadline.
  package var pendingDeadlineCount: Int { scheduler.deadlineCount }

  func checkOutside() throws(SQLiteError) {
    try scheduler.checkProcess()
    guard !scheduler.isHeldByThisThread else {
      throw SQLiteError(
        .misuse,
        "this cannot be called inside a read or a write of the same database; call it "
          + "afterwards")
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
        // On a worker's thread, because closing the last connection runs a checkpoint.
        worker.start {
          self.didEnd(isClosed: isClosed)
          continuation.resume()
        }
      }
    }
  }

  private func didEnd(isClosed: Bool) {
    defer { scheduler.ended() }
    // Wakes the observers, which then find the database closed.
    if isClosed { shared.feed.publishClosure(of: self) }
    // While suspended, an in-memory database stays open, as it would lose its content.
    if isClosed || path != nil { closeConnections(updatingStatistics: isClosed) }
  }
}

extension SQLiteError {
  /// The error that accesses to a closed database throw.
  fileprivate static let closed = SQLiteError(.misuse, "the database was closed")
}

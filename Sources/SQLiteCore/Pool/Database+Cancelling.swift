// How a cancelled task stops its access: it makes a request with a ``Cancellation``. A waiting
// access is removed from its queue. A running statement is stopped by SQLite's progress handler
// (``Interruption``).
extension Database {
  /// Runs `body`, and ends `access` if the task is cancelled.
  ///
  /// - Parameters:
  ///   - access: The access to end.
  ///   - task: The task's access if it can have a successor, which is then started on another
  ///     thread; otherwise nil.
  ///   - body: Begins the access and waits for its end.
  /// - Throws: `CancellationError` if the task was cancelled; the error of `body`.
  func cancelling(
    _ access: Access, _ task: TaskAccess? = nil, _ body: () async throws -> Void
  ) async throws {
    try Task.checkCancellation()
    do {
      try await withTaskCancellationHandler {
        try await body()
      } onCancel: {
        access.cancellation.request(.task)
        scheduler.giveUpCancelled(access.cancellation)
        // The thread that resumes the task waits until its handlers have run, so another thread
        // runs the successor.
        if let successor = task?.takeSuccessor() { start(successor) }
      }
    } catch let error as SQLiteError
      where error.code == .interrupt && access.cancellation.reason == .task
    {
      throw CancellationError()
    }
  }
}

// How a cancelled task stops its access: it requests so by a ``Cancellation``, which a waiting access finds in its queue,
// and a running statement in SQLite's progress handler (``Interruption``).
extension Database {
  /// Runs what a task waits in, so that cancelling the task ends its access.
  ///
  /// - Parameters:
  ///   - access: The access.
  ///   - task: The access as another one may follow it at its slot, if it may.
  ///   - body: Begins the access and waits for its end.
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
        // The thread that resumes the task waits until its handlers have run: another one goes on.
        if let successor = task?.takeSuccessor() { start(successor) }
      }
    } catch let error as SQLiteError
      where error.code == .interrupt && access.cancellation.reason == .task
    {
      throw CancellationError()
    }
  }
}

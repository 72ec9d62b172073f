import Synchronization

/// A write that may share a transaction with others, and whoever waits for its outcome.
final class GroupMember: Sendable {
  let access: Access
  /// Says whether a task waits for the outcome, or a thread.
  let isTask: Bool
  private let runAlone: @Sendable (Connection) throws -> Void
  private let runInSavepoint: @Sendable (Connection) throws -> Void
  private let answer: @Sendable ((any Error)?) -> Void

  /// - Parameters:
  ///   - access: When it must end, and by whom it is cancelled.
  ///   - isTask: Whether a task waits for the outcome.
  ///   - body: The work; it may run several times, of which only the last counts.
  ///   - deliver: Takes the outcome, once.
  init<Result: Sendable>(
    _ access: Access, isTask: Bool, _ body: @escaping @Sendable (Connection) throws -> Result,
    deliver: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void
  ) {
    let last = LastResult<Result>()
    self.access = access
    self.isTask = isTask
    runAlone = { connection in
      let result = try access.run(on: connection, body)
      last.set(result)
    }
    runInSavepoint = { connection in
      let result = try connection.savepoint {
        let result = try body(connection)
        if (result as? TransactionOutcome) != .rollback { try connection.prepareRelease() }
        return result
      }
      last.set(result)
    }
    answer = { error in
      deliver(
        Swift.Result {
          if let error { throw error }
          guard let result = last.result else {
            throw SQLiteError(.internalError, "a write was answered before it ran")
          }
          return result
        })
    }
  }

  /// Says whether it must end now, so that another run would end like the last.
  var isInterrupted: Bool {
    access.cancellation.isRequested || access.deadline.map { $0 <= .now } ?? false
  }

  /// Runs the work in a transaction of its own.
  func run(on connection: Connection) -> (any Error)? {
    error { try runAlone(connection) }
  }

  /// Runs the work in a savepoint of the transaction that is open.
  func join(_ connection: Connection) -> (any Error)? {
    error { try runInSavepoint(connection) }
  }

  /// Tells whoever waits, at the end of all runs.
  func finish(_ error: (any Error)?) {
    answer(error)
  }

  private func error(_ body: () throws -> Void) -> (any Error)? {
    do {
      try body()
      return nil
    } catch {
      return error
    }
  }
}

/// What the last run of a write returned.
private final class LastResult<Result: Sendable>: Sendable {
  private let stored = Mutex<Result?>(nil)

  var result: Result? { stored.withLock { $0 } }

  func set(_ result: Result) {
    // That of the run before goes outside the lock: it may be a user's object.
    let before = stored.withLock { stored in
      defer { stored = result }
      return stored
    }
    withExtendedLifetime(before) {}
  }
}

extension Connection {
  /// Does and asks before the end of a savepoint what a commit would do and ask.
  fileprivate func prepareRelease() throws {
    // The release itself will say so.
    guard ended == nil else { return }
    try prepareCommit()
    if let reason = interruption.reason { throw SQLiteError(.interrupt, reason) }
    // Nobody else's: those before it had none at their ends.
    if hasDeferredViolations {
      throw SQLiteError(.foreignKeyConstraint, "FOREIGN KEY constraint failed", sql: "COMMIT")
    }
  }
}

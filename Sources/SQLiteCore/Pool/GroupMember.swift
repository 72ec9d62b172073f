import Synchronization

/// The work of an access that ends on another thread than it was asked for.
protocol Work: AnyObject, Sendable {
  /// Does the work, and keeps its result for the one who waits.
  func run(on connection: Connection) throws -> TransactionOutcome
}

/// Work that keeps the result of its last run.
final class KeptWork<Result: Sendable>: Work {
  private let body: @Sendable (Connection) throws -> Result
  private let isTransaction: Bool
  private let kept = Mutex<Result?>(nil)

  /// - Parameters:
  ///   - access: The access.
  ///   - body: The work; it may run several times, of which only the last counts.
  init(_ access: Access, _ body: @escaping @Sendable (Connection) throws -> Result) {
    self.body = body
    isTransaction = access.isTransaction
  }

  func run(on connection: Connection) throws -> TransactionOutcome {
    let result = try body(connection)
    // The result of the run before goes outside the lock: it may be a user's object.
    let before = kept.withLock { kept in
      defer { kept = .some(result) }
      return kept
    }
    withExtendedLifetime(before) {}
    return isTransaction ? TransactionOutcome(of: result) : .commit
  }

  /// Returns the result.
  func result() throws(SQLiteError) -> Result {
    try kept.withLock { $0 }.made()
  }
}

/// A write that may share a transaction with others, and the one who waits for its outcome.
final class GroupMember: Sendable {
  let access: Access
  /// Whether a task waits for the outcome, or a thread.
  let isTask: Bool
  private let work: any Work
  /// Tells the one who waits, at the end of all runs.
  let finish: @Sendable ((any Error)?) -> Void

  /// - Parameters:
  ///   - access: When it must end, and by whom it is cancelled.
  ///   - isTask: Whether a task waits for the outcome.
  ///   - work: The work; it may run several times, of which only the last counts.
  ///   - finish: Takes the outcome, once.
  init(
    _ access: Access, isTask: Bool, _ work: any Work,
    finish: @escaping @Sendable ((any Error)?) -> Void
  ) {
    self.access = access
    self.isTask = isTask
    self.work = work
    self.finish = finish
  }

  /// Whether it must end now, so that another run would end like the last.
  var isInterrupted: Bool {
    access.cancellation.isRequested || access.deadline.map { $0 <= .now } ?? false
  }

  /// Runs the work in a transaction of its own.
  func run(on connection: Connection) -> (any Error)? {
    error { try access.run(on: connection) { try work.run(on: $0) } }
  }

  /// Runs the work in a savepoint of the transaction that is open.
  func join(_ connection: Connection) -> (any Error)? {
    error {
      try connection.runSavepoint {
        let outcome = try work.run(on: connection)
        if outcome == .commit { try connection.prepareRelease() }
        return outcome
      }
    }
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

extension Connection {
  /// Does and asks before the end of a savepoint what a commit would do and ask.
  fileprivate func prepareRelease() throws {
    // The release itself will say so.
    guard state.failure == nil else { return }
    try prepareCommit()
    if let reason = interruption.reason { throw SQLiteError(.interrupt, reason) }
    // Nobody else's: those before it had none at their ends.
    if hasDeferredViolations {
      throw SQLiteError(.foreignKeyConstraint, "FOREIGN KEY constraint failed", sql: "COMMIT")
    }
  }
}

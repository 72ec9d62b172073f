import Dispatch
import Synchronization

extension Database {
  /// Runs `body` as a write that may share its transaction with others, blocking the thread.
  ///
  ///     let id = try await database.writeInGroup { connection in
  ///       try connection.executeChange("INSERT INTO event (text) VALUES (\(text))").lastInsertedRowID
  ///     }
  ///
  /// Writes of this kind that wait at the same time become one transaction, in the order in which
  /// they were asked for, each behind the first in a savepoint. Each caller goes on after the common commit, with
  /// its own result or error, as if it had been alone: its changes are durable, or all undone. What
  /// one of them throws undoes nothing of the others.
  ///
  /// `body` may run up to three times, of which the last counts: if one of the writes ends the whole
  /// transaction, as an interrupted one does, or if the commit fails, the others run again. So it must have no
  /// effects but those on the connection. It runs on any thread, and must not wait for another
  /// write.
  ///
  /// ``Options/groupCommit`` says how many writes are merged and for how long. Other writes are
  /// never overtaken. Inside another write on the same thread this is a savepoint of that one, and
  /// inside a read it throws.
  ///
  /// - Parameters:
  ///   - deadline: The time at which the write must be over. A statement that still runs then is stopped.
  ///   - body: The work. The connection must not be kept.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`, or ``SQLiteError``, as `write(_:deadline:_:)` does.
  @inlinable  // As `Connection.transaction`.
  @discardableResult
  public func writeInGroup<Result: Sendable>(
    deadline: ContinuousClock.Instant? = nil,
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) throws -> Result {
    var result: Result?
    let isDone = try runInGroupAtOnce(deadline: deadline) {
      let made = try body($0)
      result = .some(made)
      return TransactionOutcome(of: made)
    }
    return isDone ? try result.made() : try waitInGroup(deadline: deadline, body)
  }

  /// As ``writeInGroup(deadline:_:)``, without blocking the task.
  ///
  /// Cancelling the task stops a running statement and undoes the task's own changes; those of a
  /// write whose `body` has ended may still be committed.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func writeInGroup<Result: Sendable>(
    deadline: ContinuousClock.Instant? = nil,
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    let access = access(.write(.immediate), deadline)
    let work = KeptWork(access, body)
    if access.author == nil {
      try await performInGroup(access, work)
    } else {
      try await perform(access, work)
    }
    return try work.result()
  }
}

extension Database {
  /// Runs a write that may share its transaction, suspending the task.
  func performInGroup(_ access: Access, _ work: any Work) async throws {
    try await cancelling(access) {
      try await withCheckedThrowingContinuation { continuation in
        let member = GroupCommitMember(access: access, isTask: true, work: work) { error in
          if let error { continuation.resume(throwing: error) } else { continuation.resume() }
        }
        self.scheduler.enter(access, member: member) { granted, _ in self.run(member, granted) }
      }
    }
  }

  /// Runs a write that may share its transaction, if nobody is before it, or else returns false.
  @usableFromInline dynamic func runInGroupAtOnce(
    deadline: ContinuousClock.Instant?, _ body: (Connection) throws -> TransactionOutcome
  ) throws -> Bool {
    let access = access(.write(.immediate), deadline)
    guard
      let grant = try scheduler.grant(.write, access.cancellation)
    else { return false }
    try run(grant, access, body)
    return true
  }

  /// Waits with a write that may share its transaction, blocking the thread.
  @usableFromInline func waitInGroup<Result: Sendable>(
    deadline: ContinuousClock.Instant?, _ body: @escaping @Sendable (Connection) throws -> Result
  ) throws -> Result {
    let access = access(.write(.immediate), deadline)
    let work = KeptWork(access, body)
    if access.author == nil {
      try waitInGroup(access, work)
    } else {
      let grant = try scheduler.enter(
        access.kind, cancellation: access.cancellation, deadline: access.deadline)
      try run(grant, access) { try work.run(on: $0) }
    }
    return try work.result()
  }

  private func waitInGroup(_ access: Access, _ work: any Work) throws {
    let semaphore = DispatchSemaphore(value: 0)
    let outcome = Mutex<(any Error)?>(nil)
    let member = GroupCommitMember(access: access, isTask: false, work: work) { error in
      outcome.withLock { $0 = error }
      semaphore.signal()
    }
    scheduler.wait(.write, access.cancellation, member: member) { granted, _ in
      self.run(member, granted)
    }
    scheduler.block(access.cancellation, on: semaphore, until: access.deadline)
    if let error = outcome.withLock({ $0 }) { throw error }
  }

  /// Runs a member that was found a slot, and those that wait behind it.
  private func run(_ member: GroupCommitMember, _ granted: Result<Int, SQLiteError>) {
    switch granted {
    case .failure(let error):
      guard member.isTask else { return member.finish(error) }
      scheduler.messenger.async { member.finish(error) }
    case .success(let slot):
      worker.start { [self] in
        scheduler.adopt(slot)
        var group = GroupCommitRun(
          member, at: slot, of: scheduler, options.groupCommit, experience,
          patience: server?.patience ?? .zero)
        run(&group, at: slot)
      }
    }
  }
}

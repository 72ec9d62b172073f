import Dispatch
import Synchronization

extension Database {
  /// Runs `body` as a write that can share its transaction with other writes. Blocks the thread.
  ///
  ///     let id = try database.writeInGroup { connection in
  ///       try connection.executeChange("INSERT INTO event (text) VALUES (\(text))").lastInsertedRowID
  ///     }
  ///
  /// Writes of this kind that wait at the same time run in one transaction, in the order of their
  /// calls. Each of them except the first runs in a savepoint. After the common commit, each caller
  /// gets the result or error of its own write, as if that write had run alone. An error of one
  /// write rolls back that write only.
  ///
  /// `body` may run up to three times, and only the last run takes effect. If one of the writes
  /// ends the whole transaction, for example because it was interrupted, or if the commit fails,
  /// the other writes run again. In a cluster, `body` also runs again if the session with the
  /// leader is lost before the commit. Therefore, `body` must have no side effects outside the
  /// connection. It may run on any thread, and must not wait for another write.
  ///
  /// ``Options/groupCommit`` configures how many writes are merged and for how long. Writes that
  /// aren't merged keep their place in the queue. Inside another write on the same thread, this
  /// method opens a savepoint of that write.
  ///
  /// - Parameters:
  ///   - deadline: The time by which the write must end, or nil to use ``Options/accessTimeout``. A
  ///     statement that is still running then is interrupted.
  ///   - body: The work, which may run several times. Don't use the connection outside the closure.
  /// - Returns: The result of the last run of `body`.
  /// - Throws: The error of `body`; ``SQLiteError``, as for `write(_:deadline:_:)`, with
  ///   ``ResultCode/misuse`` inside a read.
  @inlinable  // For the reason given at `Connection.transaction`.
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

  /// Runs `body` as a write that can share its transaction with other writes, and suspends the task
  /// meanwhile.
  ///
  /// See the blocking ``writeInGroup(deadline:_:)`` for details. Cancelling the task interrupts a
  /// running statement and rolls back this write. If `body` has already returned, its changes may
  /// still be committed.
  ///
  /// - Parameters:
  ///   - deadline: The time by which the write must end, or nil to use ``Options/accessTimeout``. A
  ///     statement that is still running then is interrupted.
  ///   - body: The work, which may run several times. Don't use the connection outside the closure.
  /// - Returns: The result of the last run of `body`.
  /// - Throws: The error of `body`; ``SQLiteError``, as for `write(_:deadline:_:)`;
  ///   `CancellationError` if the task was cancelled.
  @discardableResult
  public func writeInGroup<Result: Sendable>(
    deadline: ContinuousClock.Instant? = nil,
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    let access = access(.write(.immediate), deadline)
    let work = ResultWork(access, body)
    if access.author == nil {
      try await performInGroup(access, work)
    } else {
      try await perform(access, work)
    }
    return try work.result()
  }
}

extension Database {
  /// Runs a write that can share its transaction, and suspends the task meanwhile.
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

  /// Runs a write now and returns true if the writer connection is free and no access waits for it,
  /// or if an outer access on this thread holds it. Otherwise returns false without running `body`.
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

  /// Queues a write that can share its transaction, and blocks the thread until it has ended.
  @usableFromInline func waitInGroup<Result: Sendable>(
    deadline: ContinuousClock.Instant?, _ body: @escaping @Sendable (Connection) throws -> Result
  ) throws -> Result {
    let access = access(.write(.immediate), deadline)
    let work = ResultWork(access, body)
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

  /// Runs a member that was granted a slot, together with the members queued after it.
  private func run(_ member: GroupCommitMember, _ granted: Result<Int, SQLiteError>) {
    switch granted {
    case .failure(let error):
      guard member.isTask else { return member.finish(error) }
      scheduler.messenger.async { member.finish(error) }
    case .success(let slot):
      worker.start { [self] in
        scheduler.adopt(slot)
        var group = GroupCommitRun(
          member, at: slot, of: scheduler, options.groupCommit, groupCommitStatistics,
          patience: server?.patience ?? .zero)
        run(&group, at: slot)
      }
    }
  }
}

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
  /// they were asked for, each in a savepoint. Each caller goes on after the common commit, with
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
  ///   - deadline: When the write must have ended. A statement that still runs then is stopped.
  ///   - body: The work. The connection must not be kept.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, or ``SQLiteError``, as ``write(_:deadline:_:)`` does.
  @discardableResult
  public func writeInGroup<Result: Sendable>(
    deadline: ContinuousClock.Instant? = nil,
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) throws -> Result {
    let access = Access(
      scope: .write(.immediate), cancellation: Cancellation(),
      deadline: deadline ?? defaultDeadline)
    if let grant = try scheduler.grant(
      .write, thread: currentThread(), access.cancellation)
    {
      return try run(grant, access, body)
    }
    let semaphore = DispatchSemaphore(value: 0)
    let outcome = Mutex<Swift.Result<Result, any Error>?>(nil)
    let member = GroupMember(access, isTask: false, body) { result in
      outcome.withLock { $0 = result }
      semaphore.signal()
    }
    scheduler.wait(.write, thread: nil, access.cancellation, member: member) {
      self.run(member, $0)
    }
    scheduler.block(access.cancellation, on: semaphore, until: access.deadline)
    guard let outcome = outcome.withLock({ $0 }) else {
      throw SQLiteError(.internalError, "a write was woken without an outcome")
    }
    return try outcome.get()
  }

  /// As the blocking ``writeInGroup(deadline:_:)``, suspending the task.
  ///
  /// Cancelling the task stops a running statement and undoes the task's own changes; those of a
  /// write whose `body` has ended may still be committed.
  ///
  /// - Parameters:
  ///   - deadline: When the write must have ended.
  ///   - body: The work; it may run more than once. The connection must not be kept.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, ``SQLiteError``, or `CancellationError`.
  @discardableResult
  public func writeInGroup<Result: Sendable>(
    deadline: ContinuousClock.Instant? = nil,
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    try await performInGroup(
      Access(
        scope: .write(.immediate), cancellation: Cancellation(),
        deadline: deadline ?? defaultDeadline), body)
  }

  func performInGroup<Result: Sendable>(
    _ access: Access, _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    try await suspendTask(access) { continuation in
      let member = GroupMember(access, isTask: true, body) { continuation.resume(with: $0) }
      self.scheduler.enter(access, member: member) { self.run(member, $0) }
    }
  }

  /// Runs a member that was found a place, and those that wait behind it.
  private func run(_ member: GroupMember, _ granted: Swift.Result<Int, SQLiteError>) {
    switch granted {
    case .failure(let error):
      guard member.isTask else { return member.finish(error) }
      scheduler.messenger.async { member.finish(error) }
    case .success(let place):
      queues.run { [self] in
        scheduler.adopt(place)
        var group = GroupRun(member, at: place, of: scheduler, options.groupCommit)
        run(&group, at: place)
      }
    }
  }
}

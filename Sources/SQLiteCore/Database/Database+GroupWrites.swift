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
    let access = Access(scope: .write(.immediate), deadline: deadline ?? defaultDeadline)
    let work = KeptWork(access, body)
    if let grant = try scheduler.grant(.write, thread: currentThread(), access.cancellation) {
      try run(grant, access) { try work.run(on: $0) }
    } else {
      try waitInGroup(access, work)
    }
    return try work.result()
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
    let access = Access(scope: .write(.immediate), deadline: deadline ?? defaultDeadline)
    let work = KeptWork(access, body)
    try await performInGroup(access, work)
    return try work.result()
  }
}

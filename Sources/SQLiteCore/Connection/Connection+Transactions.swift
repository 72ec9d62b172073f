/// How a transaction begins (<https://www.sqlite.org/lang_transaction.html>).
public enum TransactionKind: Sendable {
  /// Takes locks when the first statement needs them. A deferred transaction that has read may fail
  /// to write.
  case deferred
  /// Takes the write lock at once, waiting for it as long as the busy timeout says.
  case immediate
  /// As immediate; in journal modes other than WAL it also keeps readers out.
  case exclusive

  fileprivate var sql: String {
    switch self {
    case .deferred: "BEGIN DEFERRED"
    case .immediate: "BEGIN IMMEDIATE"
    case .exclusive: "BEGIN EXCLUSIVE"
    }
  }
}

/// What a closure may return to say how its transaction ends.
public enum TransactionOutcome: Sendable {
  /// Keep the changes.
  case commit
  /// Undo the changes, without an error.
  case rollback
}

/// An open transaction or savepoint.
struct Scope {
  /// The savepoint's name, or nil for the transaction itself.
  let savepoint: String?
  /// Says whether closing it commits.
  let isOutermost: Bool
  /// How many actions stood before it.
  let actions: TransactionActions.Counts
  /// What had been recorded before it.
  let changes: ChangeRecorder.Mark?
}

extension Connection {
  /// Runs `body` in a transaction, or in a savepoint if one is open already.
  ///
  /// The changes are kept if `body` returns. They are undone if it throws, or returns
  /// ``TransactionOutcome/rollback``.
  ///
  /// - Parameters:
  ///   - kind: How the transaction begins.
  ///   - body: The work.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws; ``SQLiteError`` if the transaction cannot begin or commit, after
  ///   a rollback, or if SQLite ended it inside `body`.
  @discardableResult
  public func transaction<Result>(
    _ kind: TransactionKind = .immediate, _ body: () throws -> Result
  ) throws -> Result {
    guard scopes.isEmpty, handle.isAutocommit else { return try savepoint(body) }
    try execute(control: kind.sql)
    return try run(scope(savepoint: nil, isOutermost: true), body)
  }

  /// Runs `body` in a savepoint: what it changed can be undone without the rest.
  ///
  /// - Parameter body: The work.
  /// - Returns: What `body` returns.
  /// - Throws: As ``transaction(_:_:)``.
  @discardableResult
  public func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
    let name = "magicdata_\(scopes.count)"
    let isOutermost = handle.isAutocommit
    try execute(control: "SAVEPOINT \(name)")
    return try run(scope(savepoint: name, isOutermost: isOutermost), body)
  }

  private func scope(savepoint: String?, isOutermost: Bool) -> Scope {
    Scope(
      savepoint: savepoint, isOutermost: isOutermost, actions: actions.counts,
      changes: handle.recorder?.mark)
  }

  private func run<Result>(_ scope: Scope, _ body: () throws -> Result) throws -> Result {
    scopes.append(scope)
    // SQL of the user's must not end what was begun here.
    let allowed = allowsTransactionControl
    allowsTransactionControl = false
    let result: Result
    do {
      defer { allowsTransactionControl = allowed }
      result = try body()
    } catch {
      // The error of the work says more than one of its undoing, after which the connection is
      // closed.
      try? rollBack(scope)
      throw error
    }
    if (result as? TransactionOutcome) == .rollback {
      try rollBack(scope)
    } else {
      try commit(scope)
    }
    return result
  }

  private func commit(_ scope: Scope) throws {
    if let ended {
      try? rollBack(scope)
      throw ended.asEndOfTransaction()
    }
    do {
      if scope.isOutermost { try prepareCommit() }
      try execute(control: scope.savepoint.map { "RELEASE \($0)" } ?? "COMMIT")
    } catch {
      try? rollBack(scope)
      throw error
    }
    scopes.removeLast()
    if scopes.isEmpty, handle.isAutocommit { committed() }
  }

  /// Undoes what the innermost scope changed, and closes it.
  private func rollBack(_ scope: Scope) throws {
    // The scope is gone whatever happens below.
    scopes.removeLast()
    defer {
      if let mark = scope.changes { handle.recorder?.rollBack(to: mark) }
      if scopes.isEmpty { ended = nil }
      rolledBack(to: scope.actions)
    }
    // SQLite itself may have rolled back everything; then there is nothing left to undo.
    if ended != nil || handle.isAutocommit { return }
    do {
      if let savepoint = scope.savepoint {
        try execute(control: "ROLLBACK TO \(savepoint)")
        // ROLLBACK TO leaves the savepoint open.
        try execute(control: "RELEASE \(savepoint)")
      } else {
        try execute(control: "ROLLBACK")
      }
    } catch {
      isBroken = !handle.isAutocommit
      throw error
    }
  }

  /// Undoes a transaction that the user's own SQL began and did not end.
  func rollBackWhatIsOpen() {
    try? execute(control: "ROLLBACK")
    isBroken = !handle.isAutocommit
    discardActions()
  }

  /// Treats what waits for a commit as rolled back.
  func discardActions() {
    rolledBack(to: TransactionActions().counts)
    ended = nil
  }

  /// Does what waits for the commit of a transaction that SQL of the user's is about to end.
  ///
  /// A RELEASE may be the commit of a transaction that a SAVEPOINT began: what waits is done before
  /// each one then.
  func willControlTransaction(_ statement: StatementHandle) throws(SQLiteError) {
    guard scopes.isEmpty, !isOurControl, !handle.isAutocommit,
      statement.control.map({ [.commit, .end, .release].contains($0) }) ?? false
    else { return }
    do {
      try prepareCommit()
    } catch {
      rollBackWhatIsOpen()
      throw error as? SQLiteError
        ?? SQLiteError(.abort, "the commit was refused: \(error)", sql: statement.sql)
    }
  }

  /// Does what waits for the end of a transaction that SQL of the user's has just ended.
  func didControlTransaction(_ statement: StatementHandle) {
    guard scopes.isEmpty, handle.isAutocommit, statement.beganInTransaction, !isOurControl else {
      return
    }
    if statement.control == .rollback { discardActions() } else { committed() }
  }

  /// Runs BEGIN, COMMIT and their like, ROLLBACK without regard to deadlines.
  private func execute(control sql: String) throws(SQLiteError) {
    let undoes = sql.hasPrefix("ROLLBACK") || sql.hasPrefix("RELEASE")
    let before = (allowsTransactionControl, interruption.isExempt)
    allowsTransactionControl = true
    isOurControl = true
    handle.authorizer?.isSuspended = true
    interruption.isExempt = undoes
    defer {
      (allowsTransactionControl, interruption.isExempt) = before
      isOurControl = false
      handle.authorizer?.isSuspended = false
    }
    var statement = Statement(try checkOut(sql), of: self)
    _ = try statement.step()
  }
}

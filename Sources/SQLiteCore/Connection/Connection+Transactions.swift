import CSQLite

/// The way in which a transaction begins (<https://www.sqlite.org/lang_transaction.html>).
public enum TransactionKind: Sendable {
  /// Takes a lock only when a statement needs it. In WAL mode, if the transaction begins with a
  /// read and another connection commits a write after that, the first write of this transaction
  /// throws ``ResultCode/busySnapshot``.
  case deferred
  /// Takes the write lock immediately and waits for it up to the busy timeout.
  case immediate
  /// Takes the write lock immediately, as with ``immediate``. In journal modes other than WAL,
  /// other connections then can't read either.
  case exclusive

  fileprivate var beginning: TransactionStatement.Kind {
    switch self {
    case .deferred: .beginDeferred
    case .immediate: .beginImmediate
    case .exclusive: .beginExclusive
    }
  }
}

/// Whether a transaction is committed or rolled back. The closure of a transaction or savepoint can
/// return an outcome to choose; any other result commits.
public enum TransactionOutcome: Sendable {
  /// Commits the changes.
  case commit
  /// Rolls back the changes without throwing an error.
  case rollback
}

extension TransactionOutcome {
  /// Creates the outcome that a closure's result requests: the result itself if it is a
  /// `TransactionOutcome`, otherwise `commit`.
  @inlinable init<Result>(of result: Result) {
    self = (result as? TransactionOutcome) ?? .commit
  }
}

/// Returns the result that `run` stores in temporary memory. `run` must set `isInitialized` after
/// initializing the memory. If it returns without doing so, this throws
/// ``ResultCode/internalError``.
///
/// In this way, the result of a closure passes through functions that aren't generic. A variable of
/// type `Result?` would do, too, but if the compiler doesn't know the type, computing the size of
/// the variable takes 550 instructions (benchmark `call`).
@unsafe @inlinable
func withResultStorage<Result>(
  _ run: (_ memory: UnsafeMutablePointer<Result>, _ isInitialized: inout Bool) throws -> Void
) throws -> Result {
  try unsafe withUnsafeTemporaryAllocation(of: Result.self, capacity: 1) { buffer in
    var isInitialized = false
    do {
      if let memory = buffer.baseAddress { unsafe try run(memory, &isInitialized) }
    } catch {
      if isInitialized { unsafe buffer.deinitializeElement(at: 0) }
      throw error
    }
    guard isInitialized else {
      throw SQLiteError(.internalError, "a database access returned no result")
    }
    return unsafe buffer.moveElement(from: 0)
  }
}

/// Deinitializes the result of an earlier run, if there is one. Call this when a closure may run
/// again, for example on another leader of a cluster.
@unsafe @inlinable
func forget<Result>(_ memory: UnsafeMutablePointer<Result>, _ isInitialized: inout Bool) {
  guard isInitialized else { return }
  isInitialized = false
  unsafe memory.deinitialize(count: 1)
}

extension Optional {
  /// Returns the result that a closure stored. Throws ``ResultCode/internalError`` if it is nil,
  /// which means that the closure never returned.
  @inlinable func made() throws(SQLiteError) -> Wrapped {
    guard let self else {
      throw SQLiteError(.internalError, "a database access returned no result")
    }
    return self
  }
}

extension Connection {
  /// Runs `body` in a transaction, or in a savepoint if a transaction is already open.
  ///
  /// If `body` returns, the changes are committed. If it throws or returns
  /// ``TransactionOutcome/rollback``, they are rolled back.
  ///
  /// - Parameters:
  ///   - kind: How the transaction begins. Ignored for a savepoint.
  ///   - body: The work to do in the transaction.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`; ``SQLiteError`` if the transaction can't begin or commit, or if
  ///   SQLite rolled it back while `body` was running. If the commit fails, the changes are rolled
  ///   back.
  @inlinable  // Saves other modules 1,500 instructions for an unspecialized `Result`.
  @discardableResult
  public func transaction<Result>(
    _ kind: TransactionKind = .immediate, _ body: () throws -> Result
  ) throws -> Result {
    try unsafe withResultStorage { memory, isInitialized in
      try runTransaction(kind) {
        unsafe memory.initialize(to: try body())
        isInitialized = true
        return unsafe TransactionOutcome(of: memory.pointee)
      }
    }
  }

  /// Runs `body` in a savepoint, so that its changes can be rolled back without the rest of the
  /// transaction.
  ///
  /// If `body` throws or returns ``TransactionOutcome/rollback``, only the changes since the
  /// beginning of the savepoint are rolled back. If no transaction is open, the savepoint itself is
  /// a transaction, which is committed at its end.
  ///
  /// - Parameter body: The work to do in the savepoint.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`; ``SQLiteError`` if the savepoint can't begin or end, or if
  ///   SQLite rolled back the whole transaction while `body` was running.
  @inlinable  // For the same reason as `transaction`.
  @discardableResult
  public func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
    try unsafe withResultStorage { memory, isInitialized in
      try runSavepoint {
        unsafe memory.initialize(to: try body())
        isInitialized = true
        return unsafe TransactionOutcome(of: memory.pointee)
      }
    }
  }

  /// Runs `body` in a transaction, or in a savepoint if a transaction is already open. `body`
  /// stores its result for the caller.
  ///
  /// This function isn't generic, and is `dynamic`, so that the compiler doesn't specialize its
  /// code for each result type and closure.
  @usableFromInline dynamic func runTransaction(
    _ kind: TransactionKind = .immediate, _ body: () throws -> TransactionOutcome
  ) throws {
    guard !state.isInsideScope, handle.isAutocommit else { return try runSavepoint(body) }
    try execute(kind.beginning)
    updateDemand()
    try run(scope(savepoint: nil, isOutermost: true), body)
  }

  /// Runs `body` in a savepoint. `body` stores its result for the caller.
  @usableFromInline dynamic func runSavepoint(_ body: () throws -> TransactionOutcome) throws {
    let name = "magicdata_\(state.depth)"
    let isOutermost = handle.isAutocommit
    try execute("SAVEPOINT \(name)")
    try run(scope(savepoint: name, isOutermost: isOutermost), body)
  }

  private func scope(savepoint: String?, isOutermost: Bool) -> TransactionState.Scope {
    TransactionState.Scope(
      outer: state.innermost, savepoint: savepoint, isOutermost: isOutermost,
      actions: actions.count,
      changes: hooks.recorder?.mark)
  }

  private func run(
    _ scope: TransactionState.Scope, _ body: () throws -> TransactionOutcome
  ) throws {
    state.open(scope)
    let outcome: TransactionOutcome
    do {
      outcome = try body()
    } catch {
      // Throw the error of `body`, which is more useful than a failure of the rollback. The latter
      // closes the connection.
      try? rollBack(scope)
      throw error
    }
    switch outcome {
    case .commit: try commit(scope)
    case .rollback: try rollBack(scope)
    }
  }

  private func commit(_ scope: TransactionState.Scope) throws {
    if !state.isSound, let failure = state.failure {
      try? rollBack(scope)
      throw failure
    }
    do {
      if scope.isOutermost { try prepareCommit() }
      if let savepoint = scope.savepoint {
        try execute("RELEASE \(savepoint)", mustRun: true)
      } else {
        try execute(.commit)
      }
    } catch {
      let reason = scope.isOutermost ? actions.reason(for: error, self) : nil
      try? rollBack(scope)
      throw reason ?? error
    }
    state.close()
    if !state.isInsideScope, handle.isAutocommit { committed() }
  }

  /// Rolls back the changes of the innermost scope and closes the scope.
  private func rollBack(_ scope: TransactionState.Scope) throws {
    // SQLite itself may have rolled back the whole transaction.
    let isUndone = state.isEnded || handle.isAutocommit
    // Close the scope even if an error follows.
    state.close()
    defer {
      if handle.isAutocommit, !scope.isOutermost, !state.isInsideScope {
        // SQLite has also rolled back the surrounding transaction, which the program's SQL had
        // begun.
        discardActions()
      } else {
        undo(scope)
      }
    }
    if isUndone { return }
    do throws(SQLiteError) {
      if let savepoint = scope.savepoint {
        try execute("ROLLBACK TO \(savepoint)", mustRun: true)
        // ROLLBACK TO leaves the savepoint open.
        try execute("RELEASE \(savepoint)", mustRun: true)
      } else {
        try execute("ROLLBACK", mustRun: true)
      }
    } catch {
      if !handle.isAutocommit { state.break(by: error) }
      throw error
    }
  }

  /// Restores the records of changes and actions to the opening of `scope`: drops the changes and
  /// the commit actions added since then, and runs the rollback actions added since then.
  private func undo(_ scope: TransactionState.Scope) {
    // Without a mark, the recorder was installed inside the scope and has recorded nothing from
    // before it.
    hooks.recorder?.rollBack(to: scope.changes ?? RecordingMark())
    rolledBack(to: scope.actions)
  }

  /// Rolls back a transaction that the program's SQL began and didn't end.
  func rollBackOpenTransaction() {
    do throws(SQLiteError) {
      try execute("ROLLBACK", mustRun: true)
    } catch {
      if !handle.isAutocommit { state.break(by: error) }
    }
    discardActions()
  }

  /// Clears the state after a rollback of the whole transaction: forgets its savepoints, drops the
  /// waiting commit actions and runs the rollback actions.
  func discardActions() {
    // Before the actions, because they can read the database.
    state.clearEnded()
    state.keepSavepoints(0)
    rolledBack(to: 0)
  }

  /// Returns whether a statement of the program would commit the open transaction, as a COMMIT, an
  /// END, or the RELEASE of the savepoint with which the transaction began does.
  private func mayCommit(_ statement: StatementHandle) -> Bool {
    switch statement.control {
    case .commit, .end: true
    case .release:
      SQLScanner.savepointName(statement.sql).flatMap { state.savepoint(named: $0) } == 0
        && state.savepoints[0].isOutermost
    default: false
    }
  }

  /// If a statement of the program is about to commit, runs the actions that precede a commit. If
  /// one of them throws, rolls back the transaction and throws, and the statement must not run.
  func willControlTransaction(_ statement: StatementHandle) throws(SQLiteError) {
    guard !state.isInsideScope, !handle.isAutocommit, mayCommit(statement) else { return }
    do {
      try prepareCommit()
    } catch {
      rollBackOpenTransaction()
      throw error as? SQLiteError
        ?? SQLiteError(.abort, "the commit was rejected: \(error)", sql: statement.sql)
    }
  }

  /// Records that a statement of the program has opened or ended a transaction or a savepoint. If
  /// it committed or rolled back, runs the commit or rollback actions.
  func didControlTransaction(_ statement: StatementHandle) {
    guard !state.isInsideScope else { return }
    if handle.isAutocommit {
      guard statement.beganInTransaction else { return }
      return statement.control == .rollback ? discardActions() : committed()
    }
    guard let name = SQLScanner.savepointName(statement.sql) else { return }
    switch statement.control {
    case .savepoint:
      state.openSavepoint(
        scope(savepoint: name, isOutermost: !statement.beganInTransaction))
    case .release:
      if let index = state.savepoint(named: name) { state.keepSavepoints(index) }
    case .rollback:
      guard let index = state.savepoint(named: name) else { return }
      state.keepSavepoints(index + 1)
      undo(state.savepoints[index])
    default: break
    }
  }

  /// Runs a statement of the library, bypassing the authorizer.
  ///
  /// - Parameters:
  ///   - sql: The SQL of the statement.
  ///   - mustRun: Whether the statement runs even if the access must end.
  private func execute(_ sql: String, mustRun: Bool = false) throws(SQLiteError) {
    if mustRun { return try uninterrupted { () throws(SQLiteError) in try execute(sql) } }
    try withoutAuthorizer { () throws(SQLiteError) in
      let statement = try checkOut(sql)
      statement.isLibraryStatement = true
      defer {
        statement.isLibraryStatement = false
        checkIn(statement)
      }
      try run(statement)
    }
  }

  /// Runs BEGIN or COMMIT with a statement that is compiled only once, bypassing the authorizer.
  private func execute(_ kind: TransactionStatement.Kind) throws(SQLiteError) {
    let kept = transactionStatements[kind.rawValue]
    try withoutAuthorizer { () throws(SQLiteError) in
      if let statement = kept.handle { return try run(statement) }
      let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
      guard let statement = try prepare(kind.sql, flags: flags).statement else {
        throw SQLiteError(.internalError, sql: kind.sql)
      }
      statement.isLibraryStatement = true
      kept.handle = statement
      try run(statement)
    }
  }

  private func run(_ statement: StatementHandle) throws(SQLiteError) {
    try beginRun(of: statement)
    let code = statement.step()
    guard code == SQLITE_DONE else { throw failRun(of: statement, code) }
    statement.reset()
  }
}

/// A BEGIN or COMMIT statement that a connection compiles once and keeps. Looking it up in the
/// statement cache for each transaction would take longer than running it (benchmark `call`).
final class TransactionStatement {
  enum Kind: Int, CaseIterable {
    case beginDeferred, beginImmediate, beginExclusive, commit

    fileprivate var sql: String {
      switch self {
      case .beginDeferred: "BEGIN DEFERRED"
      case .beginImmediate: "BEGIN IMMEDIATE"
      case .beginExclusive: "BEGIN EXCLUSIVE"
      case .commit: "COMMIT"
      }
    }
  }

  var handle: StatementHandle?
}

extension Connection {
  /// Whether the open transaction was begun by `write` or ``transaction(_:_:)`` rather than by the
  /// program's SQL.
  package var ownsTransaction: Bool { state.ownsTransaction }

  /// Whether a transaction or savepoint that the library has begun is open.
  package var isInsideScope: Bool { state.isInsideScope }

  /// Whether the library's innermost open scope is a savepoint inside a transaction, so that a
  /// rollback of that transaction also undoes the savepoint's changes.
  package var isInsideOuterTransaction: Bool { state.isInsideOuterTransaction }

  /// Whether a write transaction is open on this connection, so that a row that is read now may
  /// contain changes that are rolled back later.
  package var mayUndoReads: Bool {
    environment.isWriter && !handle.isAutocommit && handle.isWriting
  }

  /// Runs `body` regardless of the deadline and the cancellation, for example to inspect the state
  /// after a rollback.
  package func uninterrupted<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let before = interruption.isExempt
    interruption.isExempt = true
    defer { interruption.isExempt = before }
    return try body()
  }
}

/// The closures that higher layers register to run before a commit, after a commit or after a
/// rollback, or to explain a commit that a foreign key prevented.
final class TransactionActions {
  fileprivate enum Action {
    case beforeCommit((Connection) throws -> Void)
    case afterCommit((Connection) -> Void)
    case afterRollback((Connection) -> Void)
    case foreignKeyFailure((Connection) throws -> (any Error)?)
    /// A placeholder for an action that has already run.
    case done
  }

  /// The actions, in the order in which they were added.
  fileprivate var list: [Action] = []

  var count: Int { list.count }

  /// Returns a more specific error for a commit that failed because of a foreign key, or nil if no
  /// action finds one. The transaction must still be open.
  fileprivate func reason(for error: any Error, _ connection: Connection) -> (any Error)? {
    guard (error as? SQLiteError)?.code == .foreignKeyConstraint, !connection.isAutocommit
    else { return nil }
    for case .foreignKeyFailure(let find) in list {
      // If it fails itself, try the next one.
      if let reason = try? find(connection) { return reason }
    }
    return nil
  }
}

extension Connection {
  /// Runs `action` just before the outermost transaction commits. If it throws, the transaction is
  /// rolled back. In `withoutTransaction`, the program's SQL can also commit, with a COMMIT, an END
  /// or the RELEASE of the outermost savepoint. The action is dropped if the current scope is
  /// rolled back.
  package func beforeCommit(_ action: @escaping (Connection) throws -> Void) {
    actions.list.append(.beforeCommit(action))
  }

  /// Runs `action` after the commit of the outermost transaction, within the same access and
  /// outside any transaction. The action is dropped if the current scope is rolled back. That scope
  /// can be a savepoint of the program's SQL.
  package func afterCommit(_ action: @escaping (Connection) -> Void) {
    actions.list.append(.afterCommit(action))
  }

  /// Runs `action` after the rollback of the current scope or of a scope around it. The current
  /// scope can be a savepoint of the program's SQL. The action is dropped when the outermost
  /// transaction commits.
  package func afterRollback(_ action: @escaping (Connection) -> Void) {
    actions.list.append(.afterRollback(action))
  }

  /// Calls `find` for a more specific error if the commit fails because of a foreign key. If it
  /// returns nil or throws, the next such closure is called.
  ///
  /// SQLite's own error doesn't name the key, and a server doesn't report violations before the
  /// commit. The closure is dropped if the current scope is rolled back.
  package func onForeignKeyFailure(_ find: @escaping (Connection) throws -> (any Error)?) {
    actions.list.append(.foreignKeyFailure(find))
  }

  /// Runs the actions and the ``CommitBodies`` that precede a commit. Throws their errors, or an
  /// error if the file has been removed or replaced.
  func prepareCommit() throws {
    // Actions can add further actions.
    var index = 0
    while index < actions.count {
      if case .beforeCommit(let action) = actions.list[index] {
        actions.list[index] = .done
        try action(self)
      }
      index += 1
    }
    if environment.isWriter, environment.commits?.isEmpty == false { try runCommitBodies() }
    try checkFile()
  }

  func committed() {
    state.keepSavepoints(0)
    if actions.count > 0 {
      let pending = actions.list
      actions.list = []
      for case .afterCommit(let action) in pending { action(self) }
    }
    publishChanges()
  }

  /// Removes all actions except the first `count`, and runs the rollback actions among the removed
  /// ones.
  func rolledBack(to count: Int) {
    guard actions.count > count else { return }
    let pending = Array(actions.list[count...])
    actions.list.removeLast(pending.count)
    // In reverse order, like the changes that they undo.
    for case .afterRollback(let action) in pending.reversed() { action(self) }
  }
}

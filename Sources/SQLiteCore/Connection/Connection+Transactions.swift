import CSQLite

/// How a transaction begins (<https://www.sqlite.org/lang_transaction.html>).
public enum TransactionKind: Sendable {
  /// Takes locks when the first statement needs them. A deferred transaction that has read may fail
  /// to write.
  case deferred
  /// Takes the write lock at once, waiting for it as long as the busy timeout says.
  case immediate
  /// As immediate; in journal modes other than WAL it also keeps readers out.
  case exclusive

  fileprivate var beginning: KeptStatement.Kind {
    switch self {
    case .deferred: .beginDeferred
    case .immediate: .beginImmediate
    case .exclusive: .beginExclusive
    }
  }
}

/// The result by which a closure decides how its transaction ends.
public enum TransactionOutcome: Sendable {
  /// Keep the changes.
  case commit
  /// Undo the changes, without an error.
  case rollback
}

extension TransactionOutcome {
  /// The outcome that a closure has returned; all other results are those of a commit.
  @inlinable init<Result>(of result: Result) {
    self = (result as? TransactionOutcome) ?? .commit
  }
}

/// Returns the result that `run` makes in the memory that it is lent; `run` sets the flag once it has.
///
/// For the results of closures that are run by functions without results. Where the compiler does not know the
/// type, a variable of type `Result?` takes 550 instructions for finding out its size (benchmark `call`).
@unsafe @inlinable
func keepingResult<Result>(
  _ run: (_ memory: UnsafeMutablePointer<Result>, _ isMade: inout Bool) throws -> Void
) throws -> Result {
  try unsafe withUnsafeTemporaryAllocation(of: Result.self, capacity: 1) { buffer in
    var isMade = false
    do {
      if let memory = buffer.baseAddress { unsafe try run(memory, &isMade) }
    } catch {
      if isMade { unsafe buffer.deinitializeElement(at: 0) }
      throw error
    }
    guard isMade else {
      throw SQLiteError(.internalError, "an access ended without a result")
    }
    return unsafe buffer.moveElement(from: 0)
  }
}

/// Lets go of a former result, when a closure runs again: in a group commit, or at a cluster's next leader.
@unsafe @inlinable
func forget<Result>(_ memory: UnsafeMutablePointer<Result>, _ isMade: inout Bool) {
  guard isMade else { return }
  isMade = false
  unsafe memory.deinitialize(count: 1)
}

extension Optional {
  /// The result of a closure that was run by a function without results.
  @inlinable func made() throws(SQLiteError) -> Wrapped {
    guard let self else { throw SQLiteError(.internalError, "an access ended without a result") }
    return self
  }
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
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`; ``SQLiteError`` if the transaction cannot begin or commit, after
  ///   a rollback, or if SQLite ended it inside `body`.
  @inlinable  // Without it 1,500 instructions more in another module, for unspecialized results.
  @discardableResult
  public func transaction<Result>(
    _ kind: TransactionKind = .immediate, _ body: () throws -> Result
  ) throws -> Result {
    try unsafe keepingResult { memory, isMade in
      try runTransaction(kind) {
        unsafe memory.initialize(to: try body())
        isMade = true
        return unsafe TransactionOutcome(of: memory.pointee)
      }
    }
  }

  /// Runs `body` in a savepoint: what it changed can be undone without the rest.
  ///
  /// - Parameter body: The work.
  /// - Returns: The result of `body`.
  /// - Throws: As ``transaction(_:_:)``.
  @inlinable  // As `transaction`.
  @discardableResult
  public func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
    try unsafe keepingResult { memory, isMade in
      try runSavepoint {
        unsafe memory.initialize(to: try body())
        isMade = true
        return unsafe TransactionOutcome(of: memory.pointee)
      }
    }
  }

  /// ``transaction(_:_:)`` for work whose result its caller keeps.
  ///
  /// Not generic, and `dynamic`: the compiler makes copies of this code neither for each type of results
  /// nor for each closure that it knows.
  @usableFromInline dynamic func runTransaction(
    _ kind: TransactionKind = .immediate, _ body: () throws -> TransactionOutcome
  ) throws {
    guard !state.isInsideScope, handle.isAutocommit else { return try runSavepoint(body) }
    try execute(kind.beginning)
    updateDemand()
    try run(scope(savepoint: nil, isOutermost: true), body)
  }

  /// ``savepoint(_:)`` for work whose result its caller keeps.
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
      // The error of the work says more than one of its undoing, after which the connection is
      // closed.
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

  /// Undoes what the innermost scope changed, and closes it.
  private func rollBack(_ scope: TransactionState.Scope) throws {
    // SQLite itself may have rolled back everything; then there is nothing left to undo.
    let isUndone = state.isEnded || handle.isAutocommit
    // The scope is gone whatever happens below.
    state.close()
    defer {
      if handle.isAutocommit, !scope.isOutermost, !state.isInsideScope {
        // SQLite has also undone the transaction that SQL of the user's had begun around the scope.
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

  /// Drops what was recorded since a scope was opened and what has waited since then for a commit, and runs what waits
  /// for a rollback.
  private func undo(_ scope: TransactionState.Scope) {
    // A recorder that came within the scope has nothing from before it.
    hooks.recorder?.rollBack(to: scope.changes ?? RecordingMark())
    rolledBack(to: scope.actions)
  }

  /// Undoes a transaction that the user's own SQL began and did not end.
  func rollBackWhatIsOpen() {
    do throws(SQLiteError) {
      try execute("ROLLBACK", mustRun: true)
    } catch {
      if !handle.isAutocommit { state.break(by: error) }
    }
    discardActions()
  }

  /// Drops the actions that wait for a commit, and runs those that wait for a rollback.
  func discardActions() {
    // First, since actions may read the database.
    state.forgive()
    state.keepSavepoints(0)
    rolledBack(to: 0)
  }

  /// Whether a statement of the user's own would commit the open transaction: a COMMIT, an END, or the RELEASE of the
  /// savepoint that began it.
  private func mayCommit(_ statement: StatementHandle) -> Bool {
    switch statement.control {
    case .commit, .end: true
    case .release:
      SQLScanner.savepointName(statement.sql).flatMap { state.savepoint(named: $0) } == 0
        && state.savepoints[0].isOutermost
    default: false
    }
  }

  /// Runs the actions that wait for a commit, before a statement of the user's own that commits.
  func willControlTransaction(_ statement: StatementHandle) throws(SQLiteError) {
    guard !state.isInsideScope, !handle.isAutocommit, mayCommit(statement) else { return }
    do {
      try prepareCommit()
    } catch {
      rollBackWhatIsOpen()
      throw error as? SQLiteError
        ?? SQLiteError(.abort, "the commit was refused: \(error)", sql: statement.sql)
    }
  }

  /// Notes that a statement of the user's own has opened or ended a transaction or a savepoint, and runs the actions
  /// that wait for that.
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

  /// Runs a statement of the library's own, about which no authorizer is asked.
  ///
  /// - Parameters:
  ///   - sql: The statement.
  ///   - mustRun: Whether it runs also if the access must end.
  private func execute(_ sql: String, mustRun: Bool = false) throws(SQLiteError) {
    if mustRun { return try uninterrupted { () throws(SQLiteError) in try execute(sql) } }
    try withoutAuthorizer { () throws(SQLiteError) in
      let statement = try checkOut(sql)
      statement.isOfLibrary = true
      defer {
        statement.isOfLibrary = false
        takeBack(statement)
      }
      try run(statement)
    }
  }

  /// Runs BEGIN or COMMIT, as ``execute(_:mustRun:)`` does, by a statement that is compiled once.
  private func execute(_ kind: KeptStatement.Kind) throws(SQLiteError) {
    let kept = keptStatements[kind.rawValue]
    try withoutAuthorizer { () throws(SQLiteError) in
      if let statement = kept.handle { return try run(statement) }
      let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
      guard let statement = try prepare(kind.sql, flags: flags).statement else {
        throw SQLiteError(.internalError, sql: kind.sql)
      }
      statement.isOfLibrary = true
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

/// A statement that each transaction needs: to find it in the cache takes longer than to run it (benchmark `call`).
final class KeptStatement {
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
  /// Whether the open transaction was begun by `write` or by ``transaction(_:_:)``, and not by SQL.
  package var ownsTransaction: Bool { state.ownsTransaction }

  /// Whether a transaction or savepoint of the library's is open.
  package var isInsideScope: Bool { state.isInsideScope }

  /// Whether the open scope is part of a transaction that outlives it, and may yet be undone.
  package var isInsideAnother: Bool { state.isInsideAnother }

  /// Whether a transaction that writes is open: what is read now may yet be undone.
  package var mayUndoReads: Bool {
    environment.isWriter && !handle.isAutocommit && handle.isWriting
  }

  /// Runs `body` without regard to deadline and cancellation, to look at what a rollback has left.
  package func uninterrupted<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let before = interruption.isExempt
    interruption.isExempt = true
    defer { interruption.isExempt = before }
    return try body()
  }
}

/// The actions of layers above that wait for the end of the outermost transaction.
final class TransactionActions {
  fileprivate enum Action {
    case beforeCommit((Connection) throws -> Void)
    case afterCommit((Connection) -> Void)
    case afterRollback((Connection) -> Void)
    case foreignKeyFailure((Connection) throws -> (any Error)?)
    /// It has run.
    case done
  }

  /// In the order in which they came.
  fileprivate var list: [Action] = []

  var count: Int { list.count }

  /// The error that says more than that of a commit which has failed, while its transaction is still open.
  fileprivate func reason(for error: any Error, _ connection: Connection) -> (any Error)? {
    guard (error as? SQLiteError)?.code == .foreignKeyConstraint, !connection.isAutocommit
    else { return nil }
    for case .foreignKeyFailure(let find) in list {
      // One that cannot look is no reason.
      if let reason = try? find(connection) { return reason }
    }
    return nil
  }
}

extension Connection {
  /// Runs `action` just before the outermost transaction commits; if it throws, all is rolled back.
  /// In `withoutTransaction`, that may be a COMMIT, an END or the outermost RELEASE in the user's SQL.
  package func beforeCommit(_ action: @escaping (Connection) throws -> Void) {
    actions.list.append(.beforeCommit(action))
  }

  /// Runs `action` once the outermost transaction is durable, within the same access and outside
  /// any transaction. Dropped if the scope that is open now is rolled back, which may be a savepoint of the user's SQL.
  package func afterCommit(_ action: @escaping (Connection) -> Void) {
    actions.list.append(.afterCommit(action))
  }

  /// Runs `action` once the scope that is open now, or one around it, has been rolled back. It may be a savepoint of the
  /// user's SQL.
  package func afterRollback(_ action: @escaping (Connection) -> Void) {
    actions.list.append(.afterRollback(action))
  }

  /// Asks `find` for an error if the commit fails since foreign keys lead nowhere: SQLite's own names none, and a
  /// server does not tell before the commit. Forgotten if the scope that is open now is rolled back.
  package func onForeignKeyFailure(_ find: @escaping (Connection) throws -> (any Error)?) {
    actions.list.append(.foreignKeyFailure(find))
  }

  /// Runs the actions that wait for a commit, those before it first.
  func prepareCommit() throws {
    // Actions may add others.
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

  /// Drops all actions but the first ones, and runs those of them that wait for a rollback.
  func rolledBack(to count: Int) {
    guard actions.count > count else { return }
    let pending = Array(actions.list[count...])
    actions.list.removeLast(pending.count)
    // The last action is undone first.
    for case .afterRollback(let action) in pending.reversed() { action(self) }
  }
}

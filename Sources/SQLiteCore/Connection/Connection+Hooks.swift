import CSQLite

/// The closures that higher layers register to run before each commit. They receive the changed
/// rows, or nil if the rows weren't recorded completely.
typealias CommitBodies = ClosureRegistry<@Sendable (Connection, RecordedRows?) throws -> Void>

/// The closures and objects that SQLite's hooks call. The connection keeps them alive until it is
/// closed.
struct Hooks {
  let callback = UserCallback()
  /// The closure with which the program allows or denies statements, or nil.
  var decide: ((Authorization) -> AuthorizationDecision)?
  var authorizer: Authorizer?
  var tracer: Tracer?
  var recorder: ChangeRecorder?
  /// The object that observes commits if there is no recorder. Set before the connection writes.
  var unrecorded: UnrecordedCommits?
  /// Whether statements may call closures of the program: functions, collations, an authorizer or a
  /// trace callback.
  var hasUserCode = false
  /// Whether a DELETE of all rows must delete them one by one, so that SQLite calls the hooks.
  var keepsRowDeletes = false
  /// Whether to turn on `trusted_schema` if SQLite rejects a trigger because it uses a full-text
  /// search table.
  var mayTrustSearch = false
}

extension Connection {
  /// Turns on `PRAGMA trusted_schema` if the database has an FTS5 table. Returns whether the
  /// database has one.
  ///
  /// SQLite versions before 2023 don't mark FTS5 as innocuous, so with them, triggers of an
  /// untrusted schema can't use it. Functions that are marked as direct-only stay unavailable to
  /// triggers.
  package func trustSearch() throws(SQLiteError) -> Bool {
    let table = try firstRow(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%USING fts5%'"
    )
    guard table != nil else { return false }
    _ = try pragma("trusted_schema", "=1")
    return true
  }

  /// Turns on `PRAGMA trusted_schema` if SQLite has just rejected a trigger because it uses a
  /// virtual table, and the database has an FTS5 table. Returns whether it was turned on.
  ///
  /// This can't be decided when the connection is opened, because any connection, including one of
  /// another process, may create the table and the trigger later.
  func trustSchemaForTrigger() throws(SQLiteError) -> Bool {
    guard hooks.mayTrustSearch, handle.says("unsafe use of virtual table"), try trustSearch()
    else { return false }
    // Only once: if SQLite rejects the trigger again, the cause is a different one.
    hooks.mayTrustSearch = false
    return true
  }

  /// Sets a closure that decides whether statements are allowed (`sqlite3_set_authorizer`). SQLite
  /// calls it while it compiles a statement on this connection.
  ///
  /// An authorizer belongs to one connection. To set it for all connections of a database, call
  /// this in ``Database/Options/prepareConnection``. The library's own transaction statements
  /// aren't passed to the closure.
  ///
  /// - Parameter decide: The closure, or nil to allow everything. It must not use the database.
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` outside the closure that received the
  ///   connection; with ``ResultCode/authorization`` if the database belongs to a cluster.
  public func setAuthorizer(
    _ decide: (@Sendable (Authorization) -> AuthorizationDecision)?
  ) throws(SQLiteError) {
    try checkAccess()
    try require(.authorization)
    hooks.hasUserCode = true
    hooks.decide = decide
    installAuthorizer()
  }

  /// Sets a closure that receives each statement that runs on this connection (`sqlite3_trace_v2`).
  /// This includes the statements in triggers and the `BEGIN` and `COMMIT` of the library's
  /// transactions.
  ///
  /// A trace belongs to one connection. To trace all connections of a database, call this in
  /// ``Database/Options/prepareConnection``.
  ///
  /// - Parameters:
  ///   - showsValues: Whether the SQL contains the bound values, which may be private.
  ///   - body: Receives the events; nil ends the trace. It must not use the database.
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` outside the closure that received the
  ///   connection; with ``ResultCode/authorization`` if the database belongs to a cluster.
  public func trace(
    showsValues: Bool = false, _ body: (@Sendable (TraceEvent) -> Void)?
  ) throws(SQLiteError) {
    try checkAccess()
    try require(.tracing)
    hooks.hasUserCode = true
    let tracer = body.map { Tracer(showsValues: showsValues, hooks.callback, $0) }
    try Tracer.install(tracer, on: handle)
    hooks.tracer = tracer
  }

  /// Installs an authorizer if the program or the recorder needs one.
  func installAuthorizer() {
    let isNeeded = hooks.decide != nil || hooks.keepsRowDeletes
    hooks.authorizer =
      isNeeded
      ? Authorizer(hooks.decide, keepsRowDeletes: hooks.keepsRowDeletes, hooks.callback) : nil
    Authorizer.install(hooks.authorizer, on: handle)
  }

  /// Runs SQL of the library, bypassing the authorizer.
  @inline(never)
  func withoutAuthorizer(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
    guard let authorizer = hooks.authorizer else { return try body() }
    let before = authorizer.isSuspended
    authorizer.isSuspended = true
    defer { authorizer.isSuspended = before }
    try body()
  }

  /// Starts or stops recording changes, depending on whether the feed's subscribers need them.
  /// Called when an access begins, and when a transaction begins if the demand has changed since.
  func updateRecorder() {
    guard let feed = environment.feed, environment.isWriter else { return }
    // A server doesn't report changes. After each write, subscribers are notified that anything may
    // have changed.
    if isRemote { return }
    recording.demand = feed.demand
    let detail = recording.demand.detail
    guard detail != hooks.recorder?.detail || hooks.unrecorded == nil else { return }
    install(detail.map { ChangeRecorder(detail: $0, for: self) })
  }

  /// Starts or stops recording changes if subscribers were added or removed while the transaction
  /// waited for the write lock. Called before the transaction's first statement.
  ///
  /// A subscriber reads its initial state while it holds the write lock. If it did so before this
  /// transaction, its demand is known now. If it is added later, its initial state includes this
  /// transaction.
  func updateDemand() {
    // Changes that this access has already committed are published with the demand with which they
    // were recorded.
    guard let feed = environment.feed, feed.demand != recording.demand, !recording.hasWritten else {
      return
    }
    updateRecorder()
  }

  private func install(_ recorder: ChangeRecorder?) {
    if hooks.unrecorded == nil { hooks.unrecorded = environment.feed.map(UnrecordedCommits.init) }
    // Statements that were compiled without the hook can empty a table without calling it.
    cache.removeAll()
    let usesPreupdateHook = ChangeRecorder.hasPreupdateHook(environment.usesPreupdateHook)
    ChangeRecorder.install(
      recorder, or: hooks.unrecorded, on: handle, usesPreupdateHook: usesPreupdateHook)
    hooks.recorder = recorder
    if !usesPreupdateHook {
      // Without an authorizer, SQLite empties a whole table without calling the hooks.
      hooks.keepsRowDeletes = recorder != nil
      installAuthorizer()
    }
  }

  /// Runs `body` in a transaction, or in a savepoint if a transaction is already open, and records
  /// all rows that `body` changes in the main database, regardless of the subscribers.
  ///
  /// If a statement that deletes all rows of a table was already in use before the call, the rows
  /// that it deletes may be missing from the result.
  ///
  /// - Parameter body: The work to do in the transaction.
  /// - Returns: The result of `body`, and the changed rows without those that were rolled back.
  /// - Throws: The error of `body`; ``SQLiteError``, with ``ResultCode/misuse`` if SQLite can't
  ///   record values, and with ``ResultCode/tooBig`` if the changed rows need too much memory.
  package func recordingRows<Result>(
    _ body: () throws -> Result
  ) throws -> (result: Result, rows: RecordedRows) {
    guard !isRemote, ChangeRecorder.hasPreupdateHook(environment.usesPreupdateHook) else {
      throw SQLiteError.noPreupdateHook
    }
    if hooks.recorder == nil { install(ChangeRecorder(detail: .tables, for: self)) }
    guard let recorder = hooks.recorder else { throw SQLiteError.noPreupdateHook }
    let before = recorder.beginCapture()
    defer { recorder.endCapture(before) }
    return try transaction {
      let mark = recorder.mark
      let result = try body()
      guard let rows = recorder.rows(since: mark) else {
        throw SQLiteError(
          .tooBig, "the transaction changed too many rows to record; split it into smaller ones")
      }
      return (result, rows)
    }
  }

  /// Runs the ``CommitBodies`` inside the transaction that is about to be committed. Does nothing
  /// if the transaction hasn't changed any rows.
  func runCommitBodies() throws {
    guard !isRemote, !recording.isPreparing, let bodies = environment.commits?.bodies else {
      return
    }
    let rows: RecordedRows?
    if let recorder = hooks.recorder, recorder.detail == .values {
      rows = recorder.rows(since: recorder.prepared)
      if let rows, rows.isEmpty { return }
      recorder.isPrepared = true
    } else {
      guard handle.isWriting else { return }
      rows = nil
    }
    recording.isPreparing = true
    defer { recording.isPreparing = false }
    for body in bodies { try body(self, rows) }
    if let recorder = hooks.recorder { recorder.prepared = recorder.mark }
  }

  /// Runs the ``CommitBodies`` for the changes of a statement that has committed by itself. The
  /// closures run in a separate transaction, and their errors are ignored.
  private func runCommitBodies(afterwards changes: CommittedChanges) {
    guard !recording.isPreparing, let commits = environment.commits, !commits.isEmpty,
      changes.recorded.byteCount > 0 || changes.isIncomplete
    else { return }
    recording.isPreparing = true
    defer { recording.isPreparing = false }
    // The statement is already committed: an error can neither be thrown nor undo it.
    try? transaction {
      for body in commits.bodies {
        try body(self, changes.isIncomplete ? nil : changes.recorded)
      }
    }
  }

  /// Notifies subscribers of the changes that have been committed since the last notification.
  func publishChanges() {
    guard let feed = environment.feed, environment.isWriter,
      hooks.recorder != nil || feed.demand != recording.demand, handle.isAutocommit
    else { return }
    let wasPrepared = hooks.recorder?.isPrepared ?? true
    var (changes, commitNumber) = hooks.recorder?.takeCommitted() ?? (CommittedChanges(), nil)
    if hooks.recorder == nil { changes.commitNumber = hooks.unrecorded?.commitNumber ?? 0 }
    if !wasPrepared, !changes.isEmpty { runCommitBodies(afterwards: changes) }
    feed.publish(
      changes, commitNumber: commitNumber, recorded: recording.demand,
      hasWritten: recording.hasWritten)
    recording.hasWritten = false
  }

  /// Records that the database's whole content has been replaced, which SQLite doesn't report to
  /// hooks.
  func recordReplacement() {
    recording.hasWritten = true
    hooks.recorder?.recordReplacement()
    hooks.unrecorded?.note()
  }
}

extension Connection {
  /// Runs `body` without triggers, foreign key actions and foreign key checks
  /// (`SQLITE_DBCONFIG_ENABLE_TRIGGER`, `SQLITE_DBCONFIG_ENABLE_FKEY`), so that no rows change
  /// except those that `body` writes. The caller must check the foreign keys afterwards.
  ///
  /// - Throws: The error of `body`; ``SQLiteError`` with ``ResultCode/misuse`` outside the closure
  ///   that received the connection, or with ``ResultCode/authorization`` if the database belongs
  ///   to a cluster.
  package func withoutTriggersAndForeignKeys<Result>(_ body: () throws -> Result) throws -> Result {
    try checkAccess()
    return try withoutSettings(
      [SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_FKEY], body)
  }

  /// Runs `body` with the given `SQLITE_DBCONFIG_…` settings of the connection turned off, and then
  /// restores them (`sqlite3_db_config`). Can be called inside a transaction.
  func withoutSettings<Result>(_ options: [Int32], _ body: () throws -> Result) throws -> Result {
    try require(.settings)
    let before = try options.map { try handle.isConfigured($0) }
    for option in options { try handle.configure(option, false) }
    let result = Swift.Result { try body() }
    for (option, isOn) in zip(options, before) { try handle.configure(option, isOn) }
    return try result.get()
  }
}

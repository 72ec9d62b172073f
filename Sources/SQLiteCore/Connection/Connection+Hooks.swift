import CSQLite

/// The closures of layers above that run before each commit, with the rows that it changes; nil if these are not known.
typealias CommitBodies = Registry<@Sendable (Connection, RecordedRows?) throws -> Void>

/// The closures and objects that SQLite calls, kept alive by their connection until it is closed.
struct Hooks {
  let callback = UserCallback()
  /// The user's answers to the authorizer.
  var decide: ((Authorization) -> AuthorizationDecision)?
  var authorizer: Authorizer?
  var tracer: Tracer?
  var recorder: ChangeRecorder?
  /// Set as soon as the connection may write.
  var unrecorded: UnrecordedCommits?
  /// Whether statements may call closures of the user's: functions, collations, an authorizer or a trace.
  var hasUserCode = false
  /// Whether deletions of all rows must go row by row.
  var keepsRowDeletes = false
  /// Whether the triggers of full-text search may be trusted when one of them is first used.
  var mayTrustSearch = false
}

extension Connection {
  /// Trusts the schema if the database has a table of FTS5, and returns whether it has.
  ///
  /// Until 2023 FTS5 did not declare itself harmless to SQLite, so that triggers of an untrusted schema cannot use
  /// it. Triggers cannot use functions that may only be called directly all the same.
  package func trustSearch() throws(SQLiteError) -> Bool {
    let table = try firstRow(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%USING fts5%'"
    )
    guard table != nil else { return false }
    _ = try pragma("trusted_schema", "=1")
    return true
  }

  /// Returns whether the schema is trusted since SQLite has just refused a trigger that uses a virtual table.
  /// Another connection may have made both, in this process or another one.
  func trustsTrigger() throws(SQLiteError) -> Bool {
    guard hooks.mayTrustSearch, handle.says("unsafe use of virtual table"), try trustSearch()
    else { return false }
    // Once: if SQLite refuses it again, there is another reason.
    hooks.mayTrustSearch = false
    return true
  }

  /// Lets a closure decide about each statement that is compiled on this connection.
  ///
  /// Each connection of a pool asks its own: set it in ``Database/Options/prepareConnection``. The
  /// transactions that this library begins and ends itself are not asked about.
  ///
  /// - Parameter decide: The decision, or nil to allow everything. It cannot use the database.
  /// - Throws: ``SQLiteError`` outside the access.
  public func setAuthorizer(
    _ decide: (@Sendable (Authorization) -> AuthorizationDecision)?
  ) throws(SQLiteError) {
    try checkAccess()
    try require(.authorization)
    hooks.hasUserCode = true
    hooks.decide = decide
    installAuthorizer()
  }

  /// Reports each statement that runs on this connection to a closure, including the statements inside triggers and the
  /// `BEGIN` and `COMMIT` of the library's own transactions.
  ///
  /// Each connection of a pool tells its own: set it in ``Database/Options/prepareConnection``.
  ///
  /// - Parameters:
  ///   - showsValues: Whether the SQL has the bound values in it, which may be private.
  ///   - body: Takes an event, or nil to end the telling. It cannot use the database.
  /// - Throws: ``SQLiteError`` outside the access.
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

  /// Makes SQLite ask an authorizer, if there is anything to ask.
  func installAuthorizer() {
    let isNeeded = hooks.decide != nil || hooks.keepsRowDeletes
    hooks.authorizer =
      isNeeded
      ? Authorizer(hooks.decide, keepsRowDeletes: hooks.keepsRowDeletes, hooks.callback) : nil
    Authorizer.install(hooks.authorizer, on: handle)
  }

  /// Runs SQL of the library's own, about which the authorizer is not asked.
  @inline(never)
  func withoutAuthorizer(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
    guard let authorizer = hooks.authorizer else { return try body() }
    let before = authorizer.isSuspended
    authorizer.isSuspended = true
    defer { authorizer.isSuspended = before }
    try body()
  }

  /// Begins or ends recording, as the subscribers of the feed want it. Called between accesses.
  func updateRecorder() {
    guard let feed = environment.feed, environment.isWriter else { return }
    // A server does not say what changes: whoever asks is told, after each write, that anything may have.
    if isRemote { return }
    recording.demand = feed.demand
    let detail = recording.demand.detail
    guard detail != hooks.recorder?.detail || hooks.unrecorded == nil else { return }
    install(detail.map { ChangeRecorder(detail: $0, for: self) })
  }

  /// Takes in the subscribers that came while the transaction waited for its lock. Called before its first statement.
  ///
  /// A subscriber reads the state while it holds the lock. So one that has read the state before this transaction is known
  /// here, and one that comes later reads after the commit.
  func updateDemand() {
    // Changes of the same access that were committed before are published by the demand that they were recorded with.
    guard let feed = environment.feed, feed.demand != recording.demand, !recording.hasWritten else {
      return
    }
    updateRecorder()
  }

  private func install(_ recorder: ChangeRecorder?) {
    if hooks.unrecorded == nil { hooks.unrecorded = environment.feed.map(UnrecordedCommits.init) }
    // Statements compiled without the hook empty tables without calling it.
    cache.removeAll()
    let usesPreupdateHook = ChangeRecorder.hasPreupdateHook(environment.usesPreupdateHook)
    ChangeRecorder.install(
      recorder, or: hooks.unrecorded, on: handle, usesPreupdateHook: usesPreupdateHook)
    hooks.recorder = recorder
    if !usesPreupdateHook {
      // SQLite empties a whole table without calling the hooks, unless an authorizer objects.
      hooks.keepsRowDeletes = recorder != nil
      installAuthorizer()
    }
  }

  /// Runs `body` in a transaction, or in a savepoint of the open one, and returns what it has changed, in all
  /// tables of the main database, whether or not anybody else wants to know.
  ///
  /// A statement that was in use before and empties a whole table may do so without a word.
  ///
  /// - Parameter body: The work.
  /// - Returns: Its result, and the rows that were changed in it and not rolled back.
  /// - Throws: The error of `body`; ``SQLiteError``, also if the library cannot record values, or if they were
  ///   too many.
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
        throw SQLiteError(.tooBig, "the changed rows are too many to be recorded")
      }
      return (result, rows)
    }
  }

  /// Runs the bodies of layers above that belong to the transaction which is about to be committed.
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

  /// Runs the same bodies in a transaction of their own after a statement that was one itself.
  private func runCommitBodies(afterwards changes: CommittedChanges) {
    guard !recording.isPreparing, let commits = environment.commits, !commits.isEmpty,
      changes.recorded.byteCount > 0 || changes.isIncomplete
    else { return }
    recording.isPreparing = true
    defer { recording.isPreparing = false }
    // The statement is committed: there is nobody to tell of an error, and nothing to undo.
    try? transaction {
      for body in commits.bodies {
        try body(self, changes.isIncomplete ? nil : changes.recorded)
      }
    }
  }

  /// Tells subscribers what was committed.
  func publishChanges() {
    guard let feed = environment.feed, environment.isWriter,
      hooks.recorder != nil || feed.demand != recording.demand, handle.isAutocommit
    else { return }
    let wasPrepared = hooks.recorder?.isPrepared ?? true
    var (changes, turn) = hooks.recorder?.takeCommitted() ?? (CommittedChanges(), nil)
    if hooks.recorder == nil { changes.turn = hooks.unrecorded?.turn ?? 0 }
    if !wasPrepared, !changes.isEmpty { runCommitBodies(afterwards: changes) }
    feed.publish(
      changes, turn: turn, recorded: recording.demand, hasWritten: recording.hasWritten)
    recording.hasWritten = false
  }

  /// Notes that the whole content was replaced, past the hooks.
  func noteReplacement() {
    recording.hasWritten = true
    hooks.recorder?.noteReplacement()
    hooks.unrecorded?.note()
  }
}

extension Connection {
  /// Runs `body` without triggers and without the actions and checks of foreign keys
  /// (`SQLITE_DBCONFIG_ENABLE_TRIGGER`, `SQLITE_DBCONFIG_ENABLE_FKEY`): what it writes is all that changes, and the
  /// caller checks the foreign keys.
  ///
  /// - Throws: The error of `body`; ``SQLiteError``.
  package func withoutTriggersAndForeignKeys<Result>(_ body: () throws -> Result) throws -> Result {
    try checkAccess()
    return try withoutSettings(
      [SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_FKEY], body)
  }

  /// Runs `body` while some settings of the connection are off, also within a transaction (`sqlite3_db_config`).
  func withoutSettings<Result>(_ options: [Int32], _ body: () throws -> Result) throws -> Result {
    try require(.settings)
    let before = try options.map { try handle.isConfigured($0) }
    for option in options { try handle.configure(option, false) }
    let result = Swift.Result { try body() }
    for (option, isOn) in zip(options, before) { try handle.configure(option, isOn) }
    return try result.get()
  }
}

/// The closures and objects that SQLite calls, kept alive by their connection until it is closed.
struct Hooks {
  let callback = UserCallback()
  /// The user's answers to the authorizer.
  var decide: ((Authorization) -> AuthorizationDecision)?
  var authorizer: Authorizer?
  var tracer: Tracer?
  var recorder: ChangeRecorder?
  /// Whether deletions of all rows must go row by row.
  var keepsRowDeletes = false
}

extension Connection {
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
    hooks.decide = decide
    installAuthorizer()
  }

  /// Tells a closure of each statement that runs on this connection.
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
    recording.demand = feed.demand
    let detail = recording.demand.detail
    guard detail != hooks.recorder?.detail else { return }
    // Statements compiled without the hook empty tables without calling it.
    cache.removeAll()
    let recorder = detail.map { ChangeRecorder(detail: $0, for: self) }
    let usesPreupdateHook = ChangeRecorder.hasPreupdateHook(environment.usesPreupdateHook)
    ChangeRecorder.install(recorder, on: handle, usesPreupdateHook: usesPreupdateHook)
    hooks.recorder = recorder
    if !usesPreupdateHook {
      // SQLite empties a whole table without calling the hooks, unless an authorizer objects.
      hooks.keepsRowDeletes = recorder != nil
      installAuthorizer()
    }
  }

  /// Tells subscribers what was committed.
  func publishChanges() {
    guard let feed = environment.feed, environment.isWriter,
      hooks.recorder != nil || feed.demand != recording.demand, handle.isAutocommit
    else { return }
    let (changes, turn) = hooks.recorder?.takeCommitted() ?? (CommittedChanges(), nil)
    feed.publish(
      changes, turn: turn, recorded: recording.demand, hasWritten: recording.hasWritten)
    recording.hasWritten = false
  }

  /// Notes that the whole content was replaced, past the hooks.
  func noteReplacement() {
    recording.hasWritten = true
    hooks.recorder?.noteReplacement()
  }
}

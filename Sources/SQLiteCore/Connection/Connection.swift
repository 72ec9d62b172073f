import CSQLite
import Synchronization

/// The closures of layers above that set up each connection that writes.
typealias WriterSetups = Registry<@Sendable (Connection) throws -> Void>

/// A connection to a database, lent to the closure of one access.
///
///     try database.write { connection in
///       try connection.executeChange("INSERT INTO note (text) VALUES (\(text))")
///     }
///
/// A connection is not `Sendable` and lives inside the closure. If it, or a ``Statement`` of it, is
/// kept beyond the closure, or used on another thread, every call throws ``ResultCode/misuse``.
public final class Connection {
  /// The settings of a connection, and what it shares with the others to its file.
  struct Environment {
    /// Tells what transactions on the file changed.
    var feed: ChangeFeed?
    /// Which type each table of the file belongs to.
    var claims: TableClaims?
    /// How often the content of the file was replaced.
    var content: ContentGeneration?
    /// The bodies of layers above before each commit.
    var commits: CommitBodies?
    /// Notices that the file is removed or replaced.
    var watch: FileWatch?
    /// Tells who else of this process uses the file, for an error of an access.
    var users: ((Cancellation?) -> String)?
    /// What layers above do first on each connection that writes; nil for one that reads.
    var writerSetups: WriterSetups?
    /// Adds the functions of layers above, which few connections need.
    var addFunctions: (@Sendable (Connection) throws -> Void)?
    /// Whether this is the connection that writes.
    var isWriter = false
    /// Its number among those that its database has opened.
    var number = 0
    var cacheCapacity = 0
    var busyTimeout = Duration.zero
    /// Whether the recorder of changes uses the preupdate hook.
    var usesPreupdateHook = true
    /// Whether SQL may write to the schema.
    var allowsSchemaDamage = false
    /// How long a statement may take that runs on a task's thread.
    var longestOnTask = Duration.zero
  }

  /// The state of telling changes to subscribers.
  struct Recording {
    /// The demand of the subscribers when the access began.
    var demand = ChangeFeed.Demand()
    /// Whether statements that may write have begun since changes were last told.
    var hasWritten = false
    /// Whether the bodies before a commit run.
    var isPreparing = false
    /// The author of the write that runs.
    var author: String?
  }

  let handle: ConnectionHandle
  private(set) var environment: Environment
  let cache: StatementCache
  let interruption = Interruption()
  let busyHandler: BusyHandler
  /// The thread whose access uses the connection now, or 0.
  private let user = Atomic<UInt>(0)
  /// The closures and objects that SQLite calls.
  var hooks = Hooks()
  /// The transactions that are open.
  let state = TransactionState()
  /// The actions that wait for the end of the outermost transaction.
  let actions = TransactionActions()
  /// By ``KeptStatement/Kind``.
  let keptStatements = KeptStatement.Kind.allCases.map { _ in KeptStatement() }
  var recording = Recording()
  /// Whether statements that write are refused, since the access is a read.
  var refusesWrites = false
  /// How many rows this connection had changed when it last looked at the statistics.
  var analyzedChanges: Int64 = 0
  /// The number of the last setup that has run.
  private var lastSetup: UInt64 = 0
  /// Whether `magicdata_list` is known.
  private(set) var hasListModule = false
  // Private, since Swift checks each use of a property that other modules see for a simultaneous change.
  private var generation = 0
  private var runCount = 0
  /// The objects that layers above attach to the connection.
  private let kept = Attachments()

  init(_ handle: ConnectionHandle, _ environment: Environment) {
    self.handle = handle
    self.environment = environment
    cache = StatementCache(capacity: environment.cacheCapacity)
    busyHandler = BusyHandler(timeout: environment.busyTimeout, interruption)
    interruption.install(on: handle)
    handle.remote?.reasonToEnd = { [interruption] in interruption.reason }
    busyHandler.install(on: handle)
  }

  deinit { close() }

  /// Makes the connection that writes one that reads, before anybody has used it.
  ///
  /// - Returns: False if it has been set up for writes already.
  func becomeReader() -> Bool {
    guard environment.isWriter, hooks.recorder == nil, !isRemote,
      let refusal = try? prepare("PRAGMA query_only=1", flags: 0).statement,
      refusal.step() == SQLITE_DONE
    else { return false }
    environment.isWriter = false
    environment.writerSetups = nil
    return true
  }

  /// Runs the setups of layers above that have not run on this connection, between accesses or as part of one.
  @inline(__always) func setUp() throws {
    guard let setups = environment.writerSetups, setups.lastID != lastSetup else { return }
    try run(setups)
  }

  @inline(never) private func run(_ setups: WriterSetups) throws {
    let isBare = state.enterBare()
    defer { if isBare { state.leaveBare() } }
    for (id, body) in setups.bodies(after: lastSetup) {
      try body(self)
      lastSetup = id
    }
    lastSetup = max(lastSetup, setups.lastID)
  }

  /// Adds the functions of layers above, and returns whether there are any that the connection lacked.
  func addFunctions() throws(SQLiteError) -> Bool {
    guard !isRemote, let add = environment.addFunctions else { return false }
    environment.addFunctions = nil
    do {
      try add(self)
    } catch {
      throw error as? SQLiteError ?? SQLiteError(.error, "\(error)")
    }
    return true
  }

  /// Ends what belongs to the connection, on the thread that used it last: SQLite closes the file when
  /// the last reference to the handle goes.
  func close() {
    // Statements first: their ends may still be traced.
    cache.orphanCheckedOut()
    cache.removeAll()
    for kept in keptStatements { kept.handle?.finalize() }
    handle.removeHooks()
    hooks = Hooks()
  }

  /// Which content of the file the outermost access began with.
  package var contentGeneration: Int { generation }

  /// How many statements have begun to run, for tests that say what something costs.
  package var statementCount: Int { runCount }

  /// The objects that layers above attach to the connection, by a type of theirs.
  package var attachments: [ObjectIdentifier: AnyObject] {
    get { kept.all }
    set { kept.all = newValue }
  }

  /// Returns the object that a layer above has attached by a type of its own.
  package func attachment(_ type: Any.Type) -> AnyObject? { kept.find(ObjectIdentifier(type)) }

  /// Whether no transaction is open (`sqlite3_get_autocommit`).
  public var isAutocommit: Bool { handle.isAutocommit }

  /// Notes which content of the file an access begins with, unless it is part of another.
  func noteContent() {
    guard state.isClosed, let content = environment.content else { return }
    generation = content.current
  }

  /// Whether foreign keys lead nowhere now, which the end of the transaction would refuse.
  package var hasDeferredViolations: Bool { handle.hasDeferredViolations }

  /// As ``hasDeferredViolations``, of which a server does not tell: there all foreign keys are looked at.
  package func findsDeferredViolations() throws(SQLiteError) -> Bool {
    handle.remote == nil ? hasDeferredViolations : try pragma("foreign_key_check") != nil
  }

  /// The rowid of the row inserted last on this connection (`sqlite3_last_insert_rowid`).
  public var lastInsertedRowID: Int64 { handle.lastInsertedRowID }

  /// Makes ``lastInsertedRowID`` zero, to learn whether a statement inserts anything
  /// (`sqlite3_set_last_insert_rowid`).
  package func forgetLastInsertedRowID() { handle.lastInsertedRowID = 0 }

  /// The number of rows that the last INSERT, UPDATE or DELETE changed (`sqlite3_changes64`).
  public var numberOfRowsModified: Int { Int(handle.changes) }

  /// Returns a limit (`sqlite3_limit`).
  ///
  /// - Parameter limit: Which one.
  public func limit(_ limit: ConnectionLimit) -> Int {
    Int(handle.limit(limit.rawValue, -1))
  }

  /// Sets a limit of this connection. What is above SQLite's own maximum is cut to that.
  ///
  /// A pool has several connections: use ``Database/Options/limits`` to set it for all of them.
  ///
  /// - Parameters:
  ///   - limit: Which one.
  ///   - value: The new value, not negative.
  /// - Throws: ``SQLiteError`` outside the access.
  public func setLimit(_ limit: ConnectionLimit, to value: Int) throws(SQLiteError) {
    try checkAccess()
    guard value >= 0 else { throw SQLiteError(.range, "a limit cannot be negative") }
    _ = handle.limit(limit.rawValue, Int32(clamping: value))
  }

  /// Lends the connection to this thread's access.
  func beginAccess() {
    recording.hasWritten = false
    updateRecorder()
    user.store(currentThread(), ordering: .relaxed)
  }

  /// Ends the access: statements that were kept from it throw from now on.
  func endAccess() {
    defer { user.store(0, ordering: .relaxed) }
    cache.orphanCheckedOut()
    publishChanges()
  }

  /// Whether this thread's access uses the connection.
  var mayAccess: Bool {
    user.load(ordering: .relaxed) == currentThread() && !hooks.callback.isRunning
  }

  /// Throws unless this thread's access uses the connection.
  func checkAccess(_ sql: String? = nil) throws(SQLiteError) {
    guard user.load(ordering: .relaxed) == currentThread() else {
      throw SQLiteError(.misuse, "a connection was used outside its access", sql: sql)
    }
    try ForkCount.check(handle.forks)
    guard !hooks.callback.isRunning else {
      throw SQLiteError(
        .misuse, "an authorizer or a trace cannot use the database that it belongs to", sql: sql)
    }
  }

  /// Throws if what is written now would go into a file that has been removed or replaced.
  func checkFile() throws(SQLiteError) {
    guard environment.isWriter, let watch = environment.watch else { return }
    try watch.check()
  }

  /// Notes the log that there is now: outside a transaction the journal mode may have changed.
  func acceptLog() {
    environment.watch?.acceptLog {
      (try? plainPragma("journal_mode")) == .text("wal")
    }
  }

  /// Throws if SQLite has rolled back the transaction, or if the access must end.
  func checkTransaction() throws(SQLiteError) {
    if !state.isSound, let failure = state.failure { throw failure }
    if let reason = interruption.reason { throw SQLiteError(.interrupt, reason) }
  }

  /// The error for a failed call, after noticing what it did to the transaction.
  @inline(never)
  func failure(_ code: Int32, sql: String, inTransaction: Bool = false) -> SQLiteError {
    var error = handle.error(code, sql: sql)
    if error.code.primary == .busy, let users = environment.users {
      // The accesses of this process that may hold the lock.
      error = SQLiteError(
        error.code, "\(error.message) (\(users(interruption.cancellation)))", sql: error.sql,
        offset: error.offset)
    }
    if let reason = interruption.reason {
      if error.code.primary == .interrupt {
        error = SQLiteError(.interrupt, reason, sql: sql)
      } else if error.code.primary == .busy {
        error = SQLiteError(.interrupt, reason + SQLiteError.whileLocked, sql: sql)
      }
    }
    if inTransaction || state.isInsideScope, handle.isAutocommit { state.end(by: error) }
    if handle.remote?.isLost == true { state.break(by: error) }
    return error
  }
}

extension Connection {
  /// Whether another access can run on this connection. A session may be lost after a commit that took effect, of which
  /// nobody but the session knows.
  @inline(__always) var isUsable: Bool { !state.isBroken && handle.remote?.isLost != true }
}

extension Connection: StatementOwner {
  /// How many rows the connection has changed.
  package var totalChanges: Int64 { handle.totalChanges }

  func change(since before: Int64) -> Change {
    Change(
      rows: handle.totalChanges != before ? Int(handle.changes) : 0,
      lastInsertedRowID: handle.lastInsertedRowID)
  }

  func beginRun(of statement: StatementHandle) throws(SQLiteError) {
    try checkMayRun(statement)
    guard statement.isBound || statement.parameterCount == 0 else {
      throw SQLiteError(
        .range, "no values were bound to the \(statement.parameterCount) parameters",
        sql: statement.sql)
    }
    if statement.control != nil, !statement.isOfLibrary { try willControlTransaction(statement) }
    if let recorder = hooks.recorder {
      if recorder.hasCommitted, handle.isAutocommit { publishChanges() }
      if statement.changesSchema { recorder.noteSchemaChange(statement.sql) }
      if !statement.isReadOnly { recorder.beginRun(&statement.recorded) }
    }
    if !statement.isReadOnly, statement.control == nil { recording.hasWritten = true }
    statement.beganInTransaction = !handle.isAutocommit
    if interruption.place != .anywhere { try beginTimedRun(of: statement) }
    statement.isRunning = true
    runCount += 1
  }

  /// Begins a run whose time counts. On a task's thread only what was short before runs.
  @inline(never)
  private func beginTimedRun(of statement: StatementHandle) throws(SQLiteError) {
    if statement.isOfLibrary { return }
    guard interruption.place != .task || statement.isShort else { throw interruption.giveUp() }
    statement.began = .now
  }

  /// Throws if a statement must not begin now.
  private func checkMayRun(_ statement: StatementHandle) throws(SQLiteError) {
    guard !statement.isOrphan else { throw statement.orphanError }
    try checkAccess(statement.sql)
    if !state.isSound, let failure = state.failure,
      !(statement.isOfLibrary && statement.control == .rollback)
    {
      throw failure.with(sql: statement.sql)
    }
    if interruption.isDue, let reason = interruption.reason {
      throw SQLiteError(.interrupt, reason, sql: statement.sql)
    }
    if statement.control != nil, !state.allowsControl, !statement.isOfLibrary {
      throw SQLiteError(
        .misuse,
        "transactions are begun and ended by write, transaction and savepoint; "
          + "withoutTransaction allows this statement", sql: statement.sql)
    }
    if refusesWrites, !statement.isReadOnly {
      throw SQLiteError(.readOnly, "a read cannot write", sql: statement.sql)
    }
    // Outside our transactions a statement is a transaction of its own. In ours the file is checked before
    // the commit.
    if !statement.isReadOnly, !statement.isOfLibrary, !state.isInsideScope, handle.isAutocommit {
      acceptLog()
      try checkFile()
    }
  }

  @inline(never)
  func failRun(of statement: StatementHandle, _ code: Int32) -> SQLiteError {
    let error = failure(
      code, sql: statement.sql,
      inTransaction: statement.beganInTransaction && statement.control == nil)
    statement.reset()
    return error
  }

  @inline(never)
  func takeBack(_ statement: StatementHandle) {
    if let began = statement.began {
      statement.began = nil
      statement.isShort = .now - began < environment.longestOnTask
    }
    if statement.isRunning {
      let code = statement.reset()
      // SQLite has undone the transaction of the statement's own, and nobody is left to catch the error.
      if code != SQLITE_OK, state.allowsControl { state.end(by: failRun(of: statement, code)) }
    }
    cache.takeBack(statement)
  }

  func registerListModule() throws(SQLiteError) {
    guard !hasListModule else { return }
    try handle.check(unsafe ListModule.register(on: handle.pointer))
    hasListModule = true
  }
}

@available(*, unavailable)
extension Connection: Sendable {}

/// Objects by types. Most ask for the same one again and again, which is spared hashing (benchmark
/// `point`).
private final class Attachments {
  var all: [ObjectIdentifier: AnyObject] = [:] {
    didSet { last = nil }
  }
  private var last: (key: ObjectIdentifier, value: AnyObject)?

  func find(_ key: ObjectIdentifier) -> AnyObject? {
    if let last, last.key == key { return last.value }
    guard let found = all[key] else { return nil }
    last = (key, found)
    return found
  }
}

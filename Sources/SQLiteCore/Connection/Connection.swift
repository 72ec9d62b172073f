import CSQLite
import Synchronization

/// The closures of higher layers that set up each writer connection.
typealias WriterSetups = ClosureRegistry<@Sendable (Connection) throws -> Void>

/// A connection to a database, valid only inside the closure of one access.
///
///     try database.write { connection in
///       try connection.executeChange("INSERT INTO note (text) VALUES (\(text))")
///     }
///
/// A connection isn't `Sendable`. Outside the closure, or on another thread, the methods of the
/// connection and of its ``Statement`` values throw ``ResultCode/misuse``.
public final class Connection {
  /// The settings of a connection, and the objects that it shares with other connections to the
  /// same file.
  struct Environment {
    /// The feed that notifies subscribers of the changes of each transaction on the file.
    var feed: ChangeFeed?
    /// The registry of the types that own the file's tables.
    var claims: TableClaims?
    /// The counter that advances each time the file's whole content is replaced.
    var content: ContentGeneration?
    /// The closures of higher layers that run before each commit.
    var commits: CommitBodies?
    /// The watch that detects whether the file has been removed or replaced.
    var watch: FileWatch?
    /// A closure that describes the accesses of this process that use the file, for the message of
    /// a busy error. It omits the access with the given cancellation, which is waiting for the
    /// lock.
    var users: ((Cancellation?) -> String)?
    /// The setups that higher layers run on each writer connection at the beginning of its first
    /// access; nil for a reader.
    var writerSetups: WriterSetups?
    /// A closure that adds the SQL functions of higher layers. It is called when a statement uses a
    /// function that SQLite doesn't know, or compiles SQL of the schema.
    var addFunctions: (@Sendable (Connection) throws -> Void)?
    /// Returns the range of the keys that new rows get, or nil if it isn't limited.
    var keyRange: (@Sendable () -> ClosedRange<Int64>?)?
    /// Whether this is the writer connection.
    var isWriter = false
    /// The position of this connection among those that its database has opened, starting with 1.
    var number = 0
    var cacheCapacity = 0
    var busyTimeout = Duration.zero
    /// Whether the change recorder uses the preupdate hook.
    var usesPreupdateHook = true
    /// Whether SQL can write to the schema and to shadow tables, and use pragmas that can damage
    /// the file.
    var allowsSchemaDamage = false
    /// The maximum duration of a statement's last run for the statement to run on a task's thread.
    var maximumDurationOnTask = Duration.zero
  }

  /// The state of the recording of changes for the feed's subscribers.
  struct Recording {
    /// The combined demand of the feed's subscribers, which determines what is recorded.
    var demand = ChangeFeed.Demand()
    /// Whether a statement that can write has begun since changes were last published.
    var hasWritten = false
    /// Whether closures of the ``CommitBodies`` are running.
    var isPreparing = false
    /// The author of the running write, or nil if no write is running, its task has no author, or
    /// nothing records authors.
    var author: String?
  }

  let handle: ConnectionHandle
  private(set) var environment: Environment
  let cache: StatementCache
  let interruption = Interruption()
  let busyHandler: BusyHandler
  /// The number of the thread whose access uses the connection, or 0 if no access uses it.
  private let user = Atomic<UInt>(0)
  /// The closures and objects that SQLite's hooks call.
  var hooks = Hooks()
  /// The open transactions and savepoints.
  let state = TransactionState()
  /// The actions that wait for the end of the outermost transaction.
  let actions = TransactionActions()
  /// The BEGIN and COMMIT statements, indexed by ``TransactionStatement/Kind``.
  let transactionStatements = TransactionStatement.Kind.allCases.map { _ in TransactionStatement() }
  var recording = Recording()
  /// Whether statements that write throw, because the access is a read.
  var refusesWrites = false
  /// The connection's count of changed rows when it last updated the planner's statistics.
  var analyzedChanges: Int64 = 0
  /// The ID of the last writer setup that has run on this connection, or 0.
  private var lastSetup: UInt64 = 0
  /// Whether the table-valued function `magicdata_list` is registered.
  private(set) var hasListModule = false
  // Private, because Swift checks each access to a property that other modules can see for
  // exclusivity.
  private var generation = 0
  private var runCount = 0
  /// The objects that higher layers have attached to the connection.
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

  /// The range of the integer keys that new rows get, or nil if it isn't limited.
  package var keyRange: ClosedRange<Int64>? { environment.keyRange?() }

  /// Turns an unused writer connection into a reader.
  ///
  /// - Returns: True on success. False if the connection is a reader already, records changes,
  ///   belongs to a server, or fails to turn on `PRAGMA query_only`.
  func becomeReader() -> Bool {
    guard environment.isWriter, hooks.recorder == nil, !isRemote,
      let refusal = try? prepare("PRAGMA query_only=1", flags: 0).statement,
      refusal.step() == SQLITE_DONE
    else { return false }
    environment.isWriter = false
    environment.writerSetups = nil
    return true
  }

  /// Runs the setups of higher layers that haven't run on this connection yet, at the beginning of
  /// an access.
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

  /// Adds the SQL functions of higher layers. Returns false if there are none or they have already
  /// been added.
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

  /// Finalizes the statements and removes the hooks. Call this only while no access uses the
  /// connection. SQLite closes the file when the last reference to the handle is released.
  func close() {
    // Statements first, because their ends may still be traced.
    cache.orphanCheckedOut()
    cache.removeAll()
    for kept in transactionStatements { kept.handle?.finalize() }
    handle.removeHooks()
    hooks = Hooks()
  }

  /// The generation of the file's content at the beginning of the outermost access. Each
  /// replacement of the whole content starts a new generation.
  package var contentGeneration: Int { generation }

  /// The number of statements that have begun to run, for tests that check costs.
  package var statementCount: Int { runCount }

  /// The objects that higher layers have attached to the connection. The key of each object is a
  /// type of the layer.
  package var attachments: [ObjectIdentifier: AnyObject] {
    get { kept.all }
    set { kept.all = newValue }
  }

  /// Returns the object that a higher layer has attached with a type as its key, or nil if there is
  /// none.
  package func attachment(_ type: Any.Type) -> AnyObject? { kept.find(ObjectIdentifier(type)) }

  /// A Boolean value that indicates whether no transaction is open (`sqlite3_get_autocommit`).
  public var isAutocommit: Bool { handle.isAutocommit }

  /// Records the current generation of the file's content at the beginning of an outermost access.
  func recordContentGeneration() {
    guard state.isClosed, let content = environment.content else { return }
    generation = content.current
  }

  /// Whether the open transaction violates foreign keys, so that its commit would fail. Always
  /// false if a server hosts the database.
  package var hasDeferredViolations: Bool { handle.hasDeferredViolations }

  /// Returns whether the open transaction violates foreign keys. A server doesn't report
  /// violations, so in this case the method runs `PRAGMA foreign_key_check`, which checks all
  /// foreign keys of the database.
  package func checkDeferredViolations() throws(SQLiteError) -> Bool {
    handle.remote == nil ? hasDeferredViolations : try pragma("foreign_key_check") != nil
  }

  /// The rowid of the last row that was inserted on this connection, or 0 if no row has been
  /// inserted yet (`sqlite3_last_insert_rowid`).
  public var lastInsertedRowID: Int64 { handle.lastInsertedRowID }

  /// Sets ``lastInsertedRowID`` to zero, so that you can detect whether the next statement inserts
  /// a row (`sqlite3_set_last_insert_rowid`).
  package func forgetLastInsertedRowID() { handle.lastInsertedRowID = 0 }

  /// The number of rows that the last INSERT, UPDATE or DELETE changed, not counting rows that
  /// triggers or foreign key actions changed (`sqlite3_changes64`).
  public var numberOfRowsModified: Int { Int(handle.changes) }

  /// Returns the current value of a limit of this connection (`sqlite3_limit`).
  ///
  /// - Parameter limit: The limit to query.
  public func limit(_ limit: ConnectionLimit) -> Int {
    Int(handle.limit(limit.rawValue, -1))
  }

  /// Sets a limit of this connection (`sqlite3_limit`). SQLite reduces a value above its
  /// compile-time maximum to that maximum.
  ///
  /// A database has several connections. To set a limit for all of them, use
  /// ``Database/Options/limits``.
  ///
  /// - Parameters:
  ///   - limit: The limit to set.
  ///   - value: The new value, which must not be negative.
  /// - Throws: ``SQLiteError`` with ``ResultCode/range`` if `value` is negative; with
  ///   ``ResultCode/misuse`` outside the closure that received the connection.
  public func setLimit(_ limit: ConnectionLimit, to value: Int) throws(SQLiteError) {
    try checkAccess()
    guard value >= 0 else { throw ConnectionLimit.negativeValueError }
    _ = handle.limit(limit.rawValue, Int32(clamping: value))
  }

  /// Assigns the connection to an access on this thread, and starts or stops the recording of
  /// changes.
  func beginAccess() {
    recording.hasWritten = false
    updateRecorder()
    user.store(currentThread(), ordering: .relaxed)
  }

  /// Ends the access, and publishes the changes that it has committed. Statements that escaped from
  /// the access throw from now on.
  func endAccess() {
    defer { user.store(0, ordering: .relaxed) }
    cache.orphanCheckedOut()
    publishChanges()
  }

  /// Whether an access on this thread uses the connection, and no callback of the program, such as
  /// an authorizer, is running on it.
  var mayAccess: Bool {
    user.load(ordering: .relaxed) == currentThread() && !hooks.callback.isRunning
  }

  /// Throws ``ResultCode/misuse`` unless an access on this thread uses the connection. Also throws
  /// while a callback of the program, such as an authorizer, is running on it, and if this process
  /// was forked after the connection was opened.
  func checkAccess(_ sql: String? = nil) throws(SQLiteError) {
    guard user.load(ordering: .relaxed) == currentThread() else {
      throw SQLiteError(
        .misuse, "a connection was used outside the closure that received it", sql: sql)
    }
    try ForkCount.check(handle.forks)
    guard !hooks.callback.isRunning else {
      throw SQLiteError(
        .misuse, "an authorizer or trace callback must not use its own connection", sql: sql)
    }
  }

  /// Throws if this is the writer connection and the database file or its log has been removed or
  /// replaced, in which case the writes would be lost.
  func checkFile() throws(SQLiteError) {
    guard environment.isWriter, let watch = environment.watch else { return }
    try watch.check()
  }

  /// Makes ``checkFile()`` accept the current write-ahead log file, unless the log is missing in
  /// WAL mode. Outside a transaction, a change of the journal mode can remove or replace the log
  /// legitimately.
  func acceptLog() {
    environment.watch?.acceptLog {
      (try? uncheckedPragma("journal_mode")) == .text("wal")
    }
  }

  /// Throws if SQLite has rolled back the transaction or the access must end.
  func checkTransaction() throws(SQLiteError) {
    if !state.isSound, let failure = state.failure { throw failure }
    if let reason = interruption.reason { throw SQLiteError(.interrupt, reason) }
  }

  /// Returns the error of a failed SQLite call, and records in ``state`` whether the failure ended
  /// the transaction or the session.
  ///
  /// If the access must end, the message contains the reason. If the call failed because of a lock,
  /// the message describes the accesses of this process that may hold it.
  @inline(never)
  func failure(_ code: Int32, sql: String, inTransaction: Bool = false) -> SQLiteError {
    var error = handle.error(code, sql: sql)
    if error.code.primary == .busy, let users = environment.users {
      // Name the accesses of this process that may hold the lock.
      error = SQLiteError(
        error.code, "\(error.message) (\(users(interruption.cancellation)))", sql: error.sql,
        offset: error.offset)
    }
    if error.code == .error, error.message.hasPrefix("no such module: "), !isRemote {
      error = SQLiteError(
        .error, "\(error.message); pass the extension with this module in Options.extensions",
        sql: error.sql, offset: error.offset)
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
  /// Whether another access can run on this connection. The server's session is checked separately,
  /// because `state` doesn't change if the session is lost after a successful commit.
  @inline(__always) var isUsable: Bool { !state.isBroken && handle.remote?.isLost != true }
}

extension Connection: StatementOwner {
  /// The number of rows that the connection has changed since it was opened.
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
        .range, "no values are bound to the statement (parameters: \(statement.parameterCount))",
        sql: statement.sql)
    }
    if statement.control != nil, !statement.isLibraryStatement {
      try willControlTransaction(statement)
    }
    if let recorder = hooks.recorder {
      if recorder.hasCommitted, handle.isAutocommit { publishChanges() }
      if statement.changesSchema { recorder.recordSchemaChange(statement.sql) }
      if !statement.isReadOnly { recorder.beginRun(&statement.recorded) }
    }
    if !statement.isReadOnly, statement.control == nil { recording.hasWritten = true }
    statement.beganInTransaction = !handle.isAutocommit
    if interruption.place != .anywhere { try beginTimedRun(of: statement) }
    statement.isRunning = true
    runCount += 1
  }

  /// Records the time at which a run of a program's statement begins. On a task's thread, throws
  /// unless the statement's last run was short.
  @inline(never)
  private func beginTimedRun(of statement: StatementHandle) throws(SQLiteError) {
    if statement.isLibraryStatement { return }
    guard interruption.place != .task || statement.isShort else { throw interruption.giveUp() }
    statement.began = .now
  }

  /// Throws if the statement must not run now: outside its access, after a rollback by SQLite,
  /// after the deadline or a cancellation, because the access doesn't permit this kind of
  /// statement, or because the file has been removed or replaced.
  private func checkMayRun(_ statement: StatementHandle) throws(SQLiteError) {
    guard !statement.isOrphan else { throw statement.orphanError }
    try checkAccess(statement.sql)
    if !state.isSound, let failure = state.failure,
      !(statement.isLibraryStatement && statement.control == .rollback)
    {
      throw failure.with(sql: statement.sql)
    }
    if interruption.isDue, let reason = interruption.reason {
      throw SQLiteError(.interrupt, reason, sql: statement.sql)
    }
    if statement.control != nil, !state.allowsControl, !statement.isLibraryStatement {
      throw SQLiteError(
        .misuse,
        "this statement controls a transaction; call write, transaction or savepoint instead, "
          + "or run it inside withoutTransaction", sql: statement.sql)
    }
    if refusesWrites, !statement.isReadOnly {
      throw SQLiteError(.readOnly, "a read cannot write; use write instead", sql: statement.sql)
    }
    // Outside our transactions, the statement commits by itself. Inside them, the file is checked
    // before the commit.
    if !statement.isReadOnly, !statement.isLibraryStatement, !state.isInsideScope,
      handle.isAutocommit
    {
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
  func checkIn(_ statement: StatementHandle) {
    if let began = statement.began {
      statement.began = nil
      statement.isShort = .now - began < environment.maximumDurationOnTask
    }
    if statement.isRunning {
      let code = statement.reset()
      // SQLite has rolled back the statement's own transaction. No caller is left to receive the
      // error.
      if code != SQLITE_OK, state.allowsControl { state.end(by: failRun(of: statement, code)) }
    }
    cache.checkIn(statement)
  }

  func registerListModule() throws(SQLiteError) {
    guard !hasListModule else { return }
    try handle.check(unsafe ListModule.register(on: handle.pointer))
    hasListModule = true
  }
}

@available(*, unavailable)
extension Connection: Sendable {}

/// A dictionary with types as keys. It stores the last lookup, because most lookups repeat the last
/// one and then need no hashing (benchmark `point`).
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

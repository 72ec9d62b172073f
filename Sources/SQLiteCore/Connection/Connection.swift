import CSQLite
import Synchronization

/// A connection to a database, lent to the closure of one access.
///
///     try database.write { connection in
///       try connection.executeChange("INSERT INTO note (text) VALUES (\(text))")
///     }
///
/// A connection is not `Sendable` and lives inside the closure. If it, or a ``Statement`` of it, is
/// kept beyond the closure, or used on another thread, every call throws ``ResultCode/misuse``.
public final class Connection {
  let handle: ConnectionHandle
  let cache: StatementCache
  let interruption: Interruption
  let options: Database.Options
  /// What it has in common with other connections to the file.
  var shared: SharedFile?
  /// Notices that the file is removed or replaced.
  var watch: FileWatch?
  /// Says whether the pragma runs that tells whether there must be a log.
  var isAskingJournalMode = false
  /// Says whether this is the connection that writes.
  var isWriter = false
  /// Its number among those that its database has opened.
  var opening = 0
  /// The thread whose access uses the connection now, or 0.
  private let user = Atomic<UInt>(0)
  /// Statements that are checked out and not in the cache.
  private var transient: [WeakStatement] = []
  /// How many statements are checked out.
  private var checkedOutCount = 0
  /// How many statements have begun to run, for tests that say what something costs.
  package internal(set) var statementCount = 0
  /// The transaction and the savepoints that are open, outermost first.
  var scopes: [Scope] = []
  /// Why SQLite rolled back the transaction that these scopes stand for, if it did.
  var ended: SQLiteError?
  /// Says whether the connection can only be thrown away, since a ROLLBACK failed.
  var isBroken = false
  /// Says whether statements that write are refused, since the access is a read.
  var refusesWrites = false
  /// Says whether statements of the user's may begin and end transactions.
  var allowsTransactionControl = false
  /// Which content of the file the outermost access began with.
  package private(set) var contentGeneration = 0
  /// Says whether BEGIN, COMMIT and their like run for the scopes of this connection.
  var isOurControl = false
  /// What the subscribers of changes wanted when the access began.
  var demand = ChangeFeed.Demand()
  /// Says whether statements that may write have begun since changes were last told.
  var hasWritten = false
  /// What is to be done at the end of the outermost transaction.
  var actions = TransactionActions()
  var hasListModule = false
  /// What the layers above keep for as long as the connection lives, by a type of theirs.
  package var attachments: [ObjectIdentifier: AnyObject] = [:] { didSet { lastAttachment = nil } }
  /// The one of them that was asked for last.
  private var lastAttachment: (key: ObjectIdentifier, value: AnyObject)?

  init(_ handle: ConnectionHandle, options: Database.Options) {
    self.handle = handle
    self.options = options
    cache = StatementCache(capacity: options.statementCacheCapacity)
    interruption = Interruption(busyTimeout: options.busyTimeout)
    handle.install(interruption)
  }

  deinit { close() }

  /// Ends what belongs to the connection, on the thread that used it last: SQLite closes the file when
  /// the last reference to the handle goes.
  func close() {
    // Statements first: their ends may still be traced.
    orphanStatements()
    cache.removeAll()
    handle.removeHooks()
  }

  /// What a layer above keeps by a type of its own. Most ask for the same one again and again, which
  /// is spared hashing (benchmark `point`).
  package func attachment(_ type: Any.Type) -> AnyObject? {
    let key = ObjectIdentifier(type)
    if let lastAttachment, lastAttachment.key == key { return lastAttachment.value }
    guard let found = attachments[key] else { return nil }
    lastAttachment = (key, found)
    return found
  }

  /// Says whether no transaction is open (`sqlite3_get_autocommit`).
  public var isAutocommit: Bool { handle.isAutocommit }

  /// Says whether a transaction of `write` or of ``transaction(_:_:)`` is open, whose end runs the
  /// actions of ``afterCommit(_:)`` and its like. After a BEGIN in SQL nobody runs them.
  package var ownsTransaction: Bool { scopes.first.map { $0.savepoint == nil } ?? false }

  /// Notes which content of the file an access begins with, unless it is part of another.
  func noteContent() {
    guard scopes.isEmpty, !allowsTransactionControl, let shared else { return }
    contentGeneration = shared.content.current
  }

  /// Says whether the open scope is part of a transaction that outlives it, and may yet be undone.
  package var isInsideAnother: Bool { scopes.last.map { !$0.isOutermost } ?? false }

  /// Says whether foreign keys lead nowhere now, which the end of the transaction would refuse.
  package var hasDeferredViolations: Bool { handle.hasDeferredViolations }

  /// The rowid of the row inserted last on this connection (`sqlite3_last_insert_rowid`).
  public var lastInsertedRowID: Int64 { handle.lastInsertedRowID }

  /// Makes ``lastInsertedRowID`` zero, to learn whether a statement inserts anything
  /// (`sqlite3_set_last_insert_rowid`).
  package func forgetLastInsertedRowID() { handle.lastInsertedRowID = 0 }

  /// The number of rows that the last INSERT, UPDATE or DELETE changed (`sqlite3_changes64`).
  public var numberOfRowsModified: Int { Int(handle.changes) }

  /// Returns a statement for `sql` with its values bound, reusing a cached one if it is idle.
  ///
  ///     var insert = try connection.statement("INSERT INTO note VALUES (?1)")
  ///     try insert.run("Buy milk")
  ///
  /// The statement returns to the cache, reset and unbound, when its scope ends.
  ///
  /// - Parameter sql: A single SQL statement.
  /// - Throws: ``SQLiteError`` if `sql` does not compile, or holds no statement, or more than one.
  public func statement(_ sql: SQL) throws(SQLiteError) -> Statement {
    if let failure = sql.failure { throw failure.with(sql: sql.text) }
    var statement = Statement(try checkOut(sql), of: self)
    if !sql.pieces.isEmpty { try statement.bind(sql.pieces) }
    return statement
  }

  func checkOut(_ sql: SQL) throws(SQLiteError) -> StatementHandle {
    if !sql.pieces.isEmpty, mayAccess, let handle = cache.checkOutRecent(sql) {
      checkedOutCount += 1
      return handle
    }
    return try checkOut(sql.text)
  }

  func checkOut(_ sql: String) throws(SQLiteError) -> StatementHandle {
    try checkAccess(sql)
    if let handle = cache.checkOut(sql) {
      checkedOutCount += 1
      return handle
    }
    try checkText(sql)
    let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
    // Swift keeps a NUL behind its texts, so that SQLite need not copy them.
    let prepared = unsafe sql.withCString { start in
      Result { () throws(SQLiteError) in
        try unsafe prepare(start, count: sql.utf8.count, wholeText: sql, flags: flags)
      }
    }
    let (statement, end) = try prepared.get()
    guard let statement else { throw SQLiteError(.misuse, "there is no statement", sql: sql) }
    guard SQLScanner.isBlank(sql, from: end) else {
      throw SQLiteError(
        .misuse, "there is more than one statement; executeMultipleChanges runs several", sql: sql,
        offset: end)
    }
    use(statement, cached: cache.insert(statement))
    return statement
  }

  /// Marks a fresh statement as checked out.
  func use(_ statement: StatementHandle, cached: Bool) {
    statement.isCheckedOut = true
    checkedOutCount += 1
    guard !cached else { return }
    transient.removeAll { $0.statement == nil }
    transient.append(WeakStatement(statement: statement))
  }

  func takeBack(_ statement: StatementHandle) {
    guard !statement.isOrphan else { return }
    checkedOutCount -= 1
    if statement.isRunning { statement.reset() }
    if statement.isBound {
      statement.clearBindings()
      statement.isBound = false
    }
    statement.isCheckedOut = false
    // Whoever has kept the handle must not be the one to finalize it, on any thread.
    if !statement.isCached { statement.finalize() }
  }

  /// The connection belongs to this thread's access from now on.
  func beginAccess() {
    hasWritten = false
    updateRecorder()
    user.store(currentThread(), ordering: .relaxed)
  }

  /// The access has ended: whatever was kept from it is dead.
  func endAccess() {
    defer { user.store(0, ordering: .relaxed) }
    orphanStatements()
    publishChanges()
  }

  /// The closure has ended: statements that were kept from it are dead.
  func orphanStatements() {
    if checkedOutCount > 0 {
      for statement in cache.removeCheckedOut() { statement.orphan() }
      for statement in transient { statement.statement?.orphan() }
      checkedOutCount = 0
    }
    transient.removeAll()
  }

  /// Says whether this thread's access uses the connection.
  private var mayAccess: Bool {
    user.load(ordering: .relaxed) == currentThread() && !handle.hook.isRunning
  }

  /// Throws unless this thread's access uses the connection.
  func checkAccess(_ sql: String? = nil) throws(SQLiteError) {
    guard user.load(ordering: .relaxed) == currentThread() else {
      throw SQLiteError(.misuse, "a connection was used outside its access", sql: sql)
    }
    guard !handle.hook.isRunning else {
      throw SQLiteError(
        .misuse, "an authorizer or a trace cannot use the database that it belongs to", sql: sql)
    }
  }

  /// Throws if a statement must not begin now.
  func checkMayRun(_ statement: StatementHandle) throws(SQLiteError) {
    guard !statement.isOrphan else { throw orphanError(statement.sql) }
    try checkAccess(statement.sql)
    if let ended { throw ended.asEndOfTransaction(statement.sql) }
    if interruption.isDue, let reason = interruption.reason {
      throw SQLiteError(.interrupt, reason, sql: statement.sql)
    }
    if statement.control != nil, !allowsTransactionControl {
      throw SQLiteError(
        .misuse,
        "transactions are begun and ended by write, transaction and savepoint; "
          + "withoutTransaction allows this statement", sql: statement.sql)
    }
    if refusesWrites, !statement.isReadOnly {
      throw SQLiteError(.readOnly, "a read cannot write", sql: statement.sql)
    }
    // Outside our transactions a statement may be one of its own.
    if scopes.isEmpty, !statement.isReadOnly, !isAskingJournalMode, handle.isAutocommit {
      acceptLog()
      try checkFile()
    }
  }

  /// Throws if what is written now would go into a file that has been removed or replaced.
  func checkFile() throws(SQLiteError) {
    guard isWriter, let watch else { return }
    try watch.check()
  }

  func orphanError(_ sql: String) -> SQLiteError {
    SQLiteError(.misuse, "a statement was used outside its access", sql: sql)
  }

  /// The error for a failed step, after noticing what it did to the transaction.
  func failure(_ code: Int32, sql: String, inTransaction: Bool = false) -> SQLiteError {
    var error = handle.error(code, sql: sql)
    if error.code.primary == .busy, let shared {
      error = SQLiteError(
        error.code, "\(error.message) (\(shared.users(besides: interruption.cancellation)))",
        sql: sql, offset: error.offset)
    }
    if let reason = interruption.reason {
      if error.code.primary == .interrupt {
        error = SQLiteError(.interrupt, reason, sql: sql)
      } else if error.code.primary == .busy {
        error = SQLiteError(.interrupt, reason + Interruption.whileLocked, sql: sql)
      }
    }
    if ended == nil, inTransaction || !scopes.isEmpty, handle.isAutocommit { ended = error }
    return error
  }
}

@available(*, unavailable)
extension Connection: Sendable {}

/// A statement that may be gone.
private struct WeakStatement {
  weak var statement: StatementHandle?
}

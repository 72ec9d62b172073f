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
  /// The thread whose access uses the connection now, or 0.
  private let user = Atomic<UInt>(0)
  /// Statements that are checked out and not in the cache.
  private var transient: [WeakStatement] = []
  /// How many statements are checked out.
  private var checkedOutCount = 0
  /// The transaction and the savepoints that are open, outermost first.
  var scopes: [Scope] = []
  /// Why SQLite rolled back the transaction that these scopes stand for, if it did.
  var ended: SQLiteError?
  /// Says whether the connection can only be thrown away, since a ROLLBACK failed.
  var isBroken = false
  /// Says whether statements of the user's may begin and end transactions.
  var allowsTransactionControl = false
  /// What is to be done at the end of the outermost transaction.
  var actions = TransactionActions()
  private var hasListModule = false
  /// What the layers above keep for as long as the connection lives, by a type of theirs.
  package var attachments: [ObjectIdentifier: AnyObject] = [:]

  init(_ handle: ConnectionHandle, options: Database.Options) {
    self.handle = handle
    self.options = options
    cache = StatementCache(capacity: options.statementCacheCapacity)
    interruption = Interruption(busyTimeout: options.busyTimeout)
    handle.install(interruption)
  }

  /// Says whether no transaction is open (`sqlite3_get_autocommit`).
  public var isAutocommit: Bool { handle.isAutocommit }

  /// Says whether a transaction of `write` or of ``transaction(_:_:)`` is open, whose end runs the
  /// actions of ``afterCommit(_:)`` and its like. After a BEGIN in SQL nobody runs them.
  package var ownsTransaction: Bool { scopes.first.map { $0.savepoint == nil } ?? false }

  /// The rowid of the row inserted last on this connection (`sqlite3_last_insert_rowid`).
  public var lastInsertedRowID: Int64 { handle.lastInsertedRowID }

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
    var statement = Statement(try checkOut(sql.text), of: self)
    if !sql.arguments.isEmpty { try statement.bind(arguments: sql.arguments) }
    return statement
  }

  package func registerListModule() throws(SQLiteError) {
    guard !hasListModule else { return }
    try handle.check(unsafe ListModule.register(on: handle.pointer))
    hasListModule = true
  }

  func checkOut(_ sql: String) throws(SQLiteError) -> StatementHandle {
    try checkAccess(sql)
    if let handle = cache.checkOut(sql) {
      checkedOutCount += 1
      return handle
    }
    let (statement, end) = try prepare(sql, from: 0, flags: UInt32(SQLITE_PREPARE_PERSISTENT))
    guard let statement else { throw SQLiteError(.misuse, "there is no statement", sql: sql) }
    guard SQLScanner.isBlank(sql, from: end) else {
      throw SQLiteError(
        .misuse, "there is more than one statement; executeMultipleChanges runs several", sql: sql,
        offset: end)
    }
    use(statement, cached: cache.insert(statement))
    return statement
  }

  /// Returns the first statement after `offset`, not cached, or nil; moves `offset` behind it.
  func transientStatement(
    _ sql: String, from offset: inout Int
  ) throws(SQLiteError) -> Statement? {
    try checkAccess(sql)
    let (handle, end) = try prepare(sql, from: offset, flags: 0)
    offset = end
    guard let handle else { return nil }
    use(handle, cached: false)
    return Statement(handle, of: self)
  }

  /// Compiles the first statement after `offset` (`sqlite3_prepare_v3`).
  ///
  /// - Returns: The statement, or nil if only blanks and comments follow, and the offset behind it.
  func prepare(
    _ sql: String, from offset: Int, flags: UInt32
  ) throws(SQLiteError) -> (StatementHandle?, Int) {
    if sql.utf8.contains(0) { throw SQLiteError(.misuse, "the SQL contains a NUL", sql: sql) }
    // The function of ListModule must be known before SQL that names it compiles.
    if !hasListModule, sql.utf8.count > 13, SQLScanner.mentionsList(sql) {
      try registerListModule()
    }
    guard sql.utf8.count <= Int32.max else { throw SQLiteError(.tooBig) }
    var text = sql
    var pointer: OpaquePointer?
    var end = 0
    let code = text.withUTF8 { bytes in
      guard let start = bytes.baseAddress, offset < bytes.count else { return SQLITE_OK }
      return unsafe start.withMemoryRebound(to: CChar.self, capacity: bytes.count) { characters in
        var tail: UnsafePointer<CChar>?
        let code = unsafe sqlite3_prepare_v3(
          handle.pointer, characters + offset, Int32(bytes.count - offset), flags, &pointer, &tail)
        end = unsafe tail.map { unsafe $0 - characters } ?? bytes.count
        return code
      }
    }
    guard code == SQLITE_OK else {
      let error = failure(code, sql: sql)
      throw SQLiteError(
        error.code, error.message, sql: sql, offset: error.offset.map { $0 + offset })
    }
    guard let pointer = unsafe pointer else { return (nil, sql.utf8.count) }
    let start = sql.utf8.index(sql.startIndex, offsetBy: offset)
    let stop = sql.utf8.index(start, offsetBy: end - offset)
    let own = offset == 0 && end == sql.utf8.count ? sql : String(sql[start..<stop])
    return unsafe (StatementHandle(pointer: pointer, sql: offset == 0 ? sql : own), end)
  }

  /// Marks a fresh statement as checked out.
  private func use(_ statement: StatementHandle, cached: Bool) {
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
    if statement.parameterCount > 0 { statement.clearBindings() }
    statement.isCheckedOut = false
  }

  /// The connection belongs to this thread's access from now on.
  func beginAccess() {
    user.store(currentThread(), ordering: .relaxed)
  }

  /// The access has ended: whatever was kept from it is dead.
  func endAccess() {
    if checkedOutCount > 0 {
      for statement in cache.removeCheckedOut() { statement.orphan() }
      for statement in transient { statement.statement?.orphan() }
      checkedOutCount = 0
    }
    transient.removeAll()
    user.store(0, ordering: .relaxed)
  }

  /// Throws unless this thread's access uses the connection.
  func checkAccess(_ sql: String? = nil) throws(SQLiteError) {
    guard user.load(ordering: .relaxed) == currentThread() else {
      throw SQLiteError(.misuse, "a connection was used outside its access", sql: sql)
    }
  }

  /// Throws if a statement must not begin now.
  func checkMayRun(_ statement: StatementHandle) throws(SQLiteError) {
    guard !statement.isOrphan else {
      throw SQLiteError(.misuse, "a statement was used outside its access", sql: statement.sql)
    }
    try checkAccess(statement.sql)
    if let ended {
      throw SQLiteError(
        .abortRollback, "SQLite has rolled back the whole transaction: \(ended.message)",
        sql: statement.sql)
    }
    if let reason = interruption.reason {
      throw SQLiteError(.interrupt, reason, sql: statement.sql)
    }
    if statement.controlsTransaction, !allowsTransactionControl {
      throw SQLiteError(
        .misuse,
        "transactions are begun and ended by write, transaction and savepoint; "
          + "withoutTransaction allows this statement", sql: statement.sql)
    }
  }

  /// The error for a failed step, after noticing what it did to the transaction.
  func failure(_ code: Int32, sql: String) -> SQLiteError {
    var error = handle.error(code, sql: sql)
    if let reason = interruption.reason,
      error.code.primary == .interrupt || error.code.primary == .busy
    {
      error = SQLiteError(.interrupt, reason, sql: sql)
    }
    if !scopes.isEmpty, ended == nil, handle.isAutocommit { ended = error }
    return error
  }
}

@available(*, unavailable)
extension Connection: Sendable {}

/// A statement that may be gone.
private struct WeakStatement {
  weak var statement: StatementHandle?
}

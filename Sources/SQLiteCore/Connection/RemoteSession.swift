/// A server that hosts a database, such as a cluster. Each connection to the database has a session
/// with it.
package protocol RemoteServer: AnyObject, Sendable {
  /// The name of the database in error messages.
  var name: String { get }
  /// How long an access without a deadline is retried, counted from the first time that it loses
  /// its session. It is retried at least three times, even if that takes longer.
  var patience: Duration { get }

  /// Returns whether an error means only that a session was lost, so that the same request can
  /// succeed on another session.
  func isSessionLoss(_ error: SQLiteError) -> Bool

  /// Opens a session for one connection.
  ///
  /// - Parameters:
  ///   - forReading: Whether the session will only read.
  ///   - reasonToEnd: Returns the reason why opening must end, or nil to continue.
  /// - Throws: ``SQLiteError`` if the server can't be reached or `reasonToEnd` returns a reason.
  func connect(
    forReading: Bool, _ reasonToEnd: @escaping @Sendable () -> String?
  ) throws(SQLiteError) -> any RemoteSession
}

/// A connection's session with a server. It runs the connection's statements at the server, and
/// reports the state that a local connection reads from SQLite.
///
/// Only the access that holds the connection uses the session, from one thread at a time.
package protocol RemoteSession: AnyObject {
  /// Whether no transaction is open at the server.
  var isAutocommit: Bool { get }
  /// Whether the open transaction is a write transaction.
  var isWriting: Bool { get }
  /// Whether `PRAGMA defer_foreign_keys` was used, so that foreign keys may be deferred until the
  /// commit.
  var mayDeferForeignKeys: Bool { get }
  /// The rowid of the last inserted row.
  var lastInsertedRowID: Int64 { get set }
  /// The number of rows that the last INSERT, UPDATE or DELETE changed.
  var changes: Int64 { get }
  /// The number of rows that were changed since the session began.
  var totalChanges: Int64 { get }
  /// Whether the session has been lost. The connection can then only be closed.
  var isLost: Bool { get }
  /// The number of write transactions that this session has committed.
  var commitCount: Int { get }
  /// Whether the access can run again on another session: this session has been lost, and its open
  /// transaction has certainly not been committed.
  var mayRunAgain: Bool { get }
  /// The statement that was running when the server ended the session, or nil. The statement may
  /// have caused the loss.
  var statementAtEnd: String? { get }
  /// The maximum number of values that a statement can bind.
  var maximumParameterCount: Int { get }
  /// The SQL of a query that returns a number. The number changes with every write transaction of
  /// any client.
  var versionQuery: String { get }
  /// A closure that returns the reason why the access must end, or nil to continue. The session
  /// calls it while it waits for the server.
  var reasonToEnd: () -> String? { get set }

  /// Compiles the first statement of `sql`.
  ///
  /// - Returns: The statement, or nil if `sql` contains none, and the position in `sql` at which
  ///   the statement ends, in bytes of UTF-8.
  func prepare(_ sql: String) throws(SQLiteError) -> (statement: (any RemoteStatement)?, end: Int)

  /// Sets `writable_schema` or `schema_version`, which the program's own statements can't set.
  func setSchemaPragma(_ name: String, _ value: Int32) throws(SQLiteError)

  /// Ends the session and rolls back an open transaction.
  func close()
}

/// A statement that a server has compiled.
package protocol RemoteStatement: AnyObject {
  /// The parameters in the order in which they occur in the SQL, as written there, such as `?`,
  /// `?1` or `:name`. A parameter that occurs several times is repeated.
  var placeholders: [String] { get }
  /// The highest number that a parameter of the statement has, or 0 if it has no parameters.
  var parameterCount: Int { get }
  /// Whether running the statement can't change the database.
  var isReadOnly: Bool { get }
  /// The names of the columns. Empty until the statement has run.
  var columnNames: [String] { get }

  /// Runs the statement. `values` contains the value of each parameter, starting with number 1.
  func run(_ values: [Value]) throws(SQLiteError)

  /// Binds the columns of the next row to the parameters of `carrier`, a local statement that
  /// stores the row's values for the caller. Returns false if there is no next row.
  func nextRow(into carrier: StatementHandle) throws(SQLiteError) -> Bool

  /// Ends the run and discards the remaining rows.
  func end()

  /// Releases the resources of the statement at the server.
  func close()

  /// Encodes a list as a blob, for the SQL that replaces `magicdata_list` at the server.
  func bytes(of list: [Value]) throws(SQLiteError) -> [UInt8]
}

/// A record of the sessions that an access has lost, which decides whether the access runs again.
struct SessionLosses {
  private let patience: Duration
  private let hasDeadline: Bool
  /// The time after which the access isn't run again. Without a deadline, it is nevertheless run
  /// again up to three times. Nil before the first loss, unless there is a deadline.
  private var end: Moment?
  private var count = 0
  /// The statements during which a server has ended a session.
  private var statements: Set<String> = []

  /// Creates a record for an access that has lost no session yet.
  ///
  /// - Parameters:
  ///   - deadline: The deadline of the access, or nil.
  ///   - patience: How long an access without a deadline is retried, counted from its first loss.
  ///     It is retried at least three times, because a single run may take longer.
  init(before deadline: Moment?, patience: Duration) {
    end = deadline
    hasDeadline = deadline != nil
    self.patience = patience
  }

  /// Records a failed run, and returns whether the access runs again on another session.
  ///
  /// - Parameters:
  ///   - session: The session of the failed run.
  ///   - failure: The error of the failed run.
  ///   - reasonToEnd: The reason why the access must end, or nil.
  /// - Throws: ``SQLiteError`` with ``ResultCode/interrupt`` if the access must end, or with
  ///   ``ResultCode/abort`` if the same statement has ended two sessions and might therefore end a
  ///   third one, too.
  mutating func mayRunAgain(
    after session: any RemoteSession, _ failure: (any Error)?, unless reasonToEnd: String?
  ) throws(SQLiteError) -> Bool {
    guard session.mayRunAgain else { return false }
    // Throw this reason instead of the loss, which is not why the access ends.
    if let reasonToEnd { throw SQLiteError(.interrupt, reasonToEnd) }
    if let statement = session.statementAtEnd, !statements.insert(statement).inserted {
      throw SQLiteError(
        .abort,
        "two nodes ended the session while they ran this statement, so it is not sent to "
          + "another node",
        sql: (failure as? SQLiteError)?.sql ?? statement)
    }
    count += 1
    let end = end ?? .now + patience
    self.end = end
    return .now < end || count <= 3 && !hasDeadline
  }

  /// Returns the error to throw for a failed access: `error`, with the number of lost sessions
  /// added to its message if there were at least three.
  func explained(_ error: any Error) -> any Error {
    guard count >= 3, let error = error as? SQLiteError else { return error }
    return SQLiteError(
      error.code,
      "\(error.message); the access was started \(count) times and lost its session each time; "
        + "use smaller transactions, because a leader that is busy for longer than the election "
        + "timeout is replaced",
      sql: error.sql)
  }
}

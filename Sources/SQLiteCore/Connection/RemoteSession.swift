/// A server that hosts a database. Connections to it are opened like connections to a file.
package protocol RemoteServer: AnyObject, Sendable {
  /// The name of the database in error messages.
  var name: String { get }
  /// The time, after its first loss of a session, for which an access without a deadline is
  /// retried. The access is retried at least three times, even if that takes longer.
  var patience: Duration { get }

  /// Returns whether an error means only that a session was lost, and not that the request was
  /// wrong.
  func isSessionLoss(_ error: SQLiteError) -> Bool

  /// Opens a session for one connection.
  ///
  /// - Parameters:
  ///   - forReading: Whether the session will only read.
  ///   - reasonToEnd: Returns the reason why opening must end, or nil.
  func connect(
    forReading: Bool, _ reasonToEnd: @escaping @Sendable () -> String?
  ) throws(SQLiteError) -> any RemoteSession
}

/// A connection's session with a server. It provides what a local connection gets from SQLite.
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
  /// Whether the session was lost. The connection can then only be closed.
  var isLost: Bool { get }
  /// The number of write transactions that this session has committed.
  var commitCount: Int { get }
  /// Whether the access can run again on another session. This requires that the transaction in
  /// which the session was lost has certainly not been committed.
  var mayRunAgain: Bool { get }
  /// The statement that was running when the server ended the session, or nil. It may be the cause.
  var statementAtEnd: String? { get }
  /// The maximum number of values that a statement can bind.
  var maximumParameterCount: Int { get }
  /// A query for a number that changes with every write transaction of any client.
  var versionQuery: String { get }
  /// A closure that returns the reason why the access must end, or nil. It is called while the
  /// session waits.
  var reasonToEnd: () -> String? { get set }

  /// Compiles the first statement of `sql`.
  ///
  /// - Returns: The statement, or nil if there is none, and its end in bytes of UTF-8.
  func prepare(_ sql: String) throws(SQLiteError) -> (statement: (any RemoteStatement)?, end: Int)

  /// Sets `writable_schema` or `schema_version`, which the program's own statements can't set.
  func setSchemaPragma(_ name: String, _ value: Int32) throws(SQLiteError)

  /// Ends the session and rolls back an open transaction.
  func close()
}

/// A statement that a server has compiled.
package protocol RemoteStatement: AnyObject {
  /// The parameters as written, in the order of the text, including repeated ones: `?`, `?1` or
  /// `:name`.
  var placeholders: [String] { get }
  /// The highest number of a parameter in the statement.
  var parameterCount: Int { get }
  /// Whether the statement doesn't write.
  var isReadOnly: Bool { get }
  /// The names of the columns. Empty until the statement has run.
  var columnNames: [String] { get }

  /// Runs the statement. `values` contains the value of each parameter, starting with number 1.
  func run(_ values: [Value]) throws(SQLiteError)

  /// Binds the columns of the next row to the parameters of `carrier`, a statement that holds the
  /// values. Returns false if there is no next row.
  func nextRow(into carrier: StatementHandle) throws(SQLiteError) -> Bool

  /// Ends the run and discards the remaining rows.
  func end()

  /// Releases the resources of the statement at the server.
  func close()

  /// Encodes a list as a blob, for the SQL that replaces `magicdata_list` at the server.
  func bytes(of list: [Value]) throws(SQLiteError) -> [UInt8]
}

/// A counter of the sessions that an access has lost, which decides whether the access runs again.
struct SessionLosses {
  private let patience: Duration
  private let hasDeadline: Bool
  /// The time at which retrying stops. Nil before the first loss, unless there is a deadline.
  private var end: Moment?
  private var count = 0
  /// The statements during which a server has ended a session.
  private var statements: Set<String> = []

  /// Creates a counter for an access that has lost no session yet.
  ///
  /// - Parameters:
  ///   - deadline: The deadline of the access, or nil.
  ///   - patience: The time after the first loss during which an access without a deadline is
  ///     retried. It is retried at least three times, because a single run may take longer.
  init(before deadline: Moment?, patience: Duration) {
    end = deadline
    hasDeadline = deadline != nil
    self.patience = patience
  }

  /// Returns whether a failed access runs again on another session.
  ///
  /// - Parameters:
  ///   - session: The session of the failed run.
  ///   - failure: The error of the failed run.
  ///   - reasonToEnd: The reason why the access must end, or nil.
  /// - Throws: ``SQLiteError`` if the access must end, or if the same statement has ended two
  ///   sessions and might therefore end a third one, too.
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

  /// Returns the final error of an access. If several sessions were lost, the message explains
  /// that.
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

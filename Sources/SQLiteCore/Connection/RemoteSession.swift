/// A server that has a database of its own, to which connections are opened as to a file.
package protocol RemoteServer: AnyObject, Sendable {
  /// The name in messages.
  var name: String { get }
  /// How long after its session was lost first an access without a deadline is begun anew, beyond three times.
  var patience: Duration { get }

  /// Whether an error says that a session is lost, and nothing about what was asked.
  func isOfLostSession(_ error: SQLiteError) -> Bool

  /// Opens a session.
  ///
  /// - Parameters:
  ///   - forReading: Whether it will only read.
  ///   - reasonToEnd: Says why it must end, if it must.
  func connect(
    forReading: Bool, _ reasonToEnd: @escaping @Sendable () -> String?
  ) throws(SQLiteError) -> any RemoteSession
}

/// A connection's session at a server: what the connection asks SQLite for elsewhere.
///
/// One thread at a time uses it, that of the access.
package protocol RemoteSession: AnyObject {
  /// Whether no transaction is open there.
  var isAutocommit: Bool { get }
  /// Whether the open transaction may write.
  var isWriting: Bool { get }
  /// Whether foreign keys may be deferred up to the end of the open transaction (`PRAGMA defer_foreign_keys`).
  var mayDeferForeignKeys: Bool { get }
  /// The rowid of the last inserted row.
  var lastInsertedRowID: Int64 { get set }
  /// The rows changed by the last INSERT, UPDATE or DELETE.
  var changes: Int64 { get }
  /// The rows changed since the session began.
  var totalChanges: Int64 { get }
  /// Whether the session is over: the connection can only be closed.
  var isLost: Bool { get }
  /// How many transactions that write were committed.
  var commitCount: Int { get }
  /// Whether the transaction with which the session was lost has certainly not been committed, so that the
  /// access may run again.
  var mayRunAgain: Bool { get }
  /// The statement that ran when the server ended the session, if one did: it may be why.
  var statementAtEnd: String? { get }
  /// How many values a statement may have.
  var maximumParameterCount: Int { get }
  /// A query for a number that each transaction that writes changes, whoever makes it.
  var versionQuery: String { get }
  /// Returns why the access must end, if it must; asked while the session waits.
  var reasonToEnd: () -> String? { get set }

  /// Compiles the first statement of a text.
  ///
  /// - Returns: The statement, nil if there is none, and where it ends in bytes of UTF-8.
  func prepare(_ sql: String) throws(SQLiteError) -> (statement: (any RemoteStatement)?, end: Int)

  /// Sets `writable_schema` or `schema_version`, which a program's own statements may not.
  func setSchemaPragma(_ name: String, _ value: Int32) throws(SQLiteError)

  /// Ends the session. What was not committed is undone.
  func close()
}

/// A statement that a server has compiled.
package protocol RemoteStatement: AnyObject {
  /// The parameters as they are written, in the order of the text, `?`, `?1` and `:name` alike.
  var placeholders: [String] { get }
  /// The number of the highest parameter.
  var parameterCount: Int { get }
  /// Whether it writes nothing.
  var isReadOnly: Bool { get }
  /// The names of the columns, known once it has run.
  var columnNames: [String] { get }

  /// Runs the statement with a value for each parameter, the first of which is number 1.
  func run(_ values: [Value]) throws(SQLiteError)

  /// Binds the next row to the parameters of a statement, column by column, or returns false at the end.
  func nextRow(into carrier: StatementHandle) throws(SQLiteError) -> Bool

  /// Ends the run, whatever rows are left.
  func end()

  /// Lets go of what the server keeps for the statement.
  func close()

  /// The blob by which a list is given to what stands for the table-valued function of lists.
  func bytes(of list: [Value]) throws(SQLiteError) -> [UInt8]
}

/// The sessions that an access has lost, which decide whether it runs again.
struct SessionLosses {
  private let patience: Duration
  private let hasDeadline: Bool
  /// When it runs again no more.
  private var end: Moment?
  private var count = 0
  /// The statements at which a server has ended a session.
  private var statements: Set<String> = []

  /// - Parameters:
  ///   - deadline: When the access must be over.
  ///   - patience: How long after the first loss it may run again, if it has no deadline; three times in any
  ///     case, since its runs may take long.
  init(before deadline: Moment?, patience: Duration) {
    end = deadline
    hasDeadline = deadline != nil
    self.patience = patience
  }

  /// Returns whether an access that has failed runs again, on another session.
  ///
  /// - Parameters:
  ///   - session: The session that it had.
  ///   - failure: How it has failed.
  ///   - reasonToEnd: Why the access must end, if it must.
  /// - Throws: ``SQLiteError`` if the access must end, or if a statement has ended two sessions: a third server might
  ///   end too.
  mutating func mayRunAgain(
    after session: any RemoteSession, _ failure: (any Error)?, unless reasonToEnd: String?
  ) throws(SQLiteError) -> Bool {
    guard session.mayRunAgain else { return false }
    // The loss is not why it ends: without the reason it would run again.
    if let reasonToEnd { throw SQLiteError(.interrupt, reasonToEnd) }
    if let statement = session.statementAtEnd, !statements.insert(statement).inserted {
      throw SQLiteError(
        .abort, "two nodes have ended the session at this statement: no other one is asked",
        sql: (failure as? SQLiteError)?.sql ?? statement)
    }
    count += 1
    let end = end ?? .now + patience
    self.end = end
    return .now < end || count <= 3 && !hasDeadline
  }

  /// Returns the error that an access ends by, which says so if it has lost several sessions: it may be why.
  func explained(_ error: any Error) -> any Error {
    guard count >= 3, let error = error as? SQLiteError else { return error }
    return SQLiteError(
      error.code,
      "\(error.message); the access was begun \(count) times and lost its session each time: if a statement or the "
        + "commit takes a node longer than the others wait for it, it loses the lead, and smaller transactions help",
      sql: error.sql)
  }
}

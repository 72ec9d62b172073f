import SQLSyntax
import SQLiteCore

/// A session of a database connection at the leader of the cluster.
///
/// Each write transaction stores a random token. If the answer to its COMMIT is lost, the token
/// shows whether the transaction was committed. The token is also checked if the node reports an
/// error other than a violated constraint or a busy database: the node may already have replicated
/// the transaction.
final class ClusterSession: RemoteSession {
  private struct Savepoint {
    /// The name of the savepoint in lower case.
    let name: String
    /// The number of the node's savepoint that marks the start of this savepoint.
    let mark: Int
  }

  let cluster: Cluster
  let node: NodeConnection
  /// The node's number for the database.
  let database: UInt32

  private(set) var isAutocommit = true
  private(set) var isWriting = false
  private(set) var isLost = false
  private(set) var mayRunAgain = false
  private(set) var statementAtEnd: String?
  var lastInsertedRowID: Int64 = 0
  private(set) var changes: Int64 = 0
  private(set) var totalChanges: Int64 = 0
  private(set) var commitCount = 0
  var maximumParameterCount: Int { Request.maximumParameterCount }
  var versionQuery: String { TransactionToken.count }
  var reasonToEnd: () -> String? = { nil } {
    didSet { node.reasonToEnd = reasonToEnd }
  }

  /// The check before a linearizable read that the node is still the leader.
  private let check: LeaderCheck
  /// The statement whose rows haven't all been received yet; nil if there is none.
  var streaming: ClusterStatement?
  /// Whether the open transaction has run a statement that writes.
  private var hasWritten = false
  private(set) var mayDeferForeignKeys = false
  /// The open savepoints of the program, from the outermost to the innermost.
  private var savepoints: [Savepoint] = []
  /// The number of nested savepoints that are open at the node.
  ///
  /// The first statement that writes in a savepoint of the program also opens the next savepoint at
  /// the node, in the same message. Most savepoints contain only one such statement, for example
  /// those of group commit. When a savepoint of the program ends, the node's savepoint stays open
  /// until the end of the transaction, or until 64 such savepoints are open.
  private var marks = 0
  /// Whether nothing has been written since the node's innermost savepoint was opened; false if
  /// there is none.
  private var isMarked = false
  /// Whether nothing has been written in the program's innermost savepoint. False if there is none,
  /// or if a nested savepoint has been released in it.
  private var isFresh = false
  /// Whether the outermost savepoint began the transaction.
  private var hasBegunBySavepoint = false
  /// Whether the node has loaded the schema in the open transaction.
  private var hasLoadedSchema = false
  /// The node's numbers for the prepared statements to finalize before the next request.
  private var forgotten: [UInt32] = []

  init(
    _ cluster: Cluster, forReading: Bool, before deadline: ContinuousClock.Instant,
    _ reasonToEnd: @escaping () -> String?
  ) throws(SQLiteError) {
    self.cluster = cluster
    (node, database) = try cluster.openAtLeader(before: deadline, reasonToEnd)
    self.reasonToEnd = reasonToEnd
    check = LeaderCheck(cluster, of: node)
    let options = cluster.options.database
    if cluster.options.checksColumnTypes {
      try cluster.once(.columnTypes) { () throws(SQLiteError) in try checkColumnTypes() }
    }
    var settings: [(name: String, isOn: Bool)] = [
      ("foreign_keys", options.foreignKeys), ("recursive_triggers", options.recursiveTriggers),
    ]
    if forReading { settings.append(("query_only", true)) }
    // A single message, because other accesses wait while a session is reopened.
    _ = try node.execute(
      .sql(settings.map { "PRAGMA \($0.name) = \($0.isOn ? 1 : 0)" }.joined(separator: "; ")),
      in: database)
    if !forReading {
      try cluster.once(.tokens) { () throws(SQLiteError) in try prepareTokens() }
    }
  }

  /// Creates the table of tokens if it is missing, and deletes tokens older than
  /// `ClusterOptions.tokenAge`. Skips the deletion if another client holds the lock until the busy
  /// timeout.
  private func prepareTokens() throws(SQLiteError) {
    try waitingForLock { () throws(SQLiteError) in
      guard try node.numbers(TransactionToken.presence, [], in: database) == [0] else { return }
      _ = try node.execute(.sql(TransactionToken.table), in: database)
    }
    do throws(SQLiteError) {
      try waitingForLock { () throws(SQLiteError) in
        let age = Value.integer(Int64(cluster.options.tokenAge))
        _ = try node.execute(.sql(TransactionToken.pruning), in: database, [age])
      }
    } catch {
      // Another session can delete the old tokens later.
      guard error.code.primary == .busy else { throw error }
    }
  }

  /// Throws `SQLiteError` if the database has columns that can crash the node when they are read.
  /// This library creates no such columns, but other programs may have created them.
  private func checkColumnTypes() throws(SQLiteError) {
    let names = ClusterSession.crashingTypes.map { "'\($0)'" }.joined(separator: ", ")
    let found = try node.text(
      """
      SELECT m.name || '.' || c.name || ' ' || c.type FROM sqlite_schema m, pragma_table_info(m.name) c \
      WHERE m.type = 'table' AND upper(substr(m.sql, 1, 15)) <> 'CREATE VIRTUAL ' \
      AND lower(c.type) IN (\(names)) LIMIT 1
      """, in: database)
    guard let found else { return }
    throw SQLiteError(
      .schema,
      "some values of the column \(found) of the cluster database \(cluster.database) would "
        + "stop the node that reads them; change its type, or set "
        + "ClusterOptions.checksColumnTypes to false")
  }

  /// The declared column types for which a node of version 1.11 converts the values. The node
  /// crashes if such a column contains a value of another type.
  static let crashingTypes: Set<String> = ["boolean", "date", "datetime", "timestamp"]

  func close() {
    isLost = true
    isAutocommit = true
  }

  func prepare(
    _ sql: String
  ) throws(SQLiteError) -> (statement: (any RemoteStatement)?, end: Int) {
    let bytes = Array(sql.utf8)
    let parsed: SQLParsedStatement
    do {
      parsed = try SQLStatement.parseFirst(in: bytes)
    } catch {
      throw SQLiteError(.error, error.message, sql: sql, offset: error.offset)
    }
    guard let statement = parsed.statement else { return (nil, parsed.end) }
    let role = try statement.role(sql)
    let text = NodeText(String(decoding: bytes[parsed.span.range], as: UTF8.self))
    guard text.parameterCount <= Request.maximumParameterCount else {
      throw Request.tooManyValues(text.parameterCount)
    }
    return (
      ClusterStatement(
        self, text: text, role: role, hasAllColumns: statement.hasAllColumns,
        canStayPrepared: statement.canStayPrepared),
      parsed.end
    )
  }

  // MARK: Requests

  /// Runs `body`, which sends a request to the node. Before that, receives the rest of the previous
  /// answer and finalizes the statements in `forgotten`.
  ///
  /// - Parameters:
  ///   - sql: The text of the statement, if it may roll back the transaction.
  ///   - isPart: Whether the request belongs to the previous one. If true, the previous answer
  ///     isn't received first, and no statements are finalized.
  ///   - isWork: Whether the request runs a statement of the program, which may take long. If true,
  ///     the session doesn't look for another leader while it waits for the answer.
  ///   - body: A closure that sends the request and receives the answer.
  /// - Throws: `SQLiteError`, after updating the state of the session and the transaction.
  func requesting(
    _ sql: String = "", isPart: Bool = false, isWork: Bool = false,
    _ body: () throws(SQLiteError) -> Void
  ) throws(SQLiteError) {
    guard !isLost else { throw NodeConnection.lost(node.address, "the session has ended") }
    do throws(SQLiteError) {
      if !isPart {
        try streaming?.drain()
        streaming = nil
        while let statement = forgotten.popLast() { try node.finalize(statement, in: database) }
      }
      // A node doesn't act as leader while it runs a statement. Let it finish, or the statement
      // would have to start again on another node.
      let successor = node.successor
      if isWork { node.successor = { nil } }
      defer { node.successor = successor }
      try body()
    } catch {
      if isWork, node.hasClosed { statementAtEnd = sql }
      // Don't send a statement to another node if this node may still be running it.
      let isBusy = isWork && node.timedOut && cluster.isBusy(node.address, reasonToEnd)
      handleFailure(error, sql, mayRunAgain: !isBusy)
      guard isBusy else { throw error }
      throw SQLiteError(
        .leadershipLost,
        "\(error.message); the statement is not sent to another node, because it might stop "
          + "that node too")
    }
  }

  /// Verifies that the node is the leader, before a linearizable read. Does nothing if the option
  /// `reads` is `.leader`.
  func confirmLeader() throws(SQLiteError) {
    guard cluster.options.reads == .linearizable else { return }
    try requesting { () throws(SQLiteError) in
      try check.begin()
      try check.finish()
    }
  }

  private func handleFailure(_ error: SQLiteError, _ sql: String, mayRunAgain: Bool) {
    if node.isBroken || error.isLeaderLoss || error.code == .lockingProtocol {
      lose(mayRunAgain: mayRunAgain && error.isLeaderLoss)
    } else if !isAutocommit, ClusterSession.mayHaveRolledBack(error, sql) {
      checkTransaction()
    }
  }

  private func lose(mayRunAgain: Bool) {
    isLost = true
    self.mayRunAgain = mayRunAgain
    resetTransaction()
  }

  private static func mayHaveRolledBack(_ error: SQLiteError, _ sql: String) -> Bool {
    switch error.code.primary {
    case .error, .authorization, .range, .mismatch, .misuse, .busy, .tooBig: false
    case .constraint:
      error.code == .triggerConstraint
        || sql.utf8.count >= 8 && sql.lowercased().contains("rollback")
    default: true
    }
  }

  /// Resets the state of the transaction if the node has rolled back the transaction, as some
  /// errors do without reporting it. Tests this with BEGIN, which fails inside a transaction.
  private func checkTransaction() {
    do throws(SQLiteError) {
      _ = try node.execute(.sql("BEGIN"), in: database)
      _ = try node.execute(.sql("ROLLBACK"), in: database)
      resetTransaction()
    } catch {
      if error.code.primary != .error { lose(mayRunAgain: true) }
    }
  }

  private func resetTransaction() {
    isAutocommit = true
    isWriting = false
    hasWritten = false
    mayDeferForeignKeys = false
    savepoints = []
    (marks, isMarked, isFresh) = (0, false, false)
    hasBegunBySavepoint = false
    hasLoadedSchema = false
  }

  private func execute(_ sql: String, _ values: [Value] = []) throws(SQLiteError) {
    try requesting { () throws(SQLiteError) in
      _ = try node.execute(.sql(sql), in: database, values)
    }
  }

  /// Makes the node's connection load the current schema, unless it has already loaded the schema
  /// in the open transaction. Otherwise the node could return column names of an old schema,
  /// because it reads them before the statement starts.
  func readSchema(isPart: Bool = false) throws(SQLiteError) {
    guard !hasLoadedSchema else { return }
    try requesting(isPart: isPart) { () throws(SQLiteError) in
      _ = try node.numbers("SELECT 1 FROM sqlite_schema LIMIT 0", [], in: database)
    }
    // In a transaction, the schema stays loaded.
    hasLoadedSchema = !isAutocommit
  }

  /// Loads the current schema at the node after a statement has failed, unless the schema was
  /// already loaded or the session is lost.
  ///
  /// - Returns: Whether the schema was loaded. If true, a retry of the statement may succeed.
  func reloadSchema() throws(SQLiteError) -> Bool {
    guard !isLost, !hasLoadedSchema else { return false }
    try readSchema()
    return true
  }

  /// Schedules a prepared statement to be finalized at the node before the next request. Does
  /// nothing if the session is lost.
  func forget(_ statement: UInt32) {
    if !isLost { forgotten.append(statement) }
  }

  // MARK: Changes

  /// Runs `body`, which changes rows, in the open transaction or in a new one. A transaction is
  /// required because the changes of a statement with RETURNING would otherwise not be replicated.
  func changing(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
    guard isAutocommit else {
      hasWritten = true
      return try body()
    }
    try control(.begin(.immediate))
    hasWritten = true
    do throws(SQLiteError) {
      try body()
      try control(.commit)
    } catch {
      if !isAutocommit { try? control(.rollback) }
      throw error
    }
  }

  /// Runs a statement that writes and returns no rows, in the open transaction. If nothing was
  /// written in the program's innermost savepoint, the same message also opens the next savepoint
  /// at the node.
  ///
  /// - Parameters:
  ///   - text: The text of the statement.
  ///   - values: The values of its parameters.
  ///   - target: Returns the text or the prepared statement to run. It isn't called if the message
  ///     also opens a savepoint, because that message must contain the text.
  /// - Returns: The rowid of the last inserted row, and the number of changed rows.
  func write(
    _ text: String, _ values: [Value], _ target: () throws(SQLiteError) -> NodeConnection.Target
  ) throws(SQLiteError) -> (rowID: Int64, changes: Int64) {
    let opensSavepoint = isFresh
    recordWrite()
    guard opensSavepoint else { return try node.execute(try target(), in: database, values) }
    // The node binds the values to the first statement. A newline ends a comment at the end of the
    // text. Otherwise nothing is inserted, because the schema stores the text of a CREATE up to the
    // semicolon.
    let end = text.contains("--") ? "\n" : ""
    let change = try node.execute(
      .sql("\(text)\(end); SAVEPOINT \(ClusterSession.name(of: marks + 1))"), in: database, values)
    marks += 1
    isMarked = true
    return change
  }

  /// Records that the innermost savepoint may contain changes. Call it before a write, which may
  /// change rows even if it fails.
  func recordWrite() {
    isFresh = false
    isMarked = false
  }

  /// Sets ``mayDeferForeignKeys`` if the text of a PRAGMA statement contains `defer_foreign_keys`.
  func recordSetting(_ sql: String) {
    if sql.lowercased().contains("defer_foreign_keys") { mayDeferForeignKeys = true }
  }

  func setSchemaPragma(_ name: String, _ value: Int32) throws(SQLiteError) {
    try execute("PRAGMA \(name) = \(value)")
    hasLoadedSchema = false
  }

  /// Updates the counts of changed rows and, after an INSERT that inserted rows, the rowid of the
  /// last inserted row.
  func count(_ change: (rowID: Int64, changes: Int64), isInsert: Bool) {
    changes = change.changes
    totalChanges += max(0, change.changes)
    if isInsert, change.changes > 0 { lastInsertedRowID = change.rowID }
  }

  /// Requests the last inserted rowid and the number of rows that the last statement changed.
  /// Updates the counts of the session.
  func requestChangeCount(isInsert: Bool) throws(SQLiteError) {
    let numbers = try numbers("SELECT changes(), last_insert_rowid()", [])
    guard let numbers, numbers.count == 2 else {
      throw ReplyReader.invalidMessage("expected two numbers")
    }
    count((numbers[1], numbers[0]), isInsert: isInsert)
  }

  /// Returns the integers in the only row of a query, or nil if there is no row.
  private func numbers(_ sql: String, _ values: [Value]) throws(SQLiteError) -> [Int64]? {
    var found: [Int64]?
    try requesting { () throws(SQLiteError) in
      found = try node.numbers(sql, values, in: database)
    }
    return found
  }

  // MARK: Transactions

  /// Begins or ends a transaction or a savepoint.
  func control(_ control: ClusterStatement.Control) throws(SQLiteError) {
    switch control {
    case .begin(let mode):
      try begin(mode)
    case .commit: try commit()
    case .rollback:
      try execute("ROLLBACK")
      resetTransaction()
    case .savepoint(let name): try begin(savepoint: asciiLowercased(name))
    case .release(let name):
      let index = try index(of: name, orRun: "RELEASE")
      if index == 0, hasBegunBySavepoint { return try commit() }
      savepoints.removeSubrange(index...)
      isFresh = false
    case .rollbackTo(let name):
      let index = try index(of: name, orRun: "ROLLBACK TO")
      let mark = savepoints[index].mark
      if !isMarked || marks > mark { try execute("ROLLBACK TO \(ClusterSession.name(of: mark))") }
      savepoints.removeSubrange((index + 1)...)
      (marks, isMarked, isFresh) = (mark, true, true)
    }
  }

  private func begin(savepoint name: String) throws(SQLiteError) {
    if isAutocommit {
      try begin(.immediate)
      hasBegunBySavepoint = true
    }
    if !isMarked {
      let first = (savepoints.last?.mark ?? 0) + 1
      // Release old savepoints if there are many, because SQLite journals each changed page for all
      // of them.
      let isMany = marks >= first + 64
      let next = isMany ? first : marks + 1
      try execute(
        (isMany ? "RELEASE \(ClusterSession.name(of: first)); " : "")
          + "SAVEPOINT \(ClusterSession.name(of: next))")
      (marks, isMarked) = (next, true)
    }
    savepoints.append(Savepoint(name: name, mark: marks))
    isFresh = true
  }

  private static func name(of mark: Int) -> String { "magicdata_mark_\(mark)" }

  /// Returns the index in `savepoints` of the innermost savepoint with a name. If there is none,
  /// runs `command` with that name at the node, which reports the error.
  ///
  /// - Throws: The node's error if there is no such savepoint.
  private func index(of name: String, orRun command: String) throws(SQLiteError) -> Int {
    let small = asciiLowercased(name)
    if let index = savepoints.lastIndex(where: { $0.name == small }) { return index }
    try execute("\(command) \(quotedIdentifier(name))")
    throw SQLiteError(.error, "no such savepoint: \(name)")
  }

  /// Begins a transaction. For a deferred transaction with linearizable reads, verifies the leader
  /// at the same time. Otherwise retries until the busy timeout if another client holds the lock,
  /// because a node never waits for it.
  private func begin(_ mode: SQLTransactionMode) throws(SQLiteError) {
    let sql = "BEGIN \(mode.rawValue)"
    if mode == .deferred, cluster.options.reads == .linearizable {
      // BEGIN DEFERRED doesn't read yet, so it can run while the other nodes answer.
      var hasBegun = false
      do throws(SQLiteError) {
        try requesting { () throws(SQLiteError) in
          try check.begin()
          _ = try node.execute(.sql(sql), in: database)
          hasBegun = true
          try check.finish()
        }
      } catch {
        if hasBegun, !isLost { undoBegin() }
        throw error
      }
    } else {
      try waitingForLock { () throws(SQLiteError) in try execute(sql) }
    }
    isAutocommit = false
    isWriting = mode != .deferred
  }

  /// Rolls back a transaction that the node began before the check of the leader failed. If that
  /// fails, the session is lost.
  private func undoBegin() {
    node.reasonToEnd = { nil }
    defer { node.reasonToEnd = reasonToEnd }
    do throws(SQLiteError) {
      _ = try node.execute(.sql("ROLLBACK"), in: database)
    } catch {
      lose(mayRunAgain: false)
    }
  }

  private func waitingForLock(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
    let end = ContinuousClock.now + cluster.options.database.busyTimeout
    var pause = Duration.milliseconds(1)
    while true {
      do throws(SQLiteError) {
        return try body()
      } catch {
        guard error.code.primary == .busy, ContinuousClock.now < end else { throw error }
        if let reason = reasonToEnd() { throw SQLiteError(.interrupt, reason) }
      }
      sleepThread(for: pause * Double.random(in: 0.5...1))
      // Writers don't queue for the lock. A client that tries rarely could wait for a long time.
      pause = min(pause * 2, .milliseconds(10))
    }
  }

  private func commit() throws(SQLiteError) {
    guard hasWritten else {
      // If the node is no longer the leader, its lock doesn't guarantee that the reads were
      // current.
      let wasWriting = isWriting && cluster.options.reads == .linearizable
      if wasWriting { try confirmLeader() }
      do throws(SQLiteError) {
        try execute("COMMIT")
      } catch {
        // Nothing was written, so the transaction has ended in any case.
        guard isLost, !wasWriting else { throw error }
      }
      return resetTransaction()
    }
    let token = TransactionToken()
    // The outcome must be determined even if the access was cancelled.
    node.reasonToEnd = { nil }
    defer { node.reasonToEnd = reasonToEnd }
    do throws(SQLiteError) {
      try execute("\(token.literalInsertion); COMMIT")
    } catch {
      switch error.code.primary {
      case .constraint, .busy: if !isLost { throw error }
      // After any other error, other nodes may have the transaction.
      default: lose(mayRunAgain: false)
      }
      mayRunAgain = false
      guard try cluster.wasCommitted(token, reasonToEnd) else {
        mayRunAgain = true
        throw NodeConnection.lost(node.address, "the transaction was not committed")
      }
    }
    commitCount += 1
    resetTransaction()
  }
}

extension NodeConnection {
  /// Returns the text in the only row of a query, or nil if there is no row.
  func text(_ sql: String, in database: UInt32) throws(SQLiteError) -> String? {
    var reply = try query(.sql(sql), in: database)
    guard try reply.word() == 1 else { throw ReplyReader.invalidMessage("expected one column") }
    _ = try reply.text()
    guard case .row(let start) = try reply.types(1) else { return nil }
    guard try reply.type(0, from: start) == .text else {
      throw ReplyReader.invalidMessage("expected a text")
    }
    let text = try reply.text()
    guard case .end = try reply.types(1) else {
      throw ReplyReader.invalidMessage("expected one row")
    }
    return text
  }

  /// Returns the integers in the only row of a query, or nil if there is no row.
  func numbers(
    _ sql: String, _ values: [Value], in database: UInt32
  ) throws(SQLiteError) -> [Int64]? {
    var reply = try query(.sql(sql), in: database, values)
    let count = try reply.word()
    guard count <= UInt64(reply.count / 8) else {
      throw ReplyReader.invalidMessage("too many columns")
    }
    for _ in 0..<count { _ = try reply.text() }
    guard case .row(let start) = try reply.types(Int(count)) else { return nil }
    var numbers: [Int64] = []
    for column in 0..<Int(count) {
      guard try reply.type(column, from: start) == .integer else {
        throw ReplyReader.invalidMessage("expected an integer")
      }
      numbers.append(Int64(bitPattern: try reply.word()))
    }
    guard case .end = try reply.types(Int(count)) else {
      throw ReplyReader.invalidMessage("expected one row")
    }
    return numbers
  }
}

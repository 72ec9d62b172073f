import CSQLite
import Synchronization

// SQLite's planner chooses among indexes by statistics, which `ANALYZE` makes and `PRAGMA optimize` renews
// (<https://www.sqlite.org/pragma.html#pragma_optimize>). SQLite recommends it before a connection is closed, and now and
// then while it is open.

extension Database {
  /// Updates the statistics before the connection that writes is closed, by the one who closes it.
  func updateStatisticsBeforeClosing() {
    // A forked process must not use its parent's connection.
    guard options.updatesStatistics, server == nil, (try? scheduler.checkProcess()) != nil else {
      return
    }
    // They only help the planner. If they cannot be written now, the next closing does it.
    try? withUsedWriter { $0.updateStatistics() }
  }

  /// Updates the statistics after this access and those that wait already, on a thread of the database's own, if many
  /// rows have changed since that was last done.
  ///
  /// - Parameter connection: The connection that writes, at the beginning of an access.
  @inline(__always) func scheduleStatistics(of connection: Connection) {
    if connection.unanalyzedChanges >= options.statisticsInterval { scheduleStatistics() }
  }

  @inline(never) private func scheduleStatistics() {
    guard options.updatesStatistics, server == nil,
      !isStatisticsScheduled.exchange(true, ordering: .relaxed)
    else { return }
    let access = Access(scope: .bare, deadline: nil)
    scheduler.enter(access) { [weak self] granted, _ in
      guard let self else { return }
      guard case .success(let slot) = granted else {
        return isStatisticsScheduled.store(false, ordering: .relaxed)
      }
      worker.start { [self] in
        scheduler.adopt(slot)
        try? run(.slot(slot), access) { connection in
          connection.updateStatistics { self.waitingAccessCount > 0 }
          return .commit
        }
        isStatisticsScheduled.store(false, ordering: .relaxed)
      }
    }
  }
}

extension Connection {
  /// How many rows this connection has changed since it last looked at the statistics.
  var unanalyzedChanges: Int64 { handle.totalChanges - analyzedChanges }

  /// Runs the `ANALYZE` statements that `PRAGMA optimize` finds useful, in one transaction; none as long as no table has
  /// 1,000 rows, where any plan is fast.
  ///
  /// Each looks at some hundred rows of an index (`PRAGMA analysis_limit`), and none begins after a tenth of a second: what
  /// is left is done the next time. It waits for no lock. Observers and histories are not notified, since no row of theirs
  /// changes. Errors are dropped: nobody has asked for the statistics.
  ///
  /// - Parameter mustStop: Returns whether no other statement begins, since somebody waits.
  func updateStatistics(unless mustStop: () -> Bool = { false }) {
    guard !isRemote, handle.isAutocommit, unanalyzedChanges > 0 else { return }
    analyzedChanges = handle.totalChanges
    let busyTimeout = busyHandler.timeout
    busyHandler.timeout = .zero
    hooks.recorder?.isPaused = true
    defer {
      busyHandler.timeout = busyTimeout
      hooks.recorder?.isPaused = false
    }
    try? withoutAuthorizer { () throws(SQLiteError) in try analyze(mustStop) }
  }

  private func analyze(_ mustStop: () -> Bool) throws(SQLiteError) {
    let indexed = try indexedColumns()
    var hasLarge = false
    for (table, _) in indexed where !hasLarge { hasLarge = try isLarge(table) }
    guard hasLarge else { return }
    let limit = try plainPragma("analysis_limit")
    if limit == .integer(0) { try runPlainly("PRAGMA analysis_limit = 400") }
    defer { if limit == .integer(0) { try? runPlainly("PRAGMA analysis_limit = 0") } }
    if sqlite3_libversion_number() < 3_046_000 {
      // It only looks at tables in which the planner of this connection has considered an index. The queries run on
      // the connections that read; to compile one here is enough.
      for (table, column) in indexed {
        _ = try prepare(
          "SELECT 1 FROM \(quotedIdentifier(table)) WHERE \(quotedIdentifier(column)) = ?", flags: 0
        )
      }
    }
    let statements = try texts("PRAGMA optimize(-1)").filter { $0.hasPrefix("ANALYZE \"main\"") }
    guard !statements.isEmpty else { return }
    let end = ContinuousClock.now + .milliseconds(100)
    try runPlainly("BEGIN IMMEDIATE")
    do throws(SQLiteError) {
      for statement in statements {
        try runPlainly(statement)
        if ContinuousClock.now > end || mustStop() { break }
      }
      try runPlainly("COMMIT")
    } catch {
      if !handle.isAutocommit { try runPlainly("ROLLBACK") }
      throw error
    }
  }

  /// The tables with indexes, each with the first column of one.
  private func indexedColumns() throws(SQLiteError) -> [(table: String, column: String)] {
    try rows(
      """
      SELECT s.tbl_name, min(i.name) FROM sqlite_schema AS s, pragma_index_info(s.name) AS i
      WHERE s.type = 'index' AND i.seqno = 0 AND i.name NOT NULL GROUP BY 1
      """, as: String.self, String.self
    ).map { ($0, $1) }
  }

  private func isLarge(_ table: String) throws(SQLiteError) -> Bool {
    try firstRow("SELECT 1 FROM \(identifier: table) LIMIT 1 OFFSET 999") != nil
  }

  /// Runs a statement past the library's own account of transactions.
  private func runPlainly(_ sql: String) throws(SQLiteError) {
    guard let statement = try prepare(sql, flags: 0).statement else { return }
    var code = statement.step()
    while code == SQLITE_ROW { code = statement.step() }
    guard code == SQLITE_DONE else { throw handle.error(code, sql: sql) }
  }
}

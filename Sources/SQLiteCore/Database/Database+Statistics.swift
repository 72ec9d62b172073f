import CSQLite
import Synchronization

// SQLite's planner chooses indexes with the help of statistics, which `ANALYZE` creates and `PRAGMA
// optimize` updates (<https://www.sqlite.org/pragma.html#pragma_optimize>). SQLite recommends
// running it before a connection is closed, and from time to time while it is open.

extension Database {
  /// Updates the query planner's statistics on this thread, before the writer connection is closed.
  func updateStatisticsBeforeClosing() {
    // A forked process must not use its parent's connection.
    guard options.updatesStatistics, server == nil, (try? scheduler.checkProcess()) != nil else {
      return
    }
    // The statistics only help the planner. If writing them fails now, the next closing retries it.
    try? withUsedWriter { $0.updateStatistics() }
  }

  /// Queues an update of the query planner's statistics if many rows have changed since the last
  /// update. It runs on a worker's thread, after the current access and those that are already
  /// waiting.
  ///
  /// - Parameter connection: The writer connection, at the beginning of an access.
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
  /// The number of rows that this connection has changed since it last updated the query planner's
  /// statistics.
  var unanalyzedChanges: Int64 { handle.totalChanges - analyzedChanges }

  /// Runs the `ANALYZE` statements that `PRAGMA optimize` recommends, in one transaction. Does
  /// nothing until an indexed table has 1,000 rows, because any plan is fast for smaller tables.
  ///
  /// Each statement reads only some hundred rows of an index (`PRAGMA analysis_limit`), and none
  /// begins after a tenth of a second. The next update continues with the remaining statements. The
  /// update doesn't wait for locks. It doesn't notify observers or histories, because no rows of
  /// their tables change. Errors are ignored.
  ///
  /// - Parameter mustStop: Returns true to begin no further statement, because other accesses are
  ///   waiting.
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
    let limit = try uncheckedPragma("analysis_limit")
    if limit == .integer(0) { try runUnrecorded("PRAGMA analysis_limit = 400") }
    defer { if limit == .integer(0) { try? runUnrecorded("PRAGMA analysis_limit = 0") } }
    if sqlite3_libversion_number() < 3_046_000 {
      // Before 3.46, `PRAGMA optimize` considers only tables for which this connection's planner
      // has considered an index. Queries run on other connections, but compiling one here is
      // sufficient.
      for (table, column) in indexed {
        _ = try prepare(
          "SELECT 1 FROM \(quotedIdentifier(table)) WHERE \(quotedIdentifier(column)) = ?", flags: 0
        )
      }
    }
    let statements = try texts("PRAGMA optimize(-1)").filter { $0.hasPrefix("ANALYZE \"main\"") }
    guard !statements.isEmpty else { return }
    let end = ContinuousClock.now + .milliseconds(100)
    try runUnrecorded("BEGIN IMMEDIATE")
    do throws(SQLiteError) {
      for statement in statements {
        try runUnrecorded(statement)
        if ContinuousClock.now > end || mustStop() { break }
      }
      try runUnrecorded("COMMIT")
    } catch {
      if !handle.isAutocommit { try runUnrecorded("ROLLBACK") }
      throw error
    }
  }

  /// Returns the name of each table that has an index, with the first column of one of its indexes.
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

  /// Runs a statement without recording it in the connection's transaction state.
  private func runUnrecorded(_ sql: String) throws(SQLiteError) {
    guard let statement = try prepare(sql, flags: 0).statement else { return }
    var code = statement.step()
    while code == SQLITE_ROW { code = statement.step() }
    guard code == SQLITE_DONE else { throw handle.error(code, sql: sql) }
  }
}

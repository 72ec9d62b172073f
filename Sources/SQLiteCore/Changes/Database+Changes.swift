import Synchronization

/// A version number of a database file, for detecting commits by other processes and by other
/// databases of this process. If two versions differ, others may have committed in between.
package struct ForeignVersion: Hashable, Sendable {
  /// The number of the connection that read the version. Each connection counts separately.
  fileprivate let connection: Int
  fileprivate let data: Int64
}

extension Database {
  /// Calls `body` for each transaction that a database of this process commits to this file.
  ///
  /// `body` is called for transactions that commit after this call, in the order of their commits.
  /// It runs on the committing thread, after the changes are durable and before the access ends.
  /// `body` must be fast, must not use the database, and must not resume a task. To do more, store
  /// the changes, and process them on another thread. Changes that were rolled back are not
  /// reported, including those of savepoints and failed statements. One exception: if rows aren't
  /// recorded, the tables that a failed statement has touched may be reported. Commits of other
  /// processes are not reported.
  ///
  /// If an access began before this call and ran statements that write, `body` is notified only
  /// that any table may have changed, even if the statements were rolled back. It gets the same
  /// notification when the whole content is replaced, and when this database is closed.
  ///
  /// If libsqlite3 lacks the preupdate hook, values, changes of WITHOUT ROWID tables, and rows
  /// deleted by REPLACE are not reported.
  ///
  /// - Parameters:
  ///   - detail: The level of detail. `body` receives more if another subscriber needs more.
  ///   - tables: The lowercased names of the tables whose rows are needed; nil for all tables.
  ///     `body` may also receive rows of other tables.
  ///   - byteLimit: The size, in bytes, up to which `body` can use the rows of a transaction.
  ///     If no subscriber needs more, the rows of larger transactions are dropped, and
  ///     ``CommittedChanges/isIncomplete`` is true.
  ///   - body: The closure to call with the changes.
  /// - Returns: The subscription, which ends when it is released.
  package func subscribe(
    to detail: ChangeDetail, tables: Set<String>? = nil, atMost byteLimit: Int = .max,
    _ body: @escaping @Sendable (CommittedChanges) -> Void
  ) -> Registration {
    shared.feed.subscribe(detail, by: self, tables: tables, atMost: byteLimit, body)
  }

  /// Whether the values of changed rows can be recorded (`SQLITE_ENABLE_PREUPDATE_HOOK`).
  package var recordsValues: Bool {
    has(.rowChanges) && ChangeRecorder.hasPreupdateHook(options.usesPreupdateHook)
  }

  /// The range of the integer keys that this process assigns to new rows of the file, or nil if it
  /// uses the next greater one.
  package var keyRange: ClosedRange<Int64>? {
    get { shared.keys.withLock { $0 } }
    set { shared.keys.withLock { $0 = newValue } }
  }

  /// The counter of replacements of this file's content.
  package var content: ContentGeneration { shared.content }

  /// Calls `body` inside each transaction that changes rows of this file, before it commits. Only
  /// transactions of this process's databases count.
  ///
  /// The writes of `body` belong to the transaction. If `body` throws, the transaction is rolled
  /// back. After a statement outside any transaction, which has already committed by itself, `body`
  /// runs in a second transaction, and its errors are ignored.
  ///
  /// - Parameters:
  ///   - purpose: An identifier of work that is done once per transaction. If several closures have
  ///     the same purpose, only the first registered one runs.
  ///   - body: The closure to call with the connection and the rows of all tables that the
  ///     transaction has changed. The rows are nil if they aren't known: there were too many, or
  ///     the access began before this call.
  /// - Returns: The registration, which ends when it is released.
  package func beforeEachCommit(
    once purpose: String,
    _ body: @escaping @Sendable (Connection, RecordedRows?) throws -> Void
  ) -> Registration {
    let registration = shared.commits.add(body, for: purpose)
    let subscription = subscribe(to: .values) { _ in }
    return Registration { withExtendedLifetime((registration, subscription)) {} }
  }

  /// Calls `body` around each replacement of this file's whole content by a database of this
  /// process.
  ///
  /// - Parameter body: The closure to call with the source connection, the target connection, which
  ///   is outside any transaction, and a closure that replaces the content. `body` must call that
  ///   closure exactly once.
  /// - Returns: The registration, which ends when it is released.
  package func aroundReplacement(
    _ body: @escaping @Sendable (Connection, Connection, () throws -> Void) throws -> Void
  ) -> Registration {
    shared.replacements.add(body)
  }

  /// Replaces the whole content of this database by calling `replace`, wrapped in the closures that
  /// were registered with ``aroundReplacement(_:)``. Observers are notified at the end of the
  /// access.
  func replaceContent(
    from source: Connection, on target: Connection, _ replace: () throws -> Void
  ) throws {
    try shared.replacements.run(source, target) {
      try replace()
      shared.content.increase()
    }
  }

  /// Runs `body` on the writer connection, before its next access and again whenever the connection
  /// is reopened.
  ///
  /// Use it for state of the connection, such as functions and temporary triggers.
  ///
  /// `body` never runs in a process that only reads. If this is called within a write, `body` runs
  /// immediately.
  ///
  /// - Parameter body: The closure that sets up the connection. It runs outside any transaction,
  ///   except within a write.
  /// - Returns: The registration, which ends when it is released. The current connection stays set
  ///   up.
  /// - Throws: The error of `body` if this is called within a write.
  package func setUpWriter(
    _ body: @escaping @Sendable (Connection) throws -> Void
  ) throws -> Registration {
    let setup = file.writerSetups.add(body)
    if isInsideWrite { try withoutTransaction { try $0.setUp() } }
    return setup
  }

  /// Registers a type as the owner of tables in this process, for as long as the file is open.
  ///
  /// - Parameters:
  ///   - tables: The tables, each with the purpose for which the type uses it.
  ///   - type: The type that owns the tables.
  /// - Returns: The first table that has another owner or purpose, with its registered purpose and
  ///   the requested one; nil if there is no conflict.
  package func claim(
    _ tables: [(table: String, purpose: String)], for type: Any.Type
  ) -> (table: String, owner: String, purpose: String)? {
    shared.claims.claim(tables, for: type)
  }

  /// Returns the file's current version if the writer connection is idle (`PRAGMA data_version`).
  ///
  /// This doesn't wait for other accesses. It blocks the thread while SQLite reads the version, and
  /// while the connection is opened if it was closed.
  ///
  /// - Returns: The version, or nil if it can't be read immediately. It is always nil for a
  ///   database on a server.
  package func foreignVersionIfIdle() -> ForeignVersion? {
    guard server == nil else { return nil }
    let access = Access(scope: .bare, deadline: nil)
    guard
      let grant = try? scheduler.grant(.write, access.cancellation)
    else { return nil }
    var version: ForeignVersion?
    try? run(grant, access) {
      version = try $0.foreignVersion()
      return .commit
    }
    return version
  }

  /// Returns the file's current version (`PRAGMA data_version`). Waits for the writer connection
  /// without a time limit, but doesn't wait for locks of other connections.
  ///
  /// - Throws: ``SQLiteError`` if the version can't be read.
  package func foreignVersion() async throws -> ForeignVersion {
    let access = Access(scope: .bare, deadline: nil)
    let work = ResultWork(access) { try $0.foreignVersion() }
    try await perform(access, work)
    return try work.result()
  }
}

extension Connection {
  /// Reserves a sequence number among this process's commits to the file, for comparison with
  /// ``CommittedChanges/commitNumber``. If this is called in a transaction that may write, the
  /// transaction sees all earlier commits.
  package func reserveCommitNumber() -> UInt64 { environment.feed?.reserveCommitNumber() ?? 0 }

  fileprivate func foreignVersion() throws -> ForeignVersion {
    let busyTimeout = busyHandler.timeout
    busyHandler.timeout = .zero
    defer { busyHandler.timeout = busyTimeout }
    var data: Int64 = 0
    try withoutAuthorizer { () throws(SQLiteError) in
      let query = SQL(unchecked: handle.remote?.versionQuery ?? "PRAGMA data_version")
      data = try firstRow(query, as: Int64.self) ?? 0
    }
    return ForeignVersion(connection: environment.number, data: data)
  }
}

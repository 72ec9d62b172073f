/// A state of a database file, as far as others change it: other processes, and other databases of this
/// one. If two of them differ, others may have committed in between.
package struct ForeignVersion: Hashable, Sendable {
  /// Which of the database's connections was asked: each counts on its own.
  fileprivate let connection: Int
  fileprivate let data: Int64
}

extension Database {
  /// Tells `body` of each transaction that changes this file, by any database of this process.
  ///
  /// It is told of transactions that commit after this call, in the order of their commits, on the thread
  /// that committed, once the changes are durable and before the access ends. `body` must be quick, must
  /// not use the database, and must not resume a task: pass the news on. Changes that were rolled back are not reported,
  /// including those of savepoints and failed statements. Only names of tables that a failed statement has touched may
  /// be reported where rows are not recorded. Other processes are not seen.
  ///
  /// If an access had begun before this call and ran statements that write, `body` is told only that any
  /// table may differ, also if these were rolled back. The same is told when the whole content is replaced, and
  /// when this database was closed.
  ///
  /// Without the preupdate hook, on a libsqlite3 that lacks it, tables WITHOUT ROWID, rows deleted
  /// by REPLACE, and values are not seen.
  ///
  /// - Parameters:
  ///   - detail: How much to tell. Others may want more: then more is told.
  ///   - tables: The tables whose rows are wanted, in lower case; nil for all. Others may be told, too.
  ///   - byteLimit: The most bytes of rows of one transaction that `body` has use for. If nobody wants more, those of
  ///     a larger transaction are dropped, and ``CommittedChanges/isIncomplete`` says so.
  ///   - body: Takes the changes.
  /// - Returns: The subscription, which ends when it goes.
  package func subscribe(
    to detail: ChangeDetail, tables: Set<String>? = nil, atMost byteLimit: Int = .max,
    _ body: @escaping @Sendable (CommittedChanges) -> Void
  ) -> Registration {
    shared.feed.subscribe(detail, by: self, tables: tables, atMost: byteLimit, body)
  }

  /// Whether the values of rows that change can be recorded (`SQLITE_ENABLE_PREUPDATE_HOOK`).
  package var recordsValues: Bool {
    has(.rowChanges) && ChangeRecorder.hasPreupdateHook(options.usesPreupdateHook)
  }

  /// How often the content of this file was replaced.
  package var content: ContentGeneration { shared.content }

  /// Has `body` run before each commit that changes rows of this file by a database of this process, inside the transaction.
  ///
  /// What `body` writes belongs to the transaction; if it throws, all is rolled back. After a statement outside any
  /// transaction, which is one of its own, it runs in one more.
  ///
  /// - Parameters:
  ///   - purpose: Something that is done once for each transaction: of several bodies for it the oldest one runs.
  ///   - body: Gets the connection, and the rows that the transaction has changed in all tables; nil if these
  ///     are not known: there were too many, or the access had begun before this call.
  /// - Returns: The registration, which ends when it goes.
  package func beforeEachCommit(
    once purpose: String,
    _ body: @escaping @Sendable (Connection, RecordedRows?) throws -> Void
  ) -> Registration {
    let registration = shared.commits.add(body, for: purpose)
    let subscription = subscribe(to: .values) { _ in }
    return Registration { withExtendedLifetime((registration, subscription)) {} }
  }

  /// Has `body` run around each replacement of the whole content of this file by a database of this
  /// process.
  ///
  /// - Parameter body: Gets the connection that the content comes from, the one that it goes to, which is
  ///   outside any transaction, and what replaces the content: it calls that once.
  /// - Returns: The registration, which ends when it goes.
  package func aroundReplacement(
    _ body: @escaping @Sendable (Connection, Connection, () throws -> Void) throws -> Void
  ) -> Registration {
    shared.replacements.add(body)
  }

  /// Replaces the whole content of this database, as the layers above want it. Observers are told at the end of
  /// the access.
  func replaceContent(
    from source: Connection, on target: Connection, _ replace: () throws -> Void
  ) throws {
    try shared.replacements.run(source, target) {
      try replace()
      shared.content.increase()
    }
  }

  /// Runs `body` on the connection that writes, before the next access to it and whenever it is opened anew.
  ///
  /// For what belongs to a connection and not to the file: functions, temporary triggers.
  ///
  /// A program that only reads never runs it. Within a write it runs at once.
  ///
  /// - Parameter body: Sets the connection up, outside any transaction unless it is part of a write.
  /// - Returns: The registration, which ends when it goes. The setup of the present connection stays.
  package func setUpWriter(
    _ body: @escaping @Sendable (Connection) throws -> Void
  ) throws -> Registration {
    let setup = file.writerSetups.add(body)
    if isInsideWrite { try withoutTransaction { try $0.setUp() } }
    return setup
  }

  /// Notes that tables belong to a type, in this process and as long as the file is open.
  ///
  /// - Parameters:
  ///   - tables: The tables, and what the type needs each for.
  ///   - type: The type.
  /// - Returns: A table that is needed for something else, what for, and what for here; nil if there is none.
  package func claim(
    _ tables: [(table: String, purpose: String)], for type: Any.Type
  ) -> (table: String, owner: String, purpose: String)? {
    shared.claims.claim(tables, for: type)
  }

  /// The state now, if nobody uses the connection that writes (`PRAGMA data_version`).
  ///
  /// This waits for nobody. It blocks the thread for a query without rows, or for the opening of the
  /// connection if that was closed.
  ///
  /// - Returns: Nil if it cannot be read at once, as that of a server.
  package func foreignVersionAtOnce() -> ForeignVersion? {
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

  /// The state now (`PRAGMA data_version`). It waits for its turn, however long that takes, and not for
  /// the locks of others.
  ///
  /// - Throws: ``SQLiteError``.
  package func foreignVersion() async throws -> ForeignVersion {
    let access = Access(scope: .bare, deadline: nil)
    let work = KeptWork(access) { try $0.foreignVersion() }
    try await perform(access, work)
    return try work.result()
  }
}

extension Connection {
  /// Returns a place among the commits of this process on the file, for ``CommittedChanges/turn``. Called in a transaction
  /// that may write, all commits before it are seen.
  package func takeMoment() -> UInt64 { environment.feed?.takeMoment() ?? 0 }

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

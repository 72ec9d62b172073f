import CSQLite
import Dispatch
import Synchronization

/// An open database, which any thread or task can use.
///
///     let database = try Database(path: "/var/lib/app/data.sqlite3")
///     try database.write { connection in
///       try connection.executeChange("INSERT INTO note (text) VALUES (\(text))")
///     }
///     let notes = try await database.read { try $0.executeQuery("SELECT * FROM note") }
///
/// In WAL mode, a database file has one writer connection and several reader connections. Each read
/// has its own snapshot, reads don't wait for writes, and writes don't wait for reads. In other
/// journal modes and in memory, reads and writes share one connection. Writes run in the order of
/// their calls.
///
/// Most methods have two forms: one blocks its thread, and the other suspends its task.
public final class Database: Sendable {
  /// The options with which the database was opened.
  public let options: Options
  let file: DatabaseFile
  let scheduler: Scheduler
  let shared: SharedFile
  /// The threads on which asynchronous accesses run.
  package let worker: Worker
  /// The access whose task a worker's thread is resuming at the moment, or nil.
  let resumed = Mutex<TaskAccess?>(nil)
  let groupCommitStatistics = GroupCommitStatistics()
  let heldWatch = Mutex(WeakWatch())
  private let slots: [ConnectionSlot]
  /// The number of connections that this database has opened.
  private let openings = Atomic<Int>(0)
  /// Whether the writer connection is the one that `init` opened, and no access has used it yet.
  private let hasFreshWriter = Atomic(false)
  /// The number of reads that ran on their tasks' own threads.
  private let readsOnTasks = Atomic<Int>(0)
  let isStatisticsScheduled = Atomic(false)
  private let closing = Mutex(())
  /// The number of the thread that is closing the connections, or 0 if none is.
  private let closingThread = Atomic<UInt>(0)

  /// Opens a database file. By default, it is created if it doesn't exist.
  ///
  /// - Parameters:
  ///   - path: The path of the file. It is relative to the current folder unless it begins with a
  ///     slash. The folder of the file must exist.
  ///   - options: The options of the database and its connections.
  /// - Throws: ``SQLiteError`` with the cause, for example a missing folder, a folder with this
  ///   name, a file that isn't a database, or a missing permission; the error of
  ///   ``Options/prepareConnection`` as a ``SQLiteError``.
  public convenience init(path: String, options: Options = Options()) throws(SQLiteError) {
    try self.init(file: DatabaseFile(path: path, options: options))
  }

  /// Opens a new in-memory database. It is deleted when the returned value is released or closed.
  ///
  /// - Parameter options: The options of the database and its connection.
  /// - Throws: ``SQLiteError`` if the database can't be opened, or if `prepareConnection` throws.
  public static func memory(options: Options = Options()) throws(SQLiteError) -> Database {
    try Database(file: DatabaseFile(.memory, options: options))
  }

  /// Opens a new temporary database. It is deleted when the returned value is released or closed.
  ///
  /// SQLite keeps a small database in memory and writes a larger one to a temporary file. SQLite
  /// deletes that file immediately after creating it, so that nothing remains even after a crash.
  ///
  /// - Parameter options: The options of the database and its connection.
  /// - Throws: ``SQLiteError`` if the database can't be opened, or if `prepareConnection` throws.
  public static func temporary(options: Options = Options()) throws(SQLiteError) -> Database {
    try Database(file: DatabaseFile(.temporary, options: options))
  }

  /// Opens a database that a server hosts.
  ///
  /// - Parameters:
  ///   - server: The server that hosts the database.
  ///   - options: The options of the connections. Options that concern files are ignored.
  /// - Throws: ``SQLiteError`` if no session can be opened.
  package convenience init(
    server: any RemoteServer, options: Options = Options()
  ) throws(SQLiteError) {
    try self.init(file: DatabaseFile(.memory, server: server, options: options))
  }

  /// Opens a database that a server hosts, and suspends the task meanwhile. Cancelling the task
  /// stops the opening.
  ///
  /// - Throws: ``SQLiteError`` if no session can be opened; `CancellationError` if the task was
  ///   cancelled.
  package convenience init(
    openingServer server: any RemoteServer, options: Options = Options()
  ) async throws {
    self.init(unopened: DatabaseFile(.memory, server: server, options: options))
    let access = Access(scope: .bare, deadline: nil)
    try await cancelling(access) {
      try await worker.run {
        try self.withConnection(at: 0, { access.reasonToEnd }) { _ in }
      }
    }
  }

  convenience init(file: DatabaseFile) throws(SQLiteError) {
    self.init(unopened: file)
    // Open the first connection now, so that `init` throws the errors of the file.
    do {
      try withConnection(at: 0) { _ in }
      // A server's session can't be turned from a writer into a reader.
      hasFreshWriter.store(file.server == nil, ordering: .relaxed)
    } catch let error as SQLiteError {
      throw error
    } catch {
      throw SQLiteError(.cannotOpen, "\(error)")
    }
  }

  private init(unopened file: DatabaseFile) {
    self.file = file
    options = file.options
    let readers = file.hasReaders ? min(max(1, file.options.maximumReaderCount), 1_000) : 0
    scheduler = Scheduler(readers: readers)
    shared = SharedFile.at(file.path)
    slots = (0...readers).map { _ in ConnectionSlot() }
    // One more than there are slots, because an access that has left its slot still resumes its
    // task.
    worker = Worker(capacity: readers + 2)
    shared.join(scheduler)
  }

  deinit {
    updateStatisticsBeforeClosing()
    shared.leave(scheduler)
  }

  /// The server that hosts the database, or nil for a local database.
  package var server: (any RemoteServer)? { file.server }

  /// Whether the content outlives this `Database`, so that other processes may use it, too.
  package var mayHaveOthers: Bool { path != nil || server != nil }

  /// Whether opening this `Database` created its database, which is then empty unless something has
  /// been written to it since.
  package var isNew: Bool { server == nil && (path == nil || file.wasCreated) }

  /// The absolute path of the file; nil for an in-memory or temporary database, and for one on a
  /// server.
  public var path: String? { file.path }

  /// Returns whether this database and another one use the same file.
  package func isOnFile(of other: Database) -> Bool { shared === other.shared }

  /// Whether the database was opened for reading only.
  package var isReadOnly: Bool { options.mode == .readOnly }

  private func open(
    _ slot: Int, _ reasonToEnd: @escaping @Sendable () -> String?
  ) throws(SQLiteError) -> sending Connection {
    let end = server.map { .now + $0.patience } ?? Moment.now
    while true {
      do throws(SQLiteError) {
        return try file.open(
          forReading: slot > 0, shared: shared,
          number: openings.add(1, ordering: .relaxed).newValue, reasonToEnd)
      } catch {
        // A server's session may be lost while it is being set up. Open another one.
        guard let server, server.isSessionLoss(error), Moment.now < end else { throw error }
      }
    }
  }

  /// Runs `body` on the connection of a slot, after opening it if necessary. Call this only while
  /// holding the slot.
  ///
  /// - Parameters:
  ///   - slot: The number of the slot; 0 is the writer's.
  ///   - reasonToEnd: Returns the reason why opening a server's session must end, or nil to
  ///     continue.
  ///   - body: The work to do with the connection.
  private func withConnection(
    at slot: Int, _ reasonToEnd: @escaping @Sendable () -> String? = { nil },
    _ body: (Connection) throws -> Void
  ) throws {
    if hasFreshWriter.load(ordering: .relaxed) { useFreshWriter(at: slot) }
    try slots[slot].withConnection(
      open: { () throws(SQLiteError) in try open(slot, reasonToEnd) }
    ) { connection in
      if slot == 0 { scheduleStatistics(of: connection) }
      try body(connection)
    }
  }

  /// Runs `body` on the writer connection before the connection is closed. Does nothing if no
  /// access has used the connection. Call this only while no access is running.
  func withUsedWriter(_ body: (Connection) throws -> Void) throws {
    guard !hasFreshWriter.load(ordering: .relaxed), !slots[0].isEmpty else { return }
    try slots[0].withConnection(
      open: { () throws(SQLiteError) in throw SQLiteError(.misuse, "the connection is closed") },
      body)
  }

  /// Passes the connection that `init` opened to the first access, even if that access is a read,
  /// so that a program that only reads opens no other connection.
  @inline(never) private func useFreshWriter(at slot: Int) {
    guard slot > 0 else { return hasFreshWriter.store(false, ordering: .relaxed) }
    guard slots[slot].isEmpty else { return }
    scheduler.whileWriterIsIdle {
      // The first write then opens another connection.
      guard hasFreshWriter.exchange(false, ordering: .relaxed) else { return }
      slots[slot].takeOver(slots[0])
    }
  }

  /// Runs an access on this thread, on the connection of the slot that it was granted. `body`
  /// stores its result for the caller.
  ///
  /// - Parameters:
  ///   - grant: The granted slot. The access leaves it at the end, unless an outer access owns it.
  ///   - access: The kind, deadline and cancellation of the access.
  ///   - task: The task's access whose thread can also run the slot's next access, or nil.
  ///   - body: The work to do with the connection.
  func run(
    _ grant: Scheduler.Grant, _ access: Access, of task: TaskAccess? = nil,
    _ body: (Connection) throws -> TransactionOutcome
  ) throws {
    switch grant {
    case .nested(let slot):
      try slots[slot].withRunningConnection { try access.run(on: $0, body) }
    case .slot(let slot):
      defer { scheduler.leave(slot, task) }
      guard let server else {
        return try withConnection(at: slot) { try access.run(on: $0, body) }
      }
      try run(access, at: server, slot, body)
    }
  }

  /// Runs an access at a server. If the session is lost before the access has committed anything,
  /// the access runs again on another session.
  private func run(
    _ access: Access, at server: any RemoteServer, _ slot: Int,
    _ body: (Connection) throws -> TransactionOutcome
  ) throws {
    var losses = SessionLosses(before: access.deadline, patience: server.patience)
    while true {
      var mayRunAgain = false
      do {
        return try withConnection(at: slot, { access.reasonToEnd }) { connection in
          let session = connection.handle.remote
          let commits = session?.commitCount
          do {
            try access.run(on: connection, body)
          } catch {
            if let session, session.commitCount == commits {
              mayRunAgain = try losses.mayRunAgain(
                after: session, error, unless: access.reasonToEnd)
            }
            throw error
          }
        }
      } catch  where mayRunAgain {
        // Run again on a new session.
      } catch {
        throw losses.explained(error)
      }
    }
  }

  /// Tries to run a read on its task's thread, without waiting for anything.
  ///
  /// - Parameters:
  ///   - access: The read to run. If it takes too long, its cancellation has the reason `length`
  ///     afterwards.
  ///   - body: The work to do with the connection.
  /// - Returns: True if the read completed. False if it couldn't begin or took too long, and must
  ///   run on a thread that can block.
  /// - Throws: The error of `body`; ``SQLiteError`` if the access was rejected or interrupted.
  func runOnTask(
    _ access: Access, _ body: (Connection) throws -> TransactionOutcome
  ) throws -> Bool {
    guard server == nil, options.vfs == nil, options.longestReadOnTask > .zero,
      !hasFreshWriter.load(ordering: .relaxed), !scheduler.isHeldByThisThread,
      case .slot(let slot)? = try scheduler.grant(access.kind, access.cancellation)
    else { return false }
    // Opening a connection takes too long.
    guard !slots[slot].isEmpty else {
      scheduler.leave(slot)
      return false
    }
    let outcome = Result { try run(.slot(slot), access, body) }
    if access.cancellation.reason == .length { return false }
    readsOnTasks.add(1, ordering: .relaxed)
    try outcome.get()
    return true
  }

  /// The number of reads that ran on their tasks' own threads.
  package var readOnTaskCount: Int { readsOnTasks.load(ordering: .relaxed) }

  /// Runs a group of writes on this thread, on the connection of a slot that the group holds. Then
  /// leaves the slot and reports the outcomes to the callers.
  func run(_ group: inout GroupCommitRun, at slot: Int) {
    defer {
      scheduler.leave(slot)
      group.answer()
    }
    while !group.isOver {
      do {
        try withConnection(at: slot) { group.run(on: $0) }
      } catch {
        group.fail(error)
      }
    }
  }

  /// Runs `body` while this database has no other connection than the writer, and closes the writer
  /// connection at the end. The next accesses open new connections. Call this only within an access
  /// to the writer.
  func withOnlyConnection(_ body: () throws -> Void) throws {
    try scheduler.withoutReads(until: .now + options.busyTimeout) {
      for slot in slots.dropFirst() { slot.close() }
      defer {
        slots[0].close()
        file.watch?.forgetLog()
      }
      try body()
    }
  }

  /// Closes the connections. If another thread is already closing them, waits until it has
  /// finished.
  ///
  /// - Parameter updatesStatistics: Whether to update the query planner's statistics first.
  func closeConnections(updatingStatistics updatesStatistics: Bool) {
    // An object of the program that is released with a connection may close the database, too.
    guard closingThread.load(ordering: .relaxed) != currentThread() else { return }
    closing.withLock { _ in
      closingThread.store(currentThread(), ordering: .relaxed)
      defer { closingThread.store(0, ordering: .relaxed) }
      if updatesStatistics { updateStatisticsBeforeClosing() }
      // Readers first: the last connection to close runs the checkpoint and removes the log.
      for slot in slots.reversed() { slot.close() }
    }
  }
}

extension Database {
  /// The version of the SQLite library that is loaded at run time, such as `3.40.1`
  /// (`sqlite3_libversion`).
  public static var sqliteVersion: String { unsafe String(cString: sqlite3_libversion()) }
}

extension Database {
  /// Whether this thread is inside an access that can write.
  var isInsideWrite: Bool { scheduler.slotOfThisThread() == 0 && !isInsideRead }

  /// Whether this thread is inside a read, in which no write can begin.
  package var isInsideRead: Bool {
    guard let slot = scheduler.slotOfThisThread() else { return false }
    var isRead = false
    try? slots[slot].withRunningConnection { isRead = $0.refusesWrites }
    return isRead
  }
}

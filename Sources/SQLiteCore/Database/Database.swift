import CSQLite
import Dispatch
import Synchronization

/// A database: the one door to it, which any thread or task may use.
///
///     let database = try Database(path: "/var/lib/app/data.sqlite3")
///     try database.write { connection in
///       try connection.executeChange("INSERT INTO note (text) VALUES (\(text))")
///     }
///     let notes = try await database.read { try $0.executeQuery("SELECT * FROM note") }
///
/// A database in a file has one connection that writes and several that read, each on a snapshot of
/// its own: in WAL mode no read waits for a write, and no write for a read. Writes happen in the
/// order in which they were asked for. A database in memory has one connection.
///
/// Every call has two forms: one that blocks its thread, and one that suspends its task.
public final class Database: Sendable {
  /// How the database was opened.
  public let options: Options
  let file: DatabaseFile
  let scheduler: Scheduler
  let shared: SharedFile
  /// Where asynchronous accesses run.
  package let worker: Worker
  /// The access whose task a thread of the worker resumes just now.
  let resumed = Mutex<TaskAccess?>(nil)
  let experience = GroupCommitExperience()
  let heldWatch = Mutex(WeakWatch())
  private let slots: [ConnectionSlot]
  /// How many connections were opened.
  private let openings = Atomic<Int>(0)
  /// Whether the connection that writes is the one of the opening, and nobody has used it.
  private let hasFreshWriter = Atomic(false)
  /// How many reads have run on the threads of their tasks.
  private let readsOnTasks = Atomic<Int>(0)
  let isStatisticsScheduled = Atomic(false)
  private let closing = Mutex(())
  /// The thread that closes the connections at this moment, or 0.
  private let closingThread = Atomic<UInt>(0)

  /// Opens a database file.
  ///
  /// - Parameters:
  ///   - path: Where the file is, or is made; relative to the current folder if it does not begin
  ///     with a slash. Its folder must exist.
  ///   - options: How to open it.
  /// - Throws: ``SQLiteError`` that says what was in the way: a missing folder, a folder of that
  ///   name, a file that is not a database, a missing permission.
  public convenience init(path: String, options: Options = Options()) throws(SQLiteError) {
    try self.init(file: DatabaseFile(path: path, options: options))
  }

  /// Opens a new database in memory, which goes away with this value.
  ///
  /// - Parameter options: How to open it.
  /// - Throws: ``SQLiteError``.
  public static func memory(options: Options = Options()) throws(SQLiteError) -> Database {
    try Database(file: DatabaseFile(.memory, options: options))
  }

  /// Opens a new database in a temporary file, which goes away with this value.
  ///
  /// SQLite keeps it in memory as long as it is small, and deletes the file when it is opened, so
  /// that nothing is left whatever happens.
  ///
  /// - Parameter options: How to open it.
  /// - Throws: ``SQLiteError``.
  public static func temporary(options: Options = Options()) throws(SQLiteError) -> Database {
    try Database(file: DatabaseFile(.temporary, options: options))
  }

  /// Opens a database that a server has.
  ///
  /// - Parameters:
  ///   - server: The server.
  ///   - options: How the connections behave. What is about files does not count.
  /// - Throws: ``SQLiteError``.
  package convenience init(
    server: any RemoteServer, options: Options = Options()
  ) throws(SQLiteError) {
    try self.init(file: DatabaseFile(.memory, server: server, options: options))
  }

  /// As ``init(server:options:)``, without blocking the task. If it is cancelled, the opening ends.
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

  private convenience init(file: DatabaseFile) throws(SQLiteError) {
    self.init(unopened: file)
    // The first connection is opened now, so that errors of the file are thrown here.
    do {
      try withConnection(at: 0) { _ in }
      // A session of a server is for reading or for writing.
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
    let readers = file.hasReaders ? max(1, file.options.maximumReaderCount) : 0
    scheduler = Scheduler(readers: readers)
    shared = SharedFile.at(file.path)
    slots = (0...readers).map { _ in ConnectionSlot() }
    // One more than slots: an access that has left its slot still resumes its task.
    worker = Worker(capacity: readers + 2)
    shared.join(scheduler)
  }

  deinit {
    updateStatisticsBeforeClosing()
    shared.leave(scheduler)
  }

  /// The server that has the database, or nil if it is here.
  package var server: (any RemoteServer)? { file.server }

  /// Whether the content outlives this value, so that other processes may use it.
  package var mayHaveOthers: Bool { path != nil || server != nil }

  /// Whether this value has made the database, so that it is empty unless somebody has written to it since.
  package var isNew: Bool { server == nil && (path == nil || file.wasMade) }

  /// The absolute path of the file, or nil for a database that has none of its own.
  public var path: String? { file.path }

  /// Whether this and another value are databases on one file.
  package func isOnFile(of other: Database) -> Bool { shared === other.shared }

  /// Whether nothing can be written.
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
        // A server's session may be lost while it is prepared: another one is opened.
        guard let server, server.isOfLostSession(error), Moment.now < end else { throw error }
      }
    }
  }

  /// Lends the connection of a slot, opening it if need be. Only its holder may call this.
  ///
  /// - Parameters:
  ///   - slot: The slot.
  ///   - reasonToEnd: Says why opening it at a server must end, if it must.
  ///   - body: The access.
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

  /// Lends the connection that writes if it was used, before it is closed. No access may run any more.
  func withUsedWriter(_ body: (Connection) throws -> Void) throws {
    guard !hasFreshWriter.load(ordering: .relaxed), !slots[0].isEmpty else { return }
    try slots[0].withConnection(
      open: { () throws(SQLiteError) in throw SQLiteError(.misuse, "the connection is closed") },
      body)
  }

  /// Gives the connection of the opening to the first access: a program that only reads needs no other one.
  @inline(never) private func useFreshWriter(at slot: Int) {
    guard slot > 0 else { return hasFreshWriter.store(false, ordering: .relaxed) }
    guard slots[slot].isEmpty else { return }
    scheduler.whileWriterIsIdle {
      // Whoever writes afterwards opens another one.
      guard hasFreshWriter.exchange(false, ordering: .relaxed) else { return }
      slots[slot].takeOver(slots[0])
    }
  }

  /// Runs an access at its slot, on this thread. Its caller keeps the result of `body`.
  ///
  /// - Parameters:
  ///   - grant: The slot.
  ///   - access: The access.
  ///   - task: The access of a task whose thread goes on with the access that waits next for the slot.
  ///   - body: The work.
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

  /// Runs an access at a server, and again if the session is lost and nothing was committed.
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
        // On a new session.
      } catch {
        throw losses.explained(error)
      }
    }
  }

  /// Runs a read on the thread of its task, if it need not wait for anything.
  ///
  /// - Parameters:
  ///   - access: The access, whose cancellation tells whether it took too long.
  ///   - body: The work.
  /// - Returns: False if nothing was read: it must run on a thread that may wait.
  /// - Throws: What `body` throws.
  func runOnTask(
    _ access: Access, _ body: (Connection) throws -> TransactionOutcome
  ) throws -> Bool {
    guard server == nil, options.vfs == nil, options.longestReadOnTask > .zero,
      !hasFreshWriter.load(ordering: .relaxed), !scheduler.isHeldByThisThread,
      case .slot(let slot)? = try scheduler.grant(access.kind, access.cancellation)
    else { return false }
    // Opening a connection takes long.
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

  /// How many reads have run on the threads of their tasks.
  package var readOnTaskCount: Int { readsOnTasks.load(ordering: .relaxed) }

  /// Runs a group of writes at its slot, on this thread.
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

  /// Closes the connections. A concurrent call waits until they are closed.
  ///
  /// - Parameter updatesStatistics: Whether there is time for the statistics of the planner.
  func closeConnections(updatingStatistics updatesStatistics: Bool) {
    // An object of the user's that is released with a connection may close the database, too.
    guard closingThread.load(ordering: .relaxed) != currentThread() else { return }
    closing.withLock { _ in
      closingThread.store(currentThread(), ordering: .relaxed)
      defer { closingThread.store(0, ordering: .relaxed) }
      if updatesStatistics { updateStatisticsBeforeClosing() }
      // Readers first: the last connection to close makes the checkpoint and removes the log.
      for slot in slots.reversed() { slot.close() }
    }
  }
}

extension Database {
  /// The version of the SQLite library that runs, such as `3.40.1` (`sqlite3_libversion`).
  public static var sqliteVersion: String { unsafe String(cString: sqlite3_libversion()) }
}

extension Database {
  /// Whether this thread uses the connection that writes.
  var isInsideWrite: Bool { scheduler.slotOfThisThread() == 0 && !isInsideRead }

  /// Whether this thread is inside a read, in which no write can begin.
  package var isInsideRead: Bool {
    guard let slot = scheduler.slotOfThisThread() else { return false }
    var isRead = false
    try? slots[slot].withRunningConnection { isRead = $0.refusesWrites }
    return isRead
  }
}

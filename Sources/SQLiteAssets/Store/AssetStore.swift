public import SQLiteCore
import Synchronization
package import SystemFiles

/// A store of files that belong to rows of a database.
///
///     let assets = try AssetStore(database, folder: "/var/lib/app/assets")
///     try database.write { connection in
///       let photo = try assets.put(bytes, extension: "jpeg", in: connection)
///       try connection.executeChange("INSERT INTO person (photo) VALUES (\(photo.id))")
///     }
///
/// An asset is a row of the table `magicdata_asset` and a file in the store's folder, or only a row
/// if the content is smaller than ``minimumFileSize``. When the transaction commits, both appear;
/// if it is rolled back, neither does. When the row is deleted, by any SQL, the file is removed
/// after the commit, once no reader in any process can see the row any more. If a program without
/// this library deletes the row, a trigger marks the file, and the next opening of the store removes
/// it.
///
/// Content never changes. If you replace it, the store writes a new file, and readers of the old
/// content can still read it to the end. Opening a store repairs the effects of a crash without
/// examining every file. Several stores in several processes can share a database and its folder.
///
/// Calls without `in:` have a form that blocks the thread and a form that suspends the task, like
/// those of `Database`. The suspending form also throws `CancellationError` if the task was
/// cancelled before the work began.
public final class AssetStore: Sendable {
  /// The database with the rows of the assets.
  public let database: Database
  /// The identity of the store, which marks the folder as belonging to this database. A backup has
  /// the same identity.
  let identity: AssetID
  let folder: StoreFolder
  let pendingFolder: PendingFolder
  let operations: any FileOperations
  let worker = Worker()
  private let isUpkeepScheduled = Atomic(false)
  /// Whether another attempt to remove marked files is scheduled. It runs when the readers that may
  /// need them have ended.
  let isRetryScheduled = Atomic(false)
  private let fileThreshold: Atomic<Int>
  private let watch = Mutex<Registration?>(nil)
  private let writes = Mutex<Registration?>(nil)
  private let replacement = Mutex<Registration?>(nil)
  /// The name of the temporary trigger that schedules upkeep when a file is marked for removal, and
  /// of the SQL function that it calls.
  private let signal = "magicdata_asset_marked_\(AssetID())"

  /// Opens the assets of a database. Creates the tables and the folder if they are missing. Blocks
  /// the thread.
  ///
  /// Unless the database is read-only, this also repairs the effects of a crash, and removes the
  /// files of deleted and replaced assets.
  ///
  /// - Parameters:
  ///   - database: The database with the rows.
  ///   - folder: The path of a folder that only this database uses. Its parent folder must exist.
  ///     The path must not be a symbolic link.
  ///   - minimumFileSize: The size in bytes from which content is stored in a file; see
  ///     ``minimumFileSize``.
  /// - Throws: ``AssetError/foreignFolder(path:)`` if the folder belongs to another database; other
  ///   ``AssetError`` cases if the folder can't be opened or the tables have another format;
  ///   `SQLiteError` if the database can't be read or written.
  public convenience init(
    _ database: Database, folder: String, minimumFileSize: Int = 0
  ) throws {
    try self.init(
      database, folder: folder, minimumFileSize: minimumFileSize,
      operations: SystemFileOperations())
  }

  /// Opens the assets of a database, and suspends the task meanwhile. Creates the tables and the
  /// folder if they are missing.
  ///
  /// Unless the database is read-only, this also repairs the effects of a crash, and removes the
  /// files of deleted and replaced assets.
  ///
  /// - Parameters:
  ///   - database: The database with the rows.
  ///   - folder: The path of a folder that only this database uses. Its parent folder must exist.
  ///     The path must not be a symbolic link.
  ///   - minimumFileSize: The size in bytes from which content is stored in a file; see
  ///     ``minimumFileSize``.
  /// - Throws: ``AssetError/foreignFolder(path:)`` if the folder belongs to another database; other
  ///   ``AssetError`` cases if the folder can't be opened or the tables have another format;
  ///   `SQLiteError` if the database can't be read or written; `CancellationError` if the task was
  ///   cancelled.
  public convenience init(
    _ database: Database, folder: String, minimumFileSize: Int = 0
  ) async throws {
    let parts = try await Worker().run {
      try Parts(database, path: folder, SystemFileOperations())
    }
    self.init(parts, minimumFileSize: minimumFileSize)
    try await worker.run { try self.begin(hasMarks: parts.hasMarks) }
  }

  /// A function that creates the folder of a store, with its files, at a path. It does nothing if
  /// the folder exists.
  package typealias FolderCreation = @Sendable (_ path: String) throws(AssetError) -> Void

  /// Opens the assets of a database with specific file system calls.
  ///
  /// - Parameters:
  ///   - database: The database with the rows.
  ///   - path: The path of a folder that only this database uses.
  ///   - minimumFileSize: The size in bytes from which content is stored in a file.
  ///   - operations: The file system calls.
  ///   - isAdopting: Whether the database's path determines the folder. If true, a database without
  ///     assets takes over the identity of an existing folder, and a missing folder is created only
  ///     when the first content is written, because many object stores never have assets.
  ///   - create: Creates the folder of a copied store at its first access if it is missing, or nil.
  package convenience init(
    _ database: Database, folder path: String, minimumFileSize: Int = 0,
    operations: any FileOperations = SystemFileOperations(), isAdopting: Bool = false,
    creatingFolderWith create: FolderCreation? = nil
  ) throws {
    let parts = try Parts(
      database, path: path, operations, isAdopting: isAdopting, creatingWith: create)
    self.init(parts, minimumFileSize: minimumFileSize)
    try begin(hasMarks: parts.hasMarks)
  }

  private init(_ parts: Parts, minimumFileSize: Int) {
    database = parts.database
    operations = parts.operations
    identity = parts.identity
    folder = parts.folder
    pendingFolder = PendingFolder(parts.folder, isDurable: parts.database.mayHaveOthers)
    fileThreshold = Atomic(minimumFileSize)
  }

  /// The results of reading the database and opening the folder, from which a store is initialized.
  private struct Parts: Sendable {
    let database: Database
    let operations: any FileOperations
    let identity: AssetID
    let folder: StoreFolder
    /// Whether files are marked for removal.
    let hasMarks: Bool

    init(
      _ database: Database, path: String, _ operations: any FileOperations,
      isAdopting: Bool = false, creatingWith create: FolderCreation? = nil
    ) throws {
      self.database = database
      self.operations = operations
      let present = try database.read { try AssetSchema.present(in: $0) }
      hasMarks = present?.hasMarks ?? false
      identity =
        try present?.identity
        ?? database.write { connection in
          try AssetSchema.prepare(connection, adopting: isAdopting ? path : nil, operations)
        }
      folder = try StoreFolder(
        path: path, identity: identity, operations, createsMissing: !isAdopting,
        creatingWith: create)
    }
  }

  /// Creates the tables of a store if they are missing, as part of the open transaction.
  ///
  /// - Parameters:
  ///   - folder: The folder whose identity the store takes over.
  ///   - connection: The writer connection.
  package static func makeTables(adopting folder: String, in connection: Connection) throws {
    _ = try AssetSchema.prepare(connection, adopting: folder, SystemFileOperations())
  }

  /// Sets up the writer connection, recovers files of a crashed process, and removes files that are
  /// marked for removal.
  ///
  /// - Parameter hasMarks: Whether files are marked for removal.
  private func begin(hasMarks: Bool) throws {
    guard database.options.mode != .readOnly else { return }
    try watchMarks()
    let setup = database.aroundReplacement { [weak self] source, target, replace in
      guard let self else { return try replace() }
      try keepIdentity(source, target, replace)
    }
    replacement.withLock { $0 = setup }
    // Without a folder, no opener has written or held a file.
    if folder.isPresent {
      try recover()
      try releaseAbandonedHolds()
    }
    if hasMarks { try removeDeletedFiles() }
  }

  /// The absolute path of the store's folder.
  public var path: String { folder.path }

  /// The size in bytes from which content is stored in a file. The default is 0: all content is
  /// stored in files.
  ///
  /// Smaller content is stored in the row, which is faster for many small assets. A new value
  /// affects only content that is written later. Existing content isn't moved.
  public var minimumFileSize: Int {
    get { fileThreshold.load(ordering: .relaxed) }
    set { fileThreshold.store(newValue, ordering: .relaxed) }
  }

  /// Closes the folder, and releases its locks and descriptors. Later calls that need a file throw
  /// ``AssetError/closed(path:)``.
  ///
  /// Content that is open for reading stays readable. Close the database first.
  package func close() {
    pendingFolder.close()
    folder.close()
  }

  /// Schedules upkeep whenever a transaction of this database marks a file for removal, by any SQL.
  ///
  /// The trigger is temporary: it belongs to the connection and not to the database file, so it
  /// doesn't affect programs without this library. It has no cost unless an asset is deleted or
  /// replaced.
  private func watchMarks() throws {
    // A trigger on a server can't call a function of this process.
    if let server = database.server { return watchWrites(every: server.patience) }
    let setup = try database.setUpWriter { [weak self, signal] connection in
      try connection.addSignal(signal) { [weak self] connection in
        self?.scheduleUpkeep(in: connection)
      }
      try AssetStore.makeTrigger(signal, connection)
      // If upkeep was waiting for a commit of the previous connection, let it wait for one of this
      // connection.
      if let self, isRetryScheduled.exchange(false, ordering: .relaxed) {
        scheduleRetry(in: connection)
      }
    }
    watch.withLock { $0 = setup }
  }

  /// Removes marked files after writes to this database, at most once per interval.
  private func watchWrites(every interval: Duration) {
    let next = Mutex(ContinuousClock.now + interval)
    let subscription = database.subscribe(to: .tables) { [weak self, worker] _ in
      let isDue = next.withLock { next in
        guard ContinuousClock.now >= next else { return false }
        next = .now + interval
        return true
      }
      guard isDue else { return }
      // If a removal fails, it is retried later.
      worker.start { [weak self] in try? self?.removeDeletedFiles() }
    }
    writes.withLock { $0 = subscription }
  }

  private static func makeTrigger(_ name: String, _ connection: Connection) throws {
    try connection.executeChange(
      """
      CREATE TEMP TRIGGER \(identifier: name) AFTER INSERT ON main.magicdata_asset_trash
      BEGIN SELECT \(identifier: name)(); END
      """)
  }

  /// Preserves the identity of the store while the whole content of the database is replaced.
  /// Assets of the new content are missing unless their files are in this store's folder.
  private func keepIdentity(
    _ source: Connection, _ target: Connection, _ replace: () throws -> Void
  ) throws {
    // If the process is killed in between, the database has the other identity at the next opening.
    // The folder must accept it then.
    let other = try AssetSchema.identity(in: source)
    let isAdmitted = try other.map { try folder.admit($0) } ?? false
    // If the other content has no such table, the trigger would be lost.
    let isOwn =
      try target.firstRow("SELECT 1 FROM temp.sqlite_schema WHERE name = \(signal)") != nil
    if isOwn { try target.executeChange("DROP TRIGGER temp.\(identifier: signal)") }
    let result = Result { try replace() }
    if case .success = result { try AssetSchema.setIdentity(identity, target) }
    if isOwn { try AssetStore.makeTrigger(signal, target) }
    if isAdmitted, let other { try folder.dismiss(other) }
    try result.get()
  }

  /// Schedules upkeep that runs after the commit of the open transaction: it moves or removes
  /// pending files for which an earlier COMMIT or move failed, and removes the files of deleted and
  /// replaced assets.
  package func scheduleUpkeep(in connection: Connection) {
    guard !isUpkeepScheduled.exchange(true, ordering: .relaxed) else { return }
    // If the open savepoint is rolled back, the action below is dropped, too.
    connection.afterRollback { [self] _ in isUpkeepScheduled.store(false, ordering: .relaxed) }
    connection.afterCommit { [self] connection in
      isUpkeepScheduled.store(false, ordering: .relaxed)
      // The commit has succeeded, so don't throw. Files that can't be removed now keep their marks
      // for the next attempt.
      try? settlePendingFiles(in: connection)
      try? collect(in: connection)
    }
  }

  /// Runs `body` on a thread that may block on file operations, and suspends the task meanwhile.
  package nonisolated(nonsending) func work<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await worker.run(body)
  }

  /// Returns whether a row references a file, the file is marked for removal, or a holder holds it.
  func isKnown(_ file: AssetFileName, in connection: Connection) throws -> Bool {
    let name = file.text
    let isKnown = try connection.firstRow(
      """
      SELECT EXISTS (SELECT 1 FROM main.magicdata_asset WHERE file = \(name))
        OR EXISTS (SELECT 1 FROM main.magicdata_asset_trash WHERE file = \(name))
        OR \(AssetSchema.isHeld("\(name)", connection))
      """, as: Bool.self)
    return isKnown ?? false
  }
}

/// The tables in which a store records its identity, its assets and its marks for removal.
enum AssetSchema {
  /// The version of the layout of tables and folders.
  private static let format = 1

  /// The SQL that creates the tables.
  ///
  /// Triggers write the marks, so that raw SQL and cascades write them too. A file name is marked
  /// at most once. A marked file isn't removed if a row references it again. A row that contains
  /// its content also has a file name, because the name determines the extension, but no such file
  /// exists.
  private static let script: SQL = """
    CREATE TABLE main.magicdata_asset_store (id TEXT NOT NULL, format INTEGER NOT NULL);
    CREATE TABLE main.magicdata_asset (
      id TEXT NOT NULL PRIMARY KEY,
      file TEXT NOT NULL UNIQUE,
      size INTEGER NOT NULL,
      sha256 BLOB NOT NULL,
      content BLOB
    ) WITHOUT ROWID;
    CREATE TABLE main.magicdata_asset_trash (file TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID;
    CREATE TRIGGER main.magicdata_asset_deleted AFTER DELETE ON magicdata_asset
    WHEN OLD.content IS NULL
    BEGIN
      INSERT INTO magicdata_asset_trash (file) VALUES (OLD.file) ON CONFLICT DO NOTHING;
    END;
    CREATE TRIGGER main.magicdata_asset_replaced AFTER UPDATE OF file ON magicdata_asset
    WHEN NEW.file IS NOT OLD.file AND OLD.content IS NULL
    BEGIN
      INSERT INTO magicdata_asset_trash (file) VALUES (OLD.file) ON CONFLICT DO NOTHING;
    END;
    """

  /// Creates the tables if they are missing, as part of the open transaction, and returns the
  /// identity of the store.
  ///
  /// - Parameters:
  ///   - connection: The writer connection.
  ///   - folder: The folder whose identity a new store takes over; nil to generate an identity.
  ///   - operations: The file system calls.
  static func prepare(
    _ connection: Connection, adopting folder: String?, _ operations: any FileOperations
  ) throws -> AssetID {
    // Another process may have created the tables in the meantime.
    if let identity = try identity(in: connection) { return identity }
    let found = try folder.flatMap { try StoreFolder.identity(at: $0, operations) }
    let identity = found ?? AssetID()
    try make(identity, connection)
    return identity
  }

  private static func make(_ identity: AssetID, _ connection: Connection) throws {
    try connection.executeMultipleChanges(script)
    try connection.executeChange(
      "INSERT INTO main.magicdata_asset_store (id, format) VALUES (\(identity), \(format))")
  }

  /// Sets the identity in content that came from another database. Creates the tables if they are
  /// missing.
  static func setIdentity(_ identity: AssetID, _ connection: Connection) throws {
    try connection.transaction {
      guard let found = try self.identity(in: connection) else {
        return try make(identity, connection)
      }
      guard found != identity else { return }
      try connection.executeChange("UPDATE main.magicdata_asset_store SET id = \(identity)")
    }
  }

  /// Returns the identity of the store and whether files are marked for removal, with a single
  /// statement. Returns nil if the tables are missing or have another format.
  static func present(in connection: Connection) throws -> (identity: AssetID, hasMarks: Bool)? {
    do throws(SQLiteError) {
      let row = try connection.firstRow(
        """
        SELECT id, format, EXISTS (SELECT 1 FROM main.magicdata_asset_trash)
        FROM main.magicdata_asset_store
        """, as: AssetID.self, Int.self, Bool.self)
      guard let (identity, found, hasMarks) = row, found == format else { return nil }
      return (identity, hasMarks)
    } catch  where error.isMissingTableOrColumn {
      return nil
    }
  }

  /// Returns the identity of the store, or nil if the tables are missing. Throws
  /// ``AssetError/unknownFormat(_:)`` if they have another format.
  static func identity(in connection: Connection) throws -> AssetID? {
    guard try connection.tableExists("magicdata_asset_store") else { return nil }
    let row = try connection.firstRow(
      "SELECT id, format FROM main.magicdata_asset_store", as: AssetID.self, Int.self)
    guard let (identity, found) = row else { throw AssetError.unknownFormat(0) }
    guard found == format else { throw AssetError.unknownFormat(found) }
    return identity
  }
}

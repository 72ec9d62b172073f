public import SQLiteCore
import Synchronization
package import SystemFiles

/// Files that live and die with rows of a database.
///
///     let assets = try AssetStore(database, folder: "/var/lib/app/assets")
///     try database.write { connection in
///       let photo = try assets.put(bytes, extension: "jpeg", in: connection)
///       try connection.executeChange("INSERT INTO person (photo) VALUES (\(photo.id))")
///     }
///
/// An asset is a row of the table `magicdata_asset` and a file in the store's folder. Both appear together
/// when the transaction commits, or neither does. Deleting the row, by whatever SQL, deletes the file after
/// the commit, once no reader of any process can still see the row. A program without this library that
/// deletes it leaves a mark, by which the next opening finds the file.
///
/// A content is never changed: a replaced one is a new file, and a reader of the old one reads it to its
/// end. Opening a store repairs what a crash cut off, without looking at every file. Several stores, of
/// several processes, may share a database and its folder.
///
/// Calls without `in:` have a form that blocks the thread and one that suspends the task, as those of
/// `Database` do; the latter throws `CancellationError`, too, if the task is cancelled before the work
/// has begun.
public final class AssetStore: Sendable {
  /// The database with the rows.
  public let database: Database
  /// The identity of the store. A backup has the same.
  let identity: AssetID
  let folder: StoreFolder
  let opener: Opener
  let operations: any FileOperations
  let worker = Worker()
  private let isUpkeepScheduled = Atomic(false)
  /// Whether the removal of files waits for readers.
  let isHeldBack = Atomic(false)
  private let fileThreshold: Atomic<Int>
  private let watch = Mutex<Registration?>(nil)
  private let writes = Mutex<Registration?>(nil)
  private let replacement = Mutex<Registration?>(nil)
  /// The name of the trigger that notices marks, and of its function.
  private let signal = "magicdata_asset_marked_\(AssetID())"

  /// Opens the assets of a database, and makes its tables and the folder if they are missing.
  ///
  /// - Parameters:
  ///   - database: The database with the rows.
  ///   - folder: The path of a folder for this database alone. The folder above it must exist. It may
  ///     not be a symbolic link.
  ///   - minimumFileSize: From how many bytes on a content is kept in a file, as
  ///     ``minimumFileSize``.
  /// - Throws: ``AssetError``, such as ``AssetError/foreignFolder(path:)``, or `SQLiteError`.
  public convenience init(
    _ database: Database, folder: String, minimumFileSize: Int = 0
  ) throws {
    try self.init(
      database, folder: folder, minimumFileSize: minimumFileSize,
      operations: SystemFileOperations())
  }

  /// As ``init(_:folder:minimumFileSize:)``, without blocking the task.
  public convenience init(
    _ database: Database, folder: String, minimumFileSize: Int = 0
  ) async throws {
    let parts = try await Worker().run {
      try Parts(database, path: folder, SystemFileOperations())
    }
    self.init(parts, minimumFileSize: minimumFileSize)
    try await worker.run { try self.begin(hasMarks: parts.hasMarks) }
  }

  /// - Parameter isAdopting: Whether the path of the database says that the folder belongs to it. Then a database without
  ///   assets takes over the folder of another one, and a folder that is missing is made when the first content is
  ///   written: most stores of objects that tests open have no assets.
  package convenience init(
    _ database: Database, folder path: String, minimumFileSize: Int = 0,
    operations: any FileOperations = SystemFileOperations(), isAdopting: Bool = false
  ) throws {
    let parts = try Parts(database, path: path, operations, isAdopting: isAdopting)
    self.init(parts, minimumFileSize: minimumFileSize)
    try begin(hasMarks: parts.hasMarks)
  }

  private init(_ parts: Parts, minimumFileSize: Int) {
    database = parts.database
    operations = parts.operations
    identity = parts.identity
    folder = parts.folder
    opener = Opener(parts.folder, isDurable: parts.database.mayHaveOthers)
    fileThreshold = Atomic(minimumFileSize)
  }

  /// The open parts of a store.
  private struct Parts: Sendable {
    let database: Database
    let operations: any FileOperations
    let identity: AssetID
    let folder: StoreFolder
    /// Whether files are marked for removal.
    let hasMarks: Bool

    init(
      _ database: Database, path: String, _ operations: any FileOperations,
      isAdopting: Bool = false
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
      folder = try StoreFolder(path: path, identity: identity, operations, isMade: !isAdopting)
    }
  }

  /// Makes the tables of a store if they are missing, as part of the open transaction.
  ///
  /// - Parameters:
  ///   - folder: The folder that the store takes over.
  ///   - connection: The connection that writes.
  package static func makeTables(adopting folder: String, in connection: Connection) throws {
    _ = try AssetSchema.prepare(connection, adopting: folder, SystemFileOperations())
  }

  /// - Parameter hasMarks: Whether files are marked for removal.
  private func begin(hasMarks: Bool) throws {
    guard database.options.mode != .readOnly else { return }
    try watchMarks()
    let setup = database.aroundReplacement { [weak self] source, target, replace in
      guard let self else { return try replace() }
      try keepIdentity(source, target, replace)
    }
    replacement.withLock { $0 = setup }
    // Without a folder no opening has written or held a file.
    if folder.isPresent {
      try recover()
      try releaseAbandoned()
    }
    if hasMarks { try removeDeletedFiles() }
  }

  /// The absolute path of the store's folder.
  public var path: String { folder.path }

  /// From how many bytes on a content is kept in a file: 0, every content, unless this is set.
  ///
  /// Shorter ones are kept in the row: many small contents are faster there. It matters for what is
  /// put from now on; what is there stays where it is.
  public var minimumFileSize: Int {
    get { fileThreshold.load(ordering: .relaxed) }
    set { fileThreshold.store(newValue, ordering: .relaxed) }
  }

  /// Releases the folder with its locks and descriptors. Each later call that needs a file throws
  /// ``AssetError/closed(path:)``.
  ///
  /// Contents that are open for reading stay readable. Close the database before.
  package func close() {
    opener.close()
    folder.close()
  }

  /// Notices every mark that a transaction of this database makes, by whatever SQL.
  ///
  /// The trigger belongs to the connection and not to the file, so that programs without this
  /// library are not troubled by it. It costs nothing unless an asset goes.
  private func watchMarks() throws {
    // A server calls no functions.
    if let server = database.server { return watchWrites(every: server.patience) }
    let setup = try database.setUpWriter { [weak self, signal] connection in
      try connection.addSignal(signal) { [weak self] connection in
        self?.scheduleUpkeep(in: connection)
      }
      try AssetStore.makeTrigger(signal, connection)
      // An upkeep that waited for a commit of the former connection waits for one of this connection.
      if let self, isHeldBack.exchange(false, ordering: .relaxed) { holdBack(in: connection) }
    }
    watch.withLock { $0 = setup }
  }

  /// Looks for marks after a write, and after others only some time later.
  private func watchWrites(every interval: Duration) {
    let next = Mutex(ContinuousClock.now + interval)
    let subscription = database.subscribe(to: .tables) { [weak self, worker] _ in
      let isDue = next.withLock { next in
        guard ContinuousClock.now >= next else { return false }
        next = .now + interval
        return true
      }
      guard isDue else { return }
      // What cannot be removed now is tried again.
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

  /// Keeps the identity of the store while another content replaces all that the database holds. The assets of that content are missing, unless they are this store's own.
  private func keepIdentity(
    _ source: Connection, _ target: Connection, _ replace: () throws -> Void
  ) throws {
    // If the program is killed in between, the database has the other identity when it is opened.
    let other = try AssetSchema.identity(in: source)
    let isAdmitted = try other.map { try folder.admit($0) } ?? false
    // The trigger would be lost if the table is missing in the other content.
    let isOwn =
      try target.firstRow("SELECT 1 FROM temp.sqlite_schema WHERE name = \(signal)") != nil
    if isOwn { try target.executeChange("DROP TRIGGER temp.\(identifier: signal)") }
    let result = Result { try replace() }
    if case .success = result { try AssetSchema.setIdentity(identity, target) }
    if isOwn { try AssetStore.makeTrigger(signal, target) }
    if isAdmitted, let other { try folder.dismiss(other) }
    try result.get()
  }

  /// Removes the files of the assets that the open transaction deletes, after its commit.
  package func scheduleUpkeep(in connection: Connection) {
    guard !isUpkeepScheduled.exchange(true, ordering: .relaxed) else { return }
    // If the savepoint that is open now is rolled back, the action below is dropped with it.
    connection.afterRollback { [self] _ in isUpkeepScheduled.store(false, ordering: .relaxed) }
    connection.afterCommit { [self] connection in
      isUpkeepScheduled.store(false, ordering: .relaxed)
      // The commit has succeeded. What cannot be removed now keeps its mark for the next time.
      try? settleLeftovers(in: connection)
      try? collect(in: connection)
    }
  }

  /// Runs `body` on a thread that may wait for files, without blocking the task.
  package nonisolated(nonsending) func work<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await worker.run(body)
  }

  /// Whether a committed row names a file, a mark says that it is still to be removed in turn, or somebody holds
  /// it.
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

/// The tables of a store.
enum AssetSchema {
  /// The layout of tables and folders; another number is another layout.
  private static let format = 1

  /// The triggers, and not this module, make the marks: raw SQL and cascades make them too. A file
  /// name is marked once, and one that a row names again is not removed. A row with a content of its
  /// own has a name too, of a file that is not there, for the sake of its extension.
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

  /// Makes the tables if they are missing, as part of the open transaction, and returns the identity of the store.
  ///
  /// - Parameters:
  ///   - connection: The connection that writes.
  ///   - folder: The folder whose store the database takes over if it has none; nil for none.
  ///   - operations: The calls into the file system.
  static func prepare(
    _ connection: Connection, adopting folder: String?, _ operations: any FileOperations
  ) throws -> AssetID {
    // Another process may have been faster.
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

  /// Gives the content of another store, or of none, the identity of this one.
  static func setIdentity(_ identity: AssetID, _ connection: Connection) throws {
    try connection.transaction {
      guard let found = try self.identity(in: connection) else {
        return try make(identity, connection)
      }
      guard found != identity else { return }
      try connection.executeChange("UPDATE main.magicdata_asset_store SET id = \(identity)")
    }
  }

  /// The identity of the store and whether files are marked for removal, by one statement; nil unless the tables are
  /// as this version makes them.
  static func present(in connection: Connection) throws -> (identity: AssetID, hasMarks: Bool)? {
    do throws(SQLiteError) {
      let row = try connection.firstRow(
        """
        SELECT id, format, EXISTS (SELECT 1 FROM main.magicdata_asset_trash)
        FROM main.magicdata_asset_store
        """, as: AssetID.self, Int.self, Bool.self)
      guard let (identity, found, hasMarks) = row, found == format else { return nil }
      return (identity, hasMarks)
    } catch  where error.isOfMissingTable {
      return nil
    }
  }

  /// The identity of the store, or nil if the tables are missing.
  static func identity(in connection: Connection) throws -> AssetID? {
    guard try connection.tableExists("magicdata_asset_store") else { return nil }
    let row = try connection.firstRow(
      "SELECT id, format FROM main.magicdata_asset_store", as: AssetID.self, Int.self)
    guard let (identity, found) = row else { throw AssetError.unknownFormat(0) }
    guard found == format else { throw AssetError.unknownFormat(found) }
    return identity
  }
}

import CSQLite
import Platform

/// The progress of a backup, measured in database pages.
public struct BackupProgress: Hashable, Sendable {
  /// The number of pages that have not been copied yet.
  public let remainingPages: Int
  /// The number of pages in the source database.
  public let totalPages: Int
}

extension Database {
  /// Replaces the content of another database with a copy of this one (`sqlite3_backup_step`).
  /// Blocks the thread.
  ///
  /// The copy is made from one snapshot. In WAL mode, this database can be read and written
  /// meanwhile, and the copy doesn't contain those writes. The destination changes only when the
  /// copy is complete, and keeps its own key. To create a smaller copy in a new file, use
  /// `vacuum(into:)`.
  ///
  /// - Parameters:
  ///   - destination: An open database with a different file.
  ///   - pages: The number of pages to copy between two calls of `progress`.
  ///   - deadline: The time by which the copy must be complete, or nil to use
  ///     ``Options/accessTimeout``.
  ///   - progress: Called after each step. If it throws, the backup ends and the destination keeps
  ///     its content.
  /// - Throws: The error of `progress`; ``SQLiteError``, with ``ResultCode/misuse`` if both
  ///   databases use the same file, if only one is encrypted, or if called inside an access to the
  ///   destination, ``ResultCode/busy`` if a lock isn't free within the busy timeout,
  ///   ``ResultCode/interrupt`` after the deadline, or ``ResultCode/authorization`` if one of the
  ///   databases belongs to a cluster.
  @available(
    *, noasync,
    message: "blocks the thread; `await` needs a @Sendable closure, in a function"
  )
  public func backup(
    to destination: Database, pagesPerStep pages: Int = 256,
    deadline: ContinuousClock.Instant? = nil,
    progress: (BackupProgress) throws -> Void = { _ in }
  ) throws {
    try checkMayBackUp(to: destination)
    // A fixed order prevents a deadlock of two backups in opposite directions.
    if ObjectIdentifier(self) < ObjectIdentifier(destination) {
      try read(deadline: deadline) { source in
        try destination.withoutTransaction(deadline: deadline) {
          try destination.copy(source, to: $0, pages, progress)
        }
      }
    } else {
      try destination.withoutTransaction(deadline: deadline) { target in
        try read(deadline: deadline) { try destination.copy($0, to: target, pages, progress) }
      }
    }
  }

  /// Replaces the content of another database with a copy of this one, and suspends the task
  /// meanwhile.
  ///
  /// See the blocking ``backup(to:pagesPerStep:deadline:progress:)`` for details. Cancelling the
  /// task ends the backup, and the destination keeps its content.
  ///
  /// - Parameters:
  ///   - destination: An open database with a different file.
  ///   - pages: The number of pages to copy between two calls of `progress`.
  ///   - deadline: The time by which the copy must be complete, or nil to use
  ///     ``Options/accessTimeout``.
  ///   - progress: Called after each step. If it throws, the backup ends and the destination keeps
  ///     its content.
  /// - Throws: The error of `progress`; ``SQLiteError``, with ``ResultCode/misuse`` if both
  ///   databases use the same file or if only one is encrypted, ``ResultCode/busy`` if a lock isn't
  ///   free within the busy timeout, ``ResultCode/interrupt`` after the deadline, or
  ///   ``ResultCode/authorization`` if one of the databases belongs to a cluster;
  ///   `CancellationError` if the task was cancelled.
  public func backup(
    to destination: Database, pagesPerStep pages: Int = 256,
    deadline: ContinuousClock.Instant? = nil,
    progress: @escaping @Sendable (BackupProgress) throws -> Void = { _ in }
  ) async throws {
    try checkMayBackUp(to: destination)
    try await destination.withoutTransaction(deadline: deadline) { target in
      try self.read(deadline: deadline) { try destination.copy($0, to: target, pages, progress) }
    }
  }

  private func checkMayBackUp(to destination: Database) throws(SQLiteError) {
    guard !isOnFile(of: destination) else {
      throw SQLiteError(
        .misuse, "a database cannot be backed up to itself; choose another destination")
    }
    try require(.backup)
    try destination.require(.backup)
    guard (key == nil) == (destination.key == nil) else {
      throw SQLiteError(
        .misuse,
        "one of the databases is encrypted and the other is not, so pages cannot be copied; copy "
          + "with vacuum(into:key:)")
    }
  }

  /// Replaces the content of this database with a copy of another one.
  ///
  /// - Parameters:
  ///   - source: A connection to the database to copy.
  ///   - target: The writer connection of this database, outside any transaction.
  ///   - pages: The number of pages to copy between two calls of `progress`.
  ///   - progress: Called after each step. If it throws, the copying ends and this database keeps
  ///     its content.
  private func copy(
    _ source: Connection, to target: Connection, _ pages: Int,
    _ progress: (BackupProgress) throws -> Void
  ) throws {
    // Begin the snapshot now, so that later writes don't restart the copy.
    _ = try source.pragma("schema_version")
    try target.checkIsIdle()
    try replaceContent(from: source, on: target) {
      try Backup(of: source, to: target).run(pages: pages, progress)
    }
  }

  /// Writes a copy of the database without unused space to a new file (`VACUUM INTO`). The file
  /// appears when the copy is complete. Blocks the thread.
  ///
  /// - Parameter path: The path of the copy. A file that already exists must be empty and have no
  ///   journals next to it.
  /// - Throws: ``SQLiteError``, with ``ResultCode/cannotOpen`` if the file exists and isn't empty,
  ///   ``ResultCode/misuse`` inside a read, ``ResultCode/error`` inside a transaction, or
  ///   ``ResultCode/authorization`` if the database belongs to a cluster. After an error, no copy
  ///   exists.
  public func vacuum(into path: String) throws {
    let (copy, name) = try emptyCopy(at: path)
    try withoutTransaction { try $0.executeChange("VACUUM INTO \(name)") }
    try copy.publish(replacing: try checkIsFree(path) == .emptyFile)
  }

  /// Writes a copy of the database without unused space to a new file (`VACUUM INTO`), and suspends
  /// the task meanwhile. The file appears when the copy is complete. Cancelling the task stops the
  /// copying.
  ///
  /// - Parameter path: The path of the copy. A file that already exists must be empty and have no
  ///   journals next to it.
  /// - Throws: ``SQLiteError``, with ``ResultCode/cannotOpen`` if the file exists and isn't empty,
  ///   or ``ResultCode/authorization`` if the database belongs to a cluster; `CancellationError` if
  ///   the task was cancelled. After an error, no copy exists.
  public func vacuum(into path: String) async throws {
    let (copy, name) = try emptyCopy(at: path)
    try await withoutTransaction { try $0.executeChange("VACUUM INTO \(name)") }
    try copy.publish(replacing: try checkIsFree(path) == .emptyFile)
  }

  /// Creates an empty temporary file with the permissions of this database. The copy is written to
  /// it before it is moved to `path`. Returns the file and its absolute path, to pass to SQLite.
  func emptyCopy(at path: String) throws(SQLiteError) -> (AtomicFile, String) {
    try require(.files)
    let copy = try AtomicFile(path)
    _ = try checkIsFree(path)
    var options = Options()
    options.filePermissions = self.options.filePermissions
    return (copy, try DatabaseFile(path: copy.contentPath, options: options).name)
  }

  enum FreePath {
    case missing, emptyFile
  }

  func checkIsFree(_ path: String) throws(SQLiteError) -> FreePath {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return .missing }
    guard status.st_mode & S_IFMT == S_IFREG, status.st_size == 0 else {
      throw SQLiteError(.cannotOpen, "\(path): the file already exists")
    }
    return .emptyFile
  }
}

/// A running copy of one database into another (`sqlite3_backup`). Releasing this object before the
/// copy is complete rolls back the changes of the destination.
@safe private final class Backup {
  private let pointer: OpaquePointer
  private let source: Connection
  private let target: Connection
  private var isFinished = false

  init(of source: Connection, to target: Connection) throws(SQLiteError) {
    self.source = source
    self.target = target
    guard
      let pointer = unsafe sqlite3_backup_init(
        target.handle.pointer, "main", source.handle.pointer, "main")
    else { throw target.handle.error(unsafe sqlite3_errcode(target.handle.pointer)) }
    unsafe self.pointer = unsafe pointer
  }

  deinit {
    // An unfinished backup is rolled back.
    if !isFinished { unsafe sqlite3_backup_finish(pointer) }
  }

  func run(pages: Int, _ progress: (BackupProgress) throws -> Void) throws {
    let step = Int32(clamping: max(1, pages))
    var waitedSince: Moment?
    while true {
      try source.checkTransaction()
      try target.checkTransaction()
      try target.checkFile()
      let code = unsafe sqlite3_backup_step(pointer, step)
      switch code {
      case SQLITE_OK, SQLITE_DONE:
        waitedSince = nil
        try progress(
          BackupProgress(
            remainingPages: unsafe Int(sqlite3_backup_remaining(pointer)),
            totalPages: unsafe Int(sqlite3_backup_pagecount(pointer))))
        if code == SQLITE_DONE { return try finish() }
      case SQLITE_BUSY, SQLITE_LOCKED:
        let since = waitedSince ?? .now
        waitedSince = since
        guard Moment.now - since < target.environment.busyTimeout else {
          throw SQLiteError(
            ResultCode(rawValue: code), "the backup timed out while it waited for a lock")
        }
        sqlite3_sleep(5)
      default:
        throw SQLiteError(ResultCode(rawValue: code))
      }
    }
  }

  private func finish() throws(SQLiteError) {
    isFinished = true
    try target.handle.check(unsafe sqlite3_backup_finish(pointer))
    target.recordReplacement()
  }
}

extension Database {
  /// Returns a copy of the database as the bytes of a database file (`sqlite3_serialize`). Blocks
  /// the thread.
  ///
  /// - Throws: ``SQLiteError``, with ``ResultCode/error`` if SQLite was built without serialization
  ///   (``Capabilities/hasSerialize``), or ``ResultCode/authorization`` if the database belongs to
  ///   a cluster.
  /// - Complexity: O(*n*) in the size of the database, in time and memory.
  public func serialized() throws -> [UInt8] {
    try Database.checkSerialize()
    try require(.backup)
    return try read { try $0.serialized() }
  }

  /// Returns a copy of the database as the bytes of a database file (`sqlite3_serialize`), and
  /// suspends the task meanwhile.
  ///
  /// - Throws: ``SQLiteError``, with ``ResultCode/error`` if SQLite was built without serialization
  ///   (``Capabilities/hasSerialize``), or ``ResultCode/authorization`` if the database belongs to
  ///   a cluster; `CancellationError` if the task was cancelled.
  /// - Complexity: O(*n*) in the size of the database, in time and memory.
  public func serialized() async throws -> [UInt8] {
    try Database.checkSerialize()
    try require(.backup)
    return try await read { try $0.serialized() }
  }

  /// Opens an in-memory database with the content of a database file (`sqlite3_deserialize`).
  ///
  /// - Parameters:
  ///   - bytes: The result of `serialized()`, or the content of a closed database file. An empty
  ///     array creates an empty database.
  ///   - options: The options of the database and its connection.
  /// - Throws: ``SQLiteError``, with ``ResultCode/error`` if SQLite was built without
  ///   serialization, or ``ResultCode/notADatabase`` if the bytes are not a database; the error of
  ///   ``Options/prepareConnection`` as a ``SQLiteError``.
  public static func memory(
    serialized bytes: [UInt8], options: Options = Options()
  ) throws -> Database {
    try checkSerialize()
    let database = try memory(options: options)
    guard !bytes.isEmpty else { return database }
    try database.withoutTransaction {
      try $0.deserialize(bytes, checksCells: options.checksCells)
    }
    return database
  }

  /// Creates a database file with the content of another one, and opens it. The content isn't
  /// synced.
  ///
  /// - Parameters:
  ///   - path: The path of the new file.
  ///   - bytes: The content of a closed database file.
  ///   - options: The options of the database and its connections.
  /// - Throws: ``SQLiteError``, with ``ResultCode/cannotOpen`` if the file exists, or with
  ///   ``ResultCode/misuse`` if a journal exists next to the path. No file exists at the path then,
  ///   unless it existed before.
  package convenience init(
    path: String, serialized bytes: [UInt8], options: Options
  ) throws(SQLiteError) {
    guard options.vfs == nil else {
      throw SQLiteError(.misuse, "a copy cannot be written with a custom VFS; use the default one")
    }
    try OpenDatabases.checkMayReplace(path)
    let file = try DatabaseFile(path: path, options: options, content: bytes)
    do throws(SQLiteError) {
      try self.init(file: file)
    } catch {
      for suffix in [""] + OpenDatabases.suffixes { _ = unsafe unlink(file.name + suffix) }
      throw error
    }
  }

  private static func checkSerialize() throws(SQLiteError) {
    guard Capabilities.hasSerialize else {
      throw SQLiteError(
        .error,
        "this libsqlite3 cannot serialize databases: it was compiled without sqlite3_serialize")
    }
  }
}

extension Connection {
  fileprivate func serialized() throws(SQLiteError) -> [UInt8] {
    _ = try pragma("schema_version")
    var size: Int64 = 0
    let start = unsafe sqlite3_serialize(handle.pointer, "main", &size, 0)
    defer { unsafe sqlite3_free(start) }
    // An empty database that was never written has no bytes.
    guard unsafe start != nil || size == 0 else { throw SQLiteError(.outOfMemory) }
    return unsafe copiedBytes(UnsafeRawPointer(start), count: Int(size))
  }

  /// Replaces the content of this in-memory database with `bytes`, the content of a database file.
  /// If `checksCells` is true, SQLite then checks each page that it reads.
  fileprivate func deserialize(_ bytes: [UInt8], checksCells: Bool) throws(SQLiteError) {
    let size = Int64(bytes.count)
    guard let copy = unsafe sqlite3_malloc64(UInt64(size)) else { throw SQLiteError(.outOfMemory) }
    unsafe bytes.withUnsafeBytes { buffer in
      guard let start = buffer.baseAddress else { return }
      unsafe copy.copyMemory(from: start, byteCount: buffer.count)
    }
    let content = unsafe copy.assumingMemoryBound(to: UInt8.self)
    // The value 2 in bytes 18 and 19 means WAL mode, which isn't available in memory.
    for index in [18, 19] where bytes.count > index && bytes[index] == 2 {
      unsafe content[index] = 1
    }
    // SQLite frees the copy, even on failure.
    try handle.check(
      unsafe sqlite3_deserialize(
        handle.pointer, "main", content, size, size,
        UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE)))
    recordReplacement()
    _ = try pragma("schema_version")
    if checksCells { _ = try pragma("cell_size_check", "=1") }
  }
}

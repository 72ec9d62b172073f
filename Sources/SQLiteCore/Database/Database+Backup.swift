import CSQLite
import Platform

/// How far a backup is.
public struct BackupProgress: Hashable, Sendable {
  /// The pages still to be copied.
  public let remainingPages: Int
  /// All pages of the database.
  public let totalPages: Int
}

extension Database {
  /// Copies the database into another one, whose content is replaced (`sqlite3_backup_step`).
  ///
  /// The copy is that of one moment: this database can be read and written meanwhile. The other one
  /// changes only when all is copied. `VACUUM INTO` by `vacuum(into:)` makes a smaller file.
  ///
  /// - Parameters:
  ///   - destination: Another open database.
  ///   - pages: How many pages are copied between two calls of `progress`.
  ///   - deadline: When the copy must be finished.
  ///   - progress: Called now and then; what it throws ends the backup, and the destination keeps
  ///     what it had.
  /// - Throws: What `progress` throws, or ``SQLiteError``.
  public func backup(
    to destination: Database, pagesPerStep pages: Int = 256,
    deadline: ContinuousClock.Instant? = nil,
    progress: (BackupProgress) throws -> Void = { _ in }
  ) throws {
    guard !isOnFile(of: destination) else {
      throw SQLiteError(.misuse, "a database cannot be copied onto itself")
    }
    try require(.backup)
    try destination.require(.backup)
    // Always in one order, so that two backups in opposite directions cannot wait for each other.
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

  /// As ``backup(to:pagesPerStep:deadline:progress:)``, without blocking the task; cancelling the task ends
  /// it.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func backup(
    to destination: Database, pagesPerStep pages: Int = 256,
    deadline: ContinuousClock.Instant? = nil,
    progress: @escaping @Sendable (BackupProgress) throws -> Void = { _ in }
  ) async throws {
    guard !isOnFile(of: destination) else {
      throw SQLiteError(.misuse, "a database cannot be copied onto itself")
    }
    try require(.backup)
    try destination.require(.backup)
    try await destination.withoutTransaction(deadline: deadline) { target in
      try self.read(deadline: deadline) { try destination.copy($0, to: target, pages, progress) }
    }
  }

  /// Replaces the content of this database, whose connection is `target`, by a copy.
  private func copy(
    _ source: Connection, to target: Connection, _ pages: Int,
    _ progress: (BackupProgress) throws -> Void
  ) throws {
    // Now the snapshot is taken, so that later writes do not begin the copy anew.
    _ = try source.pragma("schema_version")
    try target.checkIsIdle()
    try replaceContent(from: source, on: target) {
      try Backup(of: source, to: target).run(pages: pages, progress)
    }
  }

  /// Writes a copy without unused space into a new file (`VACUUM INTO`), which appears when it is complete.
  ///
  /// - Parameter path: The path of the copy. A file there must be empty, without journals beside it.
  /// - Throws: ``SQLiteError``; then no file is made.
  public func vacuum(into path: String) throws {
    let (copy, name) = try emptyCopy(at: path)
    try withoutTransaction { try $0.executeChange("VACUUM INTO \(name)") }
    try copy.publish(replacing: try checkIsFree(path) == .emptyFile)
  }

  /// As ``vacuum(into:)``, without blocking the task; cancelling the task ends it.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func vacuum(into path: String) async throws {
    let (copy, name) = try emptyCopy(at: path)
    try await withoutTransaction { try $0.executeChange("VACUUM INTO \(name)") }
    try copy.publish(replacing: try checkIsFree(path) == .emptyFile)
  }

  /// Makes an empty file with the permissions of this one, and returns its absolute path too.
  private func emptyCopy(at path: String) throws(SQLiteError) -> (AtomicFile, String) {
    try require(.files)
    let copy = try AtomicFile(path)
    _ = try checkIsFree(path)
    var options = Options()
    options.filePermissions = self.options.filePermissions
    return (copy, try DatabaseFile(path: copy.contentPath, options: options).name)
  }

  private enum FreePath {
    case missing, emptyFile
  }

  private func checkIsFree(_ path: String) throws(SQLiteError) -> FreePath {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return .missing }
    guard status.st_mode & S_IFMT == S_IFREG, status.st_size == 0 else {
      throw SQLiteError(.cannotOpen, "\(path): the file exists already")
    }
    return .emptyFile
  }
}

/// A backup that runs (`sqlite3_backup`).
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
    // Unfinished, it is rolled back.
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
            ResultCode(rawValue: code), "the backup waited too long for a lock")
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
    target.noteReplacement()
  }
}

extension Database {
  /// Returns the database as the bytes of a file (`sqlite3_serialize`).
  ///
  /// - Throws: ``SQLiteError``, also if this libsqlite3 cannot do it.
  /// - Complexity: O(*n*) in the size of the database, in memory too.
  public func serialized() throws -> [UInt8] {
    try Database.checkSerialize()
    try require(.backup)
    return try read { try $0.serialized() }
  }

  /// As ``serialized()``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  /// - Complexity: O(*n*) in the size of the database, in memory too.
  public func serialized() async throws -> [UInt8] {
    try Database.checkSerialize()
    try require(.backup)
    return try await read { try $0.serialized() }
  }

  /// Opens a database in memory with the content of a file (`sqlite3_deserialize`).
  ///
  /// - Parameters:
  ///   - bytes: The result of `serialized()`, or the content of a closed database file.
  ///   - options: How to open it.
  /// - Throws: ``SQLiteError`` if the bytes are not a database.
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

  private static func checkSerialize() throws(SQLiteError) {
    guard Capabilities.hasSerialize else {
      throw SQLiteError(.error, "this libsqlite3 cannot serialize databases")
    }
  }
}

extension Connection {
  fileprivate func serialized() throws(SQLiteError) -> [UInt8] {
    _ = try pragma("schema_version")
    var size: Int64 = 0
    let start = unsafe sqlite3_serialize(handle.pointer, "main", &size, 0)
    defer { unsafe sqlite3_free(start) }
    // A database that was never written has no bytes.
    guard unsafe start != nil || size == 0 else { throw SQLiteError(.outOfMemory) }
    return unsafe copiedBytes(UnsafeRawPointer(start), count: Int(size))
  }

  /// Replaces the content of the database in memory.
  fileprivate func deserialize(_ bytes: [UInt8], checksCells: Bool) throws(SQLiteError) {
    let size = Int64(bytes.count)
    guard let copy = unsafe sqlite3_malloc64(UInt64(size)) else { throw SQLiteError(.outOfMemory) }
    unsafe bytes.withUnsafeBytes { buffer in
      guard let start = buffer.baseAddress else { return }
      unsafe copy.copyMemory(from: start, byteCount: buffer.count)
    }
    let content = unsafe copy.assumingMemoryBound(to: UInt8.self)
    // Bytes 18 and 19 say whether the file has a write-ahead log, which memory cannot have.
    for index in [18, 19] where bytes.count > index && bytes[index] == 2 {
      unsafe content[index] = 1
    }
    // SQLite frees the copy, also if this fails.
    try handle.check(
      unsafe sqlite3_deserialize(
        handle.pointer, "main", content, size, size,
        UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE)))
    noteReplacement()
    _ = try pragma("schema_version")
    if checksCells { _ = try pragma("cell_size_check", "=1") }
  }
}

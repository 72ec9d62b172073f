import ExactText
import CSQLite
import Synchronization

import Platform
import SystemFiles

/// The location and the options of a database. This class creates the file, and opens and
/// configures the connections.
final class DatabaseFile: Sendable {
  enum Location: Hashable, Sendable {
    /// A file at an absolute path. No folder in the path is a symbolic link.
    case file(String)
    case memory
    /// A temporary file that SQLite deletes when the connection is closed.
    case temporary
  }

  let location: Location
  /// The options, without the key.
  let options: Database.Options
  /// The key with which connections are opened; nil if the database isn't encrypted.
  let key: Mutex<Database.Key?>
  /// Whether this instance has created the file.
  let wasCreated: Bool
  /// The watch that detects that the file has been removed or replaced; nil for an immutable file,
  /// for a database without a file, and with a custom VFS, which may not use the file system.
  let watch: FileWatch?
  /// The server that stores the database; nil for a local database.
  let server: (any RemoteServer)?
  /// The closures of other modules that set up each writer connection.
  let writerSetups = WriterSetups()

  /// The absolute path of the file; nil for an in-memory or temporary database, and for one on a
  /// server.
  var path: String? { if case .file(let path) = location { path } else { nil } }

  /// Whether the database can have reader connections, which read without waiting for the writer
  /// connection.
  var hasReaders: Bool {
    if server != nil { return options.maximumReaderCount > 0 }
    guard case .file = location, options.maximumReaderCount > 0 else { return false }
    return options.journalMode == .wal || options.mode == .readOnly
  }

  /// The name of the database in error messages.
  var name: String {
    if let server { return server.name }
    return switch location {
    case .file(let path): path
    case .memory: ":memory:"
    case .temporary: "a temporary database"
    }
  }

  /// Creates a location for a path. If the file does not exist and the options allow it, creates
  /// the file with the permissions from the options.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - options: The options of the database.
  ///   - content: The content of a new file, or nil for an empty one. If the file exists and this
  ///     isn't nil, the initializer throws.
  init(
    path: String, options: Database.Options, content: [UInt8]? = nil
  ) throws(SQLiteError) {
    guard !path.isEmpty, !containsNUL(path) else {
      throw SQLiteError(.cannotOpen, "the path is empty or contains a NUL character")
    }
    // Before the file is created.
    try options.check(options.key)
    key = Mutex(options.key)
    self.options = options.withoutKey
    server = nil
    // If an extension can't be added, don't create the file.
    if !options.extensions.isEmpty, unsafe access(path, F_OK) != 0 {
      try ConnectionHandle(name: ":memory:", flags: SQLITE_OPEN_READWRITE, vfs: nil)
        .add(options.extensions, isTrusted: !options.isUntrusted)
    }
    let (absolute, wasCreated) = try DatabaseFile.prepare(path, options, content)
    location = .file(absolute)
    self.wasCreated = wasCreated
    watch = options.vfs == nil && !options.isImmutable ? FileWatch(path: absolute) : nil
  }

  init(
    _ location: Location, server: (any RemoteServer)? = nil, options: Database.Options
  ) {
    self.location = location
    key = Mutex(options.key)
    self.options = options.withoutKey
    self.server = server
    wasCreated = false
    watch = nil
  }

  /// Opens a connection to the database and configures it.
  ///
  /// - Parameters:
  ///   - forReading: Whether the connection rejects statements that write.
  ///   - shared: The state that all connections to the file share.
  ///   - number: The number of the connection among those that the database has opened.
  ///   - reasonToEnd: Returns the reason why the access must end while it waits for a server; nil
  ///     if it may continue to wait.
  func open(
    forReading: Bool, shared: SharedFile, number: Int,
    _ reasonToEnd: @escaping @Sendable () -> String?
  ) throws(SQLiteError) -> sending Connection {
    let key = key.withLock { $0 }
    let connection = Connection(
      try openHandle(shared, forReading: forReading, key, reasonToEnd),
      Connection.Environment(
        feed: shared.feed, claims: shared.claims, content: shared.content,
        commits: shared.commits, watch: watch,
        users: { shared.users(besides: $0) }, writerSetups: forReading ? nil : writerSetups,
        addFunctions: options.addFunctions, keyRange: { shared.keys.withLock { $0 } },
        isWriter: !forReading, number: number,
        cacheCapacity: options.statementCacheCapacity, busyTimeout: options.busyTimeout,
        usesPreupdateHook: options.usesPreupdateHook,
        allowsSchemaDamage: options.allowsSchemaDamage,
        maximumDurationOnTask: options.longestReadOnTask))
    if !forReading { watch?.forgetLog() }
    do {
      try prepare(connection, forReading: forReading)
    } catch let error as SQLiteError {
      throw SQLiteError(
        error.code, "\(name): \(connection.handle.reason(of: error, hasKey: key != nil))",
        sql: error.sql)
    } catch {
      throw SQLiteError(.error, "\(name): the connection could not be prepared: \(error)")
    }
    return connection
  }

  private func openHandle(
    _ shared: SharedFile, forReading: Bool, _ key: Database.Key?,
    _ reasonToEnd: @escaping @Sendable () -> String?
  ) throws(SQLiteError) -> ConnectionHandle {
    if let server {
      guard key == nil else {
        throw SQLiteError(
          .authorization, "\(server.name) does not support encryption; open it without a key")
      }
      guard options.extensions.isEmpty else {
        throw Database.Feature.extensions.refusal(server.name)
      }
      let handle = try ConnectionHandle(name: ":memory:", flags: flags, vfs: nil)
      handle.remote = try server.connect(forReading: forReading, reasonToEnd)
      return handle
    }
    // Register before the file is open, so that from then on only SQLite opens the file.
    let presence = FilePresence(shared)
    func opened() throws(SQLiteError) -> ConnectionHandle {
      try options.check(key)
      let handle = try ConnectionHandle(name: uri, flags: flags, vfs: options.vfs)
      handle.presence = presence
      try key?.set(on: handle)
      unsafe TrigramTokenizer.checkArguments(on: handle.pointer)
      return handle
    }
    guard let watch else { return try opened() }
    let (handle, file) = try watch.openVerified(opened)
    shared.opened(file)
    return handle
  }

  private var flags: Int32 {
    // One thread at a time uses a connection of the pool, so SQLite needs no mutex.
    var flags = SQLITE_OPEN_NOMUTEX
    if case .file = location {
      switch options.mode {
      case .readOnly: flags |= SQLITE_OPEN_READONLY
      case .readWrite: flags |= SQLITE_OPEN_READWRITE
      case .readWriteCreate:
        flags |= SQLITE_OPEN_READWRITE
        // Without a custom VFS, the file already exists. If SQLite created a file now, it would be
        // a different one.
        if options.vfs != nil { flags |= SQLITE_OPEN_CREATE }
      }
      if !options.followsSymbolicLinks { flags |= SQLITE_OPEN_NOFOLLOW }
      if options.isImmutable { flags |= SQLITE_OPEN_URI }
    } else {
      flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    }
    return flags
  }

  private var uri: String {
    switch location {
    case .memory: return ":memory:"
    case .temporary: return ""
    // SQLite never parses a path that begins with a slash as a URI.
    case .file(let path) where !options.isImmutable: return path
    case .file(let path):
      var escaped: [UInt8] = []
      for byte in path.utf8 {
        switch byte {
        case 0x61...0x7a, 0x41...0x5a, 0x30...0x39, UInt8(ascii: "/"), UInt8(ascii: "."):
          escaped.append(byte)
        default:
          escaped += [UInt8(ascii: "%"), Hex.uppercase(byte >> 4), Hex.uppercase(byte & 15)]
        }
      }
      return "file:\(String(decoding: escaped, as: UTF8.self))?immutable=1"
    }
  }
}

extension DatabaseFile {
  /// Resolves the folder, and creates the file if the options allow it. The new file has the
  /// permissions from the options. SQLite copies them to the journals.
  ///
  /// - Returns: The absolute path, and whether the file was created.
  private static func prepare(
    _ path: String, _ options: Database.Options, _ content: [UInt8]?
  ) throws(SQLiteError) -> (path: String, wasCreated: Bool) {
    // Search the bytes, because a slash and a following combining accent are one character.
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let file = slash.map { String(path[path.utf8.index(after: $0)...]) } ?? path
    guard let resolved = try resolve(folder) else {
      throw SQLiteError(
        .cannotOpen, "\(path): the folder \(folder) cannot be opened: \(systemMessage(errno))")
    }
    guard !file.isEmpty, file != ".", file != ".." else {
      throw SQLiteError(.cannotOpenDirectory, "\(path): the path is a folder, not a database file")
    }
    var absolute = resolved == "/" ? "/\(file)" : "\(resolved)/\(file)"
    if options.followsSymbolicLinks, let target = try resolve(absolute) { absolute = target }
    let name = absolute
    let wasCreated = try SharedFile.creationLock.withLock { _ throws(SQLiteError) in
      try make(name, named: path, options, content)
    }
    return (name, wasCreated)
  }

  /// Creates the file if it does not exist and the options allow it. Returns whether it was
  /// created.
  private static func make(
    _ absolute: String, named path: String, _ options: Database.Options, _ content: [UInt8]?
  ) throws(SQLiteError) -> Bool {
    if options.vfs == nil { try SharedFile.checkMayOpen(absolute) }
    if let content { return try create(absolute, options, content) }
    var status = stat()
    if unsafe lstat(absolute, &status) == 0 {
      try check(absolute, status.st_mode)
      if options.followsSymbolicLinks, status.st_mode & S_IFMT == S_IFLNK {
        throw SQLiteError(.cannotOpen, "\(path): the symbolic link points to a missing file")
      }
    } else if options.mode == .readWriteCreate, options.vfs == nil {
      return try create(absolute, options)
    } else if options.vfs == nil {
      throw SQLiteError(.cannotOpen, "\(path): \(systemMessage(errno))")
    }
    return false
  }

  private static func check(_ path: String, _ mode: mode_t) throws(SQLiteError) {
    switch mode & S_IFMT {
    case S_IFREG, S_IFLNK: return
    case S_IFDIR:
      throw SQLiteError(.cannotOpenDirectory, "\(path): the path is a folder, not a database file")
    default:
      // Opening a FIFO would block forever, and reading a device may have side effects.
      throw SQLiteError(.cannotOpen, "\(path): not a regular file")
    }
  }

  private static func create(
    _ path: String, _ options: Database.Options, _ content: [UInt8]? = nil
  ) throws(SQLiteError) -> Bool {
    let files = SystemFileOperations()
    let flags = O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW
    do throws(SystemFailure) {
      let file = Descriptor(
        try files.open(path, in: SystemFileOperations.workingFolder, flags), files)
      // The permissions do not depend on the umask of the process.
      _ = fchmod(file.number, mode_t(options.filePermissions))
      guard let content else { return true }
      do throws(SystemFailure) {
        try file.write(unsafe content.span.bytes)
        return true
      } catch {
        _ = unsafe unlink(path)
        throw error
      }
    } catch {
      if error.number == EEXIST, content == nil { return false }
      throw SQLiteError(
        .cannotOpen, "\(path): the file cannot be created: \(systemMessage(error.number))")
    }
  }

  /// Returns the absolute path without symbolic links, or nil if it can't be determined, for
  /// example because nothing exists at the path. The reason is then in `errno`.
  private static func resolve(_ path: String) throws(SQLiteError) -> String? {
    guard let resolved = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(resolved) }
    return try unsafe exactPath(resolved)
  }
}

extension Database.Options {
  fileprivate var withoutKey: Database.Options {
    var options = self
    options.key = nil
    return options
  }

  /// Throws if `key` or an option has a value that is not valid for any file.
  fileprivate func check(_ key: Database.Key?) throws(SQLiteError) {
    try key?.check()
    guard 0...Int(Int32.max) ~= cacheSize ?? 0 else {
      throw SQLiteError(.range, "cacheSize must be neither negative nor greater than Int32.max")
    }
    guard limits.values.allSatisfy({ $0 >= 0 }) else { throw ConnectionLimit.negativeValueError }
    guard vfs?.utf8.contains(0) != true else {
      throw SQLiteError(.misuse, "the name of the VFS contains a NUL character")
    }
  }
}

extension ConnectionHandle {
  /// Returns the message of an error of a new connection. If SQLite can't read the file, says what
  /// the key has to do with it.
  fileprivate func reason(of error: SQLiteError, hasKey: Bool) -> String {
    guard error.code.primary == .notADatabase else { return error.message }
    if !hasKey { return "the file is not a database; if it is encrypted, open it with its key" }
    return beginsAsPlainDatabase
      ? "the file is not encrypted; open it without a key"
      : "the key is wrong, or the file is not an encrypted database"
  }

  /// Whether the file begins like a database that isn't encrypted (`SQLITE_FCNTL_FILE_POINTER`).
  /// Reads with SQLite's own descriptor, because closing another one would release SQLite's locks.
  private var beginsAsPlainDatabase: Bool {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let code = unsafe sqlite3_file_control(pointer, "main", SQLITE_FCNTL_FILE_POINTER, &file)
    var start = [UInt8](repeating: 0, count: 16)
    guard code == SQLITE_OK, let file = unsafe file,
      let read = unsafe file.pointee.pMethods?.pointee.xRead,
      unsafe read(file, &start, Int32(start.count), 0) == SQLITE_OK
    else { return false }
    return start == Array("SQLite format 3\0".utf8)
  }
}

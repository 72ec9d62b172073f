import CSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Where a database is, and how connections to it are opened.
struct DatabaseFile: Sendable {
  enum Location: Hashable, Sendable {
    /// An absolute path without symbolic links in its folders.
    case file(String)
    case memory
    /// A file of SQLite's own that goes away when the connection is closed.
    case temporary
  }

  let location: Location
  let options: Database.Options
  /// What layers above set up on each connection that writes.
  let writerSetups = WriterSetups()

  /// Says whether several connections see one database without waiting for each other.
  var hasReaders: Bool {
    guard case .file = location, options.maximumReaderCount > 0 else { return false }
    return options.journalMode == .wal || options.mode == .readOnly
  }

  /// The name in messages.
  var name: String {
    switch location {
    case .file(let path): path
    case .memory: ":memory:"
    case .temporary: "a temporary database"
    }
  }

  /// Finds the file, or says what is in its way, and makes it with its permissions.
  init(path: String, options: Database.Options) throws(SQLiteError) {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw SQLiteError(.cannotOpen, "the path is empty or contains a NUL")
    }
    self.options = options
    location = .file(try DatabaseFile.prepare(path, options))
  }

  init(_ location: Location, options: Database.Options) {
    self.location = location
    self.options = options
  }

  /// Opens a connection.
  ///
  /// - Parameters:
  ///   - forReading: Whether statements that write are refused.
  ///   - shared: What the connection has in common with others to the file.
  func open(forReading: Bool, shared: SharedFile) throws(SQLiteError) -> Connection {
    let handle = try ConnectionHandle(name: uri, flags: flags, vfs: options.vfs)
    let connection = Connection(handle, options: options)
    connection.shared = shared
    connection.isWriter = !forReading
    do {
      try connection.configure(for: self, forReading: forReading)
    } catch let error as SQLiteError {
      throw SQLiteError(error.code, "\(name): \(error.message)", sql: error.sql)
    } catch {
      throw SQLiteError(.error, "\(name): preparing a connection failed: \(error)")
    }
    return connection
  }

  private var flags: Int32 {
    // The pool lets one thread at a time use a connection, so SQLite needs no lock of its own.
    var flags = SQLITE_OPEN_NOMUTEX
    if case .file = location {
      switch options.mode {
      case .readOnly: flags |= SQLITE_OPEN_READONLY
      case .readWrite: flags |= SQLITE_OPEN_READWRITE
      case .readWriteCreate: flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
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
    // A path that begins with a slash is never read as a URI.
    case .file(let path) where !options.isImmutable: return path
    case .file(let path):
      let hexadecimal = Array("0123456789ABCDEF".utf8)
      var escaped: [UInt8] = []
      for byte in path.utf8 {
        switch byte {
        case 0x61...0x7a, 0x41...0x5a, 0x30...0x39, UInt8(ascii: "/"), UInt8(ascii: "."):
          escaped.append(byte)
        default:
          escaped += [UInt8(ascii: "%"), hexadecimal[Int(byte >> 4)], hexadecimal[Int(byte & 15)]]
        }
      }
      return "file:\(String(decoding: escaped, as: UTF8.self))?immutable=1"
    }
  }
}

extension DatabaseFile {
  /// Resolves the folder, and makes the file if it may be made, so that it has our permissions and
  /// so do the journals, which take theirs from it.
  private static func prepare(
    _ path: String, _ options: Database.Options
  ) throws(SQLiteError) -> String {
    let slash = path.lastIndex(of: "/")
    let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let file = slash.map { String(path[path.index(after: $0)...]) } ?? path
    guard let resolved = resolve(folder) else {
      throw SQLiteError(
        .cannotOpen, "\(path): the folder \(folder) cannot be opened: \(systemMessage(errno))")
    }
    guard !file.isEmpty, file != ".", file != ".." else {
      throw SQLiteError(.cannotOpenDirectory, "\(path): this is a folder, not a database file")
    }
    var absolute = resolved == "/" ? "/\(file)" : "\(resolved)/\(file)"
    if options.followsSymbolicLinks, let target = resolve(absolute) { absolute = target }
    var status = stat()
    if unsafe lstat(absolute, &status) == 0 {
      try check(absolute, status.st_mode)
      if options.followsSymbolicLinks, status.st_mode & S_IFMT == S_IFLNK {
        throw SQLiteError(.cannotOpen, "\(path): this is a symbolic link to nothing")
      }
    } else if options.mode == .readWriteCreate, options.vfs == nil {
      try create(absolute, options)
    } else if options.vfs == nil {
      throw SQLiteError(.cannotOpen, "\(path): \(systemMessage(errno))")
    }
    return absolute
  }

  private static func check(_ path: String, _ mode: mode_t) throws(SQLiteError) {
    switch mode & S_IFMT {
    case S_IFREG, S_IFLNK: return
    case S_IFDIR:
      throw SQLiteError(.cannotOpenDirectory, "\(path): this is a folder, not a database file")
    default:
      // Opening a FIFO would wait for ever, and reading a device may have effects.
      throw SQLiteError(.cannotOpen, "\(path): this is not a regular file")
    }
  }

  private static func create(_ path: String, _ options: Database.Options) throws(SQLiteError) {
    let descriptor = Foreign.open(
      path, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, mode_t(options.filePermissions))
    guard descriptor >= 0 else {
      if errno == EEXIST { return }
      throw SQLiteError(.cannotOpen, "\(path): the file cannot be made: \(systemMessage(errno))")
    }
    // The mask of the process must not decide.
    _ = fchmod(descriptor, mode_t(options.filePermissions))
    _ = Foreign.close(descriptor)
  }

  private static func resolve(_ path: String) -> String? {
    guard let resolved = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }
}

/// The C functions whose names a method hides.
private enum Foreign {
  static func open(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 {
    #if canImport(Glibc)
      unsafe Glibc.open(path, flags, mode)
    #elseif canImport(Musl)
      unsafe Musl.open(path, flags, mode)
    #else
      unsafe Darwin.open(path, flags, mode)
    #endif
  }

  static func close(_ descriptor: Int32) -> Int32 {
    #if canImport(Glibc)
      Glibc.close(descriptor)
    #elseif canImport(Musl)
      Musl.close(descriptor)
    #else
      Darwin.close(descriptor)
    #endif
  }
}

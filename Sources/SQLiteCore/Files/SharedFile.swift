import Synchronization

/// The closures of other modules that run around each replacement of a file's whole content. Each
/// closure receives the source connection, the target connection, and the replacement, which it
/// must call once.
typealias Replacements = ClosureRegistry<
  @Sendable (Connection, Connection, () throws -> Void) throws -> Void
>

/// The state that all databases of this process on one file share.
final class SharedFile: Sendable {
  /// The feed that notifies subscribers of the transactions on this file.
  let feed = ChangeFeed()
  /// The registry of the types that own the file's tables.
  let claims = TableClaims()
  /// The counter of replacements of the file's whole content by this process.
  let content = ContentGeneration()
  /// The closures of other modules that run around each replacement of the file's whole content.
  let replacements = Replacements()
  /// The closures of other modules that run before each commit.
  let commits = CommitBodies()
  /// The range of the integer keys that this process assigns, or nil if it isn't limited.
  let keys = Mutex<ClosedRange<Int64>?>(nil)
  /// The path of the file; nil for a database without a file.
  let name: String?
  /// The fork count of the process when the file was opened.
  private let forks = ForkCount.atOpening
  private let presences = Atomic<Int>(0)
  /// The identity of the file that a connection opened last; nil if none has been opened, or if the
  /// file isn't watched.
  private let file = Mutex<FileIdentity?>(nil)
  private let users = Mutex<[ObjectIdentifier: WeakUser]>([:])

  private struct WeakUser: Sendable {
    weak let scheduler: Scheduler?
  }

  private struct WeakFile: Sendable {
    weak let file: SharedFile?
  }

  /// The open files by path. There are two dictionaries because swiftc 6.3.1 destroys a structure
  /// with a `weak let` twice after another of its properties was read.
  private struct Files: Sendable {
    var known: [[UInt8]: WeakFile] = [:]
    var identifiers: [[UInt8]: ObjectIdentifier] = [:]
  }

  // The keys are bytes because Swift treats canonically equivalent paths as equal, and a file
  // system may not.
  //
  // This is the module's only process-wide state. Two databases on one file must share it, and a
  // replaced file must not be opened while another database has the original open.
  private static let files = Mutex(Files())
  /// A lock that is held while a database file is created and its descriptor is closed. SQLite must
  /// not have the file open meanwhile, because closing a descriptor removes all locks that the
  /// process has on the file.
  static let creationLock = Mutex(())

  /// Returns the instance that all databases at a path share. If `path` is nil, because the
  /// database has no file, returns a new instance.
  static func at(_ path: String?) -> SharedFile {
    guard let path else { return SharedFile(nil) }
    let key = Array(path.utf8)
    return files.withLock { files in
      if let known = files.known[key]?.file { return known }
      let file = SharedFile(path)
      files.known[key] = WeakFile(file: file)
      files.identifiers[key] = ObjectIdentifier(file)
      return file
    }
  }

  private init(_ name: String?) {
    self.name = name
  }

  deinit {
    guard let path = name.map({ Array($0.utf8) }) else { return }
    let identifier = ObjectIdentifier(self)
    SharedFile.files.withLock { files in
      // Compare identifiers, because a strong reference to a newer instance could be the last one.
      // Its deinit would then take this lock again.
      guard files.identifiers[path] == identifier else { return }
      files.known[path] = nil
      files.identifiers[path] = nil
    }
  }

  /// Adds the scheduler of a database that uses the file. If all other databases on the file are
  /// closed, clears the claims of tables first.
  func join(_ user: Scheduler) {
    let weak = WeakUser(scheduler: user)
    // These references are released after the lock.
    var others: [Scheduler] = []
    users.withLock { users in
      others = users.values.compactMap(\.scheduler)
      // A program that reopens the file may use other types.
      if others.allSatisfy(\.isClosed) { claims.clear() }
      users[ObjectIdentifier(user)] = weak
    }
  }

  /// Removes the scheduler of a database that no longer uses the file.
  func leave(_ user: Scheduler) {
    _ = users.withLock { $0.removeValue(forKey: ObjectIdentifier(user)) }
  }

  /// Returns a description of the process's other accesses to the file, with their durations. If
  /// there are none, it says who else may hold the lock.
  ///
  /// - Parameter own: The cancellation of the access that wants the lock, which isn't included. Nil
  ///   while its connection is being opened; then all accesses of this thread are omitted.
  func users(besides own: Cancellation?) -> String {
    let thread = currentThread()
    let holders = users.withLock { $0.values.compactMap(\.scheduler) }
      .flatMap(\.holders).compactMap(\.self)
      .filter { own == nil ? $0.thread != thread : $0.cancellation !== own }
    let parts = [(Access.Kind.write, "writing"), (.read, "reading")].compactMap { kind, word in
      let kin = holders.filter { $0.kind == kind }
      return kin.map(\.since).min().map { since in
        "\(kin.count) \(word) for \(Moment.now - since)"
      }
    }
    if !parts.isEmpty { return "other accesses in this process: \(parts.joined(separator: ", "))" }
    // Several `Database` instances for one server don't share state.
    return name == nil
      ? "this Database value has no other access, so another Database or another process "
        + "holds the lock"
      : "this process has no other access, so another process holds the lock"
  }
}

extension SharedFile {
  /// The shared states of the files that connections of this process currently have open.
  static var open: [SharedFile] {
    // These references are released outside the lock, because the deinit takes it.
    let all = files.withLock { files in files.known.values.map { $0.file } }
    return all.compactMap { $0 }.filter { $0.presences.load(ordering: .acquiring) > 0 }
  }

  /// The identity of the file that a connection opened last; nil if none has been opened, or if the
  /// file isn't watched.
  var identity: FileIdentity? { file.withLock { $0 } }

  /// Stores the identity of the file that a connection has opened.
  func opened(_ identity: FileIdentity) { file.withLock { $0 = identity } }

  /// Throws if the file at a resolved path must not be opened or created. This is so if an open
  /// file at this path was removed or replaced, or if the file is open under another name, because
  /// SQLite would then use another log.
  static func checkMayOpen(_ path: String) throws(SQLiteError) {
    let open = open
    guard !open.isEmpty else { return }
    let wanted = FileIdentity(path: path, followsLink: false)
    let bytes = Array(path.utf8)
    for other in open {
      guard let identity = other.identity, let name = other.name else { continue }
      if wanted == identity { try ForkCount.check(other.forks) }
      if Array(name.utf8) == bytes {
        guard wanted == identity else {
          throw SQLiteError(
            .readOnlyMoved,
            "\(path): the file was removed or replaced while this process had it open; close "
              + "the database first")
        }
      } else if wanted == identity {
        throw SQLiteError(
          .cannotOpen, "\(path): the file is already open as \(name); use that path")
      }
    }
  }

  fileprivate func enter() { presences.add(1, ordering: .acquiringAndReleasing) }
  fileprivate func leave() { presences.subtract(1, ordering: .acquiringAndReleasing) }
}

/// The registration of a connection that has a file open. It is released after the connection is
/// closed.
final class FilePresence: Sendable {
  private let file: SharedFile

  init(_ file: SharedFile) {
    self.file = file
    file.enter()
  }

  deinit { file.leave() }
}

extension Replacements {
  /// Runs `replace` nested inside all registered closures, the first closure outermost.
  func run(
    _ source: Connection, _ target: Connection, _ replace: () throws -> Void
  ) throws {
    let bodies = bodies
    func run(from index: Int) throws {
      guard index < bodies.count else { return try replace() }
      try bodies[index](source, target) { try run(from: index + 1) }
    }
    try run(from: 0)
  }
}

/// The database files that connections of this process have open.
///
/// If a process closes any descriptor of a file, POSIX removes all locks that the process has on
/// the file. Therefore, only SQLite may open such a file. Renaming another file over it would
/// orphan its log.
package enum OpenDatabases {
  /// The suffixes of a database's write-ahead log, the log's index, and the rollback journal.
  package static let suffixes = ["-wal", "-shm", "-journal"]

  /// Returns whether `path` refers to an open database, or to one of its journals.
  package static func contains(_ path: String) -> Bool {
    let open = SharedFile.open
    guard !open.isEmpty, let file = FileIdentity(path: path) else { return false }
    return open.contains { other in
      other.identity == file
        || suffixes.contains { suffix in
          other.name.map { FileIdentity(path: $0 + suffix) == file } ?? false
        }
    }
  }

  /// Throws if `path` refers to an open database, or to one of its journals.
  package static func checkIsNone(_ path: String) throws(SQLiteError) {
    guard contains(path) else { return }
    throw SQLiteError(
      .misuse,
      "\(path): the file belongs to an open database, and only SQLite may open it; close "
        + "the database first")
  }

  /// Throws if the file at `path` must not be replaced: it is a database that is open in this
  /// process, or one of its journals, or a journal exists next to it.
  package static func checkMayReplace(_ path: String) throws(SQLiteError) {
    try checkIsNone(path)
    for suffix in suffixes where FileIdentity(path: path + suffix) != nil {
      throw SQLiteError(
        .misuse,
        "\(path): the path belongs to a database that is open or was not closed: "
          + "\(path)\(suffix) exists")
    }
  }
}

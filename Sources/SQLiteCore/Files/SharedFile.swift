import Synchronization

/// The replacement of a file's whole content, wrapped by layers above: each body gets the connection that
/// the content comes from, the one that it goes to, and the replacement, which it calls once.
typealias Replacements = Registry<
  @Sendable (Connection, Connection, () throws -> Void) throws -> Void
>

/// The state that all databases of this process on one file share.
final class SharedFile: Sendable {
  /// Tells what transactions on this file changed.
  let feed = ChangeFeed()
  /// Tells which type each table belongs to.
  let claims = TableClaims()
  /// How often the content was replaced.
  let content = ContentGeneration()
  /// The bodies of layers above around a replacement.
  let replacements = Replacements()
  /// The bodies of layers above before each commit.
  let commits = CommitBodies()
  /// The path; nil for a database that has no file.
  let name: String?
  /// The forks of this process when the file was opened.
  private let forks = ForkCount.atOpening
  private let presences = Atomic<Int>(0)
  /// The file that the connections have open.
  private let file = Mutex<FileIdentity?>(nil)
  private let users = Mutex<[ObjectIdentifier: WeakUser]>([:])

  private struct WeakUser: Sendable {
    weak let scheduler: Scheduler?
  }

  private struct WeakFile: Sendable {
    weak let file: SharedFile?
  }

  /// The open files, by path. Two dictionaries: swiftc 6.3.1 destroys a structure with a `weak let` twice
  /// after another property of it was read.
  private struct Files: Sendable {
    var known: [[UInt8]: WeakFile] = [:]
    var identifiers: [[UInt8]: ObjectIdentifier] = [:]
  }

  // By bytes: Swift finds canonically equivalent paths equal, a file system may not.
  //
  // Process-wide state, the only one of this module: two databases on one file must find each other, and
  // must not open a file that was replaced while another one has it open.
  private static let files = Mutex(Files())
  /// Held while a database file is made and closed: that must not happen while SQLite has it open.
  static let making = Mutex(())

  /// The one value for a file, or one of its own for a database that has no file.
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
      // Compared by the identifier: a strong reference to a younger value could be its last one, and end it
      // here under the lock that its deinit takes.
      guard files.identifiers[path] == identifier else { return }
      files.known[path] = nil
      files.identifiers[path] = nil
    }
  }

  /// Takes in another database, until it leaves.
  func join(_ user: Scheduler) {
    let weak = WeakUser(scheduler: user)
    // Those that are looked at are released after the lock.
    var others: [Scheduler] = []
    users.withLock { users in
      others = users.values.compactMap(\.scheduler)
      // A program that opens the file anew may have other types.
      if others.allSatisfy(\.isClosed) { claims.clear() }
      users[ObjectIdentifier(user)] = weak
    }
  }

  /// Forgets a database that goes.
  func leave(_ user: Scheduler) {
    _ = users.withLock { $0.removeValue(forKey: ObjectIdentifier(user)) }
  }

  /// Describes who else of this process uses the file, and since when.
  ///
  /// - Parameter own: That of the access that asks, or nil while its connection is being opened.
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
    if !parts.isEmpty { return "accesses of this process: \(parts.joined(separator: ", "))" }
    // Values that share a server's database know nothing of each other.
    return name == nil
      ? "no other access of this Database value is open, so another one or another program holds the lock"
      : "no other access of this process is open, so another process holds the lock"
  }
}

extension SharedFile {
  /// The files that connections of this process have open now.
  static var open: [SharedFile] {
    // Released outside the lock, which the deinit takes.
    let all = files.withLock { files in files.known.values.map { $0.file } }
    return all.compactMap { $0 }.filter { $0.presences.load(ordering: .acquiring) > 0 }
  }

  /// The file that the connections have open.
  var identity: FileIdentity? { file.withLock { $0 } }

  /// Notes which file a connection has opened.
  func opened(_ identity: FileIdentity) { file.withLock { $0 = identity } }

  /// Throws if the file at a resolved path must not be opened or made: if it has replaced one that is open, or is
  /// open by another name, under which SQLite would look for another log.
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
            "\(path): the file was removed or replaced while this process has it open; close the "
              + "database first")
        }
      } else if wanted == identity {
        throw SQLiteError(.cannotOpen, "\(path): the file is open by another name, \(name)")
      }
    }
  }

  fileprivate func enter() { presences.add(1, ordering: .acquiringAndReleasing) }
  fileprivate func leave() { presences.subtract(1, ordering: .acquiringAndReleasing) }
}

/// A connection that is open on a file; it goes after the connection is closed.
final class FilePresence: Sendable {
  private let file: SharedFile

  init(_ file: SharedFile) {
    self.file = file
    file.enter()
  }

  deinit { file.leave() }
}

extension Replacements {
  /// Runs `replace` inside all bodies, the first outermost.
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
/// POSIX takes all locks of a process on a file when the process closes any descriptor of it, so that
/// nothing but SQLite may open such a file; and a file that is renamed over it leaves its log behind.
package enum OpenDatabases {
  /// The suffixes that SQLite gives to a database's log, the log's index and the journal.
  package static let suffixes = ["-wal", "-shm", "-journal"]

  /// Returns whether `path` leads to an open database, or to a journal of one.
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

  /// Throws if `path` leads to an open database, or to a journal of one.
  package static func checkIsNone(_ path: String) throws(SQLiteError) {
    guard contains(path) else { return }
    throw SQLiteError(
      .misuse, "\(path): this file belongs to an open database, and only SQLite may open it")
  }

  /// Throws if another file must not be put at `path`: if a database there is open in this process, or
  /// if there are journals beside it, which belong to the file that is there now.
  package static func checkMayReplace(_ path: String) throws(SQLiteError) {
    try checkIsNone(path)
    for suffix in suffixes where FileIdentity(path: path + suffix) != nil {
      throw SQLiteError(
        .misuse,
        "\(path): a database is there that is open, or that was not closed: \(path)\(suffix) "
          + "belongs to it")
    }
  }
}

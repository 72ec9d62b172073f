import Synchronization

/// What the databases of this process that are open on one file have in common.
///
/// The only global state of the library is the list of these, by path.
final class SharedFile: Sendable {
  /// Tells what transactions on this file changed.
  let feed = ChangeFeed()
  /// Tells which type each table belongs to.
  let claims = TableClaims()
  /// How often the content was replaced.
  let content = ContentGeneration()
  /// What layers above do then.
  let replacements = Replacements()
  /// The path; nil for a database that has no file.
  let name: String?
  private let presences = Atomic<Int>(0)
  /// The file that the connections have open.
  private let file = Mutex<FileIdentity?>(nil)
  private let schedulers = Mutex<[ObjectIdentifier: WeakScheduler]>([:])

  private struct WeakScheduler: Sendable {
    weak let scheduler: Scheduler?
  }

  private struct WeakFile: Sendable {
    weak let file: SharedFile?
  }

  /// What is open, by path. Two dictionaries: swiftc 6.3.1 destroys a structure with a `weak let` twice
  /// after another property of it was read.
  private struct Files: Sendable {
    var known: [[UInt8]: WeakFile] = [:]
    var identifiers: [[UInt8]: ObjectIdentifier] = [:]
  }

  // By bytes: Swift finds canonically equivalent paths equal, a file system may not.
  private static let files = Mutex(Files())

  /// The one value for a file, or one of its own for a database that has no file.
  static func at(_ location: DatabaseFile.Location) -> SharedFile {
    guard case .file(let path) = location else { return SharedFile(nil) }
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
      // By the identifier: the reference to a younger file may be the last when it is let go of, here
      // under the lock that its deinit needs.
      guard files.identifiers[path] == identifier else { return }
      files.known[path] = nil
      files.identifiers[path] = nil
    }
  }

  /// Takes in the scheduler of another database, until that leaves.
  func join(_ scheduler: Scheduler) {
    let weak = WeakScheduler(scheduler: scheduler)
    // Those that are looked at are released after the lock.
    var others: [Scheduler] = []
    schedulers.withLock { schedulers in
      others = schedulers.values.compactMap(\.scheduler)
      // A program that opens the file anew may have other types.
      if others.allSatisfy(\.isClosed) { claims.clear() }
      schedulers[ObjectIdentifier(scheduler)] = weak
    }
  }

  /// Forgets the scheduler of a database that goes.
  func leave(_ scheduler: Scheduler) {
    _ = schedulers.withLock { $0.removeValue(forKey: ObjectIdentifier(scheduler)) }
  }

  /// Says who else of this process uses the file, and since when.
  ///
  /// - Parameter own: That of the access that asks, or nil while its connection is being opened.
  func users(besides own: Cancellation?) -> String {
    let thread = currentThread()
    let holders = schedulers.withLock { $0.values.compactMap(\.scheduler) }
      .flatMap(\.holders).compactMap(\.self)
      .filter { own == nil ? $0.thread != thread : $0.cancellation !== own }
    let parts = [(Scheduler.Kind.write, "writing"), (.read, "reading")].compactMap { kind, word in
      let kin = holders.filter { $0.kind == kind }
      return kin.map(\.since).min().map { since in
        "\(kin.count) \(word) for \(ContinuousClock.now - since)"
      }
    }
    return parts.isEmpty
      ? "no other access of this process is open, so another process holds the lock"
      : "accesses of this process: \(parts.joined(separator: ", "))"
  }
}

extension SharedFile {
  /// The files that connections of this process have open now.
  static var open: [SharedFile] {
    // Let go of outside the lock, which the deinit takes.
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

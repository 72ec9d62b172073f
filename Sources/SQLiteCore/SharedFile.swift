import Synchronization

/// What the databases of this process that are open on one file have in common.
///
/// The only global state of the library is the list of these, by path.
final class SharedFile: Sendable {
  /// Tells what transactions on this file changed.
  let feed = ChangeFeed()
  private let path: [UInt8]?
  private let schedulers = Mutex<[WeakScheduler]>([])

  private struct WeakScheduler: Sendable {
    weak let scheduler: Scheduler?
  }

  private struct WeakFile: Sendable {
    weak let file: SharedFile?
  }

  // By bytes: Swift finds canonically equivalent paths equal, a file system may not.
  private static let files = Mutex<[[UInt8]: WeakFile]>([:])

  /// The one value for a file, or one of its own for a database that has no file.
  static func at(_ location: DatabaseFile.Location) -> SharedFile {
    guard case .file(let path) = location else { return SharedFile(path: nil) }
    let key = Array(path.utf8)
    return files.withLock { files in
      if let known = files[key]?.file { return known }
      let file = SharedFile(path: key)
      files[key] = WeakFile(file: file)
      return file
    }
  }

  private init(path: [UInt8]?) {
    self.path = path
  }

  deinit {
    guard let path else { return }
    SharedFile.files.withLock { files in
      if let entry = files[path], entry.file == nil { files[path] = nil }
    }
  }

  /// Takes in the scheduler of another database.
  func join(_ scheduler: Scheduler) {
    schedulers.withLock { schedulers in
      schedulers.removeAll { $0.scheduler == nil }
      schedulers.append(WeakScheduler(scheduler: scheduler))
    }
  }

  /// Says who else of this process uses the file, and since when.
  ///
  /// - Parameter own: That of the access that asks, or nil while its connection is being opened.
  func users(besides own: Cancellation?) -> String {
    let thread = currentThread()
    let holders = schedulers.withLock { $0.compactMap(\.scheduler) }
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

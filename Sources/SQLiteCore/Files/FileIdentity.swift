import Platform
import Synchronization

/// A file, whatever its name is: its device and its number there (`stat`).
struct FileIdentity: Hashable, Sendable {
  private let device: UInt64
  private let number: UInt64

  /// The file that `path` leads to, or nil if there is none.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - followsLink: Whether a symbolic link stands for what it leads to.
  init?(path: String, followsLink: Bool = true) {
    var status = stat()
    let code = unsafe followsLink ? stat(path, &status) : lstat(path, &status)
    guard code == 0 else { return nil }
    device = UInt64(truncatingIfNeeded: status.st_dev)
    number = UInt64(truncatingIfNeeded: status.st_ino)
  }
}

/// Notices that the path of an open database no longer leads to the file that was opened first.
///
/// SQLite goes on writing into a file that was removed: such a commit would be lost.
final class FileWatch: Sendable {
  private struct State: Sendable {
    /// The database file, as it was when the first connection opened it.
    var main: FileIdentity?
    /// The write-ahead log, which stays the same as long as a connection is open.
    var log: FileIdentity?
  }

  private let path: String
  private let logPath: String
  private let state = Mutex(State())

  init(path: String) {
    self.path = path
    logPath = path + "-wal"
  }

  /// Opens a connection, and throws if it is one to another file than the first connection.
  func opening<Handle>(
    _ shared: SharedFile, _ open: () throws(SQLiteError) -> Handle
  ) throws(SQLiteError) -> Handle {
    let before = FileIdentity(path: path)
    guard state.withLock({ $0.main == nil || $0.main == before }) else { throw moved }
    let handle = try open()
    guard let before, before == FileIdentity(path: path) else { throw moved }
    state.withLock { $0.main = before }
    shared.opened(before)
    return handle
  }

  /// Throws if the database file or its log has been removed or replaced (two calls of `stat`).
  func check() throws(SQLiteError) {
    let main = FileIdentity(path: path)
    let log = FileIdentity(path: logPath)
    let isSame = state.withLock { state in
      if state.log == nil { state.log = log }
      return state.main == main && state.log == log
    }
    guard isSame else { throw moved }
  }

  /// Takes the log as it is now for the right one, unless it is missing where there must be one.
  func acceptLog(isRequired: () -> Bool) {
    let log = FileIdentity(path: logPath)
    guard state.withLock({ $0.log != nil && $0.log != log }) else { return }
    if log == nil, isRequired() { return }
    state.withLock { $0.log = log }
  }

  /// Forgets the log: no connection writes.
  func forgetLog() { state.withLock { $0.log = nil } }

  private var moved: SQLiteError {
    SQLiteError(
      .readOnlyMoved,
      "\(path): the file or its log was removed or replaced while the database was open; nothing "
        + "is written any more, and the database must be closed")
  }
}

/// The database files that connections of this process have open.
///
/// POSIX takes all locks of a process on a file when the process closes any descriptor of it, so that
/// nothing but SQLite may open such a file; and a file that is renamed over it leaves its log behind.
package enum OpenDatabases {
  /// What SQLite appends to the name of a database for its log, the log's index and its journal.
  package static let suffixes = ["-wal", "-shm", "-journal"]

  /// Says whether `path` leads to an open database, or to a journal of one.
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

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

  /// Opens a connection and returns its file, or throws if it is one to another file than the first connection.
  func opening(
    _ open: () throws(SQLiteError) -> ConnectionHandle
  ) throws(SQLiteError) -> (handle: ConnectionHandle, file: FileIdentity) {
    let before = FileIdentity(path: path)
    guard state.withLock({ $0.main == nil || $0.main == before }) else { throw moved }
    let handle = try open()
    guard let before, before == FileIdentity(path: path) else { throw moved }
    state.withLock { $0.main = before }
    return (handle, before)
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

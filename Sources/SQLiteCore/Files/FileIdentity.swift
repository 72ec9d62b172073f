import Platform
import Synchronization

/// The identity of a file, independent of its name: its device and inode number (`stat`).
struct FileIdentity: Hashable, Sendable {
  private let device: UInt64
  private let number: UInt64

  /// Creates the identity of the file at a path, or nil if `stat` finds no file.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - followsLink: Whether a symbolic link is followed. If not, the identity is that of the
  ///     link.
  init?(path: String, followsLink: Bool = true) {
    var status = stat()
    let code = unsafe followsLink ? stat(path, &status) : lstat(path, &status)
    guard code == 0 else { return nil }
    device = UInt64(truncatingIfNeeded: status.st_dev)
    number = UInt64(truncatingIfNeeded: status.st_ino)
  }
}

/// A watch that detects that the file at the path of an open database is no longer the one that was
/// opened first.
///
/// SQLite continues to write to a removed file, so later commits would be lost.
final class FileWatch: Sendable {
  private struct State: Sendable {
    /// The identity of the database file that the first connection opened; nil before that.
    var main: FileIdentity?
    /// The identity of the write-ahead log, which stays the same file as long as a connection is
    /// open; nil if there is no log, or if it hasn't been checked yet.
    var log: FileIdentity?
  }

  private let path: String
  private let logPath: String
  private let state = Mutex(State())

  init(path: String) {
    self.path = path
    logPath = path + "-wal"
  }

  /// Opens a connection and returns its file. Throws if it is a different file than that of the
  /// first connection.
  func openVerified(
    _ open: () throws(SQLiteError) -> ConnectionHandle
  ) throws(SQLiteError) -> (handle: ConnectionHandle, file: FileIdentity) {
    let before = FileIdentity(path: path)
    guard state.withLock({ $0.main == nil || $0.main == before }) else { throw movedError }
    let handle = try open()
    guard let before, before == FileIdentity(path: path) else { throw movedError }
    state.withLock { $0.main = before }
    return (handle, before)
  }

  /// Throws if the database file or its log has been removed or replaced. Costs two calls of
  /// `stat`.
  func check() throws(SQLiteError) {
    let main = FileIdentity(path: path)
    let log = FileIdentity(path: logPath)
    let isSame = state.withLock { state in
      if state.log == nil { state.log = log }
      return state.main == main && state.log == log
    }
    guard isSame else { throw movedError }
  }

  /// Makes later checks expect the log that exists now. Does nothing if a log is required but
  /// missing.
  func acceptLog(isRequired: () -> Bool) {
    let log = FileIdentity(path: logPath)
    guard state.withLock({ $0.log != nil && $0.log != log }) else { return }
    if log == nil, isRequired() { return }
    state.withLock { $0.log = log }
  }

  /// Forgets the identity of the log, so that the next check accepts the current log. Called while
  /// no connection writes.
  func forgetLog() { state.withLock { $0.log = nil } }

  private var movedError: SQLiteError {
    SQLiteError(
      .readOnlyMoved,
      "\(path): the file or its log was removed or replaced while the database was open, so "
        + "writes fail; close the database and open it again")
  }
}

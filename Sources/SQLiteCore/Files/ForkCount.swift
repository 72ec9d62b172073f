import Synchronization

import Platform

/// How often this process is a fork of one that had opened a database.
///
/// SQLite forbids using, and even closing, a connection in a forked process
/// (<https://www.sqlite.org/howtocorrupt.html>, 2.6). The child also inherits SQLite's list of the locks that its
/// parent holds, so that it cannot open the same files again. The count costs one load for each access, where
/// `getpid` would be a system call.
enum ForkCount {
  private static let count = Atomic<Int>(0)

  /// Registers the handler, once (`pthread_atfork`). Reading `count` here creates it before the first fork.
  private static let registration: Void = {
    _ = count.load(ordering: .relaxed)
    _ = pthread_atfork(nil, nil) { ForkCount.count.add(1, ordering: .relaxed) }
  }()

  /// The count when a database is opened.
  static var atOpening: Int {
    registration
    return current
  }

  /// The present count.
  static var current: Int { count.load(ordering: .relaxed) }

  /// Throws if the process was forked since a database was opened.
  static func check(_ atOpening: Int) throws(SQLiteError) {
    guard current == atOpening else { throw error }
  }

  private static var error: SQLiteError {
    SQLiteError(
      .misuse,
      "this process was forked while the database was open, and SQLite must not be used across a fork: open "
        + "databases after forking, or start a program (exec) in the child")
  }
}

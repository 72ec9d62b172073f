import Synchronization

import Platform

/// A counter that detects that the process was forked after a database was opened. The child
/// process increments it.
///
/// SQLite forbids using, and even closing, a connection in a forked process
/// (<https://www.sqlite.org/howtocorrupt.html>, section 2.6). The child also inherits SQLite's list
/// of its parent's locks, so it can't open the same files again. Each access reads the count, which
/// costs one load. `getpid` would be a system call.
enum ForkCount {
  private static let count = Atomic<Int>(0)

  /// The registration of the fork handler (`pthread_atfork`), made once. Reading `count`
  /// initializes it before the first fork.
  private static let registration: Void = {
    _ = count.load(ordering: .relaxed)
    _ = pthread_atfork(nil, nil) { ForkCount.count.add(1, ordering: .relaxed) }
  }()

  /// The current count, for a database that is being opened. Registers the fork handler.
  static var atOpening: Int {
    registration
    return current
  }

  /// The current value of the counter: the number of forks from the process that registered the
  /// handler to this one.
  static var current: Int { count.load(ordering: .relaxed) }

  /// Throws if the process has been forked since a database was opened. `atOpening` is the value of
  /// the counter at that time.
  static func check(_ atOpening: Int) throws(SQLiteError) {
    guard current == atOpening else { throw error }
  }

  private static var error: SQLiteError {
    SQLiteError(
      .misuse,
      "this process was forked while the database was open, and SQLite must not be used across "
        + "a fork; open the database after the fork, or call exec in the child")
  }
}

/// How writes that wait at the same time are merged into one transaction.
///
/// A durable commit waits for the disk, whether it holds one row or a thousand. Where many tasks
/// each write a little, merging their writes makes one such wait for all of them.
///
/// Merged are only writes that ask for it, by `writeInGroup` or by
/// ``includesAsyncWrites``, since a closure of theirs may run more than once.
public struct GroupCommit: Hashable, Sendable {
  /// The most writes in one transaction; 1 merges nothing.
  public var maximumCount = 128
  /// How long after its beginning a transaction still takes in writes that wait. The first of them
  /// is answered at most that much later, and the time of one write and the commit.
  public var maximumDuration = Duration.milliseconds(10)
  /// Whether every asynchronous `write` that begins its transaction immediately may be merged, and
  /// not only those by `writeInGroup`. Then their closures, too, may run more than once.
  public var includesAsyncWrites = false

  /// The defaults: what asks for it is merged.
  public init() {}

  /// Merges nothing: each write has a transaction of its own.
  public static var off: GroupCommit {
    var groupCommit = GroupCommit()
    groupCommit.maximumCount = 1
    return groupCommit
  }
}

/// The one in whose name a task writes, for those who keep a trail of changes.
///
///     try await ChangeAuthor.$current.withValue("ann") {
///       try await database.write { … }
///     }
///
/// A write has the author of the task, or the thread, that asks for it, also where it runs on another thread. Of a write
/// inside another one that of the outer one counts. It is looked at only while a trail is kept. Writes with an author
/// do not share a transaction with others.
public enum ChangeAuthor {
  /// The author of the present task; nil for none.
  @TaskLocal public static var current: String?
}

extension Connection {
  /// The author of the write that runs; nil for none, or while nobody asks before each commit.
  package var author: String? { recording.author }
}

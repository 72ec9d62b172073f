/// A namespace for ``current``, the name that a trail of changes records as the author of a task's
/// writes.
///
///     try await ChangeAuthor.$current.withValue("ann") {
///       try await database.write { … }
///     }
///
/// A write gets the author of the task or thread that starts it, even if the write runs on another
/// thread. A nested write gets the author of the outer write. Authors are recorded only while a
/// trail is recorded. A write whose author is recorded never shares a transaction with other
/// writes.
public enum ChangeAuthor {
  /// The author of the current task's writes, or nil if the task has no author.
  @TaskLocal public static var current: String?
}

extension Connection {
  /// The author of the current write; nil if no write is running, if its task has no author, or if
  /// no pre-commit closure is registered.
  package var author: String? { recording.author }
}

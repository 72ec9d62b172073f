package import SystemFiles
import Platform

/// A file that appears at its path only when it is complete, and that never replaces a database in
/// use. The content is prepared at ``contentPath``, and ``publish(replacing:)`` moves it to
/// ``path``.
package final class AtomicFile {
  /// The path at which the complete file appears.
  package let path: String
  private let pending: PendingFile

  /// The temporary path at which to prepare the content.
  package var contentPath: String { pending.contentPath }

  /// Creates a pending file for a path.
  ///
  /// - Throws: ``SQLiteError`` if the path is not valid, if it belongs to a database that is open
  ///   or was not closed, or if its folder can't be written.
  package init(_ path: String) throws(SQLiteError) {
    try checkIsPath(path)
    try OpenDatabases.checkMayReplace(path)
    self.path = path
    pending = try naming(path, "cannot be created") { () throws(SystemFailure) in
      try PendingFile(path)
    }
  }

  /// Creates the file at ``contentPath`` and opens it for writing.
  ///
  /// - Throws: ``SQLiteError`` if the file can't be created.
  package func makeFile() throws(SQLiteError) -> Descriptor {
    try naming(path, "cannot be created") { () throws(SystemFailure) in try pending.makeFile() }
  }

  /// Syncs the content and moves it to its path. If the content is a database, it must be closed.
  ///
  /// - Parameter replacing: Whether to replace an existing file at the path.
  /// - Throws: ``SQLiteError`` if the content can't be moved, if a database is now open at the
  ///   path, or if a file exists at the path and `replacing` is false.
  package func publish(replacing: Bool) throws(SQLiteError) {
    // A database may have been opened at the path in the meantime.
    try OpenDatabases.checkMayReplace(path)
    try naming(path, replacing ? "cannot be replaced" : "cannot be created") {
      () throws(SystemFailure) in try pending.publish(replacing: replacing)
    }
  }
}

/// Throws if a text is not valid as a path, because it is empty or contains a NUL.
package func checkIsPath(_ path: String) throws(SQLiteError) {
  guard !path.isEmpty, !containsNUL(path) else {
    throw SQLiteError(
      .cannotOpen, "“\(path)” is not a valid file path: it is empty or contains a NUL character")
  }
}

/// Runs a file system call and returns its result.
///
/// - Parameters:
///   - path: The path of the file, for the error message.
///   - problem: The text for the error message that follows “the file”, such as “cannot be
///     created”.
///   - call: The call to run.
/// - Throws: ``SQLiteError`` with ``ResultCode/cannotOpen`` if the call fails.
package func naming<Result>(
  _ path: String, _ problem: String, _ call: () throws(SystemFailure) -> Result
) throws(SQLiteError) -> Result {
  do {
    return try call()
  } catch {
    throw SQLiteError(
      .cannotOpen, "\(path): the file \(problem): \(systemMessage(error.number))")
  }
}

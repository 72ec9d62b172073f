package import SystemFiles
import Platform

/// A file that appears at a path when it is complete, or not at all, and never in place of a database in use.
package final class AtomicFile {
  /// The path at which the file is to appear.
  package let path: String
  private let pending: PendingFile

  /// The path at which to prepare the content.
  package var contentPath: String { pending.contentPath }

  /// Begins a file.
  ///
  /// - Throws: ``SQLiteError`` if a database in use is at the path, or if its folder can't be written.
  package init(_ path: String) throws(SQLiteError) {
    try checkIsPath(path)
    try OpenDatabases.checkMayReplace(path)
    self.path = path
    pending = try naming(path, "cannot be made") { () throws(SystemFailure) in
      try PendingFile(path)
    }
  }

  /// Makes the content a file, open for writing.
  package func makeFile() throws(SQLiteError) -> Descriptor {
    try naming(path, "cannot be made") { () throws(SystemFailure) in try pending.makeFile() }
  }

  /// Syncs the content and gives it its path. If the content is a database, it must be closed.
  ///
  /// - Parameter replacing: Whether a file at the path is replaced. Otherwise it is an error.
  package func publish(replacing: Bool) throws(SQLiteError) {
    // Somebody may have opened a database there meanwhile.
    try OpenDatabases.checkMayReplace(path)
    try naming(path, replacing ? "cannot be replaced" : "cannot be made") {
      () throws(SystemFailure) in try pending.publish(replacing: replacing)
    }
  }
}

/// Throws unless a text can be a path.
package func checkIsPath(_ path: String) throws(SQLiteError) {
  guard !path.isEmpty, !containsNUL(path) else {
    throw SQLiteError(.cannotOpen, "“\(path)” is not the path of a file")
  }
}

/// Runs a call into the file system, and names the file if it fails.
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

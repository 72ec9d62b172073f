import Platform

/// A file that appears under its name, in place of what is there, when all of it is written and synced, or not at
/// all.
///
/// It stands beside its place to be under a name of its own until then, and is removed if it is given up.
package final class PendingFile {
  private static let folder = SystemFileOperations.workingFolder

  private let path: String
  private let pendingPath: String
  private let operations = SystemFileOperations()
  /// The open file; nil once it has its name.
  private var file: Descriptor?

  /// Begins a file that is to be at `path`.
  package init(_ path: String) throws(SystemFailure) {
    let pendingPath = path + ".pending-" + String(UInt64.random(in: 0 ... .max), radix: 16)
    self.path = path
    self.pendingPath = pendingPath
    let operations = operations
    let number = try retrying { () throws(SystemFailure) in
      try operations.open(pendingPath, in: Self.folder, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
    }
    file = Descriptor(number, operations)
  }

  deinit {
    guard file != nil else { return }
    try? operations.remove(pendingPath, in: Self.folder)
  }

  /// Appends all of `bytes`.
  package func write(_ bytes: RawSpan) throws(SystemFailure) { try file?.write(bytes) }

  /// Makes the content last through a power cut.
  package func sync() throws(SystemFailure) { try file?.sync() }

  /// Gives the file its name, after ``sync()``.
  package func takeName() throws(SystemFailure) {
    let (operations, path, pendingPath) = (operations, path, pendingPath)
    try retrying { () throws(SystemFailure) in
      try operations.replace(path, by: pendingPath, in: Self.folder)
    }
    file = nil
    // The content is whole, whether or not its name lasts.
    try? syncFolder()
  }

  private func syncFolder() throws(SystemFailure) {
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let number = try operations.open(path: folder, O_RDONLY | O_DIRECTORY)
    try Descriptor(number, operations).sync()
  }
}

import Platform

/// A file or folder that appears at a path when it is complete, or not at all.
///
/// The content is prepared in a folder next to that path, `<name>.pending-<16 hexadecimal digits>`, which is locked
/// while it is in use (`flock`). The lock ends with the process. Before another content is prepared in the same
/// place, folders of such a name that nobody has locked are therefore removed.
package final class PendingFile {
  /// The path at which to prepare the content.
  package let contentPath: String

  private static let working = SystemFileOperations.workingFolder
  private static let contentName = "content"

  private let path: String
  private let parent: String
  private let folderPath: String
  private let operations: any FileOperations
  /// The locked folder.
  private let folder: Descriptor

  /// Begins a file or folder that is to appear at `path`, whose folder must exist.
  package init(
    _ path: String, _ operations: any FileOperations = SystemFileOperations()
  ) throws(SystemFailure) {
    let (parent, name) = PendingFile.split(path)
    guard !["", ".", ".."].contains(name) else { throw SystemFailure("open", EISDIR) }
    self.path = path
    self.parent = parent
    self.operations = operations
    PendingFile.removeAbandoned(beside: path, operations)
    // A name may have 255 bytes.
    let start = "\(parent)/\(String(decoding: name.utf8.prefix(200), as: UTF8.self))"
    while true {
      let folderPath = start + PendingFile.suffix()
      try retrying { () throws(SystemFailure) in
        try operations.makeFolder(folderPath, in: PendingFile.working)
      }
      let folder: Descriptor?
      do throws(SystemFailure) {
        folder = try PendingFile.lock(folderPath, operations, isNew: true)
      } catch {
        try? operations.removeFolder(folderPath, in: PendingFile.working)
        throw error
      }
      if let folder {
        self.folder = folder
        self.folderPath = folderPath
        contentPath = "\(folderPath)/\(PendingFile.contentName)"
        return
      }
    }
  }

  deinit {
    PendingFile.removeFolder(folderPath, folder, operations)
  }

  /// Makes the content a file, open for writing.
  package func makeFile() throws(SystemFailure) -> Descriptor {
    let number = try retrying { () throws(SystemFailure) in
      try operations.open(
        PendingFile.contentName, in: folder.number, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
    }
    return Descriptor(number, operations)
  }

  /// Syncs the content and gives it its path. If the content is a database, it must be closed.
  ///
  /// - Parameter replacing: Whether a file at the path is replaced, or an empty folder if the content is a folder.
  ///   Otherwise that is the error `EEXIST`.
  package func publish(replacing: Bool) throws(SystemFailure) {
    let content = try retrying { () throws(SystemFailure) in
      try operations.open(
        PendingFile.contentName, in: folder.number, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    }
    try Descriptor(content, operations).sync()
    try retrying { () throws(SystemFailure) in
      if replacing {
        try operations.replace(path, by: contentPath, in: PendingFile.working)
      } else {
        try takeFreePath()
      }
    }
    // The content is complete, whether or not its name survives a power cut.
    try? syncParent()
  }

  private func takeFreePath() throws(SystemFailure) {
    do {
      try operations.move(
        contentPath, from: PendingFile.working, to: PendingFile.working, as: path)
    } catch {
      guard [EINVAL, ENOSYS, ENOTSUP].contains(error.number) else { throw error }
      // The first name is removed together with the folder.
      try operations.link(
        contentPath, from: PendingFile.working, to: PendingFile.working, as: path)
    }
  }

  private func syncParent() throws(SystemFailure) {
    let number = try operations.open(path: parent, O_RDONLY | O_DIRECTORY)
    try Descriptor(number, operations).sync()
  }
}

extension PendingFile {
  private static let mark = ".pending-"

  /// The folder that a path is in, and the name there.
  private static func split(_ path: String) -> (parent: String, name: Substring) {
    // By bytes: a slash with an accent behind it is one character.
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path[...]) }
    let parent = slash == path.startIndex ? "/" : String(path[..<slash])
    return (parent, path[path.utf8.index(after: slash)...])
  }

  private static func suffix() -> String {
    let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
    return mark + String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }

  /// Returns whether a name is one that this type gives to folders.
  private static func isPending(_ name: String) -> Bool {
    let end = name.utf8.suffix(mark.utf8.count + 16)
    return end.count < name.utf8.count && end.starts(with: mark.utf8)
      && end.dropFirst(mark.utf8.count).allSatisfy { digit in
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit)
          || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(digit)
      }
  }

  /// Opens and locks a folder, or returns nil if another process has locked or removed it.
  ///
  /// - Parameter isNew: Whether the folder is returned without a lock where the file system has no locks. Nobody
  ///   can lock and remove it there.
  private static func lock(
    _ path: String, _ operations: any FileOperations, isNew: Bool = false
  ) throws(SystemFailure) -> Descriptor? {
    func opened() throws(SystemFailure) -> Descriptor? {
      do {
        let number = try retrying { () throws(SystemFailure) in
          try operations.open(path, in: working, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        }
        return Descriptor(number, operations)
      } catch {
        guard error.number == ENOENT else { throw error }
        return nil
      }
    }
    guard let folder = try opened() else { return nil }
    do {
      try retrying { () throws(SystemFailure) in
        try operations.lock(folder.number, waiting: false)
      }
    } catch {
      guard error.number != EWOULDBLOCK else { return nil }
      guard isNew else { throw error }
    }
    // The previous holder of the lock may have removed the folder.
    guard let present = try opened() else { return nil }
    let (own, other) = (try folder.status(), try present.status())
    return own.device == other.device && own.number == other.number ? folder : nil
  }

  /// Removes the folders that processes which have ended left in the folder of a path.
  ///
  /// Failures don't matter: the next call tries again.
  package static func removeAbandoned(
    beside path: String, _ operations: any FileOperations = SystemFileOperations()
  ) {
    let parent = split(path).parent
    guard let number = try? operations.open(path: parent, O_RDONLY | O_DIRECTORY) else { return }
    let folder = Descriptor(number, operations)
    for name in (try? operations.names(in: folder.number)) ?? [] where isPending(name) {
      let path = "\(parent)/\(name)"
      guard let abandoned = try? lock(path, operations) else { continue }
      removeFolder(path, abandoned, operations)
    }
  }

  private static func removeFolder(
    _ path: String, _ folder: Descriptor, _ operations: any FileOperations
  ) {
    removeContent(of: folder, operations)
    try? operations.removeFolder(path, in: working)
  }

  private static func removeContent(of folder: Descriptor, _ operations: any FileOperations) {
    for name in (try? operations.names(in: folder.number)) ?? [] {
      do {
        try operations.remove(name, in: folder.number)
      } catch {
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW
        guard let number = try? operations.open(name, in: folder.number, flags) else { continue }
        removeContent(of: Descriptor(number, operations), operations)
        try? operations.removeFolder(name, in: folder.number)
      }
    }
  }
}

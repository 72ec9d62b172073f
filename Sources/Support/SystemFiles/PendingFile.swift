import Platform

/// A file or folder that is created atomically: it appears at its path once its content is
/// complete.
///
/// The content is prepared in a folder next to the path, `<name>.pending-<16 hexadecimal digits>`.
/// The process locks this folder while it is in use (`flock`), and the system releases the lock
/// when the process ends. Each new instance first removes the unlocked folders that ended processes
/// left in the same parent folder.
package final class PendingFile {
  /// The path where the caller creates the content.
  package let contentPath: String

  private static let working = SystemFileOperations.workingFolder
  private static let contentName = "content"

  private let path: String
  private let parent: String
  private let folderPath: String
  private let operations: any FileOperations
  /// The locked folder that contains the content.
  private let folder: Descriptor

  /// Prepares a file or folder that ``publish(replacing:)`` moves to `path`. The parent folder must
  /// exist.
  ///
  /// - Throws: `SystemFailure` if the last component of the path isn't a file name, or the pending
  ///   folder can't be created or locked.
  package init(
    _ path: String, _ operations: any FileOperations = SystemFileOperations()
  ) throws(SystemFailure) {
    let (parent, name) = PendingFile.split(path)
    guard !["", ".", ".."].contains(name) else { throw SystemFailure("open", EISDIR) }
    self.path = path
    self.parent = parent
    self.operations = operations
    PendingFile.removeAbandoned(nextTo: path, operations)
    // Truncated, because a file name can have at most 255 bytes.
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

  /// Creates the content as an empty file and opens it for writing.
  package func makeFile() throws(SystemFailure) -> Descriptor {
    let number = try retrying { () throws(SystemFailure) in
      try operations.open(
        PendingFile.contentName, in: folder.number, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
    }
    return Descriptor(number, operations)
  }

  /// Syncs the content and moves it to its path. If the content is a database, close it first.
  ///
  /// - Parameter replacing: Whether to replace an existing file, or an empty folder if the content
  ///   is a folder.
  /// - Throws: `SystemFailure` if the content can't be synced or moved, with `EEXIST` if the path
  ///   exists and `replacing` is false.
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
        try moveWithoutReplacing()
      }
    }
    // Ignored: the content is complete, only its name might not survive a power failure.
    try? syncParent()
  }

  private func moveWithoutReplacing() throws(SystemFailure) {
    do {
      try operations.move(
        contentPath, from: PendingFile.working, to: PendingFile.working, as: path)
    } catch {
      guard [EINVAL, ENOSYS, ENOTSUP].contains(error.number) else { throw error }
      // The original name is removed together with the pending folder.
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

  /// Splits a path into its parent folder and its last component.
  private static func split(_ path: String) -> (parent: String, name: Substring) {
    // Searches bytes, because a slash followed by a combining mark is a different `Character`.
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path[...]) }
    let parent = slash == path.startIndex ? "/" : String(path[..<slash])
    return (parent, path[path.utf8.index(after: slash)...])
  }

  private static func suffix() -> String {
    let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
    return mark + String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }

  /// Returns whether a name has the form of a pending folder's name.
  private static func isPending(_ name: String) -> Bool {
    let end = name.utf8.suffix(mark.utf8.count + 16)
    return end.count < name.utf8.count && end.starts(with: mark.utf8)
      && end.dropFirst(mark.utf8.count).allSatisfy { digit in
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit)
          || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(digit)
      }
  }

  /// Opens and locks a folder. Returns nil if another process has locked or removed it.
  ///
  /// - Parameter isNew: Whether this process has just created the folder. Such a folder is returned
  ///   unlocked if the file system doesn't support locks, because without locks no other process
  ///   removes it.
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
    // A previous holder of the lock could have removed the folder before this process locked it.
    guard let present = try opened() else { return nil }
    let (own, other) = (try folder.status(), try present.status())
    return own.device == other.device && own.number == other.number ? folder : nil
  }

  /// Removes pending folders of ended processes next to `path`. Ignores failures, because the next
  /// call tries again.
  package static func removeAbandoned(
    nextTo path: String, _ operations: any FileOperations = SystemFileOperations()
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

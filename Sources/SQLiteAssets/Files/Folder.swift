package import SystemFiles
import Platform

/// A folder that is accessed through an open descriptor, and therefore remains the same folder even
/// if another one takes its path.
///
/// Names must be single path components. Symbolic links are never followed.
package final class Folder: Sendable {
  /// The absolute path, for error messages and for users of the store.
  package let path: String
  let descriptor: Descriptor
  let operations: any FileOperations

  private init(_ number: Int32, path: String, _ operations: any FileOperations) {
    descriptor = Descriptor(number, operations)
    self.path = path
    self.operations = operations
  }

  /// Opens the folder at `path`. Creates it with mode 0700 if it is missing.
  package static func open(
    path: String, _ operations: any FileOperations
  ) throws(AssetError) -> Folder {
    if let folder = try existing(path: path, operations) { return folder }
    let path = try File.absolute(path)
    do {
      try addingPath(path) { () throws(SystemFailure) in try operations.makeFolder(path: path) }
    } catch .system(_, _, EEXIST) {}
    // The new folder is durable only when its name in the parent is.
    let parent = String(path[..<(path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex)])
    let number = try addingPath(parent) { () throws(SystemFailure) in
      try operations.open(path: parent + "/", O_RDONLY | O_DIRECTORY)
    }
    try Folder(number, path: parent, operations).sync()
    return try Folder(opening: path, operations)
  }

  private convenience init(
    opening path: String, _ operations: any FileOperations
  ) throws(AssetError) {
    let number = try addingPath(path) { () throws(SystemFailure) in
      try operations.open(path: path, Folder.flags)
    }
    self.init(number, path: path, operations)
  }

  /// Opens the folder at `path`. Returns nil if it doesn't exist.
  package static func existing(
    path: String, _ operations: any FileOperations
  ) throws(AssetError) -> Folder? {
    do {
      return try Folder(opening: File.absolute(path), operations)
    } catch .system(_, _, ENOENT) {
      return nil
    }
  }

  /// Opens a subfolder. Returns nil if it doesn't exist.
  package func folder(_ name: String) throws(AssetError) -> Folder? {
    guard let number = try existing(name, Folder.flags) else { return nil }
    return Folder(number, path: path(of: name), operations)
  }

  /// Opens a subfolder. Creates it if it is missing.
  package func makeFolder(_ name: String) throws(AssetError) -> Folder {
    do {
      try call(name) { () throws(SystemFailure) in
        try operations.makeFolder(name, in: descriptor.number)
      }
    } catch .system(_, _, EEXIST) {}
    let number = try call(name) { () throws(SystemFailure) in
      try operations.open(name, in: descriptor.number, Folder.flags)
    }
    return Folder(number, path: path(of: name), operations)
  }

  /// Creates a file for writing. Throws if the name exists.
  package func makeFile(_ name: String) throws(AssetError) -> File {
    let number = try call(name) { () throws(SystemFailure) in
      try operations.open(
        name, in: descriptor.number, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
    }
    return try File(Descriptor(number, operations), path: path(of: name))
  }

  /// Creates a copy-on-write clone of `source` in this folder. Throws if the file system doesn't
  /// support clones.
  package func clone(_ source: File, as name: String) throws(AssetError) {
    try call(name) { () throws(SystemFailure) in
      try operations.clone(source.descriptor.number, as: name, in: descriptor.number)
    }
  }

  /// Opens a regular file for reading. Returns nil if it doesn't exist.
  package func file(_ name: String) throws(AssetError) -> File? {
    // Without O_NONBLOCK, opening a FIFO would wait for a writer.
    guard let number = try existing(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY) else {
      return nil
    }
    return try File(Descriptor(number, operations), path: path(of: name))
  }

  /// Removes a file and returns whether it existed. Throws if the name is that of a folder.
  @discardableResult
  package func remove(_ name: String) throws(AssetError) -> Bool {
    do {
      try call(name) { () throws(SystemFailure) in
        try operations.remove(name, in: descriptor.number)
      }
      return true
    } catch .system(_, _, ENOENT) {
      return false
    } catch .system(_, _, let number) where [EISDIR, EPERM].contains(number) && isFolder(name) {
      throw .notRegularFile(path: path(of: name))
    }
  }

  private func isFolder(_ name: String) -> Bool {
    (try? folder(name)) != nil
  }

  /// Removes a subfolder if it is empty. Returns true if it no longer exists.
  @discardableResult
  package func removeFolder(_ name: String) throws(AssetError) -> Bool {
    do {
      try call(name) { () throws(SystemFailure) in
        try operations.removeFolder(name, in: descriptor.number)
      }
      return true
    } catch .system(_, _, ENOENT) {
      return true
    } catch .system(_, _, ENOTEMPTY) {
      return false
    }
  }

  /// Returns the names of the files and subfolders. Names that are not valid UTF-8 are omitted.
  package func names() throws(AssetError) -> [String] {
    try addingPath(path) { () throws(SystemFailure) in try operations.names(in: descriptor.number) }
  }

  /// Makes the names of the folder's files and subfolders durable.
  package func sync() throws(AssetError) {
    try addingPath(path) { () throws(SystemFailure) in
      try operations.sync(descriptor.number, emptyingDriveCache: true)
    }
  }
}

extension Folder {
  /// Moves a file to another folder, optionally under a new name, and returns whether it existed.
  /// Never replaces another file.
  ///
  /// If the system can't do this in a single call, the file has both names for a moment. If such a
  /// move is interrupted, the next call completes it.
  @discardableResult
  package func move(
    _ name: String, to other: Folder, as newName: String? = nil
  ) throws(AssetError) -> Bool {
    let newName = newName ?? name
    do {
      try call(name) { () throws(SystemFailure) in
        try operations.move(
          name, from: descriptor.number, to: other.descriptor.number, as: newName)
      }
      return true
    } catch .system(_, _, ENOENT) {
      return false
    } catch .system(_, _, let number) where [EINVAL, ENOSYS, ENOTSUP, EEXIST].contains(number) {
      return try moveByLink(name, to: other, as: newName)
    }
  }

  /// Creates a hard link to a file in another folder.
  func link(_ name: String, to other: Folder, as newName: String) throws(AssetError) {
    try call(name) { () throws(SystemFailure) in
      try operations.link(name, from: descriptor.number, to: other.descriptor.number, as: newName)
    }
  }

  private func moveByLink(
    _ name: String, to other: Folder, as newName: String
  ) throws(AssetError) -> Bool {
    do {
      try link(name, to: other, as: newName)
    } catch .system(_, _, ENOENT) {
      return false
    } catch .system(let call, _, EEXIST) {
      guard let own = try file(name)?.status() else { return false }
      let present = try other.file(newName)?.status()
      guard own.device == present?.device, own.number == present?.number else {
        throw .system(call: call, path: other.path(of: newName), number: EEXIST)
      }
    }
    return try remove(name)
  }

  /// Writes everything in the folder's file system to the storage device (`syncfs`).
  ///
  /// - Returns: False if the system doesn't support this. Nothing is written in this case.
  package func syncFileSystem() throws(AssetError) -> Bool {
    do {
      try addingPath(path) { () throws(SystemFailure) in
        try operations.syncFileSystem(of: descriptor.number)
      }
      return true
    } catch .system(_, _, ENOSYS) {
      return false
    }
  }

  /// Locks the folder until this instance is released.
  ///
  /// The lock belongs to this open descriptor. Two instances in one process therefore exclude each
  /// other as well.
  ///
  /// - Parameter waiting: Whether to wait while another holder has the lock.
  /// - Returns: False if another holder has the lock and `waiting` is false.
  package func lock(waiting: Bool) throws(AssetError) -> Bool {
    do {
      try addingPath(path) { () throws(SystemFailure) in
        try operations.lock(descriptor.number, waiting: waiting)
      }
      return true
    } catch .system(_, _, EWOULDBLOCK) {
      return false
    }
  }

  /// Waits for the lock of this folder, and returns an instance that holds it. The lock is released
  /// when that instance is.
  func locked() throws(AssetError) -> Folder {
    // The lock needs a separate descriptor.
    guard let gate = try folder("."), try gate.lock(waiting: true) else {
      throw .system(call: "flock", path: path, number: EWOULDBLOCK)
    }
    return gate
  }
}

extension Folder {
  /// The flags for opening folders. They prevent following symbolic links.
  static let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW

  /// Returns the path of the file or subfolder `name`, which doesn't have to exist.
  package func path(of name: String) -> String {
    "\(path)/\(name)"
  }

  /// Runs a file system call for the file or subfolder `name`, and adds the path to its error.
  /// Throws if the name isn't a single path component.
  func call<Result>(
    _ name: String, _ call: () throws(SystemFailure) -> Result
  ) throws(AssetError) -> Result {
    // The system would truncate the name at a NUL, and treat a slash as a path.
    guard !name.utf8.contains(0), !name.utf8.contains(UInt8(ascii: "/")) else {
      throw .invalidPath(name)
    }
    return try addingPath(path(of: name), call)
  }

  /// Opens a file or subfolder and returns its descriptor, or nil if it doesn't exist. Throws if it
  /// is a symbolic link or a special file.
  func existing(_ name: String, _ flags: Int32) throws(AssetError) -> Int32? {
    do {
      return try call(name) { () throws(SystemFailure) in
        try operations.open(name, in: descriptor.number, flags)
      }
    } catch .system(_, _, ENOENT) {
      return nil
    } catch .system(_, _, ELOOP) {
      throw .notRegularFile(path: path(of: name))
    } catch .system(_, _, ENXIO) {
      throw .notRegularFile(path: path(of: name))
    }
  }
}

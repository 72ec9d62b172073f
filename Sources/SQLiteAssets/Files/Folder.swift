package import SystemFiles
import Platform

/// A folder held by an open descriptor, so that nobody can replace it.
///
/// Every name given to it must be a single component. Links are never followed.
package final class Folder: Sendable {
  /// The absolute path, for messages and for users.
  package let path: String
  let descriptor: Descriptor
  let operations: any FileOperations

  private init(_ number: Int32, path: String, _ operations: any FileOperations) {
    descriptor = Descriptor(number, operations)
    self.path = path
    self.operations = operations
  }

  /// Opens the folder at `path`, made with 0700 if nothing is there.
  package static func open(
    path: String, _ operations: any FileOperations
  ) throws(AssetError) -> Folder {
    if let folder = try existing(path: path, operations) { return folder }
    let path = try File.absolute(path)
    do {
      try naming(path) { () throws(SystemFailure) in try operations.makeFolder(path: path) }
    } catch .system(_, _, EEXIST) {}
    // The new folder lasts only once its name does.
    let parent = String(path[..<(path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex)])
    let number = try naming(parent) { () throws(SystemFailure) in
      try operations.open(path: parent + "/", O_RDONLY | O_DIRECTORY)
    }
    try Folder(number, path: parent, operations).sync()
    return try Folder(opening: path, operations)
  }

  private convenience init(
    opening path: String, _ operations: any FileOperations
  ) throws(AssetError) {
    let number = try naming(path) { () throws(SystemFailure) in
      try operations.open(path: path, Folder.flags)
    }
    self.init(number, path: path, operations)
  }

  /// Opens the folder at `path`, or nil if nothing is there.
  static func existing(
    path: String, _ operations: any FileOperations
  ) throws(AssetError) -> Folder? {
    do {
      return try Folder(opening: File.absolute(path), operations)
    } catch .system(_, _, ENOENT) {
      return nil
    }
  }

  /// Opens a folder of this folder, or nil if there is none of that name.
  package func folder(_ name: String) throws(AssetError) -> Folder? {
    guard let number = try existing(name, Folder.flags) else { return nil }
    return Folder(number, path: path(of: name), operations)
  }

  /// Makes a folder, if it is not there, and opens it.
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

  /// Makes a file; one that is there already is an error.
  package func makeFile(_ name: String) throws(AssetError) -> File {
    let number = try call(name) { () throws(SystemFailure) in
      try operations.open(
        name, in: descriptor.number, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
    }
    return try File(Descriptor(number, operations), path: path(of: name))
  }

  /// Makes a file that shares the content of `source` until one of them is written to.
  func clone(_ source: File, as name: String) throws(AssetError) {
    try call(name) { () throws(SystemFailure) in
      try operations.clone(source.descriptor.number, as: name, in: descriptor.number)
    }
  }

  /// Opens a regular file for reading, or nil if there is none of that name.
  package func file(_ name: String) throws(AssetError) -> File? {
    // Without O_NONBLOCK a FIFO would wait for its other end.
    guard let number = try existing(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY) else {
      return nil
    }
    return try File(Descriptor(number, operations), path: path(of: name))
  }

  /// Removes a file, and returns whether it was there. A folder of that name is left alone.
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

  /// Removes a folder if it is empty, and returns whether it is gone now.
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

  /// The names in the folder that are UTF-8.
  package func names() throws(AssetError) -> [String] {
    try naming(path) { () throws(SystemFailure) in try operations.names(in: descriptor.number) }
  }

  /// Makes the names in the folder last through a power cut.
  package func sync() throws(AssetError) {
    try naming(path) { () throws(SystemFailure) in
      try operations.sync(descriptor.number, emptyingDriveCache: true)
    }
  }
}

extension Folder {
  /// Moves an entry to another folder, under another name if one is given, and returns whether it was
  /// there. It never replaces another file.
  ///
  /// Where the system cannot do that in one call, the file has both names for a moment; a move
  /// that was cut off there is finished by the next.
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

  /// Gives a file a second name, in another folder.
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

  /// Makes everything written to this folder's file system last, if the system has a call for it.
  ///
  /// - Returns: False if it has none, and nothing was done.
  package func syncFileSystem() throws(AssetError) -> Bool {
    do {
      try naming(path) { () throws(SystemFailure) in
        try operations.syncFileSystem(of: descriptor.number)
      }
      return true
    } catch .system(_, _, ENOSYS) {
      return false
    }
  }

  /// Takes the lock of this folder, until it is closed, and returns whether nobody else has it.
  ///
  /// The lock belongs to this opening of the folder: two in one process exclude each other too.
  package func lock(waiting: Bool) throws(AssetError) -> Bool {
    do {
      try naming(path) { () throws(SystemFailure) in
        try operations.lock(descriptor.number, waiting: waiting)
      }
      return true
    } catch .system(_, _, EWOULDBLOCK) {
      return false
    }
  }

  /// Waits until nobody has the lock of this folder, and takes it until the result is released.
  func locked() throws(AssetError) -> Folder {
    // An opening of its own, which alone the lock belongs to.
    guard let gate = try folder("."), try gate.lock(waiting: true) else {
      throw .system(call: "flock", path: path, number: EWOULDBLOCK)
    }
    return gate
  }
}

extension Folder {
  /// How folders are opened: never through a link.
  static let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW

  /// The path of an entry.
  package func path(of name: String) -> String {
    "\(path)/\(name)"
  }

  /// Runs a call on an entry, and names it if the call fails.
  func call<Result>(
    _ name: String, _ call: () throws(SystemFailure) -> Result
  ) throws(AssetError) -> Result {
    // C would see a shorter name, or one in another folder.
    guard !name.utf8.contains(0), !name.utf8.contains(UInt8(ascii: "/")) else {
      throw .invalidPath(name)
    }
    return try naming(path(of: name), call)
  }

  /// Opens an entry; nil if there is none.
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

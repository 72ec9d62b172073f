import Platform

/// A folder held by an open descriptor, so that nobody can put another in its place.
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
    let path = try absolute(path)
    func opened() throws(AssetError) -> Folder {
      let number = try retrying(path) { () throws(SystemFailure) in
        try operations.open(path: path, Folder.flags)
      }
      return Folder(number, path: path, operations)
    }
    do {
      return try opened()
    } catch .system(_, _, ENOENT) {
      do {
        try retrying(path) { () throws(SystemFailure) in try operations.makeFolder(path: path) }
      } catch .system(_, _, EEXIST) {}
      // The new folder lasts only once its name does.
      let parent = String(path[..<(path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex)])
      let number = try retrying(parent) { () throws(SystemFailure) in
        try operations.open(path: parent + "/", O_RDONLY | O_DIRECTORY)
      }
      try Folder(number, path: parent, operations).sync()
      return try opened()
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
    return try File(Descriptor(number, operations), path: path(of: name), operations: operations)
  }

  /// Makes a file that shares the content of `source` until one of them is written to.
  func clone(_ source: File, as name: String) throws(AssetError) {
    try call(name) { () throws(SystemFailure) in
      try source.withDescriptor { number throws(SystemFailure) in
        try operations.clone(number, as: name, in: descriptor.number)
      }
    }
  }

  /// Opens a regular file for reading, or nil if there is none of that name.
  package func file(_ name: String) throws(AssetError) -> File? {
    // Without O_NONBLOCK a FIFO would wait for its other end.
    guard let number = try existing(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY) else {
      return nil
    }
    return try File(Descriptor(number, operations), path: path(of: name), operations: operations)
  }

  /// Removes a file, and says whether it was there. A folder in its place is left alone.
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

  /// Removes a folder if it is empty, and says whether it is gone now.
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
    try retrying(path) { () throws(SystemFailure) in try operations.names(in: descriptor.number) }
  }

  /// Makes the names in the folder last through a power cut.
  package func sync() throws(AssetError) {
    try retrying(path) { () throws(SystemFailure) in
      try operations.sync(descriptor.number, emptyingDriveCache: true)
    }
  }
}

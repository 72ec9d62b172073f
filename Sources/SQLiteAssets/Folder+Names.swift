import Platform

extension Folder {
  /// How folders are opened: never through a link.
  static let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW

  /// The path of an entry.
  package func path(of name: String) -> String {
    "\(path)/\(name)"
  }

  /// `path` from the root, without slashes at its end: those would make the system follow a link.
  static func absolute(_ path: String) throws(AssetError) -> String {
    guard !path.isEmpty, !path.utf8.contains(0) else { throw .invalidPath(path) }
    var path = path
    // By bytes: a slash with an accent behind it is one character.
    if path.utf8.first != UInt8(ascii: "/") {
      guard let working = unsafe getcwd(nil, 0) else {
        throw .system(call: "getcwd", path: path, number: errno)
      }
      defer { unsafe free(working) }
      guard let folder = unsafe String(validatingCString: working) else {
        throw .invalidPath(unsafe String(cString: working))
      }
      path = folder + "/" + path
    }
    var end = path.utf8.endIndex
    while path.utf8.distance(from: path.startIndex, to: end) > 1,
      path.utf8[path.utf8.index(before: end)] == UInt8(ascii: "/")
    { end = path.utf8.index(before: end) }
    return String(path[..<end])
  }

  /// Runs a call on an entry, and names it if the call fails.
  func call<Result>(
    _ name: String, _ call: () throws(SystemFailure) -> Result
  ) throws(AssetError) -> Result {
    // C would see another name, or one in another folder.
    guard !name.utf8.contains(0), !name.utf8.contains(UInt8(ascii: "/")) else {
      throw .invalidPath(name)
    }
    return try retrying(path(of: name), call)
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

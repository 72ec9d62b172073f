#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

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
    if !path.hasPrefix("/") {
      guard let working = unsafe getcwd(nil, 0) else {
        throw .system(call: "getcwd", path: path, number: errno)
      }
      defer { unsafe free(working) }
      path = unsafe String(cString: working) + "/" + path
    }
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return path
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

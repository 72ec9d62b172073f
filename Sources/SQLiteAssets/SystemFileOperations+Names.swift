import Platform

extension SystemFileOperations {
  package func names(in folder: Int32) throws(SystemFailure) -> [String] {
    // A descriptor of its own: one made by dup would share the place in the listing.
    let own = try open(".", in: folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    guard let listing = unsafe fdopendir(own) else {
      let failure = SystemFailure("fdopendir", errno)
      close(own)
      throw failure
    }
    defer { unsafe closedir(listing) }
    var names: [String] = []
    while true {
      // The end and a failure both give NULL.
      errno = 0
      guard let entry = unsafe readdir(listing) else { break }
      guard let name = unsafe nameOfEntry(entry) else { continue }
      if name != ".", name != ".." { names.append(name) }
    }
    guard errno == 0 else { throw SystemFailure("readdir", errno) }
    return names
  }
}

/// The name in an entry, or nil if it is not UTF-8 and so none of the store's.
private func nameOfEntry(_ entry: UnsafeMutablePointer<dirent>) -> String? {
  guard let offset = MemoryLayout<dirent>.offset(of: \dirent.d_name) else { return nil }
  // By address: copying the structure could read past the end of a short entry.
  let name = unsafe (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self)
  return unsafe String(validatingCString: name)
}

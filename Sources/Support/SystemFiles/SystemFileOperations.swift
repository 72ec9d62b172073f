import Platform

/// The file operations of the operating system.
///
/// New files have the mode 0600 and new folders 0700, restricted by the umask.
package struct SystemFileOperations: FileOperations {
  package init() {}

  /// The descriptor that represents the working directory (`AT_FDCWD`). If you pass it as the
  /// folder, a name can be any path.
  package static let workingFolder = AT_FDCWD

  package func open(path: String, _ flags: Int32) throws(SystemFailure) -> Int32 {
    try check(systemOpen(path, flags), "open")
  }

  package func makeFolder(path: String) throws(SystemFailure) {
    try check(unsafe mkdir(path, 0o700), "mkdir")
  }

  package func open(
    _ name: String, in folder: Int32, _ flags: Int32
  ) throws(SystemFailure) -> Int32 {
    try check(unsafe openat(folder, name, flags | O_CLOEXEC, 0o600), "openat")
  }

  package func makeFolder(_ name: String, in folder: Int32) throws(SystemFailure) {
    try check(unsafe mkdirat(folder, name, 0o700), "mkdirat")
  }

  package func move(
    _ name: String, from folder: Int32, to other: Int32, as newName: String
  ) throws(SystemFailure) {
    #if canImport(Darwin)
      try check(
        unsafe renameatx_np(folder, name, other, newName, UInt32(RENAME_EXCL)), "renameatx_np")
    #else
      try check(unsafe cplatform_move(folder, name, other, newName), "renameat2")
    #endif
  }

  package func link(
    _ name: String, from folder: Int32, to other: Int32, as newName: String
  ) throws(SystemFailure) {
    try check(unsafe linkat(folder, name, other, newName, 0), "linkat")
  }

  package func remove(_ name: String, in folder: Int32) throws(SystemFailure) {
    try check(unsafe unlinkat(folder, name, 0), "unlinkat")
  }

  package func removeFolder(_ name: String, in folder: Int32) throws(SystemFailure) {
    try check(unsafe unlinkat(folder, name, AT_REMOVEDIR), "unlinkat")
  }

  package func status(of file: Int32) throws(SystemFailure) -> FileStatus {
    var status = stat()
    try check(unsafe fstat(file, &status), "fstat")
    return FileStatus(
      isRegularFile: status.st_mode & S_IFMT == S_IFREG, size: Int(status.st_size),
      permissions: Int(status.st_mode & 0o7777), device: UInt64(truncatingIfNeeded: status.st_dev),
      number: UInt64(status.st_ino))
  }

  package func read(
    _ count: Int, at offset: Int, of file: Int32
  ) throws(SystemFailure) -> [UInt8] {
    if count == 0 { return [] }
    var result = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      result = unsafe pread(file, buffer.baseAddress, count, off_t(offset))
      initialized = max(0, result)
    }
    try check(result, "pread")
    return bytes
  }

  package func write(_ bytes: RawSpan, to file: Int32) throws(SystemFailure) -> Int {
    let count = unsafe bytes.withUnsafeBytes { bytes in
      unsafe systemWrite(file, bytes.baseAddress, bytes.count)
    }
    return try check(count, "write")
  }

  package func names(in folder: Int32) throws(SystemFailure) -> [String] {
    // A separate descriptor, because one created by `dup` would share its read position.
    let own = try open(".", in: folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    guard let listing = unsafe fdopendir(own) else {
      let failure = SystemFailure("fdopendir", errno)
      close(own)
      throw failure
    }
    defer { unsafe closedir(listing) }
    var names: [String] = []
    while true {
      // `readdir` returns NULL both at the end and on failure.
      errno = 0
      guard let entry = unsafe readdir(listing) else { break }
      guard let name = unsafe nameOfEntry(entry) else { continue }
      if name != ".", name != ".." { names.append(name) }
    }
    guard errno == 0 else { throw SystemFailure("readdir", errno) }
    return names
  }

  package func clone(
    _ source: Int32, as name: String, in folder: Int32
  ) throws(SystemFailure) {
    #if canImport(Darwin)
      try check(unsafe fclonefileat(source, folder, name, 0), "fclonefileat")
      // The clone has the permissions of the source.
      try check(unsafe fchmodat(folder, name, 0o600, AT_SYMLINK_NOFOLLOW), "fchmodat")
    #else
      let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
      let file = try open(name, in: folder, flags)
      defer { close(file) }
      do {
        try check(cplatform_clone(source, file), "ioctl")
      } catch {
        try? remove(name, in: folder)
        throw error
      }
    #endif
  }

  package func sync(_ file: Int32, emptyingDriveCache: Bool) throws(SystemFailure) {
    #if canImport(Darwin)
      // Not every file system supports F_FULLFSYNC.
      if emptyingDriveCache, fcntl(file, F_FULLFSYNC) == 0 { return }
    #endif
    try check(fsync(file), "fsync")
  }

  package func beginSync(of file: Int32) {
    #if os(Linux)
      cplatform_begin_sync(file)
    #endif
  }

  package func syncFileSystem(of folder: Int32) throws(SystemFailure) {
    #if canImport(Darwin)
      throw SystemFailure("syncfs", ENOSYS)
    #else
      try check(cplatform_syncfs(folder), "syncfs")
    #endif
  }

  package func replace(
    _ name: String, by newName: String, in folder: Int32
  ) throws(SystemFailure) {
    try check(unsafe renameat(folder, newName, folder, name), "renameat")
  }

  package func lock(_ file: Int32, waiting: Bool) throws(SystemFailure) {
    try check(flock(file, waiting ? LOCK_EX : LOCK_EX | LOCK_NB), "flock")
  }

  package func close(_ file: Int32) {
    // Safe to ignore: durable content was synced before, and a failed sync throws.
    systemClose(file)
  }
}

/// Returns the result of a C call, or throws `SystemFailure` if it is -1.
@discardableResult
private func check<Result: SignedInteger>(
  _ result: Result, _ call: String
) throws(SystemFailure) -> Result {
  guard result != -1 else { throw SystemFailure(call, errno) }
  return result
}

// These functions call C functions that methods above shadow.
private func systemOpen(_ path: String, _ flags: Int32) -> Int32 {
  unsafe open(path, flags | O_CLOEXEC)
}

private func systemWrite(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  unsafe write(file, bytes, count)
}

private func systemClose(_ file: Int32) {
  _ = close(file)
}

/// Returns the name of a directory entry, or nil if it isn't valid UTF-8. The library only creates
/// UTF-8 names.
private func nameOfEntry(_ entry: UnsafeMutablePointer<dirent>) -> String? {
  guard let offset = MemoryLayout<dirent>.offset(of: \dirent.d_name) else { return nil }
  // Read through a pointer: copying the structure could read past the end of a short entry.
  let name = unsafe (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self)
  return unsafe String(validatingCString: name)
}

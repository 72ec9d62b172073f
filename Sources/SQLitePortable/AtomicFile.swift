import Platform
import SQLiteCore

/// A file that appears under its name when all of it is written and synced, or not at all.
final class AtomicFile {
  private let path: String
  private let pendingPath: String
  private var descriptor: Int32
  private var buffer: [UInt8] = []

  /// Begins a file.
  ///
  /// - Parameter path: Its name to be. A file there is replaced, unless it is a database in use.
  init(_ path: String) throws(SQLiteError) {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw SQLiteError(.cannotOpen, "“\(path)” is not the path of a file")
    }
    try OpenDatabases.checkMayReplace(path)
    self.path = path
    pendingPath = path + ".pending-" + String(UInt64.random(in: 0 ... .max), radix: 16)
    descriptor = unsafe open(
      pendingPath, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.failure(path, "cannot be written", errno) }
    buffer.reserveCapacity(1 << 17)
  }

  deinit {
    guard descriptor >= 0 else { return }
    _ = close(descriptor)
    _ = unsafe unlink(pendingPath)
  }

  func write(_ bytes: [UInt8]) throws(SQLiteError) {
    buffer += bytes
    if buffer.count >= 1 << 16 { try flush() }
  }

  private func flush() throws(SQLiteError) {
    var written = 0
    while written < buffer.count {
      let count = unsafe buffer.withUnsafeBytes { bytes in
        unsafe Self.systemWrite(
          descriptor, bytes.baseAddress.map { unsafe $0 + written }, bytes.count - written)
      }
      if count < 0 {
        if errno == EINTR { continue }
        throw Self.failure(path, "cannot be written", errno)
      }
      written += count
    }
    buffer.removeAll(keepingCapacity: true)
  }

  /// Lets the file appear under its name, durably.
  func finish() throws(SQLiteError) {
    try flush()
    guard fsync(descriptor) == 0 else { throw Self.failure(path, "cannot be synced", errno) }
    // Somebody may have opened a database there meanwhile.
    try OpenDatabases.checkMayReplace(path)
    guard unsafe rename(pendingPath, path) == 0 else {
      throw Self.failure(path, "cannot be replaced", errno)
    }
    _ = close(descriptor)
    descriptor = -1
    syncFolder()
  }

  /// Makes the new name last. The content is whole, whether or not this succeeds.
  private func syncFolder() {
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    _ = fsync(descriptor)
    _ = close(descriptor)
  }

  @unsafe private static func systemWrite(
    _ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int
  ) -> Int {
    #if canImport(Glibc)
      unsafe Glibc.write(descriptor, start, count)
    #elseif canImport(Musl)
      unsafe Musl.write(descriptor, start, count)
    #elseif canImport(Darwin)
      unsafe Darwin.write(descriptor, start, count)
    #endif
  }

  static func failure(_ path: String, _ what: String, _ number: Int32) -> SQLiteError {
    SQLiteError(.cannotOpen, "\(path): the file \(what): \(systemMessage(number))")
  }
}

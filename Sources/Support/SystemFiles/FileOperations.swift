import Platform

/// The file system functions that the library uses. Each requirement names the C function that it
/// calls.
///
/// ``SystemFileOperations`` is the implementation. Tests wrap it to inject failures and short
/// writes or to record calls. Retries (`EINTR`, short reads and writes) and fallbacks are
/// implemented above this protocol, in ``Descriptor`` and its users, so that the tests cover them
/// too.
package protocol FileOperations: Sendable {
  /// Opens a file or folder at a path relative to the working directory (`open`).
  func open(path: String, _ flags: Int32) throws(SystemFailure) -> Int32
  /// Creates a folder at a path relative to the working directory (`mkdir`).
  func makeFolder(path: String) throws(SystemFailure)
  /// Opens an entry of a folder. Creates it if `flags` contains `O_CREAT` (`openat`).
  func open(_ name: String, in folder: Int32, _ flags: Int32) throws(SystemFailure) -> Int32
  /// Creates a folder inside a folder (`mkdirat`).
  func makeFolder(_ name: String, in folder: Int32) throws(SystemFailure)
  /// Moves an entry to another folder and name. Fails if that name exists (`renameat2`,
  /// `renameatx_np`).
  func move(
    _ name: String, from folder: Int32, to other: Int32, as newName: String
  ) throws(SystemFailure)
  /// Creates a hard link to an entry (`linkat`).
  func link(
    _ name: String, from folder: Int32, to other: Int32, as newName: String
  ) throws(SystemFailure)
  /// Renames the entry `newName` to `name`. Replaces an existing file or empty folder (`renameat`).
  func replace(_ name: String, by newName: String, in folder: Int32) throws(SystemFailure)
  /// Removes a file from a folder (`unlinkat`).
  func remove(_ name: String, in folder: Int32) throws(SystemFailure)
  /// Removes an empty folder from a folder (`unlinkat` with `AT_REMOVEDIR`).
  func removeFolder(_ name: String, in folder: Int32) throws(SystemFailure)
  /// Returns the names of the entries of a folder, without `.`, `..` and names that aren't valid
  /// UTF-8 (`readdir`).
  func names(in folder: Int32) throws(SystemFailure) -> [String]
  /// Returns the type, size and permissions of an open file (`fstat`).
  func status(of file: Int32) throws(SystemFailure) -> FileStatus
  /// Reads up to `count` bytes starting at `offset`. Returns an empty array at the end of the file
  /// (`pread`).
  func read(_ count: Int, at offset: Int, of file: Int32) throws(SystemFailure) -> [UInt8]
  /// Writes bytes at the file's current position and returns the number of written bytes, which can
  /// be less than all (`write`).
  func write(_ bytes: RawSpan, to file: Int32) throws(SystemFailure) -> Int
  /// Creates a copy-on-write clone of an open file. Fails if the file system doesn't support clones
  /// (`FICLONE`, `fclonefileat`).
  func clone(_ source: Int32, as name: String, in folder: Int32) throws(SystemFailure)
  /// Flushes the content of a file or folder to the disk (`fsync`).
  ///
  /// On Darwin, `fsync` doesn't flush the drive's cache. When you sync several files, pass true for
  /// `emptyingDriveCache` only for the last one (`F_FULLFSYNC`).
  func sync(_ file: Int32, emptyingDriveCache: Bool) throws(SystemFailure)
  /// Starts writing the content of a file to the disk without waiting, if the system supports it
  /// (`sync_file_range`).
  func beginSync(of file: Int32)
  /// Flushes everything that was written to the file system that contains a folder. Fails with
  /// `ENOSYS` on systems other than Linux (`syncfs`).
  func syncFileSystem(of folder: Int32) throws(SystemFailure)
  /// Locks a file or folder exclusively for this open file description (`flock`).
  ///
  /// - Throws: `SystemFailure` with `EWOULDBLOCK` if it is already locked and `waiting` is false.
  func lock(_ file: Int32, waiting: Bool) throws(SystemFailure)
  /// Closes a descriptor (`close`).
  func close(_ file: Int32)
}

extension FileOperations {
  package func beginSync(of file: Int32) {}
}

/// The error of a failed C call.
package struct SystemFailure: Error, Hashable {
  /// The name of the C function.
  package let call: String
  /// The error number (`errno`), such as `EIO`.
  package let number: Int32

  package init(_ call: String, _ number: Int32) {
    self.call = call
    self.number = number
  }
}

/// The type, size, permissions and identity of an open file.
package struct FileStatus: Hashable, Sendable {
  package let isRegularFile: Bool
  package let size: Int
  /// The permission bits of the mode.
  package let permissions: Int
  /// The device of the file. Two names refer to the same file if `device` and `number` (the inode)
  /// are equal.
  package let device: UInt64
  package let number: UInt64
}

/// An open file descriptor that is closed when the instance is deinitialized. Retries calls that a
/// signal interrupts.
package final class Descriptor: Sendable {
  package let number: Int32
  private let operations: any FileOperations

  package init(_ number: Int32, _ operations: any FileOperations) {
    self.number = number
    self.operations = operations
  }

  deinit {
    operations.close(number)
  }

  /// Returns the type, size and permissions of the file (`fstat`).
  package func status() throws(SystemFailure) -> FileStatus {
    try retrying { () throws(SystemFailure) in try operations.status(of: number) }
  }

  /// Reads `count` bytes starting at `offset`. Returns fewer bytes only at the end of the file.
  package func read(_ count: Int, at offset: Int) throws(SystemFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      let missing = count - bytes.count
      let start = offset + bytes.count
      let piece = try retrying { () throws(SystemFailure) in
        try operations.read(missing, at: start, of: number)
      }
      if piece.isEmpty { break }
      if piece.count == count { return piece }
      bytes += piece
    }
    return bytes
  }

  /// Writes all of `bytes` at the file's current position, with several calls if necessary.
  ///
  /// - Throws: `SystemFailure` if a write fails. A part of the bytes may be written then.
  package func write(_ bytes: RawSpan) throws(SystemFailure) {
    var written = 0
    while written < bytes.byteCount {
      let rest = bytes.extracting(written..<bytes.byteCount)
      written += try retrying { () throws(SystemFailure) in
        try operations.write(rest, to: number)
      }
    }
  }

  /// Starts writing the content to the disk without waiting, if the system supports it.
  package func beginSync() { operations.beginSync(of: number) }

  /// Flushes the content to the disk, so that it survives a power failure. Pass false for
  /// `emptyingDriveCache` if you sync another file afterwards: on Darwin, the content may stay in
  /// the drive's cache until then.
  ///
  /// - Throws: `SystemFailure` if `fsync` fails.
  package func sync(emptyingDriveCache: Bool = true) throws(SystemFailure) {
    try retrying { () throws(SystemFailure) in
      try operations.sync(number, emptyingDriveCache: emptyingDriveCache)
    }
  }
}

/// Repeats a C call until no signal interrupts it (`EINTR`), and returns its result.
///
/// - Throws: `SystemFailure` if the call fails for another reason.
package func retrying<Result>(
  _ call: () throws(SystemFailure) -> Result
) throws(SystemFailure) -> Result {
  while true {
    do {
      return try call()
    } catch {
      guard error.number == EINTR else { throw error }
    }
  }
}

import Platform

/// The calls into the file system that stores of files make, one C call each.
///
/// ``SystemFileOperations`` makes them. A test wraps those to fail, to cut short or to record
/// any one of them. ``Descriptor`` and its users above repeat a call (`EINTR`, short reads and writes)
/// or try another one, so that such a test reaches that code, too.
package protocol FileOperations: Sendable {
  /// Opens `path` from the working directory (`open`).
  func open(path: String, _ flags: Int32) throws(SystemFailure) -> Int32
  /// Makes a folder at `path` from the working directory (`mkdir`).
  func makeFolder(path: String) throws(SystemFailure)
  /// Opens, or with `O_CREAT` makes, an entry of a folder (`openat`).
  func open(_ name: String, in folder: Int32, _ flags: Int32) throws(SystemFailure) -> Int32
  /// Makes a folder in a folder (`mkdirat`).
  func makeFolder(_ name: String, in folder: Int32) throws(SystemFailure)
  /// Gives an entry another folder and name, never over another entry (`renameat2`, `renameatx_np`).
  func move(
    _ name: String, from folder: Int32, to other: Int32, as newName: String
  ) throws(SystemFailure)
  /// Gives an entry a second folder and name (`linkat`).
  func link(
    _ name: String, from folder: Int32, to other: Int32, as newName: String
  ) throws(SystemFailure)
  /// Gives an entry another name, in place of the file that has it (`renameat`).
  func replace(_ name: String, by newName: String, in folder: Int32) throws(SystemFailure)
  /// Removes a file from a folder (`unlinkat`).
  func remove(_ name: String, in folder: Int32) throws(SystemFailure)
  /// Removes an empty folder from a folder (`unlinkat` with `AT_REMOVEDIR`).
  func removeFolder(_ name: String, in folder: Int32) throws(SystemFailure)
  /// The names in a folder that are UTF-8, without `.` and `..` (`readdir`).
  func names(in folder: Int32) throws(SystemFailure) -> [String]
  /// The kind, size and permissions of an open file (`fstat`).
  func status(of file: Int32) throws(SystemFailure) -> FileStatus
  /// Reads up to `count` bytes that begin at `offset`; none at the end (`pread`).
  func read(_ count: Int, at offset: Int, of file: Int32) throws(SystemFailure) -> [UInt8]
  /// Appends bytes and returns how many (`write`).
  func write(_ bytes: RawSpan, to file: Int32) throws(SystemFailure) -> Int
  /// Makes an entry that shares the content of an open file (`FICLONE`, `fclonefileat`), or none.
  func clone(_ source: Int32, as name: String, in folder: Int32) throws(SystemFailure)
  /// Makes the content of a file or of a folder last (`fsync`).
  ///
  /// On Darwin `fsync` leaves it in the drive's cache. Several files need that emptied only once,
  /// with the last of them (`F_FULLFSYNC`).
  func sync(_ file: Int32, emptyingDriveCache: Bool) throws(SystemFailure)
  /// Lets the system begin to write the content of a file to the disk, if it can (`sync_file_range`).
  func beginSync(of file: Int32)
  /// Makes everything written to the file system of a folder last (`syncfs`, on Linux only).
  func syncFileSystem(of folder: Int32) throws(SystemFailure)
  /// Locks a file or folder for this open descriptor alone (`flock`).
  func lock(_ file: Int32, waiting: Bool) throws(SystemFailure)
  /// Gives a descriptor back (`close`).
  func close(_ file: Int32)
}

extension FileOperations {
  package func beginSync(of file: Int32) {}
}

/// A C call that failed.
package struct SystemFailure: Error, Hashable {
  /// The C function's name.
  package let call: String
  /// The error number, such as `EIO`.
  package let number: Int32

  package init(_ call: String, _ number: Int32) {
    self.call = call
    self.number = number
  }
}

/// The kind, size and permissions of an open file.
package struct FileStatus: Hashable, Sendable {
  package let isRegularFile: Bool
  package let size: Int
  /// The permission bits.
  package let permissions: Int
  /// The device and the number on it: equal for two names of one file.
  package let device: UInt64
  package let number: UInt64
}

/// An open file descriptor, closed when its owner goes. Calls that a signal interrupts are repeated.
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

  /// The kind, size and permissions (`fstat`).
  package func status() throws(SystemFailure) -> FileStatus {
    try retrying { () throws(SystemFailure) in try operations.status(of: number) }
  }

  /// Reads `count` bytes that begin at `offset`, fewer only at the end of the file.
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

  /// Appends all of `bytes`.
  package func write(_ bytes: RawSpan) throws(SystemFailure) {
    var written = 0
    while written < bytes.byteCount {
      let rest = bytes.extracting(written..<bytes.byteCount)
      written += try retrying { () throws(SystemFailure) in
        try operations.write(rest, to: number)
      }
    }
  }

  /// Lets the system begin to write the content to the disk.
  package func beginSync() { operations.beginSync(of: number) }

  /// Makes the content last through a power cut.
  package func sync(emptyingDriveCache: Bool = true) throws(SystemFailure) {
    try retrying { () throws(SystemFailure) in
      try operations.sync(number, emptyingDriveCache: emptyingDriveCache)
    }
  }
}

/// Repeats a C call that a signal interrupted.
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

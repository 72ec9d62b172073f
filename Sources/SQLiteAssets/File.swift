import Platform
import SQLiteCore

/// A regular file of a store, open for reading, or for appending if it was just made.
///
/// Reads say where they begin, so that several readers may share one file.
package final class File: Sendable {
  /// Where the file was when it was opened.
  package let path: String
  private let descriptor: Descriptor
  private let operations: any FileOperations

  /// Takes over a descriptor, and closes it if it is not of a regular file.
  init(
    _ descriptor: Descriptor, path: String, operations: any FileOperations
  ) throws(AssetError) {
    self.descriptor = descriptor
    self.path = path
    self.operations = operations
    guard try status().isRegularFile else { throw .notRegularFile(path: path) }
  }

  /// The kind, size and permissions (`fstat`).
  package func status() throws(AssetError) -> FileStatus {
    try retrying(path) { () throws(SystemFailure) in try operations.status(of: descriptor.number) }
  }

  /// Reads `count` bytes that begin at `offset`, fewer only at the end of the file.
  package func read(_ count: Int, at offset: Int) throws(AssetError) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      let missing = count - bytes.count
      let place = offset + bytes.count
      let piece = try retrying(path) { () throws(SystemFailure) in
        try operations.read(missing, at: place, of: descriptor.number)
      }
      if piece.isEmpty { break }
      if piece.count == count { return piece }
      bytes += piece
    }
    return bytes
  }

  /// Appends all of `bytes`.
  package func write(_ bytes: RawSpan) throws(AssetError) {
    var written = 0
    while written < bytes.byteCount {
      let rest = bytes.extracting(written..<bytes.byteCount)
      written += try retrying(path) { () throws(SystemFailure) in
        try operations.write(rest, to: descriptor.number)
      }
    }
  }

  /// Lends the descriptor's number, which must not be closed.
  func withDescriptor<Result>(
    _ body: (Int32) throws(SystemFailure) -> Result
  ) throws(SystemFailure) -> Result {
    try body(descriptor.number)
  }

  /// Makes the content last through a power cut.
  ///
  /// - Parameter isLast: False if another file or folder is synced after it: that may be needed too.
  package func sync(isLast: Bool = true) throws(AssetError) {
    try retrying(path) { () throws(SystemFailure) in
      try operations.sync(descriptor.number, emptyingDriveCache: isLast)
    }
  }
}

extension File {
  /// Opens a user's file for reading, through links if need be.
  static func open(path: String, _ operations: any FileOperations) throws(AssetError) -> File {
    let path = try Folder.absolute(path)
    // SQLite would lose its locks on the file when it is closed here.
    guard !OpenDatabases.contains(path) else { throw .openDatabase(path: path) }
    let number = try retrying(path) { () throws(SystemFailure) in
      try operations.open(path: path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
    }
    return try File(Descriptor(number, operations), path: path, operations: operations)
  }
}

package import SystemFiles
import Platform
import SQLiteCore

/// A regular file. If ``Folder/makeFile(_:)`` has created it, it is open for writing, otherwise for
/// reading.
///
/// Reads specify their offset, so several readers can share one file.
package final class File: Sendable {
  /// The path at which the file was opened. It may have been moved since then.
  package let path: String
  let descriptor: Descriptor

  /// Creates a file that owns an open descriptor. Closes the descriptor and throws if it isn't that
  /// of a regular file.
  init(_ descriptor: Descriptor, path: String) throws(AssetError) {
    self.descriptor = descriptor
    self.path = path
    guard try status().isRegularFile else { throw .notRegularFile(path: path) }
  }

  /// Returns the file's type, size and permissions (`fstat`).
  package func status() throws(AssetError) -> FileStatus {
    try addingPath(path) { () throws(SystemFailure) in try descriptor.status() }
  }

  /// Reads `count` bytes at `offset`. Returns fewer bytes only at the end of the file.
  package func read(_ count: Int, at offset: Int) throws(AssetError) -> [UInt8] {
    try addingPath(path) { () throws(SystemFailure) in try descriptor.read(count, at: offset) }
  }

  /// Appends bytes to the file.
  package func write(_ bytes: RawSpan) throws(AssetError) {
    try addingPath(path) { () throws(SystemFailure) in try descriptor.write(bytes) }
  }

  /// Asks the system to start writing the content to disk, which shortens a later
  /// ``sync(isLast:)``.
  func beginSync() { descriptor.beginSync() }

  /// Makes the content durable.
  ///
  /// - Parameter isLast: False if you sync another file or folder afterwards. The content may not
  ///   be durable until then.
  package func sync(isLast: Bool = true) throws(AssetError) {
    try addingPath(path) { () throws(SystemFailure) in
      try descriptor.sync(emptyingDriveCache: isLast)
    }
  }
}

extension File {
  /// Reads the whole file in constant memory, and returns its size and digest.
  ///
  /// - Parameter body: A closure that receives each piece.
  @discardableResult
  func forEachPiece(
    _ body: ([UInt8]) throws(AssetError) -> Void = { _ throws(AssetError) in }
  ) throws(AssetError) -> (size: Int, sha256: AssetDigest) {
    var size = 0
    var hash = SHA256()
    while true {
      let piece = try read(File.pieceSize, at: size)
      try body(piece)
      hash.update(piece)
      size += piece.count
      if piece.count < File.pieceSize { return (size, hash.finalize()) }
    }
  }

  /// The size in bytes of the pieces in which files are read.
  static let pieceSize = 256 << 10

  /// Returns `path` as an absolute path without trailing slashes. A trailing slash would make the
  /// system follow a symbolic link.
  static func absolute(_ path: String) throws(AssetError) -> String {
    guard !path.isEmpty, !path.utf8.contains(0) else { throw .invalidPath(path) }
    var path = path
    // Compare bytes: a slash followed by a combining accent is a single character.
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

  /// The size of the file in bytes.
  package var size: Int {
    get throws(AssetError) { try status().size }
  }

  /// Reads the whole file into memory and returns its bytes.
  package func readAll() throws(AssetError) -> [UInt8] { try read(size, at: 0) }

  /// Returns the SHA-256 digest of the file, computed in constant memory.
  package func sha256() throws(AssetError) -> AssetDigest { try forEachPiece().sha256 }

  /// Opens a file outside the store for reading. Follows symbolic links. Throws
  /// ``AssetError/openDatabase(path:)`` for a file of a database that is open in this process.
  package static func open(
    path: String, _ operations: any FileOperations = SystemFileOperations()
  ) throws(AssetError) -> File {
    let path = try absolute(path)
    // If this process closed the file of an open database, SQLite would lose its locks.
    guard !OpenDatabases.contains(path) else { throw .openDatabase(path: path) }
    let number = try addingPath(path) { () throws(SystemFailure) in
      try operations.open(path: path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
    }
    return try File(Descriptor(number, operations), path: path)
  }
}

/// Runs a file system call, repeatedly if signals interrupt it, and adds the path to its error.
package func addingPath<Result>(
  _ path: @autoclosure () -> String, _ call: () throws(SystemFailure) -> Result
) throws(AssetError) -> Result {
  do {
    return try retrying(call)
  } catch {
    throw .system(call: error.call, path: path(), number: error.number)
  }
}

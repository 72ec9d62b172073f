package import SystemFiles
import Platform
import SQLiteCore

/// A regular file of a store, open for reading, or for appending if it was just made.
///
/// Reads say where they begin, so that several readers may share one file.
package final class File: Sendable {
  /// Where the file was when it was opened.
  package let path: String
  let descriptor: Descriptor

  /// Takes over a descriptor, and closes it if it is not of a regular file.
  init(_ descriptor: Descriptor, path: String) throws(AssetError) {
    self.descriptor = descriptor
    self.path = path
    guard try status().isRegularFile else { throw .notRegularFile(path: path) }
  }

  /// The kind, size and permissions (`fstat`).
  package func status() throws(AssetError) -> FileStatus {
    try naming(path) { () throws(SystemFailure) in try descriptor.status() }
  }

  /// Reads `count` bytes that begin at `offset`, fewer only at the end of the file.
  package func read(_ count: Int, at offset: Int) throws(AssetError) -> [UInt8] {
    try naming(path) { () throws(SystemFailure) in try descriptor.read(count, at: offset) }
  }

  /// Appends all of `bytes`.
  package func write(_ bytes: RawSpan) throws(AssetError) {
    try naming(path) { () throws(SystemFailure) in try descriptor.write(bytes) }
  }

  /// Lets the system begin to write the content to the disk, so that ``sync(isLast:)`` takes less long.
  func beginSync() { descriptor.beginSync() }

  /// Makes the content last through a power cut.
  ///
  /// - Parameter isLast: False if another file or folder is synced after it: that may be needed too.
  package func sync(isLast: Bool = true) throws(AssetError) {
    try naming(path) { () throws(SystemFailure) in try descriptor.sync(emptyingDriveCache: isLast) }
  }
}

extension File {
  /// Reads the file to its end in constant memory, and returns its size and digest.
  ///
  /// - Parameter body: Called with each piece.
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

  /// How many bytes are held in memory when a file is read piece by piece.
  static let pieceSize = 256 << 10

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

  /// The number of bytes.
  package var size: Int {
    get throws(AssetError) { try status().size }
  }

  /// Reads all bytes.
  package func readAll() throws(AssetError) -> [UInt8] { try read(size, at: 0) }

  /// The SHA-256 of the bytes, taken in constant memory.
  package func sha256() throws(AssetError) -> AssetDigest { try forEachPiece().sha256 }

  /// Opens a user's file for reading, through links if need be.
  package static func open(
    path: String, _ operations: any FileOperations = SystemFileOperations()
  ) throws(AssetError) -> File {
    let path = try absolute(path)
    // SQLite would lose its locks on the file when it is closed here.
    guard !OpenDatabases.contains(path) else { throw .openDatabase(path: path) }
    let number = try naming(path) { () throws(SystemFailure) in
      try operations.open(path: path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
    }
    return try File(Descriptor(number, operations), path: path)
  }
}

/// Runs a call into the file system, and names the path that it fails for.
func naming<Result>(
  _ path: @autoclosure () -> String, _ call: () throws(SystemFailure) -> Result
) throws(AssetError) -> Result {
  do {
    return try retrying(call)
  } catch {
    throw .system(call: error.call, path: path(), number: error.number)
  }
}

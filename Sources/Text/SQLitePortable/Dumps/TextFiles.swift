import Platform
import SQLiteCore
import SystemFiles

/// A writer for a text file that appears at its path once the text is complete.
final class TextWriter {
  private let file: AtomicFile
  private let content: Descriptor
  private var buffer: [UInt8] = []

  /// Creates a writer for the file at `path`. ``finish()`` replaces an existing file. Throws if the
  /// file is a database that is open or was not closed.
  init(_ path: String) throws(SQLiteError) {
    file = try AtomicFile(path)
    content = try file.makeFile()
    buffer.reserveCapacity(1 << 17)
  }

  func write(_ bytes: [UInt8]) throws(SQLiteError) {
    buffer += bytes
    if buffer.count >= 1 << 16 { try flush() }
  }

  private func flush() throws(SQLiteError) {
    var bytes: [UInt8] = []
    swap(&bytes, &buffer)
    try naming(file.path, "cannot be written") { () throws(SystemFailure) in
      try content.write(unsafe bytes.span.bytes)
    }
    bytes.removeAll(keepingCapacity: true)
    swap(&bytes, &buffer)
  }

  /// Publishes the complete file at its path.
  func finish() throws(SQLiteError) {
    try flush()
    try file.publish(replacing: true)
  }
}

/// A reader that returns the lines of a file.
final class LineReader {
  /// The maximum length of a line in bytes.
  static let maximumLength = 1 << 30

  let path: String
  /// The size of the file in bytes.
  let size: Int
  /// The number of bytes in the lines that have been returned, including their line breaks.
  private(set) var position = 0
  private let file: Descriptor
  /// The number of bytes that have been read from the file.
  private var read = 0
  private var buffer: [UInt8] = []
  /// The number of bytes at the start of `buffer` that belong to returned lines.
  private var used = 0
  private var isAtEnd = false

  init(_ path: String) throws(SQLiteError) {
    try checkIsPath(path)
    try OpenDatabases.checkIsNone(path)
    self.path = path
    let file = try naming(path, "cannot be read") { () throws(SystemFailure) in
      let operations = SystemFileOperations()
      // Without O_NONBLOCK, opening a pipe that has no writer would block.
      return Descriptor(try operations.open(path: path, O_RDONLY | O_NONBLOCK), operations)
    }
    let status = try naming(path, "cannot be read") { () throws(SystemFailure) in
      try file.status()
    }
    guard status.isRegularFile else {
      throw SQLiteError(.cannotOpen, "\(path): not a regular file")
    }
    self.file = file
    size = status.size
  }

  /// Returns the next line without its line break, or nil after the last one.
  func next() throws(SQLiteError) -> [UInt8]? {
    var searched = used
    while true {
      if let end = buffer[searched...].firstIndex(of: 0x0a) {
        let line = Array(buffer[used..<end])
        position += line.count + 1
        used = end + 1
        return line
      }
      if isAtEnd {
        guard used < buffer.count else { return nil }
        let line = Array(buffer[used...])
        position += line.count
        used = buffer.count
        return line
      }
      buffer.removeFirst(used)
      used = 0
      searched = buffer.count
      guard buffer.count <= Self.maximumLength else {
        throw SQLiteError(.tooBig, "\(path): a line is longer than \(Self.maximumLength) bytes")
      }
      try fill()
    }
  }

  private func fill() throws(SQLiteError) {
    // Double the buffer, so that the start of a long line isn't copied too often.
    let wanted = max(1 << 16, buffer.count)
    let piece = try naming(path, "cannot be read") { () throws(SystemFailure) in
      try file.read(wanted, at: read)
    }
    read += piece.count
    isAtEnd = piece.count < wanted
    buffer += piece
  }
}

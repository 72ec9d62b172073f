import Platform
import SQLiteCore

/// Reads a file line by line.
final class LineReader {
  /// The longest line in bytes: as long as SQLite's longest value is in base64, and then some.
  static let maximumLength = 1 << 30

  let path: String
  /// The size of the file.
  let size: Int
  /// How many bytes have been handed out.
  private(set) var position = 0
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  /// How many bytes of the buffer are used up.
  private var used = 0
  private var isAtEnd = false

  init(_ path: String) throws(SQLiteError) {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw SQLiteError(.cannotOpen, "“\(path)” is not the path of a file")
    }
    try OpenDatabases.checkIsNone(path)
    self.path = path
    // A pipe without a writer would keep us waiting.
    descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw AtomicFile.failure(path, "cannot be read", errno) }
    var status = stat()
    let isKnown = unsafe fstat(descriptor, &status) == 0
    size = isKnown ? Int(status.st_size) : 0
    guard isKnown, status.st_mode & S_IFMT == S_IFREG else {
      _ = close(descriptor)
      throw SQLiteError(.cannotOpen, "\(path): this is no regular file")
    }
  }

  deinit {
    _ = close(descriptor)
  }

  /// The next line without its end, or nil behind the last one.
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
    // As much again as there is, so that a long line is not moved too often.
    let wanted = max(1 << 16, buffer.count)
    let chunk = unsafe [UInt8](unsafeUninitializedCapacity: wanted) { bytes, count in
      var result: Int
      repeat {
        result = unsafe read(descriptor, bytes.baseAddress, wanted)
      } while result < 0
        && errno == EINTR
      count = max(0, result)
      isAtEnd = result <= 0
      failure = result < 0 ? errno : 0
    }
    guard failure == 0 else { throw AtomicFile.failure(path, "cannot be read", failure) }
    buffer += chunk
  }

  private var failure: Int32 = 0
}

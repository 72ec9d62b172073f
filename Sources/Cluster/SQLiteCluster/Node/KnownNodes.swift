import Platform
import SQLiteCore
import SystemFiles

/// The file in which a client stores the addresses of the known nodes, one per line.
///
/// The file is replaced atomically, so a crash leaves either the old or the new content. Several
/// programs can share a file; the last writer wins.
struct KnownNodes {
  private static let maximumSize = 1 << 20

  private let path: String
  private let operations = SystemFileOperations()

  init(_ path: String) throws(SQLiteError) {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw SQLiteError(
        .misuse, "the path of the file for the known nodes is empty or contains a NUL character")
    }
    self.path = path
  }

  /// Returns the first 1,000 addresses in the first MiB of the file. Skips lines that can't be
  /// addresses. Returns an empty array if the file doesn't exist.
  func read() throws(SQLiteError) -> [String] {
    do throws(SystemFailure) {
      // O_NONBLOCK, because opening a pipe without a writer would block.
      let file = Descriptor(try operations.open(path: path, O_RDONLY | O_NONBLOCK), operations)
      guard try file.status().isRegularFile else {
        throw SystemFailure("open", EINVAL)
      }
      let bytes = try file.read(KnownNodes.maximumSize, at: 0)
      // A node may report at most 1,000 nodes, too.
      return bytes.split(separator: 0x0a).filter(KnownNodes.mayBeAddress).prefix(1_000)
        .map { String(decoding: $0, as: UTF8.self) }
    } catch {
      if error.number == ENOENT { return [] }
      throw failure("read", error)
    }
  }

  /// Returns whether a line may be an address: UTF-8 text of at most 300 bytes without control
  /// characters. A host name has at most 253 bytes, and a socket path has fewer.
  private static func mayBeAddress(_ line: ArraySlice<UInt8>) -> Bool {
    line.count <= 300 && line.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
      && String(validating: line, as: UTF8.self) != nil
  }

  /// Replaces the content of the file with `addresses`, one per line. Skips addresses that are
  /// empty or contain a newline.
  func write(_ addresses: [String]) throws(SQLiteError) {
    let lines = addresses.filter { !$0.utf8.contains(0x0a) && !$0.isEmpty }
    let bytes = Array((lines.joined(separator: "\n") + "\n").utf8)
    do throws(SystemFailure) {
      let file = try PendingFile(path)
      try unsafe file.makeFile().write(bytes.span.bytes)
      try file.publish(replacing: true)
    } catch {
      throw failure("written", error)
    }
  }

  private func failure(_ purpose: String, _ failure: SystemFailure) -> SQLiteError {
    SQLiteError(
      .cannotOpen,
      "\(path): the file for the known nodes cannot be \(purpose): \(systemMessage(failure.number))"
    )
  }
}

import Platform
import SQLiteCore
import SystemFiles

/// The file in which a client keeps the addresses of the nodes that it has learned, one a line.
///
/// It is replaced in whole, so that a crash leaves the old or the new one. Several programs may share it: the
/// last one to learn something writes it.
struct KnownNodes {
  private static let maximumSize = 1 << 20

  private let path: String
  private let operations = SystemFileOperations()

  init(_ path: String) throws(SQLiteError) {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw SQLiteError(
        .misuse, "the path of the file for the known nodes is empty or contains a NUL")
    }
    self.path = path
  }

  /// Reads the addresses; none if there is no file yet. Lines that cannot be addresses are left out.
  func read() throws(SQLiteError) -> [String] {
    do throws(SystemFailure) {
      // A pipe without a writer would keep us waiting.
      let file = Descriptor(try operations.open(path: path, O_RDONLY | O_NONBLOCK), operations)
      guard try file.status().isRegularFile else {
        throw SystemFailure("open", EINVAL)
      }
      let bytes = try file.read(KnownNodes.maximumSize, at: 0)
      // As many as a node may name.
      return bytes.split(separator: 0x0a).filter(KnownNodes.mayBeAddress).prefix(1_000)
        .map { String(decoding: $0, as: UTF8.self) }
    } catch {
      if error.number == ENOENT { return [] }
      throw failure("read", error)
    }
  }

  /// Whether a line may be an address of some transport: a name of a host has 253 bytes at the most, and a path of a
  /// socket less.
  private static func mayBeAddress(_ line: ArraySlice<UInt8>) -> Bool {
    line.count <= 300 && line.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
      && String(validating: line, as: UTF8.self) != nil
  }

  /// Replaces the addresses.
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

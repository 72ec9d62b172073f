import Foundation

/// A connection that only sends messages and waits for answers. Its time is the lower bound for any
/// client.
final class BareConnection {
  private let descriptor: Int32
  private var buffer = [UInt8](repeating: 0, count: 1 << 20)
  private var count = 0

  init(_ address: String) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var name = BareConnection.loopback(UInt16(address.split(separator: ":")[1]) ?? 0)
    let code = unsafe withUnsafePointer(to: &name) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard code == 0 else { throw Failure("\(address) cannot be reached") }
    var yes: Int32 = 1
    unsafe setsockopt(
      descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    send(BareConnection.words([1]))
  }

  deinit { close(descriptor) }

  private static func loopback(_ port: UInt16) -> sockaddr_in {
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    name.sin_port = port.bigEndian
    return name
  }

  static func freePort() throws -> UInt16 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var name = loopback(0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = unsafe withUnsafeMutablePointer(to: &name) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
      }
    }
    guard isBound else { throw Failure("no port is free") }
    return UInt16(bigEndian: name.sin_port)
  }

  // MARK: Messages

  static func words(_ words: [UInt64]) -> [UInt8] {
    words.flatMap { word in (0..<8).map { UInt8(word >> (8 * $0) & 255) } }
  }

  static func text(_ text: String) -> [UInt8] {
    var bytes = Array(text.utf8) + [0]
    while bytes.count % 8 != 0 { bytes.append(0) }
    return bytes
  }

  static func message(_ kind: UInt8, _ body: [UInt8]) -> [UInt8] {
    words([UInt64(body.count / 8) | UInt64(kind) << 32]) + body
  }

  func send(_ bytes: [UInt8]) {
    var sent = 0
    while sent < bytes.count {
      let written = unsafe bytes.withUnsafeBytes {
        unsafe Foundation.send(
          descriptor, $0.baseAddress.map { unsafe $0 + sent }, $0.count - sent, Int32(MSG_NOSIGNAL))
      }
      guard written > 0 else { return }
      sent += written
    }
  }

  /// Waits for a complete answer, which can consist of several messages, and returns its type.
  ///
  /// - Parameter body: Receives the body of each message. The bytes are valid only inside the
  ///   closure.
  @discardableResult
  private func receive(_ body: (UnsafeRawBufferPointer) -> Void) throws -> UInt8 {
    var isFirst = true
    while true {
      if !isFirst {
        // The node sends the next message only after this one is acknowledged.
        var yes: Int32 = 1
        unsafe setsockopt(
          descriptor, Int32(IPPROTO_TCP), TCP_QUICKACK, &yes, socklen_t(MemoryLayout<Int32>.size))
      }
      isFirst = false
      while count < 8 { try fill() }
      let words = (0..<4).reversed().reduce(0) { $0 << 8 | Int(buffer[$1]) }
      let size = 8 + 8 * words
      while count < size { try fill() }
      let kind = buffer[4]
      // The marker at the end means that another message with more rows follows.
      let isPart = kind == 7 && buffer[size - 1] == 0xee
      count -= size
      unsafe buffer.withUnsafeMutableBytes { buffer in
        unsafe body(UnsafeRawBufferPointer(rebasing: buffer[8..<size]))
        guard count > 0, let start = buffer.baseAddress else { return }
        unsafe memmove(start, start + size, count)
      }
      if !isPart { return kind }
    }
  }

  private func fill() throws {
    guard count < buffer.count else { throw Failure("a message is too long") }
    let received = unsafe buffer.withUnsafeMutableBytes {
      unsafe recv(descriptor, $0.baseAddress.map { unsafe $0 + count }, $0.count - count, 0)
    }
    guard received > 0 else { throw Failure("the node has closed the connection") }
    count += received
  }

  /// Sends a message and waits for its answer.
  ///
  /// - Parameter body: Receives the body of each message of the answer. The bytes are valid only
  ///   inside the closure.
  /// - Throws: ``Failure`` if the node returns a failure.
  @discardableResult
  func call(
    _ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) -> Void
  ) throws -> UInt8 {
    send(bytes)
    let kind = try unsafe receive(body)
    guard kind != 0 else { throw Failure("the node has rejected a message") }
    return kind
  }

  /// Sends a message, waits for its answer and ignores the content.
  @discardableResult
  func call(_ bytes: [UInt8]) throws -> UInt8 { try unsafe call(bytes) { _ in } }

  @discardableResult
  func call(_ kind: UInt8, _ body: [UInt8]) throws -> UInt8 {
    try call(BareConnection.message(kind, body))
  }

  /// Reads the rows of a message, which have two integers and a text. Doesn't validate the message,
  /// to be as fast as possible.
  ///
  /// - Returns: The number of rows, and the sum of the second column and of the byte counts of the
  ///   texts.
  static func read(_ body: UnsafeRawBufferPointer) -> (rows: Int, sum: Int) {
    func word(_ offset: Int) -> UInt64 {
      unsafe body.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }
    func end(_ start: Int) -> Int {
      var end = start
      while unsafe body[end] != 0 { end += 1 }
      return end
    }
    var position = 8
    for _ in 0..<Int(word(0)) { position = (end(position) + 8) & ~7 }
    var (rows, sum) = (0, 0)
    while word(position) < 0xeeee_eeee_eeee_eeee {
      position += 16
      sum &+= Int(truncatingIfNeeded: word(position))
      position += 8
      let last = end(position)
      let text = unsafe String(decoding: body[position..<last], as: UTF8.self)
      sum &+= text.utf8.count
      position = (last + 8) & ~7
      rows += 1
    }
    return (rows, sum)
  }

  /// Registers the client and opens a database.
  func open(_ name: String) throws {
    try call(1, BareConnection.words([7]))
    try call(3, BareConnection.text(name) + BareConnection.words([0]) + BareConnection.text(""))
  }

  /// Prepares a statement. Statements are numbered in order, starting at 0.
  func prepare(_ sql: String) throws {
    try call(4, BareConnection.words([0]) + BareConnection.text(sql))
  }

  static func sql(_ sql: String) -> [UInt8] { message(8, words([0]) + text(sql)) }

  /// Returns the message that runs a prepared statement with integer arguments.
  static func run(_ statement: UInt32, asQuery isQuery: Bool, _ values: [UInt64]) -> [UInt8] {
    var types = [UInt8(values.count)] + values.map { _ in 1 }
    while types.count % 8 != 0 { types.append(0) }
    return message(isQuery ? 6 : 5, words([UInt64(statement) << 32]) + types + words(values))
  }
}

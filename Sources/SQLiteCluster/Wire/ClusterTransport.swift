import Platform
import SQLiteCore

/// Makes the streams on which a client talks to the nodes of a cluster.
///
/// dqlite's protocol has no authentication and no encryption. ``SocketTransport`` is for loopback and
/// private networks; a program that needs more wraps its streams here, by TLS for example.
public protocol ClusterTransport: Sendable {
  /// Opens a stream to a node.
  ///
  /// - Parameters:
  ///   - address: The node's address, as the program or another node names it.
  ///   - deadline: When to give up.
  /// - Throws: An error that says what was in the way; `SQLiteError` with `ResultCode.misuse` for what is no address,
  ///   which is not tried again.
  func connect(
    to address: String, before deadline: ContinuousClock.Instant
  ) throws -> any ClusterStream
}

/// A stream of bytes to a node and back. One thread at a time uses it.
///
/// A node holds back the next message of an answer until the one before is acknowledged, and a system may wait
/// 40 milliseconds for that. The streams of ``SocketTransport`` acknowledge at once, also where another stream is
/// wrapped around them; one that has a socket of its own names it by ``socketDescriptor``.
public protocol ClusterStream: AnyObject {
  /// The stream's own TCP socket, of which each part of an answer is acknowledged at once (`TCP_QUICKACK`, on Linux);
  /// nil if it has none, or sees to that itself.
  var socketDescriptor: Int32? { get }

  /// Sends all bytes.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - deadline: When to give up.
  /// - Throws: An error if they cannot all be sent before the deadline.
  func send(_ bytes: [UInt8], before deadline: ContinuousClock.Instant) throws

  /// Waits for bytes, and returns those that are there.
  ///
  /// - Parameters:
  ///   - count: The most bytes to return.
  ///   - deadline: When to give up.
  /// - Returns: At least one byte; none if the node has closed the stream; nil if nothing came in time.
  /// - Throws: An error if the stream is broken.
  func receive(atMost count: Int, before deadline: ContinuousClock.Instant) throws -> [UInt8]?

  /// Closes the stream.
  func close()
}

extension ClusterStream {
  /// None.
  public var socketDescriptor: Int32? { nil }
}

/// Acknowledges at once what has come on a socket. Linux forgets it with what is sent next.
func acknowledge(_ socket: Int32) {
  #if os(Linux)
    var yes: Int32 = 1
    // It fails on a socket in the file system, where nothing is held back.
    unsafe setsockopt(
      socket, Int32(IPPROTO_TCP), TCP_QUICKACK, &yes, socklen_t(MemoryLayout<Int32>.size))
  #endif
}

/// Plain sockets: `host:port` by TCP, and a path that begins with a slash by a socket in the file system.
public struct SocketTransport: ClusterTransport {
  /// Makes the transport.
  public init() {}

  /// Opens a socket (`connect`).
  ///
  /// - Parameters:
  ///   - address: `host:port`, `[host]:port` for an IPv6 address, or the absolute path of a socket.
  ///   - deadline: When to give up. Looking up the host's name is not interrupted by it.
  /// - Throws: `SQLiteError` that names the address.
  public func connect(
    to address: String, before deadline: ContinuousClock.Instant
  ) throws -> any ClusterStream {
    try SocketStream(address, before: deadline)
  }
}

/// A socket that never blocks: waiting is done by `poll`, with a deadline.
private final class SocketStream: ClusterStream {
  private var descriptor: Int32
  private let address: String
  /// Whether a part of the answer to what was sent last has come.
  private var hasReceived = false

  init(_ address: String, before deadline: ContinuousClock.Instant) throws(SQLiteError) {
    self.address = address
    descriptor = -1
    if address.utf8.first == UInt8(ascii: "/") {
      try connectToPath(deadline)
    } else {
      try connectToHost(deadline)
    }
  }

  deinit { close() }

  private func error(_ what: String, _ code: ResultCode = .cannotOpen) -> SQLiteError {
    SQLiteError(code, "\(address): \(what)")
  }

  private func connectToPath(_ deadline: ContinuousClock.Instant) throws(SQLiteError) {
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    let path = Array(address.utf8)
    let room = MemoryLayout.size(ofValue: name.sun_path)
    guard path.count < room, !path.contains(0) else {
      throw error("this is no path of a socket", .misuse)
    }
    unsafe withUnsafeMutableBytes(of: &name.sun_path) { unsafe $0.copyBytes(from: path) }
    let code = unsafe withUnsafePointer(to: &name) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe open(AF_UNIX, $0, socklen_t(MemoryLayout<sockaddr_un>.size), deadline)
      }
    }
    guard code == 0 else { throw error(systemMessage(code)) }
  }

  private func connectToHost(_ deadline: ContinuousClock.Instant) throws(SQLiteError) {
    guard let colon = address.lastIndex(of: ":"), !address.utf8.contains(0) else {
      throw error("an address is host:port", .misuse)
    }
    var host = String(address[..<colon])
    if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = SocketStream.streamType
    var found: UnsafeMutablePointer<addrinfo>?
    let code = unsafe getaddrinfo(
      host, String(address[address.index(after: colon)...]), &hints, &found)
    defer { if let found = unsafe found { unsafe freeaddrinfo(found) } }
    guard code == 0 else { throw error(unsafe String(cString: gai_strerror(code))) }
    var failure = EADDRNOTAVAIL
    var next = unsafe found
    while let candidate = unsafe next {
      if let name = unsafe candidate.pointee.ai_addr {
        failure = unsafe open(
          candidate.pointee.ai_family, name, candidate.pointee.ai_addrlen, deadline)
        if failure == 0 { return }
      }
      unsafe next = unsafe candidate.pointee.ai_next
    }
    throw error(systemMessage(failure))
  }

  #if canImport(Glibc)
    private static let streamType = Int32(SOCK_STREAM.rawValue)
  #else
    private static let streamType = SOCK_STREAM
  #endif

  /// Makes a socket and connects it; returns 0 or the system's error.
  private func open(
    _ family: Int32, _ name: UnsafePointer<sockaddr>, _ length: socklen_t,
    _ deadline: ContinuousClock.Instant
  ) -> Int32 {
    close()
    descriptor = socket(family, SocketStream.streamType, 0)
    guard descriptor >= 0 else { return errno }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    var yes: Int32 = 1
    if family != AF_UNIX {
      // A request is one message, and waits for its answer.
      unsafe setsockopt(
        descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    }
    #if canImport(Darwin)
      unsafe setsockopt(
        descriptor, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
    #endif
    if unsafe Platform.connect(descriptor, name, length) == 0 { return 0 }
    guard errno == EINPROGRESS else { return errno }
    guard wait(for: Int16(POLLOUT), before: deadline) else { return ETIMEDOUT }
    var failure: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failure, &size) == 0 else {
      return errno
    }
    return failure
  }

  /// Waits until something can be done, and returns whether that was before the deadline.
  private func wait(for events: Int16, before deadline: ContinuousClock.Instant) -> Bool {
    while true {
      let (seconds, attoseconds) = min(deadline - .now, .seconds(1_000)).components
      let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
      var entry = pollfd(fd: descriptor, events: events, revents: 0)
      // Rounded up, or the last millisecond would be spent in a loop.
      let code = unsafe poll(&entry, 1, Int32(clamping: max(0, milliseconds + 1)))
      if code > 0 { return true }
      if code < 0, errno != EINTR { return true }
      if ContinuousClock.now >= deadline { return false }
    }
  }

  func send(_ bytes: [UInt8], before deadline: ContinuousClock.Instant) throws {
    hasReceived = false
    var sent = 0
    #if canImport(Darwin)
      let flags: Int32 = 0
    #else
      let flags = Int32(MSG_NOSIGNAL)
    #endif
    while sent < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { buffer in
        unsafe Platform.send(
          descriptor, buffer.baseAddress.map { unsafe $0 + sent }, buffer.count - sent, flags)
      }
      if count > 0 {
        sent += count
      } else if errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR {
        guard wait(for: Int16(POLLOUT), before: deadline) else { throw error("it takes no bytes") }
      } else {
        throw error(systemMessage(errno))
      }
    }
  }

  func receive(atMost count: Int, before deadline: ContinuousClock.Instant) throws -> [UInt8]? {
    if hasReceived {
      acknowledge(descriptor)
    } else {
      // What was just sent is not answered yet.
      guard wait(for: Int16(POLLIN), before: deadline) else { return nil }
    }
    while true {
      var code = 0
      let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        unsafe code = recv(descriptor, buffer.baseAddress, buffer.count, 0)
        initialized = max(0, code)
      }
      if code >= 0 {
        hasReceived = true
        return bytes
      }
      guard errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR else {
        throw error(systemMessage(errno))
      }
      guard wait(for: Int16(POLLIN), before: deadline) else { return nil }
    }
  }

  func close() {
    if descriptor >= 0 { _ = Platform.close(descriptor) }
    descriptor = -1
  }
}

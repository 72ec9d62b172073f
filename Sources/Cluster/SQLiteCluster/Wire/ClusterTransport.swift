import Platform
import SQLiteCore

/// A factory for the streams between a client and the nodes of a cluster.
///
/// dqlite's protocol has no authentication and no encryption. ``SocketTransport`` is suitable for
/// the loopback interface and private networks. To protect the connections, implement a transport
/// that wraps its streams, for example in TLS.
public protocol ClusterTransport: Sendable {
  /// Opens a stream to a node.
  ///
  /// The client queries all nodes at the same time, but opens one stream after the other. If
  /// possible, return before the connection is established, and wait for it in `send` and
  /// `receive`. A node that can't be reached then doesn't delay the others.
  ///
  /// - Parameters:
  ///   - address: The address of the node, as specified by the program or reported by another node.
  ///   - deadline: The time at which to give up.
  /// - Returns: The stream.
  /// - Throws: An error that describes the cause. Throw `SQLiteError` with `ResultCode.misuse` for
  ///   an invalid address, which isn't tried again.
  func connect(
    to address: String, before deadline: ContinuousClock.Instant
  ) throws -> any ClusterStream
}

/// A bidirectional byte stream between a client and a node. Only one thread at a time uses it.
///
/// A node sends the next message of an answer only when the previous one was acknowledged, and the
/// system may delay that for 40 milliseconds. The streams of ``SocketTransport`` acknowledge
/// immediately, even if another stream wraps them. If your stream uses its own socket, return it in
/// ``socketDescriptor``.
public protocol ClusterStream: AnyObject, SendableMetatype {
  /// The TCP socket of the stream, so that the client can acknowledge each part of an answer
  /// immediately (`TCP_QUICKACK` on Linux).
  ///
  /// It is nil if the stream has no socket or acknowledges by itself.
  var socketDescriptor: Int32? { get }

  /// Sends all bytes to the node. A stream that isn't connected yet may store the bytes, and send
  /// them once it is connected.
  ///
  /// - Parameters:
  ///   - bytes: The bytes to send.
  ///   - deadline: The time at which to give up.
  /// - Throws: An error if not all bytes can be sent before the deadline.
  func send(_ bytes: [UInt8], before deadline: ContinuousClock.Instant) throws

  /// Waits for bytes and returns those that have arrived.
  ///
  /// - Parameters:
  ///   - count: The maximum number of bytes to return.
  ///   - deadline: The time until which to wait.
  /// - Returns: At least one byte; an empty array if the node has closed the stream; nil if nothing
  ///   arrived before the deadline.
  /// - Throws: An error if the stream is broken.
  func receive(atMost count: Int, before deadline: ContinuousClock.Instant) throws -> [UInt8]?

  /// Closes the stream and releases its resources.
  func close()
}

extension ClusterStream {
  /// The TCP socket of the stream. The default implementation returns nil, for a stream that has no
  /// socket or acknowledges by itself.
  public var socketDescriptor: Int32? { nil }
}

/// Makes Linux acknowledge received bytes immediately, until the next bytes are sent. Does nothing
/// on other systems.
func acknowledge(_ socket: Int32) {
  #if os(Linux)
    var yes: Int32 = 1
    // This fails for a Unix domain socket, which needs no acknowledgment.
    unsafe setsockopt(
      socket, Int32(IPPROTO_TCP), TCP_QUICKACK, &yes, socklen_t(MemoryLayout<Int32>.size))
  #endif
}

/// A transport over plain sockets: TCP for the address `host:port`, and a Unix domain socket for an
/// absolute path.
public struct SocketTransport: ClusterTransport {
  /// Creates a transport without authentication and encryption.
  public init() {}

  /// Opens a socket and waits until it is connected.
  ///
  /// - Parameters:
  ///   - address: `host:port`, `[host]:port` for an IPv6 address, or the absolute path of a socket.
  ///     The port is a number from 1 to 65535.
  ///   - deadline: The time at which to give up. It doesn't interrupt the lookup of the host name.
  /// - Returns: The connected stream.
  /// - Throws: `SQLiteError` if the node can't be reached before the deadline, or with
  ///   `ResultCode.misuse` if the address is invalid. The message contains the address.
  public func connect(
    to address: String, before deadline: ContinuousClock.Instant
  ) throws -> any ClusterStream {
    let stream = try SocketStream(address)
    try stream.finishConnecting(before: deadline)
    return stream
  }

  /// Opens a socket like ``connect(to:before:)``, but without waiting for the connection. The
  /// stream sends its bytes once it is connected.
  func begin(_ address: String) throws(SQLiteError) -> any ClusterStream {
    try SocketStream(address)
  }
}

/// A non-blocking socket. It waits with `poll`, until a deadline.
private final class SocketStream: ClusterStream {
  private var descriptor: Int32 = -1
  private let address: String
  /// While connecting, the socket addresses that haven't been tried yet, with the next one at the
  /// end.
  private var names: [(family: Int32, bytes: [UInt8])] = []
  private var isConnecting = true
  /// The bytes to send once the socket is connected.
  private var unsent: [UInt8] = []
  /// Whether a part of the answer to the last sent bytes has arrived.
  private var hasReceived = false

  init(_ address: String) throws(SQLiteError) {
    self.address = address
    names = try (address.utf8.first == UInt8(ascii: "/") ? pathName() : hostNames()).reversed()
    try tryNextName(after: EADDRNOTAVAIL)
  }

  deinit { close() }

  private func error(_ what: String, _ code: ResultCode = .cannotOpen) -> SQLiteError {
    SQLiteError(code, "\(address): \(what)")
  }

  private func pathName() throws(SQLiteError) -> [(family: Int32, bytes: [UInt8])] {
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    let path = Array(address.utf8)
    let room = MemoryLayout.size(ofValue: name.sun_path)
    guard path.count < room, !path.contains(0) else {
      throw error("not a valid path of a socket", .misuse)
    }
    unsafe withUnsafeMutableBytes(of: &name.sun_path) { unsafe $0.copyBytes(from: path) }
    return [
      (
        AF_UNIX,
        unsafe withUnsafeBytes(of: &name) { unsafe copiedBytes($0.baseAddress, count: $0.count) }
      )
    ]
  }

  private func hostNames() throws(SQLiteError) -> [(family: Int32, bytes: [UInt8])] {
    guard let colon = address.lastIndex(of: ":"), !address.utf8.contains(0) else {
      throw error("an address must have the form host:port", .misuse)
    }
    let port = address[address.index(after: colon)...]
    // getaddrinfo would truncate a number that is too large.
    guard port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(port),
      number > 0
    else { throw error("a port must be a number from 1 to 65535", .misuse) }
    var host = String(address[..<colon])
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = String(host.dropFirst().dropLast())
    } else if host.contains(":") {
      throw error("an IPv6 address must have the form [host]:port", .misuse)
    }
    guard !host.isEmpty else { throw error("an address must have the form host:port", .misuse) }
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = SocketStream.streamType
    var found: UnsafeMutablePointer<addrinfo>?
    let code = unsafe getaddrinfo(host, String(number), &hints, &found)
    defer { if let found = unsafe found { unsafe freeaddrinfo(found) } }
    guard code == 0 else { throw error(unsafe String(cString: gai_strerror(code))) }
    var names: [(family: Int32, bytes: [UInt8])] = []
    var next = unsafe found
    while let candidate = unsafe next {
      if let name = unsafe candidate.pointee.ai_addr {
        let bytes = unsafe UnsafeRawBufferPointer(
          start: name, count: Int(candidate.pointee.ai_addrlen))
        let family = unsafe candidate.pointee.ai_family
        unsafe names.append((family, Array(bytes)))
      }
      unsafe next = unsafe candidate.pointee.ai_next
    }
    return names
  }

  #if canImport(Glibc)
    private static let streamType = Int32(SOCK_STREAM.rawValue)
  #else
    private static let streamType = SOCK_STREAM
  #endif

  /// Starts to connect to the next socket address that doesn't fail immediately.
  ///
  /// - Parameter failure: The system error for the previous one. It is thrown if there is no other
  ///   address.
  private func tryNextName(after failure: Int32) throws(SQLiteError) {
    var failure = failure
    while let name = names.popLast() {
      failure = begin(name.family, name.bytes)
      if failure == 0 || failure == EINPROGRESS { return }
    }
    throw error(systemMessage(failure))
  }

  /// Creates a socket and starts to connect it. Returns 0 if it is connected, and otherwise the
  /// value of `errno`, which is `EINPROGRESS` while it connects.
  private func begin(_ family: Int32, _ name: [UInt8]) -> Int32 {
    close()
    descriptor = socket(family, SocketStream.streamType, 0)
    guard descriptor >= 0 else { return errno }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    var yes: Int32 = 1
    if family != AF_UNIX {
      // Send each request immediately: it is a single message, and the client waits for the answer.
      unsafe setsockopt(
        descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    }
    #if canImport(Darwin)
      unsafe setsockopt(
        descriptor, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
    #endif
    let code = unsafe name.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return Int32(-1) }
      return unsafe Platform.connect(
        descriptor, start.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
    }
    return code == 0 ? 0 : errno
  }

  /// Waits for the connection, and sends the bytes that were passed until then.
  ///
  /// - Throws: `SQLiteError` if no socket address can be connected before the deadline.
  func finishConnecting(before deadline: ContinuousClock.Instant) throws(SQLiteError) {
    guard try isConnected(before: deadline) else { throw error(systemMessage(ETIMEDOUT)) }
  }

  private func isConnected(before deadline: ContinuousClock.Instant) throws(SQLiteError) -> Bool {
    while isConnecting {
      guard wait(for: Int16(POLLOUT), before: deadline) else { return false }
      var failure: Int32 = 0
      var size = socklen_t(MemoryLayout<Int32>.size)
      let code = unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failure, &size)
      if code != 0 { failure = errno }
      if failure == 0 {
        isConnecting = false
        names = []
        let bytes = unsent
        unsent = []
        try sendNow(bytes, before: deadline)
      } else {
        try tryNextName(after: failure)
      }
    }
    return true
  }

  /// Waits for an event or an error, and returns whether one occurred before the deadline.
  private func wait(for events: Int16, before deadline: ContinuousClock.Instant) -> Bool {
    while true {
      let (seconds, attoseconds) = min(deadline - .now, .seconds(1_000)).components
      let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
      var entry = pollfd(fd: descriptor, events: events, revents: 0)
      // Round up, to avoid busy waiting during the last millisecond.
      let code = unsafe poll(&entry, 1, Int32(clamping: max(0, milliseconds + 1)))
      if code > 0 { return true }
      if code < 0, errno != EINTR { return true }
      if ContinuousClock.now >= deadline { return false }
    }
  }

  func send(_ bytes: [UInt8], before deadline: ContinuousClock.Instant) throws {
    hasReceived = false
    if isConnecting { unsent += bytes } else { try sendNow(bytes, before: deadline) }
  }

  private func sendNow(
    _ bytes: [UInt8], before deadline: ContinuousClock.Instant
  ) throws(SQLiteError) {
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
        guard wait(for: Int16(POLLOUT), before: deadline) else { throw error("it accepts no data") }
      } else {
        throw error(systemMessage(errno))
      }
    }
  }

  func receive(atMost count: Int, before deadline: ContinuousClock.Instant) throws -> [UInt8]? {
    guard try isConnected(before: deadline) else { return nil }
    if hasReceived {
      acknowledge(descriptor)
    } else {
      // The answer to the last request hasn't arrived yet.
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

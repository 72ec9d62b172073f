import Platform
import SQLiteCore

/// Makes the streams on which a client talks to the nodes of a cluster.
///
/// dqlite's protocol has no authentication and no encryption. ``SocketTransport`` is for loopback and
/// private networks; a program that needs more wraps its streams here, by TLS for example.
public protocol ClusterTransport: Sendable {
  /// Opens a stream to a node.
  ///
  /// The client asks all nodes at the same time, but connects to one after the other. If you can, return before the
  /// connection is established and let `send` and `receive` wait for it: then a node that is out of reach delays no other.
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
  ///   - address: `host:port`, `[host]:port` for an IPv6 address, or the absolute path of a socket. A port is a number
  ///     from 1 to 65535.
  ///   - deadline: When to give up. Looking up the host's name is not interrupted by it.
  /// - Throws: `SQLiteError` that names the address.
  public func connect(
    to address: String, before deadline: ContinuousClock.Instant
  ) throws -> any ClusterStream {
    let stream = try SocketStream(address)
    try stream.finishConnecting(before: deadline)
    return stream
  }

  /// As ``connect(to:before:)``, without waiting: the stream connects while others are used, and sends then what it was
  /// given until then.
  func begin(_ address: String) throws(SQLiteError) -> any ClusterStream {
    try SocketStream(address)
  }
}

/// A socket that never blocks: waiting is done by `poll`, with a deadline.
private final class SocketStream: ClusterStream {
  private var descriptor: Int32 = -1
  private let address: String
  /// The names of the address that were not tried yet, the next one at the end, while it connects.
  private var names: [(family: Int32, bytes: [UInt8])] = []
  private var isConnecting = true
  /// What is to be sent once it is connected.
  private var unsent: [UInt8] = []
  /// Whether a part of the answer to what was sent last has come.
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
      throw error("this is no path of a socket", .misuse)
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
      throw error("an address is host:port", .misuse)
    }
    let port = address[address.index(after: colon)...]
    // getaddrinfo takes the remainder of a number that is too large.
    guard port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(port),
      number > 0
    else { throw error("a port is a number from 1 to 65535", .misuse) }
    var host = String(address[..<colon])
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = String(host.dropFirst().dropLast())
    } else if host.contains(":") {
      throw error("an IPv6 address is [host]:port", .misuse)
    }
    guard !host.isEmpty else { throw error("an address is host:port", .misuse) }
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

  /// Begins to connect to the next name.
  ///
  /// - Parameter failure: The system's error for the one before, which is thrown if there is no other.
  private func tryNextName(after failure: Int32) throws(SQLiteError) {
    var failure = failure
    while let name = names.popLast() {
      failure = begin(name.family, name.bytes)
      if failure == 0 || failure == EINPROGRESS { return }
    }
    throw error(systemMessage(failure))
  }

  /// Makes a socket and begins to connect it; returns 0 or the system's error.
  private func begin(_ family: Int32, _ name: [UInt8]) -> Int32 {
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
    let code = unsafe name.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return Int32(-1) }
      return unsafe Platform.connect(
        descriptor, start.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
    }
    return code == 0 ? 0 : errno
  }

  /// Waits until it is connected, and sends what it was given until then.
  ///
  /// - Throws: `SQLiteError` if no name can be connected to, or not before the deadline.
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
        guard wait(for: Int16(POLLOUT), before: deadline) else { throw error("it takes no bytes") }
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

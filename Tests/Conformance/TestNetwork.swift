import Foundation
import SQLiteCore
import Synchronization

/// A network of proxies, one in front of each node, that can disconnect a node from the other nodes
/// or from clients, and delay bytes. Bytes on a cut connection are held back and not lost, as with
/// TCP.
///
/// A node sends its ID when it connects to another node, which distinguishes its connections from
/// those of clients.
package final class TestNetwork: Sendable {
  /// The current cuts and delay.
  package struct Conditions: Sendable {
    /// The nodes that are disconnected from all other nodes.
    package var cutFromNodes: Set<Int> = []
    /// The nodes that are disconnected from clients.
    package var cutFromClients: Set<Int> = []
    /// The time that bytes take from one end to the other.
    package var delay = Duration.zero
    fileprivate var targets: [Int: String] = [:]
    fileprivate var isClosed = false
  }

  /// The addresses of the proxies, at which nodes and clients reach each node.
  let addresses: [String]
  /// The state shared with the proxy thread. The thread doesn't retain the network itself.
  private let shared: Shared

  private final class Shared: Sendable {
    let conditions = Mutex(Conditions())
  }

  init(ids: [UInt64]) throws {
    var listeners: [Int32] = []
    var addresses: [String] = []
    for _ in ids {
      let (listener, port) = try TestNetwork.listener()
      listeners.append(listener)
      addresses.append("\(TestCluster.host):\(port)")
    }
    self.addresses = addresses
    let shared = Shared()
    self.shared = shared
    let all = listeners
    Thread.detachNewThread {
      var loop = ProxyLoop(listeners: all, ids: ids)
      while true {
        let conditions = shared.conditions.withLock { $0 }
        if conditions.isClosed { break }
        loop.runOnce(conditions)
      }
      loop.end()
    }
  }

  deinit { shared.conditions.withLock { $0.isClosed = true } }

  /// Sets the address to which a proxy forwards.
  func connect(_ index: Int, to address: String) {
    shared.conditions.withLock { $0.targets[index] = address }
  }

  /// Changes the cuts and the delay.
  package func change(_ change: (inout Conditions) -> Void) {
    shared.conditions.withLock { change(&$0) }
  }

  private static func listener() throws -> (Int32, UInt16) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    var name = loopback(0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = unsafe withUnsafeMutablePointer(to: &name) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, size) == 0 && listen(descriptor, 64) == 0
          && getsockname(descriptor, $0, &size) == 0
      }
    }
    guard isBound else { throw SQLiteError(.cannotOpen, "no port is free") }
    return (descriptor, UInt16(bigEndian: name.sin_port))
  }
}

/// Returns the socket address of a port at this process's loopback address.
private func loopback(_ port: UInt16) -> sockaddr_in {
  var name = sockaddr_in()
  name.sin_family = sa_family_t(AF_INET)
  name.sin_addr.s_addr = unsafe inet_addr(TestCluster.host)
  name.sin_port = port.bigEndian
  return name
}

/// The loop of the proxy thread: receives bytes at one end, and sends them to the other when they
/// are due.
private struct ProxyLoop {
  /// The peer that opened a connection.
  private enum Source: Equatable {
    case unknown, client
    case node(Int)
  }

  /// One direction of a connection.
  private struct Direction {
    var pieces: [(due: ContinuousClock.Instant, bytes: [UInt8])] = []
    var count: Int { pieces.reduce(0) { $0 + $1.bytes.count } }
    var isAtEnd = false
  }

  private struct Link {
    let target: Int
    var source = Source.unknown
    /// The first bytes, from which `source` is determined.
    var head: [UInt8] = []
    let client: Int32
    let server: Int32
    var out = Direction()
    var back = Direction()
    var isClosed = false

    func isCut(_ conditions: TestNetwork.Conditions) -> Bool {
      switch source {
      case .unknown: false
      case .client: conditions.cutFromClients.contains(target)
      case .node(let other):
        conditions.cutFromNodes.contains(target) || conditions.cutFromNodes.contains(other)
      }
    }
  }

  private let listeners: [Int32]
  private let ids: [UInt64]
  private var links: [Link] = []

  init(listeners: [Int32], ids: [UInt64]) {
    self.listeners = listeners
    self.ids = ids
  }

  func end() {
    for listener in listeners { close(listener) }
    for link in links {
      close(link.client)
      close(link.server)
    }
  }

  mutating func runOnce(_ conditions: TestNetwork.Conditions) {
    waitForBytes(conditions)
    for (index, listener) in listeners.enumerated() {
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { break }
        open(client, at: index, conditions)
      }
    }
    for index in links.indices { move(&links[index], conditions) }
    links.removeAll { link in
      if link.isClosed {
        close(link.client)
        close(link.server)
      }
      return link.isClosed
    }
  }

  /// Waits until bytes have arrived or are due, but at most 10 milliseconds, because the cuts may
  /// change.
  private func waitForBytes(_ conditions: TestNetwork.Conditions) {
    var entries = listeners.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    var timeout: Int32 = 10
    for link in links where !link.isCut(conditions) {
      for (direction, from) in [(link.out, link.client), (link.back, link.server)] {
        if !direction.isAtEnd {
          entries.append(pollfd(fd: from, events: Int16(POLLIN), revents: 0))
        }
        if !direction.pieces.isEmpty { timeout = 1 }
      }
    }
    _ = unsafe poll(&entries, nfds_t(entries.count), timeout)
  }

  private mutating func open(_ client: Int32, at index: Int, _ conditions: TestNetwork.Conditions) {
    let port = conditions.targets[index]?.split(separator: ":").last.flatMap { UInt16($0) }
    let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var name = loopback(port ?? 0)
    let code = unsafe withUnsafePointer(to: &name) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard code == 0 else {
      close(server)
      close(client)
      return
    }
    var yes: Int32 = 1
    for descriptor in [client, server] {
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
      unsafe setsockopt(
        descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    }
    links.append(Link(target: index, client: client, server: server))
  }

  private func move(_ link: inout Link, _ conditions: TestNetwork.Conditions) {
    guard !link.isCut(conditions) else { return }
    let isClosed =
      !receiveBytes(from: link.client, &link.out, conditions)
      || !receiveBytes(from: link.server, &link.back, conditions)
    if link.source == .unknown {
      link.head = Array(link.out.pieces.flatMap(\.bytes).prefix(24))
      // The protocol version and the header of the first message. A node's message has type 11 and
      // starts with its ID.
      guard link.head.count >= 24 else { return link.isClosed = isClosed }
      let id = link.head[16..<24].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      link.source =
        link.head[12] == 11 ? ids.firstIndex(of: id).map { .node($0) } ?? .client : .client
      guard !link.isCut(conditions) else { return }
    }
    let isBroken = !sendBytes(to: link.server, &link.out) || !sendBytes(to: link.client, &link.back)
    link.isClosed = isBroken || isClosed && link.out.pieces.isEmpty && link.back.pieces.isEmpty
  }

  /// Receives bytes that have arrived. Returns false at the end of the stream.
  private func receiveBytes(
    from: Int32, _ direction: inout Direction, _ conditions: TestNetwork.Conditions
  ) -> Bool {
    guard !direction.isAtEnd, direction.count < 1 << 20 else { return !direction.isAtEnd }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = unsafe recv(from, &bytes, bytes.count, 0)
    if count > 0 {
      direction.pieces.append((.now + conditions.delay, Array(bytes[..<count])))
    } else if count == 0 || errno != EAGAIN {
      direction.isAtEnd = true
    }
    return !direction.isAtEnd
  }

  /// Sends the bytes that are due. Returns false if the connection is broken.
  private func sendBytes(to: Int32, _ direction: inout Direction) -> Bool {
    while let piece = direction.pieces.first, piece.due <= .now {
      let count = unsafe send(to, piece.bytes, piece.bytes.count, Int32(MSG_NOSIGNAL))
      if count < 0 { return errno == EAGAIN }
      if count == piece.bytes.count {
        direction.pieces.removeFirst()
      } else {
        direction.pieces[0].bytes.removeFirst(count)
      }
    }
    return true
  }
}

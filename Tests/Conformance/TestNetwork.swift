import Foundation
import SQLiteCore
import Synchronization

/// The network of a cluster, by a proxy for each node: it can cut a node off from the others, or from clients,
/// and let bytes take some time. What is cut off is held and not lost, as by TCP.
///
/// A node says who it is when it connects to another one, so that its connections can be told from a client's.
package final class TestNetwork: Sendable {
  /// What is cut, and how long bytes are on their way.
  package struct Weather: Sendable {
    /// Nodes that reach no other node, and are reached by none.
    package var cutFromNodes: Set<Int> = []
    /// Nodes that no client reaches.
    package var cutFromClients: Set<Int> = []
    /// How long bytes are on their way from one end to the other.
    package var delay = Duration.zero
    fileprivate var targets: [Int: String] = [:]
    fileprivate var isOver = false
  }

  /// The addresses of the proxies, by which nodes and clients reach each node.
  let addresses: [String]
  /// Keeps what the thread has together.
  private let shared: Shared

  private final class Shared: Sendable {
    let weather = Mutex(Weather())
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
        let weather = shared.weather.withLock { $0 }
        if weather.isOver { break }
        loop.turn(weather)
      }
      loop.end()
    }
  }

  deinit { shared.weather.withLock { $0.isOver = true } }

  /// Says where the node behind a proxy listens.
  func connect(_ index: Int, to address: String) {
    shared.weather.withLock { $0.targets[index] = address }
  }

  /// Changes what is cut.
  package func change(_ change: (inout Weather) -> Void) {
    shared.weather.withLock { change(&$0) }
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
    guard isBound else { throw SQLiteError(.cannotOpen, "there is no free port") }
    return (descriptor, UInt16(bigEndian: name.sin_port))
  }
}

/// The address of a port at this process's own host.
private func loopback(_ port: UInt16) -> sockaddr_in {
  var name = sockaddr_in()
  name.sin_family = sa_family_t(AF_INET)
  name.sin_addr.s_addr = unsafe inet_addr(TestCluster.host)
  name.sin_port = port.bigEndian
  return name
}

/// The thread of the proxies: takes bytes at one end, and gives them on at the other when they are due.
private struct ProxyLoop {
  /// Who has opened a connection.
  private enum Source: Equatable {
    case unknown, client
    case node(Int)
  }

  /// One way of a connection.
  private struct Way {
    var pieces: [(due: ContinuousClock.Instant, bytes: [UInt8])] = []
    var count: Int { pieces.reduce(0) { $0 + $1.bytes.count } }
    var isAtEnd = false
  }

  private struct Link {
    let target: Int
    var source = Source.unknown
    /// The first bytes, until they tell who connects.
    var head: [UInt8] = []
    let client: Int32
    let server: Int32
    var out = Way()
    var back = Way()
    var isOver = false

    func isCut(_ weather: TestNetwork.Weather) -> Bool {
      switch source {
      case .unknown: false
      case .client: weather.cutFromClients.contains(target)
      case .node(let other):
        weather.cutFromNodes.contains(target) || weather.cutFromNodes.contains(other)
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

  mutating func turn(_ weather: TestNetwork.Weather) {
    waitForBytes(weather)
    for (index, listener) in listeners.enumerated() {
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { break }
        open(client, at: index, weather)
      }
    }
    for index in links.indices { move(&links[index], weather) }
    links.removeAll { link in
      if link.isOver {
        close(link.client)
        close(link.server)
      }
      return link.isOver
    }
  }

  /// Waits until some bytes have come, or are due; at most some milliseconds, since what is cut may change.
  private func waitForBytes(_ weather: TestNetwork.Weather) {
    var entries = listeners.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    var timeout: Int32 = 10
    for link in links where !link.isCut(weather) {
      for (way, from) in [(link.out, link.client), (link.back, link.server)] {
        if !way.isAtEnd { entries.append(pollfd(fd: from, events: Int16(POLLIN), revents: 0)) }
        if !way.pieces.isEmpty { timeout = 1 }
      }
    }
    _ = unsafe poll(&entries, nfds_t(entries.count), timeout)
  }

  private mutating func open(_ client: Int32, at index: Int, _ weather: TestNetwork.Weather) {
    let port = weather.targets[index]?.split(separator: ":").last.flatMap { UInt16($0) }
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

  private func move(_ link: inout Link, _ weather: TestNetwork.Weather) {
    guard !link.isCut(weather) else { return }
    let isOver =
      !take(from: link.client, &link.out, weather) || !take(from: link.server, &link.back, weather)
    if link.source == .unknown {
      link.head = Array(link.out.pieces.flatMap(\.bytes).prefix(24))
      // The version, and the head of the first message. A node's has the type 11, and then its number.
      guard link.head.count >= 24 else { return link.isOver = isOver }
      let id = link.head[16..<24].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      link.source =
        link.head[12] == 11 ? ids.firstIndex(of: id).map { .node($0) } ?? .client : .client
      guard !link.isCut(weather) else { return }
    }
    let isBroken = !give(to: link.server, &link.out) || !give(to: link.client, &link.back)
    link.isOver = isBroken || isOver && link.out.pieces.isEmpty && link.back.pieces.isEmpty
  }

  /// Takes bytes that have come; returns false at the end.
  private func take(from: Int32, _ way: inout Way, _ weather: TestNetwork.Weather) -> Bool {
    guard !way.isAtEnd, way.count < 1 << 20 else { return !way.isAtEnd }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = unsafe recv(from, &bytes, bytes.count, 0)
    if count > 0 {
      way.pieces.append((.now + weather.delay, Array(bytes[..<count])))
    } else if count == 0 || errno != EAGAIN {
      way.isAtEnd = true
    }
    return !way.isAtEnd
  }

  /// Gives on the bytes that are due; returns false if that cannot be.
  private func give(to: Int32, _ way: inout Way) -> Bool {
    while let piece = way.pieces.first, piece.due <= .now {
      let count = unsafe send(to, piece.bytes, piece.bytes.count, Int32(MSG_NOSIGNAL))
      if count < 0 { return errno == EAGAIN }
      if count == piece.bytes.count {
        way.pieces.removeFirst()
      } else {
        way.pieces[0].bytes.removeFirst(count)
      }
    }
    return true
  }
}

import Conformance
import Foundation
import MagicCluster
import MagicData
import Synchronization
import Testing
import TestSupport

/// Tests opening a cluster's database without blocking the task.
@Suite struct ClusterOpeningTests {
  /// Nodes that accept every request and never respond.
  private final class SilentNodes: ClusterTransport {
    let hasRequest = Flag()
    let openStreams = Mutex(0)

    func connect(
      to address: String, before deadline: ContinuousClock.Instant
    ) throws -> any ClusterStream {
      openStreams.withLock { $0 += 1 }
      return Stream(self)
    }

    private final class Stream: ClusterStream {
      private let nodes: SilentNodes

      init(_ nodes: SilentNodes) { self.nodes = nodes }

      func send(_ bytes: [UInt8], before deadline: ContinuousClock.Instant) throws {
        nodes.hasRequest.set()
      }

      func receive(
        atMost count: Int, before deadline: ContinuousClock.Instant
      ) throws -> [UInt8]? {
        usleep(1_000)
        return nil
      }

      func close() { nodes.openStreams.withLock { $0 -= 1 } }
    }
  }

  private func options(
    _ nodes: SilentNodes, leaderTimeout: Duration = .seconds(600)
  ) -> ClusterOptions {
    var options = ClusterOptions()
    options.transport = nodes
    options.leaderTimeout = leaderTimeout
    return options
  }

  @Test func `a cluster rejects extensions before it searches for a leader`() throws {
    let nodes = SilentNodes()
    var options = options(nodes)
    options.database.extensions = [.library("/none.so")]
    let error = #expect(throws: SQLiteError.self) {
      _ = try Database(cluster: ["a:1"], name: "test", options: options)
    }
    #expect(error?.code == .authorization)
    #expect(error?.message == "the cluster database test does not support extensions")
    #expect(nodes.openStreams.withLock { $0 } == 0)
  }

  @Test func `cancelling the opening of a database doesn't wait for a leader`() async throws {
    let nodes = SilentNodes()
    let options = options(nodes)
    let opening = Task {
      _ = try await Database(cluster: ["a:1", "b:1"], name: "test", options: options)
    }
    try await waitUntil { nodes.hasRequest.isSet }
    opening.cancel()
    await #expect(throws: CancellationError.self) { try await opening.value }
    #expect(nodes.openStreams.withLock { $0 } == 0)
  }

  @Test func `cancelling the opening of a store doesn't wait for a leader`()
    async throws
  {
    let nodes = SilentNodes()
    let options = options(nodes)
    let opening = Task {
      _ = try await MagicData(cluster: ["a:1"], name: "test", options: options)
    }
    try await waitUntil { nodes.hasRequest.isSet }
    opening.cancel()
    await #expect(throws: CancellationError.self) { try await opening.value }
    #expect(nodes.openStreams.withLock { $0 } == 0)
  }

  @Test func `a task that is already cancelled contacts no node`() async throws {
    let nodes = SilentNodes()
    let options = options(nodes)
    let opening = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      _ = try await Database(cluster: ["a:1"], name: "test", options: options)
    }
    await #expect(throws: CancellationError.self) { try await opening.value }
    #expect(!nodes.hasRequest.isSet)
  }

  @Test(arguments: [
    ["127.0.0.1:1"], ["[::1", "127.0.0.1:1"], ["/no/such/socket", "a:b:c"],
  ])
  func `unreachable addresses are named in the error`(_ addresses: [String]) async throws {
    var options = ClusterOptions()
    options.leaderTimeout = .milliseconds(20)
    let error = await #expect(throws: SQLiteError.self) {
      try await Database(cluster: addresses, name: "test", options: options)
    }
    #expect(error?.code == .cannotOpen)
    #expect(addresses.allSatisfy { error?.message.contains($0) == true })
  }

  @Test func `invalid addresses throw without retries`() async throws {
    var options = ClusterOptions()
    options.leaderTimeout = .seconds(36_000)
    let addresses = ["", "no port", "/\(String(repeating: "long", count: 100))"]
    let error = await #expect(throws: SQLiteError.self) {
      try await Database(cluster: addresses, name: "test", options: options)
    }
    #expect(error?.code == .misuse)
    #expect(error?.message.contains("no port: an address must have the form host:port") == true)
  }

  @Test(arguments: [
    "0", "65536", "99999", "-1", "+1", "", "1x", " 1", "http", "4294967297",
    "99999999999999999999",
  ])
  func `an invalid port throws`(_ port: String) throws {
    for host in ["127.0.0.1", "localhost", "[::1]"] {
      let error = #expect(throws: SQLiteError.self) {
        try SocketTransport().connect(to: "\(host):\(port)", before: .now)
      }
      #expect(error?.code == .misuse)
      #expect(error?.message == "\(host):\(port): a port must be a number from 1 to 65535")
    }
  }

  @Test(arguments: [":9001", "[]:9001", "::1:9001", "fe80::1:9001", "9001"])
  func `an invalid host throws`(_ address: String) throws {
    let error = #expect(throws: SQLiteError.self) {
      try SocketTransport().connect(to: address, before: .now)
    }
    #expect(error?.code == .misuse)
    #expect(error?.message.hasPrefix("\(address): ") == true)
  }

  @Test func `garbage in the file of known nodes isn't repeated in an error`() throws {
    let folder = try TestFolder()
    let path = folder.file("nodes")
    var options = ClusterOptions()
    options.knownNodes = path
    options.leaderTimeout = .zero
    let garbage: [[UInt8]] = [
      Array(repeating: UInt8(ascii: "x"), count: 5 << 20),
      Array(String(repeating: "word\n", count: 1 << 18).utf8),
      Array(String(repeating: "\u{1}\u{7f}\n", count: 1_000).utf8),
      Array(repeating: 0xff, count: 1_000),
      Array((0..<5_000).map { "127.0.0.1:\($0 + 70_000)" }.joined(separator: "\n").utf8),
    ]
    for bytes in garbage {
      try folder.write(bytes, to: "nodes")
      for addresses in [["no port"], ["127.0.0.1:1"]] {
        let error = #expect(throws: SQLiteError.self) {
          try Database(cluster: addresses, name: "test", options: options)
        }
        #expect(error.map { $0.message.utf8.count < 4_000 } == true)
        #expect(error?.message.contains(path) == true)
        #expect(error?.message.contains("\(addresses[0]): ") == true)
      }
    }
  }

  @Test func `invalid addresses and names throw before any node is contacted`() async throws {
    let nodes = SilentNodes()
    let options = options(nodes)
    for (addresses, name) in [([], "test"), (["a:1"], ""), (["a:1"], "a\0b")] {
      let error = await #expect(throws: SQLiteError.self) {
        try await Database(cluster: addresses, name: name, options: options)
      }
      #expect(error?.code == .misuse)
    }
    #expect(!nodes.hasRequest.isSet)
  }

  @Test func `without a response, opening throws at the leader timeout`() async throws {
    let nodes = SilentNodes()
    let options = options(nodes, leaderTimeout: .milliseconds(20))
    let error = await #expect(throws: SQLiteError.self) {
      try await Database(cluster: ["a:1", "b:1"], name: "test", options: options)
    }
    #expect(error?.code == .cannotOpen)
    #expect(error?.message.contains("a:1: ") == true)
  }
}

/// Tests opening and closing with real nodes.
@Suite(.enabled(if: TestCluster.isAvailable, Comment(rawValue: TestCluster.reason)))
struct ClusterClosingTests {
  @Test func `a database can be opened by a task, closed and opened again`() async throws {
    let cluster = try TestCluster(count: 1)
    let addresses = cluster.addresses
    // Concurrently, so each task has its own session.
    try await withThrowingTaskGroup { group in
      for id in 0..<5 {
        group.addTask {
          let database = try await Database(cluster: addresses, name: "test")
          try await database.executeChange("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY)")
          try await database.executeChange("INSERT INTO t VALUES (\(id))")
          try await database.close()
          await #expect(throws: SQLiteError.self) {
            try await database.executeQuery("SELECT * FROM t")
          }
        }
      }
      try await group.waitForAll()
    }
    let database = try await Database(cluster: addresses, name: "test")
    #expect(
      try await database.rows("SELECT id FROM t ORDER BY id", as: Int.self) == Array(0..<5))
  }

  @Test func `a task that requests the list of nodes can be cancelled`() async throws {
    let cluster = try TestCluster(count: 1)
    var options = ClusterOptions()
    options.leaderTimeout = .seconds(600)
    let database = try await Database(
      cluster: cluster.addresses, name: "test", options: options)
    #expect(try await database.clusterNodes()?.map(\.isLeader) == [true])
    cluster.signal(0, SIGKILL)
    let asking = Task { try await database.clusterNodes() }
    try await Task.sleep(for: .milliseconds(20))
    asking.cancel()
    await #expect(throws: CancellationError.self) { try await asking.value }
  }
}

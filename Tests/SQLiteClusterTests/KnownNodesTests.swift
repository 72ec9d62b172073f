import Conformance
import Foundation
import SQLiteCluster
import SQLiteCore
import Testing

/// Tests the nodes that a client learns and stores in a file.
@Suite(.enabled(if: TestCluster.isAvailable, Comment(rawValue: TestCluster.reason)))
struct KnownNodesTests {
  private let path = FileManager.default.temporaryDirectory
    .appending(path: "magicdata-known-\(UUID().uuidString)").path(percentEncoded: false)

  private func open(
    _ addresses: [String], _ change: (inout ClusterOptions) -> Void = { _ in }
  ) throws -> Database {
    var options = ClusterOptions()
    options.knownNodes = path
    change(&options)
    return try Database(cluster: addresses, name: "test", options: options)
  }

  private func lines() throws -> Set<String> {
    Set(try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init))
  }

  @Test func `a client finds the other nodes although its only configured node is dead`() throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    let cluster = try TestCluster()
    let named = cluster.addresses[0]
    let first = try open([named])
    try first.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    #expect(try lines() == Set(cluster.addresses))
    cluster.signal(0, SIGKILL)

    let later = try open([named])
    try later.executeChange("INSERT INTO t VALUES (1)")
    #expect(try later.clusterNodes()?.count == 3)
    // Without the file, the client doesn't find the cluster.
    let lost = #expect(throws: SQLiteError.self) {
      try open([named]) {
        $0.knownNodes = nil
        $0.leaderTimeout = .milliseconds(100)
      }
    }
    #expect(lost?.message.contains(named) == true)
  }

  @Test func `garbage in the file doesn't hide the configured nodes`() throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    let cluster = try TestCluster(count: 1)
    for text in ["", "\n\n", "no address\n127.0.0.1:1\n", "a\0b\n\u{1}:x"] {
      try text.write(toFile: path, atomically: false, encoding: .utf8)
      _ = try open(cluster.addresses)
      #expect(try lines() == Set(cluster.addresses))
    }
  }

  @Test func `opening throws if the file can't be written`() throws {
    let cluster = try TestCluster(count: 1)
    for path in ["/nowhere/at/all", "/", ""] {
      #expect(throws: SQLiteError.self) {
        try open(cluster.addresses) { $0.knownNodes = path }
      }
    }
  }

  @Test func `a silent node doesn't delay the others`() throws {
    let cluster = try TestCluster(hasNetwork: true)
    let leader = try cluster.leader()
    let silent = (leader + 1) % 3
    cluster.network?.change { $0.cutFromClients = [silent] }
    // The silent node is queried first but gets little time, though the limit is ten seconds.
    let database = try Database(
      cluster: [cluster.addresses[silent], cluster.addresses[leader]], name: "test")
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    #expect(try database.executeQuery("SELECT * FROM t").isEmpty)
  }

  @Test func `accesses end at their deadlines even while the client searches for a leader`() throws
  {
    let cluster = try TestCluster(hasNetwork: true)
    let database = try cluster.database { $0.leaderTimeout = .seconds(600) }
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    cluster.network?.change { $0.cutFromClients = [0, 1, 2] }
    let error = #expect(throws: SQLiteError.self) {
      try database.write(deadline: .now + .milliseconds(300)) {
        try $0.executeChange("INSERT INTO t VALUES (1)")
      }
    }
    #expect(error?.code == .interrupt)
    cluster.network?.change { $0.cutFromClients = [] }
    try database.executeChange("INSERT INTO t VALUES (2)")
  }
}

import Conformance
import Foundation
import SQLiteCluster
import SQLiteCore
import Synchronization
import TestSupport
import Testing

/// Tests tasks that are cancelled, wait, or exceed their deadline.
@Suite(.serialized, .enabled(if: TestCluster.isAvailable, Comment(rawValue: TestCluster.reason)))
struct ClusterTaskTests {
  @Test func `a task that waits for another client's lock can be cancelled`()
    async throws
  {
    let cluster = try TestCluster(count: 1)
    let holder = try cluster.database()
    let waiter = try cluster.database { $0.database.busyTimeout = .seconds(600) }
    try await holder.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    // Holds the lock on a thread that doesn't belong to the concurrency pool while the other client
    // waits.
    let isWaiting = Flag()
    let isCancelled = Flag()
    let holding = Task.detached {
      try await holder.write { connection in
        try connection.executeChange("INSERT INTO t VALUES (1)")
        isWaiting.set()
        while !isCancelled.isSet { usleep(1_000) }
      }
    }
    try await waitUntil { isWaiting.isSet }
    let waiting = Task { try await waiter.executeChange("INSERT INTO t VALUES (2)") }
    try await Task.sleep(for: .milliseconds(50))
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    isCancelled.set()
    try await holding.value
    try await waiter.executeChange("INSERT INTO t VALUES (3)")
    let ids = try await holder.executeQuery("SELECT id FROM t ORDER BY id").map { $0[0]?.asInt() }
    #expect(ids == [1, 3])
  }

  @Test func `a lock of another Database value isn't reported as another process's lock`()
    throws
  {
    let cluster = try TestCluster.shared.get()
    let holder = try cluster.database(#function)
    let waiter = try cluster.database(#function) { $0.database.busyTimeout = .zero }
    try holder.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    let error = try holder.write { connection in
      try connection.executeChange("INSERT INTO t VALUES (1)")
      return #expect(throws: SQLiteError.self) {
        try waiter.executeChange("INSERT INTO t VALUES (2)")
      }
    }
    #expect(error?.code.primary == .busy)
    #expect(error?.message.contains("so another process holds") == false)
    #expect(error?.message.contains("this Database value") == true)
  }

  @Test func `cancellation or a passed deadline between two rows throws`() async throws {
    let cluster = try TestCluster(count: 1)
    let database = try cluster.database()
    let sql: SQL =
      "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000) SELECT i, i FROM n"
    for _ in 0..<20 {
      let isAtRow = Flag()
      let isCancelled = Flag()
      let reading = Task.detached {
        try await database.read { connection in
          try connection.forEachRow(sql) { row in
            guard row.integer(at: 0) == 2 else { return }
            isAtRow.set()
            while !isCancelled.isSet { usleep(100) }
          }
        }
      }
      try await waitUntil { isAtRow.isSet }
      reading.cancel()
      isCancelled.set()
      await #expect(throws: CancellationError.self) { try await reading.value }
    }
    let error = await #expect(throws: SQLiteError.self) {
      try await database.read(deadline: .now + .milliseconds(50)) { connection in
        try connection.forEachRow(sql) { row in
          if row.integer(at: 0) == 2 { usleep(100_000) }
        }
      }
    }
    #expect(error?.code == .interrupt)
  }

  @Test func `a task that waits for a leader can be cancelled`() async throws {
    let cluster = try TestCluster()
    let database = try cluster.database { $0.leaderTimeout = .seconds(600) }
    try await database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    let leader = try cluster.leader()
    for index in 0..<3 { cluster.signal(index, SIGKILL) }
    let reading = Task { try await database.executeQuery("SELECT * FROM t") }
    let writing = Task { try await database.executeChange("INSERT INTO t VALUES (1)") }
    try await Task.sleep(for: .milliseconds(100))
    reading.cancel()
    writing.cancel()
    await #expect(throws: CancellationError.self) { try await reading.value }
    await #expect(throws: CancellationError.self) { try await writing.value }
    for index in 0..<3 { try cluster.start((leader + index) % 3) }
    try await database.executeChange("INSERT INTO t VALUES (2)")
    #expect(try await database.executeQuery("SELECT id FROM t").map { $0[0]?.asInt() } == [2])
  }

  @Test func `a read that loses its leader runs again and returns a single snapshot`() throws {
    let cluster = try TestCluster()
    let database = try cluster.database()
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER)")
    try database.write { connection in
      for id in 0..<2_000 { try connection.executeChange("INSERT INTO t VALUES (\(id), 1)") }
    }
    let other = try cluster.database()
    var runs = 0
    let sums = try database.read { connection in
      runs += 1
      let first = try connection.firstRow("SELECT sum(n) FROM t", as: Int.self)
      if runs == 1 {
        try other.executeChange("UPDATE t SET n = 2")
        cluster.signal(try cluster.leader(), SIGKILL)
      }
      return [first, try connection.firstRow("SELECT sum(n) FROM t", as: Int.self)]
    }
    // Both sums come from the second run, which started after the update.
    #expect(runs == 2)
    #expect(sums == [4_000, 4_000])
  }

  /// Returns a database with an empty table, and a transport that can cut its connections.
  private func makeDatabase() throws -> (TestCluster, CutTransport, Database) {
    let cluster = try TestCluster(count: 1)
    let transport = CutTransport()
    let database = try cluster.database {
      $0.transport = transport
      $0.leaderTimeout = .seconds(1)
    }
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    return (cluster, transport, database)
  }

  @Test func `a long access runs again when its connection is lost`() throws {
    let (cluster, transport, database) = try makeDatabase()
    defer { withExtendedLifetime(cluster) {} }
    var runs = 0
    let count = try database.read { connection in
      runs += 1
      let count = try connection.firstRow("SELECT count(*) FROM t", as: Int.self)
      guard runs == 1 else { return count }
      usleep(1_100_000)
      transport.cut()
      return try connection.firstRow("SELECT count(*) FROM t", as: Int.self)
    }
    #expect(runs == 2)
    #expect(count == 0)
    try database.write { connection in
      runs += 1
      try connection.executeChange("INSERT INTO t VALUES (1)")
      guard runs == 3 else { return }
      usleep(1_100_000)
      transport.cut()
      try connection.executeChange("INSERT INTO t VALUES (2)")
    }
    #expect(runs == 4)
  }

  @Test func `an access that loses its session four times throws`() throws {
    let (cluster, transport, database) = try makeDatabase()
    defer { withExtendedLifetime(cluster) {} }
    var runs = 0
    let error = #expect(throws: SQLiteError.self) {
      try database.write { connection in
        runs += 1
        usleep(500_000)
        transport.cut()
        // Uses a different statement each time, so that none of them is blamed for the losses.
        try connection.executeChange(SQL(unchecked: "INSERT INTO t VALUES (\(runs))"))
      }
    }
    #expect(runs == 4)
    #expect(error?.message.contains("started 4 times") == true, "\(error as Any)")
    #expect(try database.rows("SELECT count(*) FROM t", as: Int.self).first == 0)
  }

  @Test func `rows that were only partly read don't disturb the next access`() throws {
    let cluster = try TestCluster(count: 1)
    let database = try cluster.database()
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT)")
    try database.write { connection in
      for id in 0..<2_000 {
        try connection.executeChange("INSERT INTO t VALUES (\(id), 'abcdefgh')")
      }
    }
    struct Stop: Error {}
    for stop in [0, 1, 150, 1_000, 1_999] {
      #expect(throws: Stop.self) {
        try database.read { connection in
          try connection.forEachRow("SELECT id, s FROM t ORDER BY id") { row in
            if row.integer(at: 0) == stop { throw Stop() }
          }
        }
      }
      let count = try database.executeQuery("SELECT count(*) FROM t")[0][0]?.asInt()
      #expect(count == 2_000)
    }
  }
}

/// A transport with streams that can be cut.
private final class CutTransport: ClusterTransport {
  private let cuts = Atomic(0)

  /// Ends all open streams.
  func cut() { cuts.add(1, ordering: .relaxed) }

  func connect(
    to address: String, before deadline: ContinuousClock.Instant
  ) throws -> any ClusterStream {
    Stream(self, try SocketTransport().connect(to: address, before: deadline))
  }

  private final class Stream: ClusterStream {
    private let transport: CutTransport
    private let stream: any ClusterStream
    private let number: Int

    init(_ transport: CutTransport, _ stream: any ClusterStream) {
      self.transport = transport
      self.stream = stream
      number = transport.cuts.load(ordering: .relaxed)
    }

    func send(_ bytes: [UInt8], before deadline: ContinuousClock.Instant) throws {
      try stream.send(bytes, before: deadline)
    }

    func receive(atMost count: Int, before deadline: ContinuousClock.Instant) throws -> [UInt8]? {
      guard number == transport.cuts.load(ordering: .relaxed) else { return [] }
      return try stream.receive(atMost: count, before: deadline)
    }

    func close() { stream.close() }
  }
}

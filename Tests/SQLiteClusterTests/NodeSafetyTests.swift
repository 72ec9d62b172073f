import Conformance
import Foundation
import SQLiteCore
import Synchronization
import Testing

@testable import SQLiteCluster

/// Tests inputs that would crash, confuse or hang a node of version 1.11.
@Suite(.serialized, .enabled(if: TestCluster.isAvailable, Comment(rawValue: TestCluster.reason)))
struct NodeSafetyTests {
  /// Checks that all nodes run, that the others have the data of the killed leader, and that it
  /// restarts.
  private func checkIsIntact(
    _ cluster: TestCluster, _ sql: SQL, _ expected: [Value], in name: String = "test"
  ) throws {
    for index in cluster.addresses.indices { #expect(cluster.isRunning(index)) }
    let leader = try cluster.leader()
    cluster.signal(leader, SIGKILL)
    let database = try cluster.database(name)
    #expect(try database.executeQuery(sql).map { $0[0]?.value ?? .null } == expected)
    try cluster.start(leader)
    #expect(cluster.isRunning(leader))
    try database.executeChange("CREATE TABLE IF NOT EXISTS later (id INTEGER PRIMARY KEY)")
  }

  @Test func `changes with RETURNING reach the other nodes`() throws {
    let cluster = try TestCluster()
    let database = try cluster.database()
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER)")
    let inserted = try database.executeQuery("INSERT INTO t VALUES (1, 1), (2, 2) RETURNING id")
    #expect(inserted.map { $0[0]?.value } == [.integer(1), .integer(2)])
    try database.withoutTransaction { connection in
      try connection.executeChange("INSERT INTO t VALUES (3, 3) RETURNING n")
      #expect(try connection.executeQuery("UPDATE t SET n = n * 10 RETURNING n").count == 3)
      #expect(try connection.executeQuery("DELETE FROM t WHERE id = 2 RETURNING id").count == 1)
    }
    try checkIsIntact(cluster, "SELECT n FROM t ORDER BY id", [.integer(10), .integer(30)])
  }

  @Test func `statements that would crash a node are rejected, with megabytes of data`() throws {
    let cluster = try TestCluster()
    let database = try cluster.database()
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY, b BLOB)")
    let blob = [UInt8](repeating: 1, count: 1 << 20)
    for id in 0..<8 { try database.executeChange("INSERT INTO t VALUES (\(id), \(blob))") }
    for sql in [
      "VACUUM", "VACUUM INTO '/tmp/never'", "PRAGMA journal_mode = DELETE",
      "PRAGMA journal_mode(DELETE)", "PRAGMA main.journal_mode = MEMORY", "PRAGMA wal_checkpoint",
      "PRAGMA page_size = 512", "PRAGMA writable_schema = ON", "PRAGMA locking_mode = EXCLUSIVE",
    ] {
      let error = #expect(throws: SQLiteError.self) {
        try database.withoutTransaction { try $0.executeChange(SQL(unchecked: sql)) }
      }
      #expect(error?.code == .authorization, "\(sql)")
    }
    try checkIsIntact(cluster, "SELECT count(*) FROM t", [.integer(8)])
  }

  @Test(arguments: [
    "CREATE TABLE b (x BOOLEAN)", "CREATE TABLE b (x \"Boolean\")", "CREATE TABLE b (x [DATE])",
    "CREATE TEMP TABLE b (x datetime)", "CREATE TABLE b (y, x `timestamp` NOT NULL)",
    "CREATE TABLE b (x /* a */ date -- b\n)", "ALTER TABLE t ADD x DATE",
    "ALTER TABLE t ADD COLUMN x 'boolean' DEFAULT 'a'",
  ])
  func `columns with types that would crash a node can't be created`(_ sql: String) throws {
    let cluster = try TestCluster(count: 1)
    let database = try cluster.database()
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    let error = #expect(throws: SQLiteError.self) {
      try database.withoutTransaction { try $0.executeChange(SQL(unchecked: sql)) }
    }
    #expect(error?.code == .authorization)
    #expect(try database.executeQuery("SELECT * FROM t").isEmpty)
  }

  @Test func `opening a database throws an error that names columns that would crash a node`()
    throws
  {
    let cluster = try TestCluster(count: 1)
    // Uses the raw protocol, like another program might.
    let probe = try Cluster(cluster.addresses, database: "foreign", ClusterOptions())
    let (node, number) = try probe.openAtLeader(before: .now + .seconds(10))
    for sql in [
      "CREATE VIRTUAL TABLE f USING fts5(x)", "CREATE TABLE t (id INTEGER PRIMARY KEY, ok BOOLEAN)",
      "INSERT INTO t VALUES (1, 0.5)",
    ] { _ = try node.execute(.sql(sql), in: number) }
    let error = #expect(throws: SQLiteError.self) { try cluster.database("foreign") }
    #expect(error?.code == .schema)
    #expect(error?.message.contains("t.ok BOOLEAN") == true)
    let database = try cluster.database("foreign") { $0.checksColumnTypes = false }
    #expect(try database.executeQuery("SELECT id FROM t")[0][0]?.value == .integer(1))
    #expect(cluster.isRunning(0))
  }

  @Test(arguments: [
    ":memory:", "file:x", "file:x?mode=memory", "x-wal", "x-journal", "x-shm", "", "a\0b",
    String(repeating: "n", count: 256),
  ])
  func `a database name that would crash a node throws`(_ name: String) throws {
    let cluster = try TestCluster(count: 1)
    let error = #expect(throws: SQLiteError.self) { try cluster.database(name) }
    #expect(error?.code == .misuse)
    #expect(cluster.isRunning(0))
  }

  @Test func `any other name identifies a separate database`() throws {
    let cluster = try TestCluster(count: 1)
    let names = [
      "a b", "a/b", "../x", "/tmp/x", "é😀", "a\nb", "a?b", "%00", ":MEMORY:", "FILE:x", "x", "X",
      String(repeating: "n", count: 255),
    ]
    for (number, name) in names.enumerated() {
      let database = try cluster.database(name)
      try database.executeChange("CREATE TABLE t (n INTEGER)")
      try database.executeChange("INSERT INTO t VALUES (\(number))")
    }
    for (number, name) in names.enumerated() {
      let rows = try cluster.database(name).rows("SELECT n FROM t", as: Int.self)
      #expect(rows == [number])
    }
    #expect(cluster.isRunning(0))
  }

  /// A node of version 1.11 opens the first database that has the requested name as a prefix.
  @Test func `a name that is a prefix of another one has its own database on every node`()
    throws
  {
    let cluster = try TestCluster()
    let names = ["tenant 10", "tenant 1", "tenant", "t"]
    for (number, name) in names.enumerated() {
      let database = try cluster.database(name)
      try database.executeChange("CREATE TABLE t (n INTEGER)")
      try database.executeChange("INSERT INTO t VALUES (\(number))")
    }
    cluster.signal(try cluster.leader(), SIGKILL)
    for (number, name) in names.enumerated() {
      let rows = try cluster.database(name).rows("SELECT n FROM t", as: Int.self)
      #expect(rows == [number])
    }
  }

  @Test func `very large options work, and an invalid message size throws`() throws {
    let cluster = try TestCluster.shared.get()
    let database = try cluster.database("any options") { options in
      options.leaderTimeout = .seconds(Int64.max)
      options.attemptTimeout = .seconds(Int64.max)
      options.dialTimeout = .seconds(Int64.max)
      options.maximumMessageSize = .max
      options.tokenAge = .max
    }
    try database.executeMultipleChanges(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT);
      WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
        INSERT INTO t (s) SELECT 'some text' FROM n
      """)
    try database.withoutTransaction { connection in
      var rows = try connection.statement("SELECT * FROM t")
      let isRow = try rows.step()
      #expect(isRow)
      #expect(try connection.executeQuery("SELECT 1").count == 1)
    }
    for size in [0, -8, .min] {
      #expect(throws: SQLiteError.self) {
        try cluster.database("any options") {
          $0.maximumMessageSize = size
          $0.leaderTimeout = .seconds(-1)
        }
      }
    }
  }

  @Test func `an oversized message throws before it is sent`() throws {
    let cluster = try TestCluster(count: 1)
    let database = try cluster.database { $0.maximumMessageSize = 1 << 20 }
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY, b BLOB)")
    let blob = [UInt8](repeating: 1, count: 1 << 20)
    let error = #expect(throws: SQLiteError.self) {
      try database.executeChange("INSERT INTO t VALUES (1, \(blob))")
    }
    #expect(error?.code == .tooBig)
    try database.executeChange("INSERT INTO t VALUES (2, \([UInt8](repeating: 1, count: 1 << 19)))")
    #expect(try database.executeQuery("SELECT id FROM t").map { $0[0]?.value } == [.integer(2)])
    // An oversized row throws, too, and the session continues.
    try cluster.database().executeChange("INSERT INTO t VALUES (3, zeroblob(3000000))")
    let answer = #expect(throws: SQLiteError.self) {
      try database.executeQuery("SELECT b FROM t WHERE id = 3")
    }
    #expect(answer?.code == .tooBig)
    #expect(try database.executeQuery("SELECT count(*) FROM t")[0][0]?.value == .integer(2))
    #expect(cluster.isRunning(0))
  }

  @Test func `no request is sent while rows are still to come`() throws {
    let cluster = try TestCluster(count: 1)
    let watch = WatchedTransport()
    let database = try cluster.database { $0.transport = watch }
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT)")
    try database.write { connection in
      for id in 0..<2_000 {
        try connection.executeChange("INSERT INTO t VALUES (\(id), 'some text in a row')")
      }
    }
    try database.write { connection in
      var count = 0
      try connection.forEachRow("SELECT id FROM t ORDER BY id") { row in
        count += 1
        guard row.integer(at: 0) % 400 == 0 else { return }
        try connection.executeChange("UPDATE t SET s = 'b' WHERE id = \(row.integer(at: 0))")
        // A query that is abandoned before its end.
        _ = try connection.firstRow("SELECT * FROM t")
      }
      #expect(count == 2_000)
    }
    #expect(watch.messageCount > 2_000)
    #expect(watch.earlyCount == 0)
    #expect(cluster.isRunning(0))
  }

  @Test(arguments: [
    "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
    // These are endless because of a view and a trigger, and crash no node, either.
    "SELECT count(*) FROM endless", "INSERT INTO trap VALUES (1)",
  ])
  func `an endless statement blocks one node but not the others`(_ sql: String) throws {
    let cluster = try TestCluster()
    let database = try cluster.database()
    try database.executeMultipleChanges(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY);
      INSERT INTO t VALUES (1);
      CREATE VIEW endless AS WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n;
      CREATE TABLE trap (id INTEGER PRIMARY KEY);
      CREATE TRIGGER trapped AFTER INSERT ON trap
        BEGIN DELETE FROM t WHERE id IN (SELECT i FROM endless); END;
      """)
    let leader = try cluster.leader()
    let hasty = try cluster.database { $0.attemptTimeout = .milliseconds(500) }
    let error = #expect(throws: SQLiteError.self) {
      try hasty.withoutTransaction { _ = try $0.executeQuery(SQL(unchecked: sql)) }
    }
    #expect(error?.code == .leadershipLost)
    #expect(error?.message.contains("the statement is not sent to another node") == true)
    // The other nodes elect a new leader.
    try database.executeChange("INSERT INTO t VALUES (2)")
    #expect(try cluster.leader() != leader)
    cluster.signal(leader, SIGKILL)
    try cluster.start(leader)
    #expect(
      try database.executeQuery("SELECT id FROM t ORDER BY id").map { $0[0]?.asInt() } == [1, 2])
  }

  @Test func `a statement that crashed two nodes isn't sent to a third`() async throws {
    let cluster = try TestCluster()
    let probe = try Cluster(cluster.addresses, database: "foreign", ClusterOptions())
    let (node, number) = try probe.openAtLeader(before: .now + .seconds(10))
    // Reading this value crashes a node of version 1.11.
    for sql in [
      "CREATE TABLE t (id INTEGER PRIMARY KEY, ok BOOLEAN)", "INSERT INTO t VALUES (1, 0.5)",
    ] { _ = try node.execute(.sql(sql), in: number) }
    func running() -> Int { cluster.addresses.indices.count { cluster.isRunning($0) } }
    let database = try cluster.database("foreign") { $0.checksColumnTypes = false }
    for isInGroup in [false, true] {
      let error = await #expect(throws: SQLiteError.self) {
        if isInGroup {
          try await database.writeInGroup { _ = try $0.executeQuery("SELECT ok FROM t") }
        } else {
          _ = try await database.executeQuery("SELECT ok FROM t")
        }
      }
      #expect(error?.code == .abort)
      #expect(error?.sql == "SELECT ok FROM t")
      #expect(running() == 1)
      for index in 0..<3 where !cluster.isRunning(index) {
        cluster.signal(index, SIGKILL)
        try cluster.start(index)
      }
    }
  }

  @Test func `a missing argument or a second statement throws, as for a file`() throws {
    let cluster = try TestCluster(count: 1)
    for database in [try cluster.database(), try Database.memory()] {
      try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER)")
      #expect(throws: SQLiteError.self) {
        try database.executeChange("INSERT INTO t VALUES (?, ?)", withArgs: [1])
      }
      #expect(throws: SQLiteError.self) { try database.executeQuery("SELECT 1; SELECT 2") }
      #expect(throws: SQLiteError.self) {
        try database.executeChange("INSERT INTO t VALUES (1, 1); INSERT INTO t VALUES (2, 2)")
      }
      try database.executeMultipleChanges(
        "INSERT INTO t VALUES (3, 3); INSERT INTO t VALUES (4, ';')")
      let ids = try database.executeQuery("SELECT id FROM t ORDER BY id").map { $0[0]?.asInt() }
      #expect(ids == [3, 4])
    }
  }
}

/// A transport that counts the requests that are sent before the previous response is complete.
private final class WatchedTransport: ClusterTransport {
  private let counts = Mutex((messages: 0, early: 0))

  var messageCount: Int { counts.withLock { $0.messages } }
  var earlyCount: Int { counts.withLock { $0.early } }

  func connect(
    to address: String, before deadline: ContinuousClock.Instant
  ) throws -> any ClusterStream {
    Stream(self, try SocketTransport().connect(to: address, before: deadline))
  }

  private final class Stream: ClusterStream {
    private let watch: WatchedTransport
    private let stream: any ClusterStream
    /// The received bytes of an incomplete message.
    private var received: [UInt8] = []
    private var isWaiting = false
    private var hasSentVersion = false

    init(_ watch: WatchedTransport, _ stream: any ClusterStream) {
      self.watch = watch
      self.stream = stream
    }

    func send(_ bytes: [UInt8], before deadline: ContinuousClock.Instant) throws {
      if hasSentVersion {
        watch.counts.withLock { counts in
          counts.messages += 1
          if isWaiting { counts.early += 1 }
        }
        isWaiting = true
      }
      hasSentVersion = true
      try stream.send(bytes, before: deadline)
    }

    func receive(atMost count: Int, before deadline: ContinuousClock.Instant) throws -> [UInt8]? {
      let bytes = try stream.receive(atMost: count, before: deadline)
      received += bytes ?? []
      while received.count >= 8 {
        let words = received[..<4].reversed().reduce(0) { $0 << 8 | Int($1) }
        guard received.count >= 8 + words * 8 else { break }
        // The last word of rows marks their end or announces more rows.
        isWaiting = received[4] == 7 && received[7 + words * 8] == 0xee
        received.removeFirst(8 + words * 8)
      }
      return bytes
    }

    func close() { stream.close() }
  }
}

import Foundation
import MagicCluster
import MagicData
import Testing

/// Nodes that are killed, stopped and started again while clients write.
@Suite(
  .serialized, .enabled(if: TestCluster.isThere, Comment(rawValue: TestCluster.reason)))
struct ClusterFailoverTests {
  /// How many nodes are killed: 30, or as many as the environment says.
  private static let kills =
    ProcessInfo.processInfo.environment["MAGICDATA_KILLS"].flatMap { Int($0) } ?? 30

  @Test func `a client goes on when the leader is killed`() async throws {
    let cluster = try TestCluster()
    let database = try cluster.database()
    try await database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    try await database.executeChange("INSERT INTO t VALUES (1)")
    let leader = try cluster.leader()
    cluster.signal(leader, SIGKILL)
    try await database.executeChange("INSERT INTO t VALUES (2)")
    let rows = try await database.executeQuery("SELECT id FROM t ORDER BY id").map { $0[0]?.value }
    #expect(rows == [.integer(1), .integer(2)])
    try cluster.start(leader)
    let nodes = try #require(try await database.clusterNodes())
    #expect(nodes.count == 3)
    #expect(nodes.count { $0.isLeader } == 1)
  }

  @Test func `a transaction runs again as a whole when its leader is killed`() throws {
    let cluster = try TestCluster()
    let database = try cluster.database()
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER)")
    try database.executeChange("INSERT INTO t VALUES (1, 0)")
    var runs = 0
    let sum = try database.write { connection in
      runs += 1
      try connection.executeChange("UPDATE t SET n = n + 1")
      if runs == 1 { cluster.signal(try cluster.leader(), SIGKILL) }
      try connection.executeChange("UPDATE t SET n = n + 10")
      return runs
    }
    #expect(sum == 2)
    #expect(runs == 2)
    #expect(try database.executeQuery("SELECT n FROM t")[0][0]?.value == .integer(11))
  }

  @Test func `a write without a majority is unknown, and says so`() throws {
    let cluster = try TestCluster()
    let database = try cluster.database { options in
      options.leaderTimeout = .seconds(1)
      options.attemptTimeout = .seconds(1)
    }
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    let leader = try cluster.leader()
    let error = #expect(throws: SQLiteError.self) {
      try database.write { connection in
        try connection.executeChange("INSERT INTO t VALUES (1)")
        for index in 0..<3 where index != leader { cluster.signal(index, SIGKILL) }
      }
    }
    #expect(error?.code == .outcomeUnknown)
    for index in 0..<3 where index != leader { try cluster.start(index) }
    // It may be there or not, but not more than once, and the cluster works on.
    let later = try cluster.database()
    try later.executeChange("INSERT INTO t VALUES (2)")
    let count = try later.executeQuery("SELECT count(*) FROM t")[0][0]?.asInt() ?? 0
    #expect((1...2).contains(count))
  }

  @Test(.timeLimit(.minutes(10)))
  func `nothing is lost or doubled while nodes are killed`() async throws {
    let cluster = try TestCluster()
    let accounts = 10
    let setUp = try cluster.database()
    try await setUp.executeMultipleChanges(
      """
      CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL CHECK (balance >= 0));
      CREATE TABLE payment (
        id TEXT PRIMARY KEY, source INTEGER NOT NULL REFERENCES account,
        target INTEGER NOT NULL REFERENCES account, amount INTEGER NOT NULL);
      """)
    for id in 0..<accounts {
      try await setUp.executeChange("INSERT INTO account VALUES (\(id), 1000)")
    }

    let isOver = Flag()
    let acknowledged = Names()
    let unknown = Names()
    try await withThrowingTaskGroup { group in
      for writer in 0..<4 {
        group.addTask {
          let database = try cluster.database { $0.leaderTimeout = .seconds(30) }
          var random = SeededGenerator(seed: UInt64(writer))
          var number = 0
          while !isOver.isSet {
            number += 1
            let id = "\(writer)-\(number)"
            let source = Int.random(in: 0..<accounts, using: &random)
            let target = (source + Int.random(in: 1..<accounts, using: &random)) % accounts
            let amount = Int.random(in: 1...20, using: &random)
            do {
              try await database.write { connection in
                try connection.executeChange(
                  "UPDATE account SET balance = balance - \(amount) WHERE id = \(source)")
                try connection.executeChange(
                  "UPDATE account SET balance = balance + \(amount) WHERE id = \(target)")
                try connection.executeChange(
                  "INSERT INTO payment VALUES (\(id), \(source), \(target), \(amount))")
              }
              acknowledged.add(id)
            } catch let error as SQLiteError where error.code == .checkConstraint {
              // The account was empty.
            } catch let error as SQLiteError where error.code == .outcomeUnknown {
              unknown.add(id)
            }
          }
        }
      }
      group.addTask {
        defer { isOver.set() }
        var random = SeededGenerator(seed: 7)
        for kill in 0..<ClusterFailoverTests.kills {
          let node = Int.random(in: 0..<3, using: &random)
          if kill % 5 == 4 {
            cluster.signal(node, SIGSTOP)
            try await Task.sleep(for: .milliseconds(600))
            cluster.signal(node, SIGCONT)
          } else {
            cluster.signal(node, SIGKILL)
            try await Task.sleep(for: .milliseconds(200))
            try cluster.start(node)
          }
          try await Task.sleep(for: .milliseconds(500))
          for other in 0..<3 { #expect(cluster.isRunning(other), "a node has ended by itself") }
        }
      }
      try await group.waitForAll()
    }

    let database = try cluster.database()
    let stored = Set(
      try await database.executeQuery("SELECT id FROM payment").compactMap { $0[0]?.asString() })
    #expect(acknowledged.all.isSubset(of: stored))
    #expect(stored.isSubset(of: acknowledged.all.union(unknown.all)))
    #expect(acknowledged.all.count > ClusterFailoverTests.kills)
    let sums = try await database.executeQuery(
      """
      SELECT sum(balance), (SELECT count(*) FROM pragma_foreign_key_check), (
        SELECT count(*) FROM account WHERE balance <> 1000
          - (SELECT coalesce(sum(amount), 0) FROM payment WHERE source = account.id)
          + (SELECT coalesce(sum(amount), 0) FROM payment WHERE target = account.id))
      FROM account
      """)
    #expect(sums[0][0]?.value == .integer(Int64(accounts * 1_000)))
    #expect(sums[0][1]?.value == .integer(0))
    #expect(sums[0][2]?.value == .integer(0))
  }
}

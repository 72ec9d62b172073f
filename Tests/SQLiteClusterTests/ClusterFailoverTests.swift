import Conformance
import Foundation
import MagicCluster
import MagicData
import Testing
import TestSupport

@testable import SQLiteCluster

/// Tests nodes that are killed, stopped and restarted while clients write.
@Suite(
  .serialized, .enabled(if: TestCluster.isAvailable, Comment(rawValue: TestCluster.reason)))
struct ClusterFailoverTests {
  /// The number of disturbances: `MAGICDATA_KILLS`, or 30 by default.
  private static let kills =
    ProcessInfo.processInfo.environment["MAGICDATA_KILLS"].flatMap { Int($0) } ?? 30

  @Test func `a client continues when the leader is killed`() async throws {
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

  @Test func `a client continues when the leader is killed, with 20 milliseconds latency`() throws {
    let cluster = try TestCluster(hasNetwork: true)
    let database = try cluster.database()
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    cluster.network?.change { $0.delay = .milliseconds(20) }
    var times: [Duration] = []
    for id in 0..<5 {
      let leader = try cluster.leader()
      cluster.signal(leader, SIGKILL)
      let start = ContinuousClock.now
      try database.executeChange("INSERT INTO t VALUES (\(id))")
      times.append(.now - start)
      try cluster.start(leader)
    }
    #expect(try database.executeQuery("SELECT count(*) FROM t")[0][0]?.value == .integer(5))
    print("after a kill of the leader, at 20 ms: \(times.sorted())")
  }

  @Test func `a connection that is lost during its preparation is opened again`() throws {
    let cluster = try TestCluster()
    let leader = try cluster.leader()
    let isKilled = Flag()
    let database = try cluster.database { options in
      options.database.prepareConnection = { connection in
        if !isKilled.isSet { cluster.signal(leader, SIGKILL) }
        isKilled.set()
        _ = try connection.executeQuery("SELECT count(*) FROM sqlite_schema")
      }
    }
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    #expect(try cluster.leader() != leader)
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

  @Test func `a transaction runs again when leadership is transferred during it`() throws {
    let cluster = try TestCluster()
    let database = try cluster.database()
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    let leader = try cluster.leader()
    var runs = 0
    try database.write { connection in
      runs += 1
      try connection.executeChange("INSERT INTO t VALUES (1)")
      if runs == 1 { try cluster.transferLeadership(to: (leader + 1) % 3) }
      try connection.executeChange("INSERT INTO t VALUES (2)")
    }
    #expect(runs == 2)
    #expect(try database.executeQuery("SELECT id FROM t").count == 2)
  }

  @Test func `a client continues when the leader is stopped or cut off`() throws {
    let cluster = try TestCluster(hasNetwork: true)
    let database = try cluster.database()
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    var leader = try cluster.leader()
    cluster.signal(leader, SIGSTOP)
    try database.executeChange("INSERT INTO t VALUES (1)")
    #expect(try cluster.leader() != leader)
    cluster.signal(leader, SIGCONT)

    leader = try cluster.leader()
    cluster.network?.change { $0.cutFromNodes = [leader] }
    try database.executeChange("INSERT INTO t VALUES (2)")
    #expect(try database.executeQuery("SELECT id FROM t").count == 2)
    cluster.network?.change { $0.cutFromNodes = [] }

    // The other nodes still follow a leader that no client can reach, so writes fail until it is
    // reachable again.
    leader = try cluster.leader()
    cluster.network?.change { $0.cutFromClients = [leader] }
    #expect(throws: SQLiteError.self) {
      try database.write(deadline: .now + .milliseconds(400)) {
        try $0.executeChange("INSERT INTO t VALUES (3)")
      }
    }
    cluster.network?.change { $0.cutFromClients = [] }
    try database.executeChange("INSERT INTO t VALUES (4)")
    #expect(try database.executeQuery("SELECT id FROM t WHERE id <> 3").count == 3)
  }

  @Test func `a write that loses its majority throws an unknown-outcome error`() throws {
    let cluster = try TestCluster()
    let database = try cluster.database { options in
      options.leaderTimeout = .seconds(5)
      options.attemptTimeout = .seconds(5)
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
    // The row may or may not be stored, and the cluster continues to work.
    let later = try cluster.database()
    try later.executeChange("INSERT INTO t VALUES (2)")
    let count = try later.executeQuery("SELECT count(*) FROM t")[0][0]?.asInt() ?? 0
    #expect((1...2).contains(count))
  }

  @Test(.timeLimit(.minutes(40)))
  func `no write is lost or applied twice while nodes are killed, stopped or cut off`()
    async throws
  {
    let cluster = try TestCluster(hasNetwork: true)
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
    let rejected = Names()
    let orders = Names()
    let crashes = Names()
    try await withThrowingTaskGroup { group in
      for writer in 0..<4 {
        group.addTask {
          // The machine may be slow, and other clients hold the lock.
          let database = try cluster.database {
            $0.leaderTimeout = .seconds(30)
            $0.database.busyTimeout = .seconds(60)
          }
          var random = SplitMix64(seed: UInt64(writer))
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
              // The account's balance was too low.
            } catch let error as SQLiteError where error.code == .outcomeUnknown {
              unknown.add(id)
            } catch let error as SQLiteError where error.code == .leadershipLost {
              // The node was silent for `attemptTimeout`, for example on an overloaded machine.
              // Nothing may be stored then.
              rejected.add(id)
            }
          }
        }
      }
      group.addTask {
        var options = ClusterOptions()
        options.leaderTimeout = .seconds(30)
        options.database.busyTimeout = .seconds(60)
        let magic = try await MagicData(
          cluster: cluster.addresses, name: "objects", options: options)
        var number = 0
        while !isOver.isSet {
          number += 1
          let order = Order("order \(number)")
          order.lines = (0..<3).map { OrderLine("\(number)-\($0)", count: $0 + 1) }
          do {
            try await magic.update(order)
            orders.add(order.id)
          } catch let error as SQLiteError where error.code == .outcomeUnknown {
            unknown.add(order.id)
          } catch let error as SQLiteError where error.code == .leadershipLost {
            rejected.add(order.id)
          }
        }
      }
      group.addTask {
        defer { isOver.set() }
        var random = SplitMix64(seed: 7)
        for kill in 0..<ClusterFailoverTests.kills {
          let node = Int.random(in: 0..<3, using: &random)
          switch kill % 5 {
          case 1:
            // Fails harmlessly if no node leads or the leader can't transfer its leadership.
            try? cluster.transferLeadership(to: node)
          case 2:
            cluster.network?.change { $0.cutFromNodes = [node] }
            try await Task.sleep(for: .milliseconds(Int.random(in: 100...1_000, using: &random)))
            cluster.network?.change { $0.cutFromNodes = [] }
          case 3:
            cluster.network?.change { $0.cutFromClients = [node] }
            try await Task.sleep(for: .milliseconds(Int.random(in: 100...1_000, using: &random)))
            cluster.network?.change { $0.cutFromClients = [] }
          case 4:
            cluster.signal(node, SIGSTOP)
            try await Task.sleep(for: .milliseconds(600))
            cluster.signal(node, SIGCONT)
          default:
            cluster.signal(node, SIGKILL)
            try await Task.sleep(for: .milliseconds(200))
            try cluster.start(node)
          }
          try await Task.sleep(for: .milliseconds(500))
          // Nodes of version 1.11 have bugs that can crash them when the leader changes, so restart
          // them.
          for other in 0..<3 {
            guard let end = try cluster.restartIfExited(other) else { continue }
            crashes.add("after disturbance \(kill) node \(other) crashed, \(end)")
          }
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

    let magic = try await MagicData(cluster: cluster.addresses, name: "objects")
    let found = try await magic.objects(of: Order.self)
    let ids = found.map(\.id)
    #expect(Set(ids).count == ids.count)
    #expect(orders.all.isSubset(of: Set(ids)))
    #expect(Set(ids).isSubset(of: orders.all.union(unknown.all)))
    #expect(found.allSatisfy { $0.lines.map(\.count) == [1, 2, 3] })
    #expect(try await magic.objects(of: OrderLine.self).count == 3 * ids.count)
    #expect(
      try await magic.database.executeQuery("SELECT * FROM pragma_foreign_key_check").isEmpty)
    print(
      "\(ClusterFailoverTests.kills) disturbances: \(acknowledged.all.count) payments and "
        + "\(orders.all.count) orders acknowledged, \(stored.count) and \(ids.count) stored, "
        + "\(unknown.all.count) unknown, \(rejected.all.count) rejected, \(crashes.all.count) nodes crashed"
    )
    for end in crashes.all.sorted() { print(end) }
  }
}

private final class Order: MagicObject {
  @PrimaryMagicValue var id: String
  @MagicValue var lines: [OrderLine]

  init() { lines = [] }
  init(_ id: String) {
    self.id = id
    lines = []
  }
}

private final class OrderLine: MagicObject {
  @PrimaryMagicValue var id: String
  @MagicValue var count: Int

  init() {}
  init(_ id: String, count: Int) {
    self.id = id
    self.count = count
  }
}

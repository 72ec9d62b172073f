import Foundation
import SQLiteCluster
import SQLiteCore

/// A benchmark that measures a client's calls, compared with a loop that sends the same messages
/// and waits for the answers.
struct Requests {
  let count: Int

  private static let point = "SELECT id, n, s FROM t WHERE id = ?1"
  // Shortened texts, so that the answer fits into one message. Rows that exceed a page are sent in
  // several messages.
  private static let fetch =
    "SELECT id, n, substr(s, -4) FROM t WHERE id > ?1 ORDER BY id LIMIT 100"
  private static let fetchOfMore = "SELECT id, n, s FROM t WHERE id > ?1 ORDER BY id LIMIT 200"
  private static let insert = "INSERT INTO w (n) VALUES (?1)"
  private static let leaderRequest = BareConnection.message(0, BareConnection.words([0]))

  func run() async throws {
    let cluster = try LocalCluster()
    let database = try await Database(cluster: cluster.addresses, name: "test")
    try await database.executeMultipleChanges(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, s TEXT); CREATE TABLE w (id INTEGER PRIMARY KEY, n INTEGER)"
    )
    try await database.write { connection in
      for id in 1...10_000 {
        try connection.executeChange(
          "INSERT INTO t VALUES (\(id), \(id * 7), \("a name of row \(id)"))")
      }
    }
    var options = ClusterOptions()
    options.reads = .leader
    let plain = try await Database(cluster: cluster.addresses, name: "test", options: options)
    let nodes = try await database.clusterNodes() ?? []
    guard let leader = nodes.first(where: \.isLeader)?.address,
      let follower = nodes.first(where: { !$0.isLeader })?.address
    else { throw Failure("the cluster has no leader") }
    let bare = try BareConnection(leader)
    try bare.open("4:test")
    let other = try BareConnection(follower)
    try bare.prepare(Requests.point)
    try bare.prepare(Requests.fetch)
    try bare.prepare(Requests.insert)
    try bare.prepare(Requests.fetchOfMore)

    print("| case | bare loop, us | this library, us | ratio |\n|---|---|---|---|")
    try reads("point read", 0, Requests.point, 1, bare, other, database, plain)
    try reads("fetch of 100 rows", 1, Requests.fetch, 100, bare, other, database, plain)
    try reads(
      "fetch of 200 rows in three messages", 3, Requests.fetchOfMore, 200, bare, other, database,
      plain)
    try writes(bare, database)
    try await writers(bare, database)
  }

  private func line(_ name: String, _ floor: Double, _ ours: Double) {
    func text(_ number: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", number) }
    print("| \(name) | \(text(floor, 1)) | \(text(ours, 1)) | \(text(ours / floor, 2)) |")
  }

  private func reads(
    _ name: String, _ number: UInt32, _ sql: String, _ rows: Int, _ bare: BareConnection,
    _ other: BareConnection, _ database: Database, _ plain: Database
  ) throws {
    func key(_ index: Int) -> Int { index * 7_919 % 9_800 + 1 }
    func ours(_ database: Database) throws -> Double {
      try microseconds(for: count) { index in
        try database.withoutTransaction { connection in
          var statement = try connection.statement(SQL(unchecked: sql))
          try statement.bind(key(index), at: 1)
          var sum = 0
          var found = 0
          while try statement.step() {
            found += 1
            sum &+= try Int(statement.integer(at: 1)) &+ statement.text(at: 2).utf8.count
          }
          guard found == rows, sum > 0 else { throw Failure("rows are missing") }
        }
      }
    }
    let floor = try microseconds(for: count) { index in
      try bare.call(BareConnection.run(number, asQuery: true, [UInt64(key(index))]))
    }
    let reading = try microseconds(for: count) { index in
      var (found, sum) = (0, 0)
      try unsafe bare.call(BareConnection.run(number, asQuery: true, [UInt64(key(index))])) {
        body in
        let part = unsafe BareConnection.read(body)
        (found, sum) = (found + part.rows, sum &+ part.sum)
      }
      guard found == rows, sum > 0 else { throw Failure("rows are missing") }
    }
    let unchecked = try ours(plain)
    line("\(name), from the leader; the loop reads no rows", floor, unchecked)
    line("\(name), from the leader; the loop reads the rows", reading, unchecked)
    let checked = try microseconds(for: count) { index in
      try other.call(Requests.leaderRequest)
      try bare.call(BareConnection.run(number, asQuery: true, [UInt64(key(index))]))
    }
    line("\(name), linearizable; the loop reads no rows", checked, try ours(database))
  }

  /// Returns the message that inserts a token and commits, like the library does in each write.
  private static func commitMessage() -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    let digits = (0..<4).map { _ in
      String(format: "%08x", UInt32.random(in: 0 ... .max, using: &generator))
    }
    return BareConnection.sql(
      """
      INSERT INTO magicdata_token (token, is_fence, made) \
      VALUES (x'\(digits.joined())', 0, CAST(strftime('%s', 'now') AS INTEGER)); COMMIT
      """)
  }

  private func bareWrite(_ bare: BareConnection, _ numbers: [Int]) throws {
    try bare.call(BareConnection.sql("BEGIN IMMEDIATE"))
    for number in numbers {
      try bare.call(BareConnection.run(2, asQuery: false, [UInt64(number)]))
    }
    try bare.call(Requests.commitMessage())
  }

  private func writes(_ bare: BareConnection, _ database: Database) throws {
    let (floor, ours) = try microseconds(for: 10, rounds: max(11, count / 8)) { index in
      try bareWrite(bare, [index])
    } alternatingWith: { index in
      try database.executeChange("INSERT INTO w (n) VALUES (\(index))")
    }
    line("write of one row", floor, ours)
  }

  /// Measures 64 concurrent tasks. Each one inserts a row and waits for its acknowledgement.
  private func writers(_ bare: BareConnection, _ database: Database) async throws {
    let rounds = max(5, count / 100)
    let one = try microseconds(for: rounds) { round in
      for writer in 0..<64 { try bareWrite(bare, [round * 64 + writer]) }
    }
    let grouped = try microseconds(for: rounds) { round in
      try bareWrite(bare, (0..<64).map { round * 64 + $0 })
    }
    var times: [Double] = []
    for _ in 0..<5 {
      let start = ContinuousClock.now
      try await withThrowingTaskGroup { group in
        for writer in 0..<64 {
          group.addTask {
            for round in 0..<rounds {
              try await database.writeInGroup { connection in
                _ = try connection.executeChange(
                  "INSERT INTO w (n) VALUES (\(round * 64 + writer))")
              }
            }
          }
        }
        try await group.waitForAll()
      }
      times.append((ContinuousClock.now - start) / .microseconds(1) / Double(rounds))
    }
    let ours = times.sorted()[2]
    line("64 writers; the loop commits each row", one, ours)
    line("64 writers; the loop commits all rows together", grouped, ours)
  }
}

import Foundation
import SQLiteCore
import Synchronization
import Testing
import TestSupport

@testable import SQLiteCluster

/// A node that sends the raw bytes that a test specifies.
private final class FakeNode: ClusterTransport {
  /// The responses, one per request.
  private let answers: Mutex<[[UInt8]]>
  /// Whether the stream is closed after the last response.
  private let isClosedAtEnd: Bool
  /// Bytes that are sent repeatedly after the last response.
  private let endless: [UInt8]
  /// Whether the last response is sent byte by byte, with pauses.
  private let isSlowAtEnd: Bool
  /// Runs when a request is sent and no response is left.
  private let sendAtEnd: @Sendable () throws -> Void

  init(
    _ answers: [[UInt8]], isClosedAtEnd: Bool = true, endless: [UInt8] = [],
    isSlowAtEnd: Bool = false, sendAtEnd: @escaping @Sendable () throws -> Void = {}
  ) {
    self.sendAtEnd = sendAtEnd
    self.answers = Mutex(answers)
    self.isClosedAtEnd = isClosedAtEnd
    self.endless = endless
    self.isSlowAtEnd = isSlowAtEnd
  }

  func connect(
    to address: String, before deadline: ContinuousClock.Instant
  ) throws -> any ClusterStream {
    FakeStream(self)
  }

  fileprivate func next() -> [UInt8]? {
    answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
  }

  private final class FakeStream: ClusterStream {
    private let node: FakeNode
    private var pending: [UInt8] = []
    private var sentCount = 0

    init(_ node: FakeNode) { self.node = node }

    func send(_ bytes: [UInt8], before deadline: ContinuousClock.Instant) throws {
      sentCount += 1
      // The first eight bytes are the protocol version, which has no response.
      guard sentCount > 1 else { return }
      guard let answer = node.next() else { return try node.sendAtEnd() }
      pending += answer
    }

    func receive(atMost count: Int, before deadline: ContinuousClock.Instant) throws -> [UInt8]? {
      let isAtEnd = node.answers.withLock(\.isEmpty)
      if isAtEnd, pending.isEmpty { pending = node.endless }
      guard !pending.isEmpty else { return node.isClosedAtEnd ? [] : nil }
      let isSlow = isAtEnd && node.isSlowAtEnd
      if isSlow { usleep(3_000) }
      // Sends small pieces, like a network might.
      let part = Array(pending.prefix(isSlow ? 1 : min(count, 7)))
      pending.removeFirst(part.count)
      return part
    }

    func close() {}
  }
}

private func message(_ kind: UInt8, _ words: [UInt64]) -> [UInt8] {
  var bytes = [UInt8](repeating: 0, count: 8)
  for word in words { for shift in 0..<8 { bytes.append(UInt8(word >> (8 * shift) & 255)) } }
  bytes[0] = UInt8(words.count & 255)
  bytes[1] = UInt8(words.count >> 8 & 255)
  bytes[4] = kind
  return bytes
}

private func text(_ text: String) -> [UInt64] {
  var bytes = Array(text.utf8) + [0]
  while bytes.count % 8 != 0 { bytes.append(0) }
  return stride(from: 0, to: bytes.count, by: 8).map { start in
    (0..<8).reduce(UInt64(0)) { $0 | UInt64(bytes[start + $1]) << (8 * $1) }
  }
}

/// Three voters, a:1, b:1 and c:1, that respond to leader queries and open databases.
private final class FakeNodes: ClusterTransport {
  private struct State {
    var events: [String] = []
    var counts: [String: Int] = [:]
    var timeout: [String: Duration] = [:]
    var leads: @Sendable (_ address: String, _ count: Int) -> String? = { _, _ in nil }
    var isSilent: @Sendable (String) -> Bool = { _ in false }
    var stopsAtOpening: @Sendable (String) -> Bool = { _ in false }
  }

  private let state = Mutex(State())

  /// The leader queries, in order.
  var events: [String] { state.withLock { $0.events } }
  /// Returns the leader that a node names when it is queried for the nth time, or an empty string
  /// if it knows none.
  var leads: @Sendable (_ address: String, _ count: Int) -> String? {
    get { state.withLock { $0.leads } }
    set { state.withLock { $0.leads = newValue } }
  }
  /// Whether a node never responds.
  var isSilent: @Sendable (String) -> Bool {
    get { state.withLock { $0.isSilent } }
    set { state.withLock { $0.isSilent = newValue } }
  }
  /// Whether a node responds only to leader queries.
  var stopsAtOpening: @Sendable (String) -> Bool {
    get { state.withLock { $0.stopsAtOpening } }
    set { state.withLock { $0.stopsAtOpening = newValue } }
  }

  /// Returns the longest timeout of a connection attempt to a node.
  func longestTimeout(for address: String) -> Duration {
    state.withLock { $0.timeout[address] ?? .zero }
  }

  func connect(
    to address: String, before deadline: ContinuousClock.Instant
  ) throws -> any ClusterStream {
    let timeout = deadline - .now
    state.withLock { $0.timeout[address] = max($0.timeout[address] ?? .zero, timeout) }
    return Stream(self, address)
  }

  private func answer(_ kind: UInt8, _ address: String) -> [UInt8] {
    state.withLock { state in
      if kind == 0 {
        state.counts[address, default: 0] += 1
        state.events.append("ask \(address)")
      }
      if state.isSilent(address) || kind != 0 && state.stopsAtOpening(address) { return [] }
      switch kind {
      case 0: return message(1, [1] + text(state.leads(address, state.counts[address] ?? 0) ?? ""))
      case 1: return message(2, [15_000])
      case 3: return message(4, [1])
      default:
        return message(3, [3] + ["a:1", "b:1", "c:1"].flatMap { [1] + text($0) + [0] })
      }
    }
  }

  private final class Stream: ClusterStream {
    private let nodes: FakeNodes
    private let address: String
    private var pending: [UInt8] = []

    init(_ nodes: FakeNodes, _ address: String) {
      self.nodes = nodes
      self.address = address
    }

    func send(_ bytes: [UInt8], before deadline: ContinuousClock.Instant) throws {
      // The protocol version has no response.
      if bytes.count > 8 { pending += nodes.answer(bytes[4], address) }
    }

    func receive(atMost count: Int, before deadline: ContinuousClock.Instant) throws -> [UInt8]? {
      guard !pending.isEmpty else {
        usleep(100)
        return nil
      }
      defer { pending = [] }
      return pending
    }

    func close() {}
  }
}

/// Tests servers that send arbitrary responses.
@Suite struct FakeServerTests {
  private static let address = "node:1"
  /// The responses of a leader until the session is open.
  private static let opening: [[UInt8]] = [
    message(1, [1] + text(address)), message(2, [15_000]), message(4, [1]),
    message(3, [1, 1] + text(address) + [0]),
    // No column has a rejected type; the settings; the token table and the deletion of old tokens.
    message(7, [1] + text("c") + [.max]), message(6, [0, 0]),
    message(7, [1] + text("c") + [0x1, 1, .max]), message(6, [0, 0]),
  ]
  /// The list of voters, which a linearizable read requests first.
  private static let voters = message(3, [1, 1] + text(address) + [0])
  /// Two rows with an integer and a text.
  private static let rows = message(
    7,
    [2] + text("id") + text("name") + [0x31, 1] + text("one") + [0x31, 2] + text("two") + [.max])

  private func query(
    _ answers: [[UInt8]], _ change: (inout ClusterOptions) -> Void = { _ in }
  ) throws -> [Row] {
    var options = ClusterOptions()
    options.transport = FakeNode(answers)
    options.reads = .leader
    options.leaderTimeout = .milliseconds(30)
    options.attemptTimeout = .milliseconds(30)
    options.database.maximumReaderCount = 0
    change(&options)
    let database = try Database(
      cluster: [FakeServerTests.address], name: "test", options: options)
    return try database.executeQuery("SELECT id, name FROM t")
  }

  @Test func `rows are returned as they were sent`() throws {
    let rows = try query(FakeServerTests.opening + [FakeServerTests.rows])
    #expect(rows.map { $0["id"]?.asInt() } == [1, 2])
    #expect(rows.map { $0["name"]?.asString() } == ["one", "two"])
  }

  /// The response of a node of version 1.11 that has lost leadership: a Raft error code with
  /// SQLite's message for success.
  private static let raftError = message(0, [7] + text("not an error"))
  private static let done = message(6, [1, 1])
  /// The responses to finding the leader again and opening another session.
  private static let reopening = Array(opening[..<3])

  @Test func `a Raft error at the start isn't reported as SQLite's, and the write runs again`()
    throws
  {
    var options = ClusterOptions()
    let opening = FakeServerTests.opening
    let done = FakeServerTests.done
    options.transport = FakeNode(
      opening + [FakeServerTests.raftError] + FakeServerTests.reopening + [done, done, done, done])
    let database = try Database(
      cluster: [FakeServerTests.address], name: "test", options: options)
    #expect(try database.executeChange("INSERT INTO t VALUES (1)").rows == 1)
  }

  @Test(arguments: [
    [message(0, [7] + text("no more rows available"))],
    // Then the client checks whether the transaction is still open.
    [
      message(0, [10] + text("disk I/O error")),
      message(0, [1] + text("cannot start a transaction within a transaction")),
    ],
    [message(0, [10506] + text("leadership lost"))], [[]],
  ])
  func `the outcome of a failed commit is looked up by its token`(_ failure: [[UInt8]]) throws {
    for isFence in [UInt64(0), 1] {
      var options = ClusterOptions()
      let opening = FakeServerTests.opening
      let done = FakeServerTests.done
      // The token exists: the transaction's own, or a fence, after which the closure runs again.
      let found = message(7, [1] + text("is_fence") + [0x1, isFence, .max])
      options.transport = FakeNode(
        opening + [done, done] + failure + FakeServerTests.reopening + [done, found]
          + FakeServerTests.reopening + [done, done, done, done])
      let database = try Database(
        cluster: [FakeServerTests.address], name: "test", options: options)
      var runs = 0
      try database.write {
        runs += 1
        try $0.executeChange("INSERT INTO t VALUES (1)")
      }
      #expect(runs == Int(isFence) + 1)
    }
  }

  @Test func `a linearizable read first asks the voters which leader they follow`() throws {
    let answers = FakeServerTests.opening + [FakeServerTests.voters, FakeServerTests.rows]
    #expect(try query(answers) { $0.reads = .linearizable }.count == 2)
    #expect(throws: SQLiteError.self) {
      try query(FakeServerTests.opening + [FakeServerTests.rows]) { $0.reads = .linearizable }
    }
  }

  @Test func `a response that is truncated anywhere throws`() throws {
    let whole = FakeServerTests.opening + [FakeServerTests.rows]
    for index in whole.indices {
      for count in stride(from: 0, to: whole[index].count, by: 3) {
        var answers = Array(whole[...index])
        answers[index] = Array(answers[index].prefix(count))
        #expect(throws: SQLiteError.self) { try query(answers) }
      }
    }
  }

  @Test func `changing any byte of the rows never crashes or hangs the client`() throws {
    var random = SplitMix64(seed: 5)
    for index in FakeServerTests.rows.indices {
      for _ in 0..<6 {
        var rows = FakeServerTests.rows
        rows[index] = UInt8.random(in: 0...255, using: &random)
        // Returns rows or throws.
        _ = try? query(FakeServerTests.opening + [rows])
      }
    }
  }

  @Test(arguments: [UInt8(0), 1, 3, 6, 7, 8, 9, 77, 255])
  func `a response of the wrong kind throws`(_ kind: UInt8) throws {
    var rows = FakeServerTests.rows
    rows[4] = kind
    guard kind != 7 else { return }
    #expect(throws: SQLiteError.self) { try query(FakeServerTests.opening + [rows]) }
  }

  @Test func `an oversized length field throws and allocates no memory`() throws {
    var rows = FakeServerTests.rows
    for index in 0..<4 { rows[index] = 255 }
    let error = #expect(throws: SQLiteError.self) { try query(FakeServerTests.opening + [rows]) }
    #expect(error?.message.contains("words") == true)
    // Below the limit, the client waits for the bytes.
    rows[3] = 0
    rows[2] = 0x7f
    #expect(throws: SQLiteError.self) { try query(FakeServerTests.opening + [rows]) }
  }

  @Test(arguments: [
    [UInt64.max] + text("a"), [3] + text("a"), [1 << 62] + text("a"), [], [0],
    [1] + text("a") + [0x4, .max - 1], [1] + text("a") + [0x4, 1 << 40, .max],
    [1] + text("a") + [0xf, 1, .max], [1] + text("a") + [0x3, 0x4141_4141_4141_4141],
  ])
  func `counts and lengths that exceed the message throw`(_ words: [UInt64]) throws {
    #expect(throws: SQLiteError.self) {
      let rows = try query(FakeServerTests.opening + [message(7, words)])
      if rows.isEmpty { throw SQLiteError(.lockingProtocol, "no rows") }
    }
  }

  @Test func `every node is queried before any response is awaited`() throws {
    let nodes = FakeNodes()
    nodes.leads = { address, _ in address == "c:1" ? "c:1" : nil }
    nodes.isSilent = { $0 == "a:1" || $0 == "b:1" }
    var options = ClusterOptions()
    options.transport = nodes
    let cluster = try Cluster(["a:1", "b:1", "c:1"], database: "test", options)
    let found = try cluster.openAtLeader(before: .now + .seconds(3_600))
    #expect(found.connection.address == "c:1")
    let events = nodes.events
    #expect(Array(events.prefix(3)) == ["ask a:1", "ask b:1", "ask c:1"])
    // Silent nodes aren't queried again while their responses are outstanding, nor waited for.
    #expect(events.filter { $0.hasPrefix("ask") }.count == 3)
  }

  @Test func `a leader elected after many queries is found although another node is silent`() throws
  {
    let nodes = FakeNodes()
    nodes.leads = { address, count in address == "b:1" && count > 30 ? "b:1" : "" }
    nodes.isSilent = { $0 == "a:1" }
    var options = ClusterOptions()
    options.transport = nodes
    options.attemptTimeout = .seconds(3_600)
    let cluster = try Cluster(["a:1", "b:1"], database: "test", options)
    let found = try cluster.openAtLeader(before: .now + .seconds(3_600))
    #expect(found.connection.address == "b:1")
    // The timeout of a responding node isn't increased.
    #expect(nodes.longestTimeout(for: "b:1") <= .milliseconds(200))
  }

  @Test func `a read waits for a majority but not for the remaining silent voters`() throws {
    let nodes = FakeNodes()
    nodes.leads = { _, _ in "a:1" }
    nodes.isSilent = { $0 == "b:1" }
    var options = ClusterOptions()
    options.transport = nodes
    options.attemptTimeout = .seconds(3_600)
    let cluster = try Cluster(["a:1"], database: "test", options)
    let found = try cluster.openAtLeader(before: .now + .seconds(3_600))
    let check = LeaderCheck(cluster, of: found.connection)
    try check.begin()
    try check.finish()
    #expect(nodes.events.filter { $0 == "ask c:1" }.count == 1)
    // The voter that responded is queried first from then on.
    try check.begin()
    try check.finish()
    #expect(nodes.events.filter { $0 == "ask b:1" }.count == 1)
    #expect(nodes.events.filter { $0 == "ask c:1" }.count == 2)
  }

  @Test func `a new leader is found while the queried one hangs`() throws {
    let nodes = FakeNodes()
    nodes.leads = { address, count in address == "a:1" && count == 1 ? "a:1" : "c:1" }
    // The node was the leader and is stopped when its database is opened.
    nodes.stopsAtOpening = { $0 == "a:1" }
    var options = ClusterOptions()
    options.transport = nodes
    options.attemptTimeout = .seconds(3_600)
    let cluster = try Cluster(["a:1", "b:1", "c:1"], database: "test", options)
    let found = try cluster.openAtLeader(before: .now + .seconds(3_600))
    #expect(found.connection.address == "c:1")
  }

  @Test func `a query throws if the node never responds`() throws {
    let error = #expect(throws: SQLiteError.self) {
      try query([]) { $0.transport = FakeNode([], isClosedAtEnd: false) }
    }
    #expect(error?.message.contains(FakeServerTests.address) == true)
  }

  @Test func `a query throws if the nodes only name another leader`() throws {
    let other = message(1, [1] + text("other:1"))
    let error = #expect(throws: SQLiteError.self) {
      try query(Array(repeating: other, count: 1_000))
    }
    #expect(error?.message.contains("names other:1 as the leader") == true)
  }

  @Test func `endless rows throw when another query must buffer them`() throws {
    let endless = message(
      7, [2] + text("id") + text("name") + [0x31, 1] + text("one") + [0xeeee_eeee_eeee_eeee])
    var options = ClusterOptions()
    options.reads = .leader
    options.transport = FakeNode(
      FakeServerTests.opening + [Array(repeating: endless, count: 400).flatMap(\.self)])
    options.leaderTimeout = .milliseconds(30)
    options.attemptTimeout = .seconds(5)
    options.maximumMessageSize = 1_024
    options.database.maximumReaderCount = 0
    let database = try Database(
      cluster: [FakeServerTests.address], name: "test", options: options)
    #expect(throws: SQLiteError.self) {
      try database.withoutTransaction { connection in
        var rows = try connection.statement("SELECT id, name FROM t")
        #expect(try rows.step())
        // Another query before the end of the rows.
        _ = try connection.executeQuery("SELECT 1")
      }
    }
  }

  @Test func `a query throws if the node sends bytes very slowly`() throws {
    let answers = FakeServerTests.opening + [FakeServerTests.rows]
    #expect(throws: SQLiteError.self) {
      try query(answers) { $0.transport = FakeNode(answers, isSlowAtEnd: true) }
    }
  }

  /// Rows that are followed by more rows, repeatedly.
  private static let endlessRows = message(
    7, [2] + text("id") + text("name") + [0x31, 1] + text("one") + [0xeeee_eeee_eeee_eeee])

  @Test func `endless rows can be abandoned, and the next query throws`() throws {
    var options = ClusterOptions()
    options.reads = .leader
    options.transport = FakeNode(
      FakeServerTests.opening + [FakeServerTests.endlessRows],
      endless: FakeServerTests.endlessRows)
    options.leaderTimeout = .milliseconds(30)
    options.attemptTimeout = .milliseconds(30)
    options.database.maximumReaderCount = 0
    let database = try Database(
      cluster: [FakeServerTests.address], name: "test", options: options)
    try database.withoutTransaction { connection in
      var rows = try connection.statement("SELECT id, name FROM t")
      let isRow = try rows.step()
      #expect(isRow)
    }
    #expect(throws: SQLiteError.self) { try database.executeQuery("SELECT 1") }
  }

  @Test func `messages without rows that announce more rows throw`() throws {
    let empty = message(7, [2] + text("id") + text("name") + [0xeeee_eeee_eeee_eeee])
    let answers = FakeServerTests.opening + [empty]
    for isFirst in [true, false] {
      #expect(throws: SQLiteError.self) {
        try query(answers) {
          $0.transport = FakeNode(
            isFirst ? answers : FakeServerTests.opening + [FakeServerTests.endlessRows],
            endless: empty)
        }
      }
    }
  }

  @Test func `surplus rows aren't used as the response to the next query`() throws {
    var options = ClusterOptions()
    options.reads = .leader
    let surplus = FakeServerTests.rows + FakeServerTests.rows
    options.transport = FakeNode(
      FakeServerTests.opening + [surplus, FakeServerTests.rows, FakeServerTests.rows])
    options.leaderTimeout = .milliseconds(30)
    options.database.maximumReaderCount = 0
    let database = try Database(
      cluster: [FakeServerTests.address], name: "test", options: options)
    let error = #expect(throws: SQLiteError.self) {
      try database.withoutTransaction { connection in
        let count = try connection.executeQuery("SELECT id, name FROM t").count
        #expect(count == 2)
        _ = try connection.executeQuery("SELECT id, name FROM u")
      }
    }
    #expect(error?.code == .lockingProtocol)
  }

  @Test(arguments: [1_000, 1_001, 5_000])
  func `a list of more than a thousand nodes throws`(_ count: Int) throws {
    var nodes = [UInt64(count)]
    for index in 0..<count { nodes += [UInt64(index)] + text("n:\(index)") + [0] }
    var options = ClusterOptions()
    options.transport = FakeNode([message(3, nodes)])
    let deadline = ContinuousClock.now + .seconds(60)
    let node = try NodeConnection("node:1", options, before: deadline)
    if count <= 1_000 {
      #expect(try node.nodes(before: deadline).count == count)
    } else {
      #expect(throws: SQLiteError.self) { try node.nodes(before: deadline) }
    }
  }

  @Test(arguments: [64, 65])
  func `a cluster with more than 64 voters throws`(_ count: Int) throws {
    var nodes = [UInt64(count)] + [1] + text(FakeServerTests.address) + [0]
    for index in 1..<count { nodes += [UInt64(index + 1)] + text("other:\(index)") + [0] }
    // Each voter names the leader that it follows.
    let leader = message(1, [1] + text(FakeServerTests.address))
    let answers =
      FakeServerTests.opening + [message(3, nodes)] + Array(repeating: leader, count: 32)
      + [FakeServerTests.rows]
    func rows() throws -> [Row] {
      try query(answers) {
        $0.reads = .linearizable
        $0.attemptTimeout = .seconds(5)
      }
    }
    if count == 64 {
      #expect(try rows().count == 2)
    } else {
      let error = #expect(throws: SQLiteError.self) { try rows() }
      #expect(error?.message.contains("too many voters") == true)
    }
  }

  private struct Reset: Error {}

  private func databaseWithReset(
    _ onRequest: @escaping @Sendable () -> Void
  ) throws -> Database {
    var options = ClusterOptions()
    options.reads = .leader
    options.database.maximumReaderCount = 0
    options.transport = FakeNode(FakeServerTests.opening) {
      onRequest()
      throw Reset()
    }
    return try Database(cluster: [FakeServerTests.address], name: "test", options: options)
  }

  @Test(arguments: [false, true])
  func `a task that is cancelled while its connection is lost throws CancellationError`(
    isInGroup: Bool
  ) async throws {
    let (hasRequest, isCancelled) = (Flag(), Flag())
    let database = try databaseWithReset {
      hasRequest.set()
      while !isCancelled.isSet { usleep(1_000) }
    }
    let asking = Task {
      if isInGroup {
        try await database.writeInGroup { _ = try $0.executeQuery("SELECT 1") }
      } else {
        _ = try await database.executeQuery("SELECT 1")
      }
    }
    try await waitUntil { hasRequest.isSet }
    asking.cancel()
    isCancelled.set()
    await #expect(throws: CancellationError.self) { try await asking.value }
  }

  @Test func `an access that passes its deadline while its connection is lost throws interrupt`()
    throws
  {
    let deadline = ContinuousClock.now + .milliseconds(100)
    let database = try databaseWithReset {
      while .now < deadline { usleep(1_000) }
    }
    let error = #expect(throws: SQLiteError.self) {
      try database.read(deadline: deadline) { try $0.executeQuery("SELECT 1") }
    }
    #expect(error?.code == .interrupt)
  }

  @Test func `random bytes never crash the client`() throws {
    var random = SplitMix64(seed: 9)
    for _ in 0..<300 {
      var answers = FakeServerTests.opening + [FakeServerTests.rows]
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let index = Int.random(in: answers.indices, using: &random)
        guard !answers[index].isEmpty else { continue }
        let byte = Int.random(in: answers[index].indices, using: &random)
        answers[index][byte] = UInt8.random(in: 0...255, using: &random)
      }
      _ = try? query(answers)
    }
  }
}

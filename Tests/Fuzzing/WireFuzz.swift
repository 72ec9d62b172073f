import SQLiteCluster
import SQLiteCore
import Synchronization

/// Fuzzes the cluster client with a node that sends valid responses at first and arbitrary bytes
/// afterwards.
package enum WireFuzz {
  /// Returns a description of a fault, or nil. The client must return rows or throw, within limits
  /// of time and memory.
  ///
  /// The first byte is the number of valid responses. The second one is the size of the pieces in
  /// which the other bytes arrive.
  package static func check(_ bytes: [UInt8]) throws -> String? {
    guard bytes.count >= 2 else { return nil }
    var options = ClusterOptions()
    options.transport = FuzzedNode(
      validCount: Int(bytes[0] & 31), piece: Int(bytes[1]) + 1, bytes: Array(bytes[2...]))
    options.leaderTimeout = .zero
    options.attemptTimeout = .seconds(5)
    options.maximumMessageSize = 1 << 16
    options.database.busyTimeout = .zero
    options.database.maximumReaderCount = 0
    let start = ContinuousClock.now
    try? use(options)
    let time = ContinuousClock.now - start
    return time < .seconds(5) ? nil : "a response kept the client busy for \(time)"
  }

  private static func use(_ options: ClusterOptions) throws {
    let database = try Database(cluster: [FuzzedNode.address], name: "fuzz", options: options)
    _ = try? database.clusterNodes()
    _ = try? database.executeQuery("SELECT id, name FROM t WHERE id IN \([1.5, 2])").map(\.values)
    _ = try? database.executeChange("INSERT INTO t VALUES (1, 'a')")
    try database.write { connection in
      // Twice, because the second execution uses a statement that the node has compiled.
      for _ in 0..<2 {
        _ = try? connection.executeQuery("SELECT id, name FROM t").map(\.values)
        _ = try? connection.executeQuery("UPDATE t SET id = 2 RETURNING id").map(\.values)
      }
      _ = try? connection.savepoint { try connection.executeChange("DELETE FROM t") }
      // Abandons rows and executes another query.
      var rows = try connection.statement("SELECT * FROM t")
      _ = try rows.step()
      _ = try connection.executeQuery("SELECT 1")
    }
  }
}

private final class FuzzedNode: ClusterTransport {
  static let address = "node:1"

  private struct State {
    var validCount: Int
    var bytes: ArraySlice<UInt8>
  }

  private let state: Mutex<State>
  private let piece: Int

  init(validCount: Int, piece: Int, bytes: [UInt8]) {
    state = Mutex(State(validCount: validCount, bytes: bytes[...]))
    self.piece = piece
  }

  func connect(
    to address: String, before deadline: ContinuousClock.Instant
  ) throws -> any ClusterStream {
    Stream(self)
  }

  private func answer(to request: [UInt8]) -> [UInt8]? {
    state.withLock { state in
      guard state.validCount > 0 else { return nil }
      state.validCount -= 1
      return validResponse(to: request)
    }
  }

  private func fuzzedBytes() -> [UInt8] {
    state.withLock { state in
      let part = Array(state.bytes.prefix(piece))
      state.bytes = state.bytes.dropFirst(part.count)
      return part
    }
  }

  /// Returns a valid response to each kind of request.
  private func validResponse(to request: [UInt8]) -> [UInt8] {
    switch request.count > 4 ? request[4] : 255 {
    case 0: message(1, [1] + text(FuzzedNode.address))
    case 1: message(2, [0])
    case 3: message(4, [0])
    case 4: message(5, [1 << 32, 0])
    case 5, 8: message(6, [1, 1])
    case 6, 9: message(7, rows(String(decoding: request, as: UTF8.self)) + [UInt64.max])
    case 16: message(3, [1, 1] + text(FuzzedNode.address) + [0])
    default: message(8, [0])
    }
  }

  /// Returns columns and rows that answer a query. Some queries are the client's own.
  private func rows(_ query: String) -> [UInt64] {
    if query.contains("pragma_table_info") { return [1] + text("column") }
    if query.contains("changes()") { return [2] + text("a") + text("b") + [0x11, 1, 1] }
    if query.contains("magicdata_token") { return [1] + text("number") + [0x1, 1] }
    return [2] + text("id") + text("name") + [0x31, 1] + text("one") + [0x51, 2, 0]
  }

  private func message(_ kind: UInt8, _ words: [UInt64]) -> [UInt8] {
    var bytes = [UInt8(words.count), 0, 0, 0, kind, 0, 0, 0]
    for word in words { for shift in 0..<8 { bytes.append(UInt8(word >> (8 * shift) & 255)) } }
    return bytes
  }

  private func text(_ text: String) -> [UInt64] {
    var bytes = Array(text.utf8) + [0]
    while bytes.count % 8 != 0 { bytes.append(0) }
    return stride(from: 0, to: bytes.count, by: 8).map { start in
      (0..<8).reduce(UInt64(0)) { $0 | UInt64(bytes[start + $1]) << (8 * $1) }
    }
  }

  private final class Stream: ClusterStream {
    private let node: FuzzedNode
    private var pending: [UInt8] = []

    init(_ node: FuzzedNode) { self.node = node }

    func send(_ bytes: [UInt8], before deadline: ContinuousClock.Instant) throws {
      // The first eight bytes are the protocol version, which has no response.
      if bytes.count > 8, let answer = node.answer(to: bytes) { pending += answer }
    }

    func receive(atMost count: Int, before deadline: ContinuousClock.Instant) throws -> [UInt8]? {
      if pending.isEmpty { pending = node.fuzzedBytes() }
      let part = Array(pending.prefix(count))
      pending.removeFirst(part.count)
      return part
    }

    func close() {}
  }
}

package import SQLiteCore

/// A connection to one node, which takes one request at a time.
package final class NodeConnection {
  /// The node's address.
  package let address: String
  private let stream: any ClusterStream
  private let limits: ClusterOptions
  /// Bytes that have come. Messages that were taken are read where they lie.
  private var received: [UInt8] = []
  /// Where those of the next message begin.
  private var start = 0
  /// Returns why the access must end, if it must.
  var reasonToEnd: () -> String? = { nil }
  /// Returns which other node leads, if one does; asked when an answer is late that should be quick.
  var successor: () -> String? = { nil }
  /// Whether nothing more can be asked, since an answer did not come or made no sense.
  private(set) var isBroken = false
  /// Whether the node has said nothing until the deadline: it may be away, or at work without end.
  private(set) var wasSilent = false
  /// Whether the node has closed the connection, or has ended.
  private(set) var hasClosed = false
  /// Whether a part of the answer has come.
  private var hasReceived = false

  /// Connects to a node and says which version of the protocol follows.
  ///
  /// - Parameter waits: Whether to wait for the connection. Otherwise a plain socket connects while others are used.
  init(
    _ address: String, _ options: ClusterOptions, before deadline: ContinuousClock.Instant,
    waits: Bool = false
  ) throws(SQLiteError) {
    self.address = address
    limits = options
    do {
      if !waits, let sockets = options.transport as? SocketTransport {
        stream = try sockets.begin(address)
      } else {
        stream = try options.transport.connect(
          to: address, before: min(deadline, .now + options.dialTimeout))
      }
      try stream.send([1, 0, 0, 0, 0, 0, 0, 0], before: deadline)
    } catch {
      if let error = error as? SQLiteError, error.code == .misuse { throw error }
      throw NodeConnection.lost(address, "\(error)")
    }
  }

  deinit { stream.close() }

  /// How long an answer that should be quick may take before other nodes are asked who leads.
  private static let patience = Duration.milliseconds(20)

  /// The error for a connection that ends.
  static func lost(_ address: String, _ why: String) -> SQLiteError {
    SQLiteError(.leadershipLost, "the connection to the node \(address) is lost: \(why)")
  }

  /// Sends a request and waits for its answer.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - expected: The kinds of answers that make sense.
  ///   - deadline: When to give up, nil for that of one attempt.
  /// - Throws: ``SQLiteError``: what the node has refused, or a lost connection.
  package func call(
    _ request: Request, _ expected: ReplyKind, before deadline: ContinuousClock.Instant? = nil
  ) throws(SQLiteError) -> ReplyReader {
    let deadline = deadline ?? .now + limits.attemptTimeout
    try send(request, before: deadline)
    return try reply(expected, before: deadline)
  }

  /// Sends a request. Its answer must be taken before the next one is sent.
  func send(_ request: Request, before deadline: ContinuousClock.Instant) throws(SQLiteError) {
    let message = try request.message(limit: limits.maximumMessageSize)
    guard !isBroken else { throw NodeConnection.lost(address, "it has ended before") }
    guard start == received.count else {
      isBroken = true
      throw ReplyReader.nonsense("it says more than it was asked")
    }
    hasReceived = false
    do {
      try stream.send(message, before: deadline)
    } catch {
      throw broken("\(error)")
    }
  }

  /// Waits for the next message of an answer.
  func reply(
    _ expected: ReplyKind, before deadline: ContinuousClock.Instant? = nil
  ) throws(SQLiteError) -> ReplyReader {
    let reply = try message(before: deadline ?? .now + limits.attemptTimeout)
    if reply.kind == .failure {
      do throws(SQLiteError) {
        let (code, text) = try reply.body.failure()
        throw NodeConnection.failure(Int32(truncatingIfNeeded: code), text, address)
      } catch {
        if error.code == .lockingProtocol { isBroken = true }
        throw error
      }
    }
    guard reply.kind == expected else {
      isBroken = true
      throw ReplyReader.nonsense("\(reply.kind) is no answer where \(expected) is due")
    }
    return reply.body
  }

  /// The error that a node names by SQLite's codes, and some of its own.
  private static func failure(_ code: Int32, _ message: String, _ address: String) -> SQLiteError {
    // These are messages of success: the code is one of Raft's, which has come through.
    if ["not an error", "another row available", "no more rows available"].contains(message) {
      return SQLiteError(
        .leadershipLost, "the node \(address) could not hand on the change: Raft's error \(code)")
    }
    return switch code {
    // Older nodes have the second pair. An unknown database or statement is one that the leader before had.
    case ResultCode.notLeader.rawValue, 8202, 12, 0:
      SQLiteError(.notLeader, "the node \(address) does not lead any more: \(message)")
    case ResultCode.leadershipLost.rawValue, 8458:
      SQLiteError(.leadershipLost, "the node \(address) has lost the lead: \(message)")
    default: missingFeature(code, message) ?? SQLiteError(ResultCode(rawValue: code), message)
    }
  }

  /// Names what a node lacks, where it says that it does not know a function or a collation of this library's, such
  /// as those for exact decimals.
  private static func missingFeature(_ code: Int32, _ message: String) -> SQLiteError? {
    let words: [(start: String, feature: Database.Feature)] = [
      ("no such function: ", .functions), ("no such collation sequence: ", .collations),
    ]
    // A collation that is not there has an extended code.
    guard ResultCode(rawValue: code).primary == .error,
      let found = words.first(where: { message.hasPrefix($0.start + "magicdata_") })
    else { return nil }
    return SQLiteError(
      .authorization,
      "the cluster's database does not have \(found.feature.rawValue), nor this library's "
        + message.dropFirst(found.start.count))
  }

  private func broken(_ why: String) -> SQLiteError {
    isBroken = true
    return NodeConnection.lost(address, why)
  }

  private func message(before deadline: ContinuousClock.Instant) throws(SQLiteError) -> Reply {
    try fill(8, before: deadline)
    var head = ReplyReader(received, start..<start + 8)
    let (words, kind) = try head.halves()
    guard Int(words) <= limits.maximumMessageSize / 8 else {
      isBroken = true
      throw SQLiteError(
        .tooBig,
        "an answer of \(words) words of 8 bytes is larger than the \(limits.maximumMessageSize) bytes that a cluster gives"
      )
    }
    guard let kind = ReplyKind(rawValue: UInt8(kind & 0xff)) else {
      isBroken = true
      throw ReplyReader.nonsense("its kind is \(kind & 0xff)")
    }
    let size = 8 + Int(words) * 8
    try fill(size, before: deadline)
    let body = ReplyReader(received, start + 8..<start + size)
    start += size
    if start == received.count { (received, start) = ([], 0) }
    return Reply(kind: kind, body: body)
  }

  /// Returns whether the whole next message has come.
  ///
  /// - Parameter deadline: How long to wait for it. It may come later.
  func hasMessage(before deadline: ContinuousClock.Instant) throws(SQLiteError) -> Bool {
    while true {
      var count = 8
      if received.count - start >= count {
        var head = ReplyReader(received, start..<start + 8)
        // One that is too large is refused when it is taken.
        count += min(Int(try head.halves().0), limits.maximumMessageSize / 8) * 8
        if received.count - start >= count { return true }
      }
      guard try receive(count, before: deadline) else { return false }
    }
  }

  /// Receives until there are that many bytes. Memory is taken as they come, not as a length promises.
  private func fill(_ count: Int, before deadline: ContinuousClock.Instant) throws(SQLiteError) {
    var suspicion: ContinuousClock.Instant?
    while received.count - start < count {
      if try receive(count, before: min(deadline, .now + .milliseconds(20))) {
        // Also of a node that sends a byte now and then.
        guard received.count - start >= count || ContinuousClock.now < deadline else {
          throw broken("an answer did not come whole in time")
        }
      } else if ContinuousClock.now >= deadline {
        wasSilent = true
        throw broken("no answer came in time")
      } else if let due = suspicion {
        guard ContinuousClock.now >= due else { continue }
        if let other = successor() { throw broken("\(other) leads now") }
        suspicion = .now + NodeConnection.patience
      } else {
        suspicion = .now + NodeConnection.patience
      }
    }
  }

  /// Receives some bytes, of so many that are waited for; returns whether any came before the deadline.
  private func receive(
    _ count: Int, before deadline: ContinuousClock.Instant
  ) throws(SQLiteError) -> Bool {
    if let reason = reasonToEnd() {
      isBroken = true
      throw SQLiteError(.interrupt, reason)
    }
    // The rest is held back until what has come is acknowledged (Nagle's algorithm).
    if hasReceived, let socket = stream.socketDescriptor { acknowledge(socket) }
    let bytes: [UInt8]?
    do {
      bytes = try stream.receive(
        atMost: max(16_384, min(count - (received.count - start), 1 << 18)), before: deadline)
    } catch {
      hasClosed = true
      throw broken("\(error)")
    }
    guard let bytes else { return false }
    guard !bytes.isEmpty else {
      hasClosed = true
      throw broken("the node has closed it")
    }
    hasReceived = true
    keep(bytes)
    return true
  }

  private func keep(_ bytes: [UInt8]) {
    if start == received.count {
      received = bytes
    } else {
      // What lies before may still be read by those who have taken it.
      if start > 0 { received = Array(received[start...]) }
      received += bytes
    }
    start = 0
  }
}

extension SQLiteError {
  /// Whether the node that was asked does not lead any more, or cannot be reached.
  package var isOfLostLeader: Bool { code == .notLeader || code == .leadershipLost }
}

extension ResultCode {
  /// The node of a cluster that was asked does not lead it.
  static let notLeader = ResultCode(rawValue: 10250)
  /// The node of a cluster that was asked has lost the lead meanwhile, or cannot be reached any more.
  static let leadershipLost = ResultCode(rawValue: 10506)
}

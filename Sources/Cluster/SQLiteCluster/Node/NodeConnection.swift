package import SQLiteCore

/// A connection to one node, which processes one request at a time.
package final class NodeConnection {
  /// The address of the node.
  package let address: String
  private let stream: any ClusterStream
  private let limits: ClusterOptions
  /// The received bytes. Messages share this array instead of copying their bytes.
  private var received: [UInt8] = []
  /// The offset in `received` of the next message.
  private var start = 0
  /// A closure that returns the reason why the access must end, or nil to continue.
  var reasonToEnd: () -> String? = { nil }
  /// A closure that returns the address of another node that has become leader, or nil if none is
  /// known. It is called while an answer is late.
  var successor: () -> String? = { nil }
  /// Whether the connection is unusable: sending or receiving failed, an answer was invalid or too
  /// large, or the access ended before the answer arrived.
  private(set) var isBroken = false
  /// Whether the node sent nothing until the deadline. It may be down, or still running a
  /// statement.
  private(set) var timedOut = false
  /// Whether the node has closed the connection, or receiving from it has failed.
  private(set) var hasClosed = false
  /// Whether a part of the answer to the last request has arrived.
  private var hasReceived = false

  /// Connects to a node and sends the protocol version.
  ///
  /// - Parameters:
  ///   - address: The address of the node.
  ///   - options: The timeouts and the transport.
  ///   - deadline: The time at which to give up.
  ///   - waits: Whether to wait for the connection. If false, a plain socket connects in the
  ///     background.
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

  /// The time to wait for an answer that should be fast, before querying other nodes for the
  /// leader.
  private static let patience = Duration.milliseconds(20)

  /// Returns the error for a lost connection.
  static func lost(_ address: String, _ why: String) -> SQLiteError {
    SQLiteError(.leadershipLost, "the connection to the node \(address) is lost: \(why)")
  }

  /// Sends a request and waits for the answer.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - expected: The expected kind of answer.
  ///   - deadline: The time at which to give up; nil for the timeout of one attempt.
  /// - Returns: The body of the first message of the answer.
  /// - Throws: `SQLiteError` with the node's failure, or if the connection is lost.
  package func call(
    _ request: Request, _ expected: ReplyKind, before deadline: ContinuousClock.Instant? = nil
  ) throws(SQLiteError) -> ReplyReader {
    let deadline = deadline ?? .now + limits.attemptTimeout
    try send(request, before: deadline)
    return try reply(expected, before: deadline)
  }

  /// Sends a request. The caller must receive its whole answer before it sends the next one.
  func send(_ request: Request, before deadline: ContinuousClock.Instant) throws(SQLiteError) {
    let message = try request.message(limit: limits.maximumMessageSize)
    guard !isBroken else { throw NodeConnection.lost(address, "it was already closed") }
    guard start == received.count else {
      isBroken = true
      throw ReplyReader.invalidMessage("unexpected data after a response")
    }
    hasReceived = false
    do {
      try stream.send(message, before: deadline)
    } catch {
      throw broken("\(error)")
    }
  }

  /// Waits for the next message of an answer, and returns its body. Throws `SQLiteError` if the
  /// message reports a failure or isn't of the expected kind, or if the connection is lost.
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
      throw ReplyReader.invalidMessage("got \(reply.kind) instead of \(expected)")
    }
    return reply.body
  }

  /// Returns the error for a failure code of a node. Nodes use SQLite's codes and some of their
  /// own.
  private static func failure(_ code: Int32, _ message: String, _ address: String) -> SQLiteError {
    // With these messages of success, the code is an error code of Raft.
    if ["not an error", "another row available", "no more rows available"].contains(message) {
      return SQLiteError(
        .leadershipLost, "the node \(address) could not replicate the change: Raft error \(code)")
    }
    return switch code {
    // 8202 and 8458 are the codes of older nodes. 12 and 0 report an unknown database or statement,
    // which the previous leader had.
    case ResultCode.notLeader.rawValue, 8202, 12, 0:
      SQLiteError(.notLeader, "the node \(address) is no longer the leader: \(message)")
    case ResultCode.leadershipLost.rawValue, 8458:
      SQLiteError(.leadershipLost, "the node \(address) lost its leadership: \(message)")
    default: missingFeature(code, message) ?? SQLiteError(ResultCode(rawValue: code), message)
    }
  }

  /// Returns an error that names the missing feature if `message` says that the node lacks a
  /// function or collation of this library, such as those for exact decimals; otherwise nil.
  private static func missingFeature(_ code: Int32, _ message: String) -> SQLiteError? {
    let words: [(start: String, feature: Database.Feature)] = [
      ("no such function: ", .functions), ("no such collation sequence: ", .collations),
    ]
    // A missing collation has an extended code.
    guard ResultCode(rawValue: code).primary == .error,
      let found = words.first(where: { message.hasPrefix($0.start + "magicdata_") })
    else { return nil }
    return SQLiteError(
      .authorization,
      "the cluster's database does not support \(found.feature.rawValue), such as this library's "
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
        "a response of \(words) words of 8 bytes is larger than the limit of "
          + "\(limits.maximumMessageSize) bytes"
      )
    }
    guard let kind = ReplyKind(rawValue: UInt8(kind & 0xff)) else {
      isBroken = true
      throw ReplyReader.invalidMessage("unknown kind \(kind & 0xff)")
    }
    let size = 8 + Int(words) * 8
    try fill(size, before: deadline)
    let body = ReplyReader(received, start + 8..<start + size)
    start += size
    if start == received.count { (received, start) = ([], 0) }
    return Reply(kind: kind, body: body)
  }

  /// Returns whether the whole next message has arrived.
  ///
  /// - Parameter deadline: The time until which to wait. The message may also arrive later.
  func hasMessage(before deadline: ContinuousClock.Instant) throws(SQLiteError) -> Bool {
    while true {
      var count = 8
      if received.count - start >= count {
        var head = ReplyReader(received, start..<start + 8)
        // A message that is too large is rejected when it is read.
        count += min(Int(try head.halves().0), limits.maximumMessageSize / 8) * 8
        if received.count - start >= count { return true }
      }
      guard try receive(count, before: deadline) else { return false }
    }
  }

  /// Receives bytes until `count` unread ones are available. Memory is allocated as bytes arrive,
  /// not according to the lengths that messages announce.
  private func fill(_ count: Int, before deadline: ContinuousClock.Instant) throws(SQLiteError) {
    var suspicion: ContinuousClock.Instant?
    while received.count - start < count {
      if try receive(count, before: min(deadline, .now + .milliseconds(20))) {
        // This also ends the wait for a node that sends only a byte from time to time.
        guard received.count - start >= count || ContinuousClock.now < deadline else {
          throw broken("the response was incomplete at the timeout")
        }
      } else if ContinuousClock.now >= deadline {
        timedOut = true
        throw broken("no response within the timeout")
      } else if let due = suspicion {
        guard ContinuousClock.now >= due else { continue }
        if let other = successor() { throw broken("\(other) is the leader now") }
        suspicion = .now + NodeConnection.patience
      } else {
        suspicion = .now + NodeConnection.patience
      }
    }
  }

  /// Receives some bytes, and returns whether any arrived before the deadline.
  ///
  /// - Parameter count: The number of unread bytes that the caller needs. It limits the size of the
  ///   read, and fewer bytes may arrive.
  private func receive(
    _ count: Int, before deadline: ContinuousClock.Instant
  ) throws(SQLiteError) -> Bool {
    if let reason = reasonToEnd() {
      isBroken = true
      throw SQLiteError(.interrupt, reason)
    }
    // The node sends the rest only after the received part was acknowledged (Nagle's algorithm).
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
      throw broken("the node closed it")
    }
    hasReceived = true
    keep(bytes)
    return true
  }

  private func keep(_ bytes: [UInt8]) {
    if start == received.count {
      received = bytes
    } else {
      // Don't modify earlier bytes in place: callers may still read messages in them.
      if start > 0 { received = Array(received[start...]) }
      received += bytes
    }
    start = 0
  }
}

extension SQLiteError {
  /// Whether the error says that the queried node is no longer the leader, or can't be reached.
  package var isLeaderLoss: Bool { code == .notLeader || code == .leadershipLost }
}

extension ResultCode {
  /// The queried node isn't the leader of the cluster.
  static let notLeader = ResultCode(rawValue: 10250)
  /// The queried node has lost the leadership during the request, or can't be reached any more.
  static let leadershipLost = ResultCode(rawValue: 10506)
}

import SQLiteCore

/// The queries that ask several nodes for the leader at the same time, so that a silent node
/// doesn't delay the others.
final class LeaderQueries {
  /// The answer of a node.
  enum Answer {
    /// The address of the leader, which may be the node itself.
    case leader(String)
    /// The node knows no leader.
    case none
    /// The request failed, for example because the node didn't answer in time.
    case failure(SQLiteError)
  }

  private let options: ClusterOptions
  private let reasonToEnd: () -> String?
  private var connections: [String: NodeConnection] = [:]
  /// The nodes with outstanding answers, in the order of the requests. `end` is the time until
  /// which to wait for the node's answer.
  private(set) var asked: [(address: String, end: ContinuousClock.Instant)] = []
  /// For each node that didn't answer in time, by its address, the time to wait for its next
  /// answer.
  private var patience: [String: Duration] = [:]

  init(_ options: ClusterOptions, _ reasonToEnd: @escaping () -> String? = { nil }) {
    self.options = options
    self.reasonToEnd = reasonToEnd
  }

  func isAsked(_ address: String) -> Bool { asked.contains { $0.address == address } }

  /// Sends a request for the leader's address to a node, unless the node hasn't answered the
  /// previous one yet.
  ///
  /// If the transport waits for the connection, the time to connect counts toward the time to wait
  /// for the answer.
  ///
  /// - Throws: `SQLiteError` if the request can't be sent.
  func ask(_ address: String) throws(SQLiteError) {
    guard !isAsked(address) else { return }
    let end =
      ContinuousClock.now + min(patience[address] ?? .milliseconds(200), options.attemptTimeout)
    do throws(SQLiteError) {
      let connection: NodeConnection
      if let present = connections[address] {
        connection = present
      } else {
        connection = try NodeConnection(address, options, before: end)
      }
      connection.reasonToEnd = reasonToEnd
      connections[address] = connection
      try connection.requestLeader(before: end)
      asked.append((address, end))
    } catch {
      forget(address)
      recordSilence(of: address, until: end)
      throw error
    }
  }

  /// Waits for the next answer of any node.
  ///
  /// - Returns: The answer or the failure, with the node's address; nil if none arrives before the
  ///   deadline or no answer is outstanding.
  /// - Throws: `SQLiteError` with `ResultCode.interrupt` if the access must end.
  func next(
    before deadline: ContinuousClock.Instant
  ) throws(SQLiteError) -> (address: String, answer: Answer)? {
    while true {
      for (address, end) in asked {
        guard let connection = connections[address] else { continue }
        // Wait only if a single node is queried. Poll several nodes in turn.
        let slice = min(deadline, asked.count == 1 ? .now + .milliseconds(20) : .now)
        do throws(SQLiteError) {
          if try connection.hasMessage(before: slice) {
            asked.removeAll { $0.address == address }
            let leader = try connection.leaderReply(before: .now)
            patience[address] = nil
            return (address, leader.map { .leader($0) } ?? .none)
          }
          guard ContinuousClock.now >= end else { continue }
          throw NodeConnection.lost(address, "no response within the timeout")
        } catch {
          forget(address)
          recordSilence(of: address, until: end)
          if error.code == .interrupt { throw error }
          return (address, .failure(error))
        }
      }
      if let reason = reasonToEnd() { throw SQLiteError(.interrupt, reason) }
      guard ContinuousClock.now < deadline, !asked.isEmpty else { return nil }
      // A transport may return immediately.
      if asked.count > 1 { sleepThread(for: .microseconds(200)) }
    }
  }

  /// Closes the connections with outstanding answers, so that these can't be mistaken for answers
  /// to later requests.
  func discardOutstanding() {
    for (address, _) in asked { connections[address] = nil }
    asked = []
  }

  /// Removes and returns the connection to a node, so that the caller can send other requests; nil
  /// if there is none.
  func take(_ address: String) -> NodeConnection? {
    forget(address)
  }

  /// Closes the connections to all nodes except those in `addresses` and those with outstanding
  /// answers.
  func keep(only addresses: [String]) {
    for address in connections.keys where !addresses.contains(address) && !isAsked(address) {
      forget(address)
    }
  }

  @discardableResult private func forget(_ address: String) -> NodeConnection? {
    asked.removeAll { $0.address == address }
    return connections.removeValue(forKey: address)
  }

  /// Doubles the time to wait for a node's next answer, up to the timeout of one attempt, if the
  /// node was silent until `end`. Does nothing if the node failed before that.
  private func recordSilence(of address: String, until end: ContinuousClock.Instant) {
    guard ContinuousClock.now >= end else { return }
    patience[address] = min((patience[address] ?? .milliseconds(200)) * 2, options.attemptTimeout)
  }
}

/// A search for another node that has become leader, made while the known leader is silent.
final class SuccessorSearch {
  private let cluster: Cluster
  private let leader: String
  private let leaderQueries: LeaderQueries

  init(_ cluster: Cluster, of leader: String) {
    self.cluster = cluster
    self.leader = leader
    leaderQueries = LeaderQueries(cluster.options)
  }

  /// Returns the address of another node that reports itself as the leader; nil if none does within
  /// 10 ms. Call it repeatedly: it also reads answers to the requests of earlier calls.
  func successor() -> String? {
    let end = ContinuousClock.now + .milliseconds(10)
    for address in cluster.candidates where address != leader { try? leaderQueries.ask(address) }
    while let (address, answer) = try? leaderQueries.next(before: end) {
      guard case .leader(let named) = answer, named != leader else { continue }
      if named == address {
        cluster.note(leader: named)
        return named
      }
      try? leaderQueries.ask(named)
    }
    return nil
  }
}

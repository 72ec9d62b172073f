import SQLiteCore

/// Asks nodes which one leads, all side by side: a silent node delays no other one.
final class LeaderQuestions {
  /// What a node answers.
  enum Answer {
    /// The address of the leader, which may be the node itself.
    case leader(String)
    /// It knows of none.
    case none
    /// It did not answer.
    case failure(SQLiteError)
  }

  private let options: ClusterOptions
  private let reasonToEnd: () -> String?
  private var connections: [String: NodeConnection] = [:]
  /// The nodes whose answers are outstanding, the one that was asked first at the beginning, and how long each is
  /// waited for.
  private(set) var asked: [(address: String, end: ContinuousClock.Instant)] = []
  /// How long a node that was silent is waited for next.
  private var patience: [String: Duration] = [:]

  init(_ options: ClusterOptions, _ reasonToEnd: @escaping () -> String? = { nil }) {
    self.options = options
    self.reasonToEnd = reasonToEnd
  }

  func isAsked(_ address: String) -> Bool { asked.contains { $0.address == address } }

  /// Sends the question to a node, unless its answer is outstanding.
  ///
  /// Connecting to it takes at most the time that its answer may take, if the transport waits for that.
  ///
  /// - Throws: ``SQLiteError`` if it cannot be sent.
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
      try connection.askForLeader(before: end)
      asked.append((address, end))
    } catch {
      forget(address)
      noteSilence(of: address, until: end)
      throw error
    }
  }

  /// Waits for the next answer of any node that was asked; nil if none comes before the deadline.
  ///
  /// - Throws: ``SQLiteError`` if the access must end.
  func next(
    before deadline: ContinuousClock.Instant
  ) throws(SQLiteError) -> (address: String, answer: Answer)? {
    while true {
      for (address, end) in asked {
        guard let connection = connections[address] else { continue }
        // One alone is waited for; several are looked at in turn.
        let slice = min(deadline, asked.count == 1 ? .now + .milliseconds(20) : .now)
        do throws(SQLiteError) {
          if try connection.hasMessage(before: slice) {
            asked.removeAll { $0.address == address }
            let leader = try connection.leaderReply(before: .now)
            patience[address] = nil
            return (address, leader.map { .leader($0) } ?? .none)
          }
          guard ContinuousClock.now >= end else { continue }
          throw NodeConnection.lost(address, "no answer came in time")
        } catch {
          forget(address)
          noteSilence(of: address, until: end)
          if error.code == .interrupt { throw error }
          return (address, .failure(error))
        }
      }
      if let reason = reasonToEnd() { throw SQLiteError(.interrupt, reason) }
      guard ContinuousClock.now < deadline, !asked.isEmpty else { return nil }
      // A transport may return at once.
      if asked.count > 1 { sleepThread(for: .microseconds(200)) }
    }
  }

  /// Gives up the answers that are outstanding. They would say nothing of a later moment.
  func giveUp() {
    for (address, _) in asked { connections[address] = nil }
    asked = []
  }

  /// Returns the connection to a node, which is asked something else from then on.
  func take(_ address: String) -> NodeConnection? {
    forget(address)
  }

  /// Forgets the connections to all but some nodes, and those that are asked.
  func keep(only addresses: [String]) {
    for address in connections.keys where !addresses.contains(address) && !isAsked(address) {
      forget(address)
    }
  }

  @discardableResult private func forget(_ address: String) -> NodeConnection? {
    asked.removeAll { $0.address == address }
    return connections.removeValue(forKey: address)
  }

  /// Waits longer for a node that has let its time pass, and not for one that refuses at once.
  private func noteSilence(of address: String, until end: ContinuousClock.Instant) {
    guard ContinuousClock.now >= end else { return }
    patience[address] = min((patience[address] ?? .milliseconds(200)) * 2, options.attemptTimeout)
  }
}

/// Finds out whether another node leads, while one that has led is silent.
final class SuccessorSearch {
  private let cluster: Cluster
  private let leader: String
  private let questions: LeaderQuestions

  init(_ cluster: Cluster, of leader: String) {
    self.cluster = cluster
    self.leader = leader
    questions = LeaderQuestions(cluster.options)
  }

  /// Returns which other node leads, if one says so itself at once. A later answer is read by the next call: the leader
  /// may be answering meanwhile.
  func successor() -> String? {
    let end = ContinuousClock.now + .milliseconds(10)
    for address in cluster.candidates where address != leader { try? questions.ask(address) }
    while let (address, answer) = try? questions.next(before: end) {
      guard case .leader(let named) = answer, named != leader else { continue }
      if named == address {
        cluster.note(leader: named)
        return named
      }
      try? questions.ask(named)
    }
    return nil
  }
}

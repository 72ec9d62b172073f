import SQLiteCore

/// Makes sure that a node leads, by asking other voters whom they follow.
///
/// A leader that was cut off or stopped does not know it before its lease ends, and answers reads from its last
/// state meanwhile. But a write that was acknowledged elsewhere was first accepted by a majority from another
/// leader, in a later term. Of any majority that is asked afterwards one has accepted it, and follows the node
/// that asked so little as to name it only if that one was elected later still, with the write in its log. So
/// what is read after the answers misses nothing that was acknowledged before the questions.
///
/// The voters are those that the leader names, asked anew each second.
final class LeaderCheck {
  private let cluster: Cluster
  private let leader: NodeConnection
  /// The other voters; those that did not answer last are at the end.
  private var others: [String]
  /// When the voters are asked for anew.
  private var renewal = ContinuousClock.now
  private var connections: [String: NodeConnection] = [:]
  /// Those that were asked and whose answers are still to be taken.
  private var asked: Set<String> = []

  init(_ cluster: Cluster, of leader: NodeConnection) {
    self.cluster = cluster
    self.leader = leader
    others = cluster.voters.filter { $0 != leader.address }
  }

  /// How many others make a majority with the leader.
  private var needed: Int { (others.count + 1) / 2 }

  /// Sends the questions.
  func begin() throws(SQLiteError) {
    // Answers to what was asked earlier would say nothing of now.
    for address in asked { connections[address] = nil }
    asked = []
    if ContinuousClock.now >= renewal {
      let nodes = try leader.nodes(before: .now + cluster.options.attemptTimeout)
      renewal = .now + .seconds(1)
      let voters = nodes.filter { $0.role == .voter && $0.address != leader.address }
        .map(\.address)
      // Each of them may be asked, and waited for.
      guard voters.count < 64 else { throw ReplyReader.nonsense("too many nodes vote") }
      if Set(voters) != Set(others) { others = voters }
      connections = connections.filter { voters.contains($0.key) }
    }
    let deadline = ContinuousClock.now + cluster.options.attemptTimeout
    for address in others.prefix(needed) where .now < deadline {
      try? ask(address, .milliseconds(200))
    }
  }

  /// Waits for the answers, and asks others where these are missing.
  ///
  /// - Throws: ``SQLiteError`` of a lost leader, if another one leads or no majority follows.
  func finish() throws(SQLiteError) {
    let deadline = ContinuousClock.now + cluster.options.attemptTimeout
    var followers: Set<String> = []
    var pause = Duration.milliseconds(1)
    var patience = Duration.milliseconds(100)
    while true {
      var named: String?
      for address in others where asked.contains(address) {
        switch try answer(of: address, patience) {
        case leader.address?: followers.insert(address)
        case let other?: named = other
        case nil: break
        }
      }
      guard followers.count < needed else { return }
      if let named, try leads(named) {
        cluster.note(leader: named)
        throw NodeConnection.lost(leader.address, "\(named) leads now")
      }
      if let reason = leader.reasonToEnd() { throw SQLiteError(.interrupt, reason) }
      guard ContinuousClock.now < deadline else {
        throw NodeConnection.lost(leader.address, "no majority of the nodes follows it")
      }
      sleepThread(for: pause * Double.random(in: 0.5...1))
      pause = min(pause * 2, .milliseconds(50))
      patience = min(patience * 2, cluster.options.attemptTimeout)
      for address in others where !followers.contains(address) && .now < deadline {
        try? ask(address, patience)
      }
    }
  }

  /// Returns which other node leads, if one of the voters names it and it says so itself.
  func successor() -> String? {
    for address in others {
      guard (try? ask(address, .milliseconds(100))) != nil,
        let named = try? answer(of: address, .milliseconds(100)), named != leader.address,
        (try? leads(named)) == true
      else { continue }
      cluster.note(leader: named)
      return named
    }
    return nil
  }

  /// Whether a node says of itself that it leads.
  private func leads(_ address: String) throws(SQLiteError) -> Bool {
    do throws(SQLiteError) {
      try ask(address, .milliseconds(200))
    } catch {
      return false
    }
    return try answer(of: address, .milliseconds(200)) == address
  }

  /// Asks a node whom it follows, unless its answer is still to be taken.
  private func ask(_ address: String, _ patience: Duration) throws(SQLiteError) {
    guard !asked.contains(address) else { return }
    let end = ContinuousClock.now + min(patience, cluster.options.attemptTimeout)
    do throws(SQLiteError) {
      let connection: NodeConnection
      if let present = connections[address] {
        connection = present
      } else {
        connection = try NodeConnection(address, cluster.options, before: end)
        connections[address] = connection
      }
      connection.reasonToEnd = leader.reasonToEnd
      try connection.askForLeader(before: end)
      asked.insert(address)
    } catch {
      giveUp(address)
      throw error
    }
  }

  /// Takes the answer of a node that was asked; nil if it has none.
  private func answer(of address: String, _ patience: Duration) throws(SQLiteError) -> String? {
    guard asked.remove(address) != nil else { return nil }
    do throws(SQLiteError) {
      let end = ContinuousClock.now + min(patience, cluster.options.attemptTimeout)
      return try connections[address]?.leaderReply(before: end)
    } catch {
      giveUp(address)
      if error.code == .interrupt { throw error }
      return nil
    }
  }

  /// Lets the others be asked first.
  private func giveUp(_ address: String) {
    connections[address] = nil
    guard let index = others.firstIndex(of: address) else { return }
    others.append(others.remove(at: index))
  }
}

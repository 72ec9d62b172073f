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
  private let questions: LeaderQuestions
  /// How long the first answers may take before the other voters are asked too: twice as long as they took last.
  private var patience = Duration.milliseconds(10)

  init(_ cluster: Cluster, of leader: NodeConnection) {
    self.cluster = cluster
    self.leader = leader
    others = cluster.voters.filter { $0 != leader.address }
    questions = LeaderQuestions(cluster.options) { [unowned leader] in leader.reasonToEnd() }
  }

  /// How many others make a majority with the leader.
  private var needed: Int { (others.count + 1) / 2 }

  /// Sends the questions.
  func begin() throws(SQLiteError) {
    // Answers to what was asked earlier would say nothing of now.
    questions.giveUp()
    if ContinuousClock.now >= renewal {
      let nodes = try leader.nodes(before: .now + cluster.options.attemptTimeout)
      renewal = .now + .seconds(1)
      let voters = nodes.filter { $0.role == .voter && $0.address != leader.address }
        .map(\.address)
      // Each of them may be asked, and waited for.
      guard voters.count < 64 else { throw ReplyReader.nonsense("too many nodes vote") }
      if Set(voters) != Set(others) { others = voters }
      questions.keep(only: voters)
    }
    for address in others.prefix(needed) { ask(address) }
  }

  /// Waits for the answers, and asks others where these are missing.
  ///
  /// - Throws: ``SQLiteError`` of a lost leader, if another one leads or no majority follows.
  func finish() throws(SQLiteError) {
    let start = ContinuousClock.now
    let deadline = start + cluster.options.attemptTimeout
    var followers: Set<String> = []
    var pause = patience
    var round = start + pause
    defer {
      for (address, _) in questions.asked { askLater(address) }
      patience = min(max((.now - start) * 2, .milliseconds(1)), .milliseconds(10))
    }
    while followers.count < needed {
      if let (address, answer) = try questions.next(before: min(deadline, round)) {
        switch answer {
        case .leader(leader.address): if others.contains(address) { followers.insert(address) }
        case .leader(address):
          // It says so itself.
          cluster.note(leader: address)
          throw NodeConnection.lost(leader.address, "\(address) leads now")
        case .leader(let named): ask(named)
        case .none: break
        case .failure: askLater(address)
        }
        continue
      }
      if let reason = leader.reasonToEnd() { throw SQLiteError(.interrupt, reason) }
      guard ContinuousClock.now < deadline else {
        throw NodeConnection.lost(leader.address, "no majority of the nodes follows it")
      }
      if .now < round { sleepThread(for: min(round - .now, .milliseconds(20))) }
      guard .now >= round else { continue }
      // Whoever is silent may be stopped: all the others are asked too.
      for address in others where !followers.contains(address) { ask(address) }
      pause = min(pause * 2, .milliseconds(50))
      round = .now + pause * Double.random(in: 0.5...1)
    }
  }

  private func ask(_ address: String) {
    do throws(SQLiteError) {
      try questions.ask(address)
    } catch {
      askLater(address)
    }
  }

  /// Lets the others be asked first.
  private func askLater(_ address: String) {
    guard let index = others.firstIndex(of: address) else { return }
    others.append(others.remove(at: index))
  }
}

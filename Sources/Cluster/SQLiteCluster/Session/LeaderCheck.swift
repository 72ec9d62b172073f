import SQLiteCore

/// A check that a node is the leader, made by asking other voters which leader they follow.
///
/// A leader that has been cut off or stopped doesn't notice this until its lease expires. Until
/// then, it answers reads from its last state. A write that was acknowledged elsewhere in the
/// meantime was accepted by a majority under another leader, in a later term. Any majority that is
/// queried after that includes a node that has accepted the write. That node names the checked
/// leader only if the checked leader was elected in a still later term, and then the checked
/// leader's log contains the write. Reads that follow the answers therefore include every write
/// that was acknowledged before the check.
///
/// If its list of voters is older than a second, the check requests a new one from the leader.
final class LeaderCheck {
  private let cluster: Cluster
  private let leader: NodeConnection
  /// The addresses of the other voters. Those that didn't answer last time are at the end.
  private var others: [String]
  /// The time at which to request the list of voters again.
  private var renewal = ContinuousClock.now
  private let leaderQueries: LeaderQueries
  /// The time to wait for the first answers before querying the remaining voters: twice the
  /// duration of the last check, but at least 1 ms and at most 10 ms.
  private var patience = Duration.milliseconds(10)

  init(_ cluster: Cluster, of leader: NodeConnection) {
    self.cluster = cluster
    self.leader = leader
    others = cluster.voters.filter { $0 != leader.address }
    leaderQueries = LeaderQueries(cluster.options) { [unowned leader] in leader.reasonToEnd() }
  }

  /// The minimum number of other voters that form a majority together with the leader.
  private var needed: Int { (others.count + 1) / 2 }

  /// Asks as many of the other voters as are needed for a majority which leader they follow. Before
  /// that, renews the list of voters if it is older than a second.
  ///
  /// - Throws: `SQLiteError` if the leader doesn't return a valid list of voters.
  func begin() throws(SQLiteError) {
    // Answers to earlier requests don't prove anything about the present.
    leaderQueries.discardOutstanding()
    if ContinuousClock.now >= renewal {
      let nodes = try leader.nodes(before: .now + cluster.options.attemptTimeout)
      renewal = .now + .seconds(1)
      let voters = nodes.filter { $0.role == .voter && $0.address != leader.address }
        .map(\.address)
      // The check may ask each of them and wait for it.
      guard voters.count < 64 else { throw ReplyReader.invalidMessage("too many voters") }
      if Set(voters) != Set(others) { others = voters }
      leaderQueries.keep(only: voters)
    }
    for address in others.prefix(needed) { ask(address) }
  }

  /// Waits until a majority has confirmed the leader. Queries the remaining voters if answers are
  /// missing.
  ///
  /// - Throws: `SQLiteError` with `ResultCode.leadershipLost` if another node leads, or if no
  ///   majority confirms this one in time; with `ResultCode.interrupt` if the access must end.
  func finish() throws(SQLiteError) {
    let start = ContinuousClock.now
    let deadline = start + cluster.options.attemptTimeout
    var followers: Set<String> = []
    var pause = patience
    var round = start + pause
    defer {
      for (address, _) in leaderQueries.asked { moveToEnd(address) }
      patience = min(max((.now - start) * 2, .milliseconds(1)), .milliseconds(10))
    }
    while followers.count < needed {
      if let (address, answer) = try leaderQueries.next(before: min(deadline, round)) {
        switch answer {
        case .leader(leader.address): if others.contains(address) { followers.insert(address) }
        case .leader(address):
          // The node itself says that it leads.
          cluster.note(leader: address)
          throw NodeConnection.lost(leader.address, "\(address) is the leader now")
        case .leader(let named): ask(named)
        case .none: break
        case .failure: moveToEnd(address)
        }
        continue
      }
      if let reason = leader.reasonToEnd() { throw SQLiteError(.interrupt, reason) }
      guard ContinuousClock.now < deadline else {
        throw NodeConnection.lost(leader.address, "it is not followed by a majority of the nodes")
      }
      if .now < round { sleepThread(for: min(round - .now, .milliseconds(20))) }
      guard .now >= round else { continue }
      // Silent nodes may be stopped, so ask all others as well.
      for address in others where !followers.contains(address) { ask(address) }
      pause = min(pause * 2, .milliseconds(50))
      round = .now + pause * Double.random(in: 0.5...1)
    }
  }

  private func ask(_ address: String) {
    do throws(SQLiteError) {
      try leaderQueries.ask(address)
    } catch {
      moveToEnd(address)
    }
  }

  /// Moves a voter to the end of `others`, so that later checks query it last.
  private func moveToEnd(_ address: String) {
    guard let index = others.firstIndex(of: address) else { return }
    others.append(others.remove(at: index))
  }
}

package import SQLiteCore
import Synchronization

/// A client of a cluster: its options and its knowledge of the cluster's nodes and leader.
package final class Cluster: Sendable {
  /// The name of the database.
  let database: String
  let options: ClusterOptions
  /// The addresses that the program specified.
  private let seeds: [String]

  private struct Known: Sendable {
    var leader: String?
    /// The addresses that nodes reported, or that the file for known nodes contained.
    var learned: [String] = []
    /// The addresses of the voters among the nodes.
    var voters: [String] = []
    /// The time at which to request the list of nodes again; nil if it hasn't been requested yet.
    var renewal: ContinuousClock.Instant?
    /// The time of the last successful run of each preparation.
    var done: [Preparation: ContinuousClock.Instant] = [:]
    /// Whether the file for known nodes contains the current addresses.
    var areStored = false
    /// The error of the last attempt to write the file for known nodes; nil if it succeeded.
    var failure: SQLiteError?
  }

  /// A task that prepares the database for this client. After it succeeds, sessions skip it for an
  /// hour.
  enum Preparation: Sendable {
    /// The check for columns that can crash a node.
    case columnTypes
    /// The creation of the table of tokens, and the deletion of old tokens.
    case tokens
  }

  private let known = Mutex(Known())

  package init(_ addresses: [String], database: String, _ options: ClusterOptions)
    throws(SQLiteError)
  {
    guard !addresses.isEmpty else {
      throw SQLiteError(.misuse, "a cluster needs the address of at least one node")
    }
    if let reason = Cluster.fault(of: database) {
      throw SQLiteError(.misuse, "“\(database.prefix(40))” is not a valid database name: \(reason)")
    }
    seeds = addresses
    self.database = database
    self.options = options
    if let path = options.knownNodes {
      let addresses = try KnownNodes(path).read()
      known.withLock { $0.learned = addresses }
    }
  }

  /// Returns the reason why `name` is invalid as the name of a database, or nil if it is valid.
  /// Some names crash a node of version 1.11.
  private static func fault(of name: String) -> String? {
    if name.isEmpty { return "it is empty" }
    if name.utf8.contains(0) { return "it contains a NUL character" }
    if name.utf8.count > 255 { return "it is longer than 255 bytes" }
    if name == ":memory:" || name.hasPrefix("file:") { return "SQLite reserves it" }
    for suffix in ["-wal", "-journal", "-shm"] where name.hasSuffix(suffix) {
      return "it is the name of another database's log"
    }
    return nil
  }

  /// The name under which the nodes store the database. Unless plain names are sent, it starts with
  /// the length of the database's name in bytes, so that no name is the start of another one.
  private var nameAtNodes: String {
    options.sendsPlainName ? database : "\(database.utf8.count):\(database)"
  }

  /// The addresses to try, without duplicates: first the last known leader, then the other known
  /// nodes, and finally the addresses that the program specified.
  var candidates: [String] {
    let known = known.withLock { $0 }
    var named: Set<String> = []
    return ((known.leader.map { [$0] } ?? []) + known.learned + seeds)
      .filter { named.insert($0).inserted }
  }

  /// Finds the leader and opens the database there. Keeps searching until the deadline.
  ///
  /// - Parameters:
  ///   - deadline: The time at which to give up.
  ///   - reasonToEnd: Returns the reason why the access must end, or nil to continue.
  /// - Returns: A connection to the leader, and the leader's number for the open database.
  /// - Throws: `SQLiteError` with the last answer of each node in its message, if there is no
  ///   leader at the deadline or if all addresses are invalid; with `ResultCode.interrupt` if the
  ///   access must end.
  package func openAtLeader(
    before deadline: ContinuousClock.Instant, _ reasonToEnd: @escaping () -> String? = { nil }
  ) throws(SQLiteError) -> (connection: NodeConnection, database: UInt32) {
    let leaderQueries = LeaderQueries(options, reasonToEnd)
    var pause = Duration.milliseconds(10)
    var failures: [String: String] = [:]
    // Invalid addresses aren't tried again.
    var invalidAddresses: Set<String> = []
    while true {
      leaderQueries.keep(only: candidates)
      for address in candidates where !invalidAddresses.contains(address) {
        do throws(SQLiteError) {
          try leaderQueries.ask(address)
        } catch {
          if error.code == .interrupt { throw error }
          if error.code == .misuse { invalidAddresses.insert(address) }
          failures[address] = error.message
        }
      }
      if invalidAddresses.isSuperset(of: candidates) {
        throw SQLiteError(.misuse, list(of: failures))
      }
      let round = min(deadline, .now + pause * Double.random(in: 0.5...1))
      while let (address, answer) = try leaderQueries.next(before: round) {
        switch answer {
        case .leader(address):
          guard let connection = leaderQueries.take(address) else { continue }
          do throws(SQLiteError) {
            return try open(connection, deadline)
          } catch {
            if error.code == .interrupt { throw error }
            failures[address] = error.message
          }
        case .leader(let other):
          // A node may have several addresses. Under its own address, it says that it leads or
          // names another leader.
          failures[address] = "names \(other) as the leader, which it is not"
          do throws(SQLiteError) {
            try leaderQueries.ask(other)
          } catch {
            if error.code == .interrupt { throw error }
          }
        case .none: failures[address] = "has no leader"
        case .failure(let error): failures[address] = error.message
        }
      }
      for (address, _) in leaderQueries.asked where failures[address] == nil {
        failures[address] = "no response within the timeout"
      }
      guard ContinuousClock.now < deadline else { throw noLeader(failures) }
      if let reason = reasonToEnd() { throw SQLiteError(.interrupt, reason) }
      if .now < round { sleepThread(for: round - .now) }
      pause = min(pause * 2, .milliseconds(50))
    }
  }

  private func attempt(_ deadline: ContinuousClock.Instant) -> ContinuousClock.Instant {
    min(deadline, .now + options.attemptTimeout)
  }

  private func open(
    _ connection: NodeConnection, _ deadline: ContinuousClock.Instant
  ) throws(SQLiteError) -> (NodeConnection, UInt32) {
    // The node may be stopped at any time. Another node leads then.
    let search = SuccessorSearch(self, of: connection.address)
    connection.successor = { search.successor() }
    let database = try connection.open(nameAtNodes, before: attempt(deadline))
    let now = ContinuousClock.now
    if let renewal = known.withLock({ $0.renewal }), now < renewal {
      note(leader: connection.address)
    } else {
      note(try connection.nodes(before: attempt(deadline)), leader: connection.address)
      known.withLock { $0.renewal = now + .seconds(60) }
    }
    return (connection, database)
  }

  /// Returns whether a node that didn't answer in time may still be running the request. Such a
  /// node accepts a new connection but doesn't answer on it. A node that is down accepts no
  /// connection. A node that answers on the new connection has lost the original request.
  func isBusy(_ address: String, _ reasonToEnd: @escaping () -> String?) -> Bool {
    let end = ContinuousClock.now + min(.seconds(1), options.attemptTimeout)
    guard let node = try? NodeConnection(address, options, before: end, waits: true) else {
      return false
    }
    node.reasonToEnd = reasonToEnd
    _ = try? node.leader(before: end)
    return node.timedOut
  }

  /// Runs `body` unless the preparation was completed within the last hour.
  func once(
    _ preparation: Preparation, _ body: () throws(SQLiteError) -> Void
  ) throws(SQLiteError) {
    let now = ContinuousClock.now
    if let last = known.withLock({ $0.done[preparation] }), now - last < .seconds(3_600) { return }
    try body()
    known.withLock { $0.done[preparation] = now }
  }

  /// Records the address of the leader, which later searches for the leader try first.
  func note(leader: String) {
    known.withLock { $0.leader = leader }
  }

  /// The addresses of the voters, as reported by the last leader.
  var voters: [String] { known.withLock { $0.voters } }

  private func note(_ nodes: [ClusterNode], leader: String) {
    let addresses = nodes.map(\.address)
    let isNew = known.withLock { known in
      defer {
        known.leader = leader
        known.learned = addresses
        known.voters = nodes.filter { $0.role == .voter }.map(\.address)
      }
      return !known.areStored || Set(known.learned) != Set(addresses)
    }
    guard isNew, let path = options.knownNodes else { return }
    let result = Result { () throws(SQLiteError) in try KnownNodes(path).write(addresses) }
    known.withLock { known in
      if case .failure(let error) = result { known.failure = error } else { known.failure = nil }
      // If the file can't be written, the next session tries again.
      known.areStored = known.failure == nil
    }
  }

  /// The error of the last attempt to write the file for known nodes; nil if it succeeded.
  var knownNodesError: SQLiteError? { known.withLock { $0.failure } }

  private func noLeader(_ failures: [String: String]) -> SQLiteError {
    SQLiteError(
      .cannotOpen,
      "the cluster has had no leader for \(options.leaderTimeout): \(list(of: failures))")
  }

  /// Returns a list of the nodes for an error message, each with its last failure. It contains at
  /// most 16 nodes, because the file for known nodes may contain many addresses.
  private func list(of failures: [String: String]) -> String {
    let addresses = candidates
    // List the program's own addresses first.
    let named = seeds + addresses.filter { !seeds.contains($0) }
    var parts = named.prefix(16).map { address in
      let failure = failures[address] ?? "no time was left"
      return failure.hasPrefix(address) ? failure : "\(address): \(failure)"
    }
    if named.count > 16 { parts.append("and \(named.count - 16) others") }
    if let path = options.knownNodes { parts.append("\(path) may list more nodes") }
    return parts.joined(separator: "; ")
  }

  /// Returns the nodes of the cluster, as reported by the leader.
  func nodes(
    _ reasonToEnd: @escaping () -> String? = { nil }
  ) throws(SQLiteError) -> [ClusterNode] {
    let deadline = ContinuousClock.now + options.leaderTimeout
    let (connection, _) = try openAtLeader(before: deadline, reasonToEnd)
    return try connection.nodes(before: deadline).map { node in
      var node = node
      node.isLeader = node.address == connection.address
      return node
    }
  }
}

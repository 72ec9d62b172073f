import SQLiteCore
import Synchronization

/// The nodes of a cluster as this client knows them, and the way to the one that leads.
final class Cluster: Sendable {
  /// The database's name.
  let database: String
  let options: ClusterOptions
  /// The addresses that the program has given.
  private let seeds: [String]

  private struct Known: Sendable {
    var leader: String?
    /// The addresses that nodes have told, and not the program.
    var learned: [String] = []
  }

  private let known = Mutex(Known())

  init(_ addresses: [String], database: String, _ options: ClusterOptions) throws(SQLiteError) {
    guard !addresses.isEmpty else {
      throw SQLiteError(.misuse, "a cluster needs the address of one node at the least")
    }
    guard !database.isEmpty, !database.utf8.contains(0) else {
      throw SQLiteError(.misuse, "the name of a database is empty or contains a NUL")
    }
    seeds = addresses
    self.database = database
    self.options = options
  }

  /// The addresses to try, the last leader's first.
  private var candidates: [String] {
    let known = known.withLock { $0 }
    var all = known.leader.map { [$0] } ?? []
    for address in known.learned + seeds where !all.contains(address) { all.append(address) }
    return all
  }

  /// Opens the database at the node that leads, however long it takes to find one.
  ///
  /// - Parameters:
  ///   - deadline: When to give up.
  ///   - reasonToEnd: Says why the access must end, if it must.
  /// - Throws: ``SQLiteError`` that says what each node answered last.
  func openAtLeader(
    before deadline: ContinuousClock.Instant, _ reasonToEnd: @escaping () -> String? = { nil }
  ) throws(SQLiteError) -> (connection: NodeConnection, database: UInt32) {
    var pause = Duration.milliseconds(10)
    var failures: [String: String] = [:]
    while true {
      var addresses = candidates[...]
      while let address = addresses.popFirst() {
        do throws(SQLiteError) {
          let connection = try NodeConnection(address, options, before: deadline)
          connection.reasonToEnd = reasonToEnd
          switch try connection.leader(before: attempt(deadline)) {
          case address?: return try open(connection, deadline)
          case let other?:
            // A node may be known by several names: asked by its own it leads, or names another.
            if let leader = try open(atOther: other, deadline, reasonToEnd) { return leader }
            failures[address] = "says that \(other) leads, which does not"
          case nil: failures[address] = "knows no leader"
          }
        } catch {
          if error.code == .interrupt { throw error }
          failures[address] = error.message
        }
      }
      guard ContinuousClock.now < deadline else { throw noLeader(failures) }
      if let reason = reasonToEnd() { throw SQLiteError(.interrupt, reason) }
      sleepThread(for: pause * Double.random(in: 0.5...1))
      pause = min(pause * 2, .milliseconds(250))
    }
  }

  private func attempt(_ deadline: ContinuousClock.Instant) -> ContinuousClock.Instant {
    min(deadline, .now + options.attemptTimeout)
  }

  private func open(
    atOther address: String, _ deadline: ContinuousClock.Instant,
    _ reasonToEnd: @escaping () -> String?
  ) throws(SQLiteError) -> (NodeConnection, UInt32)? {
    let connection = try NodeConnection(address, options, before: deadline)
    connection.reasonToEnd = reasonToEnd
    guard try connection.leader(before: attempt(deadline)) == address else { return nil }
    return try open(connection, deadline)
  }

  private func open(
    _ connection: NodeConnection, _ deadline: ContinuousClock.Instant
  ) throws(SQLiteError) -> (NodeConnection, UInt32) {
    let database = try connection.open(database, before: attempt(deadline))
    let nodes = try connection.nodes(before: attempt(deadline))
    known.withLock {
      $0.leader = connection.address
      $0.learned = nodes.map(\.address)
    }
    return (connection, database)
  }

  private func noLeader(_ failures: [String: String]) -> SQLiteError {
    let list = failures.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
    return SQLiteError(
      .cannotOpen,
      "no node of the cluster leads within \(options.leaderTimeout): \(list.joined(separator: "; "))"
    )
  }

  /// The nodes as the leader knows them.
  func nodes() throws(SQLiteError) -> [ClusterNode] {
    let deadline = ContinuousClock.now + options.leaderTimeout
    let (connection, _) = try openAtLeader(before: deadline)
    return try connection.nodes(before: deadline).map { node in
      var node = node
      node.isLeader = node.address == connection.address
      return node
    }
  }
}

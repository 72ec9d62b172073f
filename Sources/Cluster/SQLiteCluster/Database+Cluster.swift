import Platform
public import SQLiteCore
import Synchronization

extension Cluster: RemoteServer {
  package var name: String { "the cluster database \(database)" }

  package var patience: Duration { options.leaderTimeout }

  package func isSessionLoss(_ error: SQLiteError) -> Bool { error.isLeaderLoss }

  package func connect(
    forReading: Bool, _ reasonToEnd: @escaping @Sendable () -> String?
  ) throws(SQLiteError) -> any RemoteSession {
    let deadline = ContinuousClock.now + options.leaderTimeout
    while true {
      do throws(SQLiteError) {
        return try ClusterSession(
          self, forReading: forReading, before: deadline, reasonToEnd)
      } catch {
        // The leader may be lost before the session is set up.
        guard error.isLeaderLoss, ContinuousClock.now < deadline else { throw error }
      }
    }
  }
}

extension Database {
  /// Opens a database of a dqlite cluster. Creates the database if it doesn't exist. Blocks the
  /// thread.
  ///
  ///     let database = try Database(cluster: ["10.0.0.1:9001", "10.0.0.2:9001"], name: "shop")
  ///
  /// All requests go to the leader. A write is acknowledged once a majority of the nodes has stored
  /// it. If the leader is lost during an access, its closure runs again on the next leader, unless
  /// the write turns out to be committed. A closure may therefore run more than once, but takes
  /// effect only once. If the client can't determine whether a write was committed, the access
  /// throws `SQLiteError` with `ResultCode.outcomeUnknown`.
  ///
  /// - Parameters:
  ///   - addresses: The addresses of one or more nodes. The client gets the addresses of the other
  ///     nodes from them.
  ///   - name: The name of the database in the cluster, at most 255 bytes.
  ///   - options: The options for the communication with the cluster.
  /// - Throws: `SQLiteError` if no node leads, with the answer of each node in its message; if an
  ///   argument is invalid; if the file for the known nodes can't be read or written; or if the
  ///   database has columns that can crash a node.
  public convenience init(
    cluster addresses: [String], name: String, options: ClusterOptions = ClusterOptions()
  ) throws(SQLiteError) {
    let cluster = try Cluster(addresses, database: name, options)
    try self.init(server: cluster, options: options.database)
    // Report the failure only when opening. Later failures are retried with the next session, so
    // that a running program can continue.
    if let failure = cluster.knownNodesError { throw failure }
  }

  /// Opens a database of a dqlite cluster, and suspends the task meanwhile. Creates the database if
  /// it doesn't exist.
  ///
  /// All requests go to the leader. If the leader is lost during an access, its closure runs again
  /// on the next leader. A closure may therefore run more than once, but takes effect only once.
  ///
  /// - Parameters:
  ///   - addresses: The addresses of one or more nodes. The client gets the addresses of the other
  ///     nodes from them.
  ///   - name: The name of the database in the cluster, at most 255 bytes.
  ///   - options: The options for the communication with the cluster.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was cancelled.
  public convenience init(
    cluster addresses: [String], name: String, options: ClusterOptions = ClusterOptions()
  ) async throws {
    let cluster = try await Worker().run { try Cluster(addresses, database: name, options) }
    try await self.init(openingServer: cluster, options: options.database)
    if let failure = cluster.knownNodesError { throw failure }
  }

  /// Returns the nodes of this database's cluster, as reported by the leader. Blocks the thread.
  ///
  /// - Returns: The nodes, or nil for a database that isn't in a cluster.
  /// - Throws: `SQLiteError` if no node leads, or if the leader doesn't return a valid list of
  ///   nodes.
  public func clusterNodes() throws(SQLiteError) -> [ClusterNode]? {
    try (server as? Cluster)?.nodes()
  }

  /// Returns the nodes of this database's cluster, as reported by the leader. Suspends the task
  /// meanwhile.
  ///
  /// - Returns: The nodes, or nil for a database that isn't in a cluster.
  /// - Throws: `SQLiteError` if no node leads, or if the leader doesn't return a valid list of
  ///   nodes; `CancellationError` if the task was cancelled.
  public func clusterNodes() async throws -> [ClusterNode]? {
    guard let cluster = server as? Cluster else { return nil }
    let cancellation = CancellationFlag()
    do {
      return try await withTaskCancellationHandler {
        try await Worker().run { try cluster.nodes { cancellation.reasonToEnd } }
      } onCancel: {
        cancellation.isCancelled.store(true, ordering: .relaxed)
      }
    } catch let error as SQLiteError where error.code == .interrupt && Task.isCancelled {
      throw CancellationError()
    }
  }
}

/// The cancellation state of a task that waits for a request on another thread.
private final class CancellationFlag: Sendable {
  let isCancelled = Atomic(false)

  var reasonToEnd: String? {
    isCancelled.load(ordering: .relaxed) ? "the task was cancelled" : nil
  }
}

/// Blocks the thread for a duration.
func sleepThread(for duration: Duration) {
  let (seconds, attoseconds) = duration.components
  usleep(UInt32(clamping: seconds * 1_000_000 + attoseconds / 1_000_000_000_000))
}

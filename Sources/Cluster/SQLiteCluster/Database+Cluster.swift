import Platform
public import SQLiteCore
import Synchronization

extension Cluster: RemoteServer {
  package var name: String { "the cluster database \(database)" }

  package var patience: Duration { options.leaderTimeout }

  package func isOfLostSession(_ error: SQLiteError) -> Bool { error.isOfLostLeader }

  package func connect(
    forReading: Bool, _ reasonToEnd: @escaping @Sendable () -> String?
  ) throws(SQLiteError) -> any RemoteSession {
    let deadline = ContinuousClock.now + options.leaderTimeout
    while true {
      do throws(SQLiteError) {
        return try ClusterSession(
          self, forReading: forReading, before: deadline, reasonToEnd)
      } catch {
        // The leader may go before the session is set up.
        guard error.isOfLostLeader, ContinuousClock.now < deadline else { throw error }
      }
    }
  }
}

extension Database {
  /// Opens a database of a dqlite cluster.
  ///
  ///     let database = try Database(cluster: ["10.0.0.1:9001", "10.0.0.2:9001"], name: "shop")
  ///
  /// Everything is asked of the node that leads. A write is acknowledged once the majority of the nodes has
  /// it. If the node is lost meanwhile, its closure runs again at the next leader, but for a write that turns
  /// out to be committed: so a closure may run more than once, and takes effect once.
  ///
  /// - Parameters:
  ///   - addresses: The addresses of one node or more. The others are learned.
  ///   - name: The database's name in the cluster, of 255 bytes at the most. It is made if it is not there.
  ///   - options: How to talk to the cluster.
  /// - Throws: `SQLiteError` that says what each node answered, if none leads; that the file for the known
  ///   nodes cannot be written; or that the database has columns whose values would end a node.
  public convenience init(
    cluster addresses: [String], name: String, options: ClusterOptions = ClusterOptions()
  ) throws(SQLiteError) {
    let cluster = try Cluster(addresses, database: name, options)
    try self.init(server: cluster, options: options.database)
    // Later ones are left for the next session: a program that works goes on.
    if let failure = cluster.failureToKeep { throw failure }
  }

  /// As ``init(cluster:name:options:)-(_,_,_)``, without blocking the task. Throws `CancellationError` too.
  public convenience init(
    cluster addresses: [String], name: String, options: ClusterOptions = ClusterOptions()
  ) async throws {
    let cluster = try await Worker().run { try Cluster(addresses, database: name, options) }
    try await self.init(openingServer: cluster, options: options.database)
    if let failure = cluster.failureToKeep { throw failure }
  }

  /// The nodes of the cluster that has this database, as the leader knows them; nil for a database that is
  /// here. Blocks the thread for an answer.
  ///
  /// - Throws: `SQLiteError` if no node leads.
  public func clusterNodes() throws(SQLiteError) -> [ClusterNode]? {
    try (server as? Cluster)?.nodes()
  }

  /// As ``clusterNodes()``, without blocking the task. Throws `CancellationError` too.
  public func clusterNodes() async throws -> [ClusterNode]? {
    guard let cluster = server as? Cluster else { return nil }
    let asker = Asker()
    do {
      return try await withTaskCancellationHandler {
        try await Worker().run { try cluster.nodes { asker.reasonToEnd } }
      } onCancel: {
        asker.isCancelled.store(true, ordering: .relaxed)
      }
    } catch let error as SQLiteError where error.code == .interrupt && Task.isCancelled {
      throw CancellationError()
    }
  }
}

/// A task that waits for what a thread asks the nodes.
private final class Asker: Sendable {
  let isCancelled = Atomic(false)

  var reasonToEnd: String? {
    isCancelled.load(ordering: .relaxed) ? "the task was cancelled" : nil
  }
}

/// Blocks the thread for some time.
func sleepThread(for duration: Duration) {
  let (seconds, attoseconds) = duration.components
  usleep(UInt32(clamping: seconds * 1_000_000 + attoseconds / 1_000_000_000_000))
}

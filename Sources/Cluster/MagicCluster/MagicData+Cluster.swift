@_exported public import SQLiteCluster
import SQLiteCore
public import SQLiteObjects

extension MagicData {
  /// Opens a store in a database of a dqlite cluster, and makes it if there is none, blocking the thread.
  ///
  ///     let magic = try MagicData(cluster: ["10.0.0.1:9001", "10.0.0.2:9001"], name: "shop")
  ///
  /// All nodes keep the whole database in memory. The contents of assets are kept in rows, of a few megabytes
  /// at the most, unless a folder is named.
  ///
  /// - Parameters:
  ///   - addresses: The addresses of one node or more. The others are learned.
  ///   - name: The database's name in the cluster.
  ///   - assetFolder: A folder for the contents of assets, which all clients share.
  ///   - options: How to talk to the cluster.
  /// - Throws: `SQLiteError` that says what each node answered, if none leads; `AssetError`.
  public convenience init(
    cluster addresses: [String], name: String, assetFolder: String? = nil,
    options: ClusterOptions = ClusterOptions()
  ) throws {
    let database = try Database(cluster: addresses, name: name, options: options)
    try self.init(server: database, assetFolder: assetFolder)
  }

  /// As ``MagicData/init(cluster:name:assetFolder:options:)-7r5x6``, without blocking the task. Throws
  /// `CancellationError` too.
  public convenience init(
    cluster addresses: [String], name: String, assetFolder: String? = nil,
    options: ClusterOptions = ClusterOptions()
  ) async throws {
    let database = try await Database(cluster: addresses, name: name, options: options)
    try await self.init(openingServer: { database }, assetFolder: assetFolder)
  }
}

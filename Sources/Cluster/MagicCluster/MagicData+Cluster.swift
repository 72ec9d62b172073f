@_exported public import SQLiteCluster
import SQLiteCore
public import SQLiteObjects

extension MagicData {
  /// Opens a store in a database of a dqlite cluster. Creates the database if it doesn't exist.
  /// Blocks the thread.
  ///
  ///     let magic = try MagicData(cluster: ["10.0.0.1:9001", "10.0.0.2:9001"], name: "shop")
  ///
  /// Each node keeps the whole database in memory. Without `assetFolder`, the content of assets is
  /// stored in rows and limited to a few megabytes per asset.
  ///
  /// - Parameters:
  ///   - addresses: The addresses of one or more nodes. The client gets the addresses of the other
  ///     nodes from them.
  ///   - name: The name of the database in the cluster, at most 255 bytes.
  ///   - assetFolder: The path of a folder for asset files, which all clients must share; nil to
  ///     store the content of assets in rows.
  ///   - options: The options for the communication with the cluster.
  /// - Throws: `SQLiteError` if no node leads, with the answer of each node in its message, or for
  ///   the other reasons of `Database.init(cluster:name:options:)`; `AssetError` if the asset
  ///   folder can't be used; `MagicError.olderStore` if the database contains a store of the first
  ///   MagicData, the library that this one replaces.
  public convenience init(
    cluster addresses: [String], name: String, assetFolder: String? = nil,
    options: ClusterOptions = ClusterOptions()
  ) throws {
    let database = try Database(cluster: addresses, name: name, options: options)
    try self.init(server: database, assetFolder: assetFolder)
  }

  /// Opens a store in a database of a dqlite cluster, and suspends the task meanwhile. Creates the
  /// database if it doesn't exist.
  ///
  /// Each node keeps the whole database in memory. Without `assetFolder`, the content of assets is
  /// stored in rows and limited to a few megabytes per asset.
  ///
  /// - Parameters:
  ///   - addresses: The addresses of one or more nodes. The client gets the addresses of the other
  ///     nodes from them.
  ///   - name: The name of the database in the cluster, at most 255 bytes.
  ///   - assetFolder: The path of a folder for asset files, which all clients must share; nil to
  ///     store the content of assets in rows.
  ///   - options: The options for the communication with the cluster.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was cancelled.
  public convenience init(
    cluster addresses: [String], name: String, assetFolder: String? = nil,
    options: ClusterOptions = ClusterOptions()
  ) async throws {
    let database = try await Database(cluster: addresses, name: name, options: options)
    try await self.init(openingServer: { database }, assetFolder: assetFolder)
  }
}

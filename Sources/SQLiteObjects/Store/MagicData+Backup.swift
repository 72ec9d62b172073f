public import SQLiteAssets
import SQLiteCore

extension MagicData {
  /// Copies objects and assets, as one state of one moment, into a fresh folder, which is a store
  /// like this one; blocks the thread.
  ///
  ///     let backup = try magic.backup(to: "/var/backups/app-monday")
  ///     for fault in backup.faults { print(fault) }
  ///
  /// Others may read and write meanwhile.
  ///
  /// - Parameter path: A folder that is empty or missing. The folder above it must exist.
  /// - Returns: Where the parts are, and what was wrong with assets: look at it.
  /// - Throws: ``AssetError``, such as ``AssetError/folderNotEmpty(path:)``, or ``SQLiteError``. What
  ///   was written so far stays.
  public func backup(to path: String) throws -> AssetBackup {
    try assets.backup(to: path)
  }

  /// As the blocking ``backup(to:)``, suspending the task.
  ///
  /// - Parameter path: A folder that is empty or missing. The folder above it must exist.
  /// - Returns: Where the parts are, and what was wrong with assets: look at it.
  /// - Throws: ``AssetError``, ``SQLiteError`` or `CancellationError`. What was written so far stays.
  nonisolated(nonsending) public func backup(to path: String) async throws -> AssetBackup {
    try await assets.backup(to: path)
  }
}

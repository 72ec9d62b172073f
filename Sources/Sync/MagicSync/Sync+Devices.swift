import SQLiteCore
import SQLiteObjects

extension Sync {
  /// Returns the other devices, in the order of their identities.
  ///
  /// - Returns: The devices, also removed ones.
  /// - Throws: `SQLiteError` if the store can't be read; `CancellationError` if the task was
  ///   cancelled.
  /// - Complexity: O(*n*), where *n* is the number of devices.
  public func devices() async throws -> [SyncDevice] {
    try await magic.database.read { connection in
      try SyncPeers(connection).all().map { peer in
        SyncDevice(
          id: peer.device, name: peer.name, lastSeen: peer.clock.date,
          receivedCount: peer.received, isRemoved: peer.isRemoved)
      }
    }
  }

  /// Removes a device from the sync, for example one that is lost, so that the others needn't keep
  /// files for it. What it had sent before is kept.
  ///
  /// If the device is used again, it begins with a snapshot and a new identity, and keeps its own
  /// changes. To let this store begin again with a snapshot, pass ``device``.
  ///
  /// - Parameter device: The identity of the device.
  /// - Throws: `SQLiteError` if the store can't be written; `CancellationError` if the task was
  ///   cancelled.
  public func remove(device: SyncDevice.ID) async throws {
    let own = self.device
    try await magic.database.writeSeparately { try SyncPeers($0).remove(device, own: own) }
  }
}

import Essentials

/// The sizes and times that a ``Sync`` uses. Tests use others than programs.
struct SyncLimits: Sendable {
  /// The number of days on which a store is synced after which a silent device is removed.
  var days: Int64 = 90
  /// The least number of files with changes after which a new snapshot is written.
  var batchesPerSnapshot = 64
  /// The size in bytes of a snapshot that is worth one file with changes.
  var snapshotBytesPerBatch = 1 << 15
  /// The size in bytes of the parts of a snapshot.
  var partSize = 1 << 20
  /// Returns the time of the device's clock.
  var now: @Sendable () -> Date = { Date() }
}

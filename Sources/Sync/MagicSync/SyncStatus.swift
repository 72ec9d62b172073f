public import Essentials

/// A device that takes part in a sync.
public struct SyncDevice: Hashable, Sendable, Identifiable {
  /// The identity of the device's store: 32 hexadecimal digits.
  public let id: String
  /// The name of the device, for people.
  public let name: String
  /// The time of the last file that was received from the device, by its own clock.
  public let lastSeen: Date
  /// The number of the device's batches that this store contains.
  public let receivedCount: Int64
  /// Whether the device was removed.
  public let isRemoved: Bool
}

/// Something in the folder that ``Sync`` can't use yet. It tries again with each pass.
public enum SyncProblem: Hashable, Sendable {
  /// A file that must come next is missing, although later ones exist. `name` is its name.
  case missingFile(name: String)
  /// A file is truncated or altered, or still being copied.
  case damagedFile(name: String)
  /// A file was written by a newer version of this library.
  case newerFormat(name: String)
  /// A file can't be opened with the key of this store.
  case wrongKey(name: String)
  /// A file belongs to a sync with another name.
  case otherSync(name: String)
  /// A file belongs to a sync of the same name that another device has begun. Use another folder or
  /// name for one of them.
  case otherStore(name: String)
  /// The folder has files of other devices, but no complete snapshot with which this one can begin.
  case waitsForSnapshot
  /// No other device has met this one yet. Its changes are sent as soon as one has.
  case notAdmitted
  /// A device has a table or a column that this store doesn't have, or has run a migration that this
  /// store hasn't run, because a newer version of the program runs there. Its changes wait until
  /// this store is migrated. They also wait if this `Sync` doesn't sync the table. If `column` is
  /// nil, `table` may be the first table of the changes.
  case newerSchema(device: String, table: String, column: String?)
  /// The content of an asset hasn't arrived. The changes that need it wait.
  case missingAsset(sha256: String)
  /// A device's clock is ahead of this one by more than a day. Its edits win against concurrent
  /// ones until the clock is corrected.
  case wrongClock(device: String, ahead: Duration)
  /// Another device has removed this one, for example because it was silent for too long, or another
  /// copy of this store has used its identity. The store has begun again with a snapshot and a new
  /// identity, and has kept its own changes. `device` is the former identity.
  case startsFromSnapshot(device: String)
  /// The folder can't be read or written.
  case folder(description: String)
}

/// What a ``Sync`` is doing.
public enum SyncStatus: Hashable, Sendable {
  /// Nothing is running.
  case idle
  /// Files are being written to the folder.
  case sending(done: Int, total: Int)
  /// Files are being read from the folder.
  case receiving(done: Int, total: Int)
  /// The changes of other devices are being applied.
  case applying
  /// The last exchange couldn't read or write the folder. ``Sync/run(every:_:)`` repeats it.
  case waiting(SyncProblem)
  /// The last exchange threw an error, for example because the disk is full. Only a store that was
  /// opened with `MagicData.init(path:syncedThrough:…)` has this status, and repeats the exchange.
  /// ``Sync/once()`` and ``Sync/run(every:_:)`` throw the error instead.
  case failed(description: String)
}

/// The outcome of one pass of a ``Sync``.
public struct SyncReport: Hashable, Sendable {
  /// The number of this store's transactions that were written to the folder.
  public internal(set) var sentCount = 0
  /// The number of transactions of other devices that were received.
  public internal(set) var receivedCount = 0
  /// The number of conflicts that haven't been acknowledged.
  public internal(set) var conflictCount = 0
  /// What in the folder can't be used yet.
  public internal(set) var problems: [SyncProblem] = []

  /// The error of the folder that ended the exchange early, or nil.
  var folderProblem: SyncProblem? {
    problems.first { if case .folder = $0 { true } else { false } }
  }
}

/// An error of ``Sync``.
public enum SyncError: Error, Hashable, Sendable {
  /// The store has objects, and the folder has those of other devices. Begin with an empty store,
  /// or with a backup of a store that is synced through this folder.
  case storeNotEmpty
  /// A synced type references one that isn't synced.
  case missingType(table: String, references: String)
  /// A type that isn't synced references a synced one, and its delete rule forbids the removal of the
  /// referenced object. Other devices don't have the referencing object, so they could remove it.
  case restrictingReference(table: String, references: String)
  /// A type that was passed to ``Sync`` is neither an object nor a record.
  case unsuitableType(String)
  /// A transaction changed more than 256 MB of rows, which is too much for one entry of the log. It is
  /// rolled back. Split it.
  case tooManyRows
  /// The store is in a cluster, whose transactions can't be recorded.
  case unsuitableStore
  /// The files of this store's sync are encrypted, and there is no cipher.
  case cipherMissing
  /// The lost edit of a conflict can't be restored, because another row is in its place or a
  /// constraint forbids it.
  case notRestorable(String)
}

extension SyncError: CustomStringConvertible {
  /// A description of the error and what to do.
  public var description: String {
    switch self {
    case .storeNotEmpty:
      "the store has objects, and the folder has those of other devices; begin with an empty store"
    case .missingType(let table, let references):
      "“\(table)” is synced, but “\(references)”, which it references, is not; sync both"
    case .restrictingReference(let table, let references):
      "“\(table)” is not synced, but it forbids to remove rows of “\(references)”, which is; use "
        + "another delete rule, or sync both"
    case .unsuitableType(let type): "“\(type)” is neither an object nor a record"
    case .tooManyRows: "the transaction changed too many rows to be synced; split it"
    case .unsuitableStore: "a store in a cluster cannot be synced through a folder"
    case .cipherMissing:
      "the files of this sync are encrypted, but there is no cipher; use the one of the other devices"
    case .notRestorable(let reason): "the edit cannot be restored: \(reason)"
    }
  }
}

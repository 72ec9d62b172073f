/// An error that is thrown if a history can't be started, undone, redone or cleared, or if a group
/// can't be recorded. The store is unchanged. A conflict with a concurrent change throws
/// `PatchError` instead.
public enum HistoryError: Error, Hashable, Sendable {
  /// The store has no history. Call `MagicData.history(limit:keeping:)` first.
  case noHistory
  /// The store already has a history that is stored in another location (``HistoryKeeping``).
  case otherHistory
  /// A group is being recorded. It must end before you undo, redo or clear. `name` is the name of
  /// that group.
  case insideGroup(name: String)
  /// The next group to undo or redo doesn't have the expected name, because the history has changed
  /// since you read it. `next` is the name of the next group, or nil if there is no group.
  case unexpectedGroup(expected: String, next: String?)
}

extension HistoryError: CustomStringConvertible {
  /// A description of the error in English. It contains the names of groups.
  public var description: String {
    switch self {
    case .noHistory: "the store has no history; call history(limit:keeping:) first"
    case .otherHistory: "the store already has a history, which is stored elsewhere"
    case .insideGroup(let name): "“\(name)” is being recorded; undo or redo after it ends"
    case .unexpectedGroup(let expected, let next):
      "the next group is not “\(expected)”, but \(next.map { "“\($0)”" } ?? "none")"
    }
  }
}

/// An error of starting, recording, undoing, redoing or clearing a history. Nothing has changed in
/// the store. If rows of a group were changed after it was recorded, `PatchError` is thrown
/// instead.
public enum HistoryError: Error, Hashable, Sendable {
  /// The store has no history. Call `MagicData.history(limit:keeping:)` first.
  case noHistory
  /// The store already has a history that is stored in another location (``HistoryKeeping``).
  case otherHistory
  /// A group is being recorded. It must end before you undo, redo or clear.
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

/// An error of undoing and redoing: nothing was changed. Rows that others have changed meanwhile are a `PatchError`.
public enum HistoryError: Error, Hashable, Sendable {
  /// The store has no history: `MagicData.history(limit:keeping:)` begins one.
  case noHistory
  /// The store has a history that is kept elsewhere.
  case otherHistory
  /// A group of the history is being recorded: it must end before anything is undone.
  case insideGroup(name: String)
  /// The next group is not the expected one: the history has changed since the caller read its names. `next` is nil if there
  /// is no group.
  case unexpectedGroup(expected: String, next: String?)
}

extension HistoryError: CustomStringConvertible {
  /// The fault, in English.
  public var description: String {
    switch self {
    case .noHistory: "the store has no history: call history(limit:keeping:) first"
    case .otherHistory: "the store has a history that is kept elsewhere"
    case .insideGroup(let name): "“\(name)” is being recorded: undo after its end"
    case .unexpectedGroup(let expected, let next):
      "the next group is not “\(expected)”, but \(next.map { "“\($0)”" } ?? "none")"
    }
  }
}

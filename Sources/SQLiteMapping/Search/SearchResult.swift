/// A value that a full-text search has found.
public struct SearchResult<Value> {
  /// The value.
  public let value: Value
  /// How well it fits: the less, the better (FTS5's `bm25`).
  public let rank: Double
  /// The part of a text that fits best, with marks around the words that were found.
  public let snippet: String
  /// The searched properties' whole texts, with marks around the words that were found.
  public let highlights: [String: String]
}

extension SearchResult: Sendable where Value: Sendable {}
extension SearchResult: Equatable where Value: Equatable {}

/// What is put around words that were found.
public struct SearchMarks: Hashable, Sendable {
  /// Before a word.
  public var start: String
  /// After a word.
  public var end: String
  /// How many words a snippet has, 1 to 64.
  public var snippetLength: Int

  /// Describes marks.
  ///
  /// - Parameters:
  ///   - start: Before a word.
  ///   - end: After a word.
  ///   - snippetLength: How many words a snippet has, 1 to 64.
  public init(start: String = "[", end: String = "]", snippetLength: Int = 16) {
    self.start = start
    self.end = end
    self.snippetLength = snippetLength
  }
}

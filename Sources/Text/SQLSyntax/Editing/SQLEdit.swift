/// The replacement of some bytes of a text. All other bytes stay.
public struct SQLEdit: Hashable, Sendable {
  /// The bytes that are replaced, counted in UTF-8. An empty range inserts.
  public var range: Range<Int>
  /// The text that takes their place.
  public var replacement: String

  /// Makes an edit.
  public init(_ range: Range<Int>, _ replacement: String) {
    self.range = range
    self.replacement = replacement
  }

  /// Returns `text` with all `edits` made, or nil if two of them overlap or one leaves the text.
  ///
  /// - Complexity: O(n + m log m) for n bytes and m edits.
  public static func apply(_ edits: [SQLEdit], to text: String) -> String? {
    let old = Array(text.utf8)
    var new: [UInt8] = []
    var end = 0
    for edit in edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
      guard edit.range.lowerBound >= end, edit.range.upperBound <= old.count else { return nil }
      new += old[end..<edit.range.lowerBound]
      new += Array(edit.replacement.utf8)
      end = edit.range.upperBound
    }
    new += old[end...]
    return String(validating: new, as: UTF8.self)
  }
}

/// A replacement of one range of bytes in a text.
public struct SQLEdit: Hashable, Sendable {
  /// The UTF-8 offsets of the bytes to replace. If the range is empty, the replacement is inserted
  /// at its offset.
  public var range: Range<Int>
  /// The text that replaces the bytes.
  public var replacement: String

  /// Creates an edit that replaces the UTF-8 bytes in `range` with `replacement`.
  public init(_ range: Range<Int>, _ replacement: String) {
    self.range = range
    self.replacement = replacement
  }

  /// Returns `text` with all edits applied.
  ///
  /// All ranges refer to the original text. The order of the edits matters only if some of them
  /// begin at the same offset: insertions must be in the order in which they appear in the result,
  /// and must precede a replacement of the bytes at this offset.
  ///
  /// - Parameters:
  ///   - edits: The replacements and insertions. Their ranges must not overlap.
  ///   - text: The text to edit. It isn't changed.
  /// - Returns: The new text, or nil if two edits overlap, an edit is outside of the text, or the
  ///   result isn't valid UTF-8.
  /// - Complexity: O(*n* + *m* log *m*) for *n* bytes and *m* edits.
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

/// The source range of a node, in UTF-8 offsets from the start of the text.
///
/// Any two spans are equal. Two trees are therefore equal if they have the same content,
/// regardless of their positions in the text. To compare positions, compare ``range``.
public struct SQLSpan: Hashable, Sendable {
  private(set) var start: UInt32
  private var end: UInt32

  /// Creates the span of a range of UTF-8 offsets. Offsets above `UInt32.max` become `UInt32.max`.
  public init(_ range: Range<Int>) {
    start = UInt32(clamping: range.lowerBound)
    end = UInt32(clamping: range.upperBound)
  }

  /// The empty span of a node that was not parsed from text.
  public static var none: SQLSpan { SQLSpan(0..<0) }

  /// The UTF-8 offsets of the node in the source text. The upper bound is the offset after the last
  /// byte.
  public var range: Range<Int> { Int(start)..<Int(end) }

  /// A Boolean value that indicates whether the range is empty, as it is for a node that was not
  /// parsed from text.
  public var isEmpty: Bool { start == end }

  /// Returns true, because positions don't affect equality.
  public static func == (_: SQLSpan, _: SQLSpan) -> Bool { true }

  /// Adds nothing to `hasher`, because positions don't affect equality.
  public func hash(into hasher: inout Hasher) {}
}

/// The source text of a node, stored to print the node unchanged. Like a span, it doesn't affect
/// equality.
struct WrittenText: Hashable, Sendable {
  var text: String?

  static func == (_: WrittenText, _: WrittenText) -> Bool { true }
  func hash(into hasher: inout Hasher) {}
}

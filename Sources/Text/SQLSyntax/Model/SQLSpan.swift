/// The bytes of a text that a node was read from, counted in UTF-8 from the start of the text.
///
/// A span says where a node stands, not what it is: two spans are always equal, so that two trees
/// are equal if they say the same, wherever they were read. Compare ``range`` to compare places.
public struct SQLSpan: Hashable, Sendable {
  private(set) var start: UInt32
  private var end: UInt32

  /// Makes the span of `range`.
  public init(_ range: Range<Int>) {
    start = UInt32(clamping: range.lowerBound)
    end = UInt32(clamping: range.upperBound)
  }

  /// The span of a node that was not read from a text.
  public static var none: SQLSpan { SQLSpan(0..<0) }

  /// The offsets of the first byte and of the byte after the last one.
  public var range: Range<Int> { Int(start)..<Int(end) }

  /// Whether the node was not read from a text.
  public var isEmpty: Bool { start == end }

  /// Returns true: places take no part in equality.
  public static func == (_: SQLSpan, _: SQLSpan) -> Bool { true }

  /// Adds nothing to `hasher`.
  public func hash(into hasher: inout Hasher) {}
}

/// Source text kept to print a node as it was written. It takes no part in equality.
struct WrittenText: Hashable, Sendable {
  var text: String?

  static func == (_: WrittenText, _: WrittenText) -> Bool { true }
  func hash(into hasher: inout Hasher) {}
}

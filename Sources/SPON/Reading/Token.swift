/// A value in a text: where it stands, and where the value behind it is among the tokens.
///
/// All tokens of a text lie in one array, each container before its content.
package struct Token {
  package enum Kind: UInt8 {
    case scalar, object, array
  }

  package let kind: Kind
  package let designator: Designator
  /// Whether the text between the quotes has escapes.
  var hasEscapes = false
  /// Whether the key has escapes.
  var keyHasEscapes = false
  /// The first and the last byte of a scalar's text, the bytes of a container's type name.
  package var start: UInt32
  package var end: UInt32
  /// Where the key's text is; for an element its number in the array.
  var keyStart: UInt32 = 0
  var keyEnd: UInt32 = 0
  var keyHash: UInt32 = 0
  /// The container, or -1.
  package var parent: Int32 = -1
  /// The token behind this value.
  package var next: Int32 = 0
  /// How many values a container has.
  package var count: Int32 = 0
  /// The member that was looked up last.
  var cursor: Int32 = 0

  init(_ kind: Kind, _ designator: Designator, _ range: Range<Int>) {
    self.kind = kind
    self.designator = designator
    start = UInt32(truncatingIfNeeded: range.lowerBound)
    end = UInt32(truncatingIfNeeded: range.upperBound)
  }

  var range: Range<Int> { Int(start)..<max(Int(start), Int(end)) }
  var keyRange: Range<Int> { Int(keyStart)..<max(Int(keyStart), Int(keyEnd)) }
}

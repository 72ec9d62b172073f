/// The refusal of a text, in SQLite's own words.
///
///     near "FORM": syntax error
public struct SQLSyntaxError: Error, Hashable, Sendable {
  /// The kinds of refusals.
  public enum Kind: Hashable, Sendable {
    /// The grammar has no place for a token.
    case syntax
    /// A text or a comment without its end, a letter behind a number, or a byte that begins nothing.
    case unrecognizedToken
    /// The text ends before the statement.
    case incomplete
    /// The grammar holds, but a clause makes no sense whatever the schema is.
    case structure
    /// Parentheses, calls and queries stand too deep in each other.
    case tooDeep
    /// A text of more than 1,000,000,000 bytes.
    case tooLong
  }

  /// What is wrong.
  public let kind: Kind
  /// SQLite's message.
  public let message: String
  /// The offset of the first byte that is wrong, in UTF-8; for an incomplete text its length.
  public let offset: Int
  /// How many bytes the message is about.
  public let length: Int

  init(_ kind: Kind, _ message: String, offset: Int, length: Int) {
    self.kind = kind
    self.message = message
    self.offset = offset
    self.length = length
  }
}

extension SQLSyntaxError: CustomStringConvertible {
  /// The message and the offset.
  public var description: String { "\(message) at byte \(offset)" }
}

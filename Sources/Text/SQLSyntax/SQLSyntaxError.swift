/// An error in SQL text, with the same message that SQLite reports.
///
///     near "FORM": syntax error
public struct SQLSyntaxError: Error, Hashable, Sendable {
  /// The kinds of syntax errors.
  public enum Kind: Hashable, Sendable {
    /// A token that the grammar doesn't allow at its position.
    case syntax
    /// A string or quoted name without its end, a malformed number, or an invalid character.
    case unrecognizedToken
    /// A statement that is incomplete at the end of the text.
    case incomplete
    /// A clause that matches the grammar, but that SQLite rejects regardless of the schema.
    case structure
    /// Parentheses, calls or queries that are nested too deep.
    case tooDeep
    /// A text of more than 1,000,000,000 bytes.
    case tooLong
  }

  /// The reason why SQLite rejects the text.
  public let kind: Kind
  /// The message that SQLite reports for the same text.
  public let message: String
  /// The offset of the invalid token or clause, in UTF-8 bytes from the start of the text. If the
  /// text is incomplete, this is the offset of its end. If it is too long, 0.
  public let offset: Int
  /// The number of bytes in the invalid token or clause. Zero if the text is incomplete or too
  /// long.
  public let length: Int

  init(_ kind: Kind, _ message: String, offset: Int, length: Int) {
    self.kind = kind
    self.message = message
    self.offset = offset
    self.length = length
  }
}

extension SQLSyntaxError: CustomStringConvertible {
  /// The message, followed by the offset.
  public var description: String { "\(message) at byte \(offset)" }
}

import SQLLexer

/// The normalized text of a statement, with `?` in place of each value. Statements that differ only
/// in their values have the same fingerprint.
///
///     SQLFingerprint("select * from note where id = 17").text   // SELECT * FROM note WHERE id = ?
///
/// Numbers with their signs, strings, blobs and parameters become `?`. So does NULL, except in IS
/// NULL, NOT NULL and SET NULL. A list of values after IN becomes one `?`, and several rows of
/// values after VALUES become one row. Comments are removed, and so are semicolons at the end.
/// Keywords are in uppercase, and unquoted names in lowercase. Double-quoted names are unchanged,
/// although SQLite may read them as strings.
public struct SQLFingerprint: Hashable, Sendable {
  /// The text of the statement in normalized form, with `?` in place of each value.
  public let text: String

  /// Creates the fingerprint of a statement. The SQL isn't parsed and doesn't have to be valid.
  ///
  /// - Parameters:
  ///   - sql: The SQL text.
  ///   - grammar: The grammar of the linked SQLite library.
  /// - Complexity: O(*n*) in the length of the text.
  public init(_ sql: String, grammar: SQLGrammar = SQLGrammar()) {
    var writer = Writer(SQLTokens(sql, grammar: grammar))
    text = writer.write()
  }
}

extension SQLFingerprint: CustomStringConvertible {
  /// The normalized text of the statement, the same as ``text``.
  public var description: String { text }
}

extension SQLStatement {
  /// The fingerprint of the statement: its normalized text, with `?` in place of each value.
  public var fingerprint: SQLFingerprint { SQLFingerprint(printed()) }
}

private struct Writer {
  private var tokens: SQLTokens
  private var text = ""
  private var last = SQLToken.Code.leftParenthesis
  private var beforeLast = SQLToken.Code.endOfText
  /// Whether the tokens that are being read are in a list of values after IN.
  private var isInList = false
  /// Whether the tokens that are being read are in a row of VALUES.
  private var isInRow = false
  /// Whether the last token closed a row of VALUES.
  private var isAfterRow = false

  init(_ tokens: SQLTokens) { self.tokens = tokens }

  mutating func write() -> String {
    while let token = tokens.nextSignificant() {
      switch token.code {
      case .unread: return text
      case .comma where last == .parameter && isInList && skipValue(): continue
      case .comma where isAfterRow && skipRow(): continue
      case .minus where isSign(), .plus where isSign(): continue
      default: append(token)
      }
    }
    while text.utf8.last == UInt8(ascii: ";") { text.removeLast() }
    return text
  }

  /// Skips the next value of a list, and returns whether there was one.
  private mutating func skipValue() -> Bool {
    var ahead = tokens
    guard Writer.consumeValue(&ahead) else { return false }
    tokens = ahead
    return true
  }

  /// Skips the next row of VALUES if it contains only values, and returns whether there was such a
  /// row.
  private mutating func skipRow() -> Bool {
    var ahead = tokens
    guard ahead.nextSignificant()?.code == .leftParenthesis else { return false }
    while Writer.consumeValue(&ahead), let mark = ahead.nextSignificant() {
      if mark.code == .rightParenthesis {
        tokens = ahead
        return true
      }
      guard mark.code == .comma else { return false }
    }
    return false
  }

  private static func consumeValue(_ ahead: inout SQLTokens) -> Bool {
    var token = ahead.nextSignificant()
    if token?.code == .minus || token?.code == .plus { token = ahead.nextSignificant() }
    return token.map { $0.isValue || $0.code == .null } ?? false
  }

  /// Returns whether the current plus or minus is the sign of the following value, and not a binary
  /// operator.
  private func isSign() -> Bool {
    switch last {
    case .parameter, .identifier, .rightParenthesis, .null, .end: return false
    default:
      var ahead = tokens
      return ahead.nextSignificant()?.isValue ?? false
    }
  }

  private mutating func append(_ token: SQLToken) {
    let code = token.isValue || token.code == .null && !expectsNullKeyword ? .parameter : token.code
    note(code)
    if needsBlank(before: code) { text += " " }
    switch code {
    case .parameter: text += "?"
    case .identifier: appendName(token)
    default: text += token.keyword ?? tokens.text(of: token)
    }
    beforeLast = last
    last = code
  }

  /// Whether a following NULL is part of `IS NULL`, `NOT NULL` or `SET NULL`, and not a value.
  private var expectsNullKeyword: Bool { last == .is || last == .not || last == .set }

  private mutating func note(_ code: SQLToken.Code) {
    isAfterRow = code == .rightParenthesis && isInRow
    if code == .leftParenthesis {
      isInList = last == .in
      isInRow = last == .values
    } else if code != .parameter, code != .comma {
      isInList = false
      isInRow = false
    }
  }

  private mutating func appendName(_ token: SQLToken) {
    let name = tokens.name(token)
    text += name.quoting == .none ? name.text.lowercased() : name.description
  }

  private func needsBlank(before code: SQLToken.Code) -> Bool {
    switch (last, code) {
    case (_, .comma), (_, .rightParenthesis), (_, .dot), (_, .semicolon), (.leftParenthesis, _),
      (.dot, _), (.tilde, _):
      false
    case (.identifier, .leftParenthesis): beforeLast == .into
    default: true
    }
  }
}

extension SQLToken {
  fileprivate var isValue: Bool {
    switch code {
    case .integer, .real, .blob, .string, .parameter: true
    default: false
    }
  }
}

import SQLLexer

/// A statement without its values: two statements that differ in values only have one fingerprint.
///
///     SQLFingerprint("select * from note where id = 17").text   // SELECT * FROM note WHERE id = ?
///
/// Numbers with their signs, texts, blobs, NULL and placeholders are `?`; lists behind IN and further rows of VALUES count
/// once. Comments and blanks are gone, keywords are in capitals, names that are not quoted in small
/// letters. A double-quoted name stays, although SQLite may read it as a text.
public struct SQLFingerprint: Hashable, Sendable {
  /// The text without values.
  public let text: String

  /// Makes the fingerprint of `sql`, which need not be valid.
  ///
  /// - Complexity: O(n); the text is not parsed.
  public init(_ sql: String, grammar: SQLGrammar = SQLGrammar()) {
    var writer = Writer(SQLTokens(sql, grammar: grammar))
    text = writer.write()
  }
}

extension SQLFingerprint: CustomStringConvertible {
  /// The text without values.
  public var description: String { text }
}

extension SQLStatement {
  /// The statement without its values.
  public var fingerprint: SQLFingerprint { SQLFingerprint(printed()) }
}

private struct Writer {
  private var tokens: SQLTokens
  private var text = ""
  private var last = SQLToken.Code.leftParenthesis
  private var beforeLast = SQLToken.Code.endOfText
  /// Whether the values belong to a list behind IN.
  private var isInList = false
  /// Whether the values belong to a row behind VALUES.
  private var isInRow = false
  /// Whether such a row has just ended.
  private var isBehindRow = false

  init(_ tokens: SQLTokens) { self.tokens = tokens }

  mutating func write() -> String {
    while let token = tokens.nextSolid() {
      switch token.code {
      case .unread: return text
      case .comma where last == .parameter && isInList && skipsValue(): continue
      case .comma where isBehindRow && skipsRow(): continue
      case .minus where isSign(), .plus where isSign(): continue
      default: append(token)
      }
    }
    while text.utf8.last == UInt8(ascii: ";") { text.removeLast() }
    return text
  }

  /// Leaves out a further value of a list.
  private mutating func skipsValue() -> Bool {
    var ahead = tokens
    guard Writer.takesValue(&ahead) else { return false }
    tokens = ahead
    return true
  }

  /// Leaves out a further row of values.
  private mutating func skipsRow() -> Bool {
    var ahead = tokens
    guard ahead.nextSolid()?.code == .leftParenthesis else { return false }
    while Writer.takesValue(&ahead), let mark = ahead.nextSolid() {
      if mark.code == .rightParenthesis {
        tokens = ahead
        return true
      }
      guard mark.code == .comma else { return false }
    }
    return false
  }

  private static func takesValue(_ ahead: inout SQLTokens) -> Bool {
    var token = ahead.nextSolid()
    if token?.code == .minus || token?.code == .plus { token = ahead.nextSolid() }
    return token.map { $0.isValue || $0.code == .null } ?? false
  }

  /// Whether a sign belongs to the number behind it.
  private func isSign() -> Bool {
    switch last {
    case .parameter, .identifier, .rightParenthesis, .null, .end: return false
    default:
      var ahead = tokens
      return ahead.nextSolid()?.isValue ?? false
    }
  }

  private mutating func append(_ token: SQLToken) {
    let code = token.isValue || token.code == .null && !isTest ? .parameter : token.code
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

  /// `IS NULL`, `NOT NULL` and `SET NULL` are no values.
  private var isTest: Bool { last == .is || last == .not || last == .set }

  private mutating func note(_ code: SQLToken.Code) {
    isBehindRow = code == .rightParenthesis && isInRow
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

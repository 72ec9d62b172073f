internal import SQLLexer

/// A scanner that splits SQL into tokens and distinguishes words, parameters and other tokens. It
/// skips comments. A literal or a quoted name is a single token, so words inside it aren't found.
struct SQLScanner {
  private var lexer: Lexer

  init(_ sql: String) {
    lexer = Lexer(sql)
  }

  enum Token: Equatable {
    /// An unquoted keyword or name.
    case word
    /// A `?` without a number.
    case parameter
    /// An `i?`, the parameter for an identifier.
    case identifierParameter
    /// Any other token: punctuation, a literal, a quoted name, `?1` or `:name`.
    case other
  }

  /// The UTF-8 of the SQL.
  var bytes: ArraySlice<UInt8> { lexer.bytes }

  /// Returns the next token and its range in ``bytes``, or nil at the end of the SQL.
  mutating func next() -> (token: Token, range: Range<Int>)? {
    let (code, start) = lexer.nextSignificant()
    guard code != .endOfText else { return nil }
    let token = token(code, start)
    return (token, start..<lexer.position)
  }

  private mutating func token(_ code: TokenCode, _ start: Int) -> Token {
    if code == .parameter {
      return lexer[start] == UInt8(ascii: "?") && lexer.position == start + 1 ? .parameter : .other
    }
    guard code.isWord, isWordByte(lexer[start]) else { return .other }
    if code == .identifier, lexer.position == start + 1, lexer[start] == UInt8(ascii: "i"),
      lexer[start + 1] == UInt8(ascii: "?"), !isDigit(lexer[start + 2])
    {
      lexer.position += 1
      return .identifierParameter
    }
    return .word
  }

  /// Returns the bytes between the quotes of the token at `range`, with doubled quotes reduced to
  /// one, or nil if the token isn't quoted.
  func unquoted(_ range: Range<Int>) -> [UInt8]? {
    let first = lexer[range.lowerBound]
    let last = first == UInt8(ascii: "[") ? UInt8(ascii: "]") : first
    guard
      [UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"), UInt8(ascii: "[")].contains(first),
      range.count > 1, lexer[range.upperBound - 1] == last
    else { return nil }
    var text: [UInt8] = []
    var isDoubled = false
    for byte in bytes[range].dropFirst().dropLast() {
      isDoubled = byte == first && first != UInt8(ascii: "[") && !isDoubled
      if !isDoubled { text.append(byte) }
    }
    return text
  }

  /// A token and its text.
  struct Word {
    let token: Token
    let range: Range<Int>
    /// The text in ASCII lower case, without surrounding quotes.
    let text: String
    let isQuoted: Bool

    /// Returns whether the token is the unquoted word or the punctuation mark `text`.
    func `is`(_ text: String) -> Bool { !isQuoted && self.text == text }
  }

  /// Returns the next token with its text, or nil at the end of the SQL.
  mutating func nextWord() -> Word? {
    guard let (token, range) = next() else { return nil }
    let unquoted = unquoted(range).map { String(decoding: $0, as: UTF8.self) }
    return Word(
      token: token, range: range, text: asciiLowercased(unquoted ?? lexer.text(range)),
      isQuoted: unquoted != nil)
  }
}

extension SQLScanner {
  /// A keyword that begins or ends a transaction or a savepoint.
  enum Control: String {
    case begin, commit, end, rollback, savepoint, release
  }

  /// Returns the first word of the SQL in lower case, ignoring leading semicolons, or nil if the
  /// SQL doesn't begin with an unquoted word.
  static func firstWord(_ sql: String) -> String? {
    var scanner = SQLScanner(sql)
    while let word = scanner.nextWord() {
      if !word.is(";") { return word.token == .word ? word.text : nil }
    }
    return nil
  }

  /// Returns the first `count` tokens, by default all of them.
  static func words(_ sql: String, atMost count: Int = .max) -> [Word] {
    var scanner = SQLScanner(sql)
    var words: [Word] = []
    while words.count < count, let word = scanner.nextWord() { words.append(word) }
    return words
  }

  /// Returns whether a CREATE, ALTER or DROP statement refers to an object of the temporary schema
  /// or of an attached database.
  static func namesOtherSchema(_ sql: String) -> Bool {
    let parts = words(sql, atMost: 8).map(\.text)
    if parts.dropFirst().first.map({ ["temp", "temporary"].contains($0) }) ?? false { return true }
    let kinds = ["table", "view", "index", "trigger"]
    let name = parts.drop { !kinds.contains($0) }.dropFirst()
      .drop { ["if", "not", "exists"].contains($0) }
    return name.dropFirst().first == "." && name.first != "main"
  }

  /// Returns the lowercased name of the savepoint in a SAVEPOINT, RELEASE or ROLLBACK TO statement,
  /// or nil for a ROLLBACK of the whole transaction.
  static func savepointName(_ sql: String) -> String? {
    let words = words(sql).filter { !$0.is(";") }.map(\.text)
    guard words.count > 1, let name = words.last else { return nil }
    return words[0] == "rollback" && !words.dropLast().contains("to") ? nil : name
  }

  /// Returns whether the first word is SELECT, VALUES or WITH.
  static func isSelect(_ sql: String) -> Bool {
    firstWord(sql).map { ["select", "values", "with"].contains($0) } ?? false
  }

  /// Returns whether only blanks, comments and semicolons follow `offset`, a position in bytes of
  /// UTF-8.
  static func isBlank(_ sql: String, from offset: Int) -> Bool {
    guard offset < sql.utf8.count else { return true }
    var scanner = SQLScanner(sql)
    scanner.lexer.position = offset
    while let word = scanner.nextWord() {
      if !word.is(";") { return false }
    }
    return true
  }

  /// Returns whether `magicdata_list` occurs in the text.
  static func mentionsList(_ sql: String) -> Bool {
    containsBytes(sql, "magicdata_list")
  }
}

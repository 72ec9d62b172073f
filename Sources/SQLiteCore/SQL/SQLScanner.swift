/// Just enough of SQLite's lexer to leave literals, comments and quoted names alone.
struct SQLScanner {
  let bytes: [UInt8]
  private var position = 0

  init(_ sql: String) {
    bytes = Array(sql.utf8)
  }

  enum Token: Equatable {
    /// An unquoted word: keyword or name.
    case word
    /// `?` without a number.
    case parameter
    /// `i?`: a parameter for an identifier.
    case identifierParameter
    /// Anything else that is not blank: punctuation, literals, quoted names, `?1`, `:name`.
    case other
  }

  /// The next token and where it stands, or nil at the end.
  @inline(never)
  mutating func next() -> (token: Token, range: Range<Int>)? {
    skipBlanks()
    guard position < bytes.count else { return nil }
    let start = position
    let token = scan(bytes[position])
    return (token, start..<position)
  }

  private mutating func scan(_ byte: UInt8) -> Token {
    switch byte {
    case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
      skipQuoted(byte)
    case UInt8(ascii: "["):
      while position < bytes.count, bytes[position] != UInt8(ascii: "]") { position += 1 }
      position = min(position + 1, bytes.count)
    case UInt8(ascii: "?"):
      position += 1
      let digits = position
      while position < bytes.count, isDigit(bytes[position]) { position += 1 }
      return digits == position ? .parameter : .other
    case UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$"), UInt8(ascii: "#"):
      scanVariable()
    default:
      guard isWord(byte) else {
        position += 1
        return .other
      }
      return scanWord()
    }
    return .other
  }

  private mutating func scanWord() -> Token {
    let start = position
    while position < bytes.count, isWord(bytes[position]) { position += 1 }
    guard position - start == 1, bytes[start] == UInt8(ascii: "i"), position < bytes.count,
      bytes[position] == UInt8(ascii: "?"),
      position + 1 == bytes.count || !isDigit(bytes[position + 1])
    else { return .word }
    position += 1
    return .identifierParameter
  }

  /// `:name`, `$name::name(suffix)`: the forms of Tcl are one token, whatever is in the suffix.
  private mutating func scanVariable() {
    position += 1
    let start = position
    while position < bytes.count {
      if isWord(bytes[position]) {
        position += 1
      } else if bytes[position] == UInt8(ascii: ":"), peek() == UInt8(ascii: ":") {
        position += 2
      } else if bytes[position] == UInt8(ascii: "("), position > start {
        while position < bytes.count, bytes[position] > 32, bytes[position] != UInt8(ascii: ")") {
          position += 1
        }
        if position < bytes.count, bytes[position] == UInt8(ascii: ")") { position += 1 }
        return
      } else {
        return
      }
    }
  }

  /// A doubled quote is read as two texts side by side, which comes to the same.
  private mutating func skipQuoted(_ quote: UInt8) {
    position += 1
    while position < bytes.count, bytes[position] != quote { position += 1 }
    position = min(position + 1, bytes.count)
  }

  private mutating func skipBlanks() {
    while position < bytes.count {
      switch bytes[position] {
      case 9, 10, 11, 12, 13, 32: position += 1
      // A byte order mark between tokens is blank to SQLite.
      case 0xef where bytes[position...].starts(with: [0xef, 0xbb, 0xbf]): position += 3
      case UInt8(ascii: "-") where peek() == UInt8(ascii: "-"):
        while position < bytes.count, bytes[position] != 10 { position += 1 }
      case UInt8(ascii: "/") where peek() == UInt8(ascii: "*"):
        position += 2
        while position < bytes.count,
          !(bytes[position] == UInt8(ascii: "*") && peek() == UInt8(ascii: "/"))
        {
          position += 1
        }
        position = min(position + 2, bytes.count)
      default: return
      }
    }
  }

  private func peek() -> UInt8? {
    position + 1 < bytes.count ? bytes[position + 1] : nil
  }

  private func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

  /// SQLite counts every byte above ASCII as a letter.
  private func isWord(_ byte: UInt8) -> Bool {
    isDigit(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 95
      || byte == 36 || byte >= 128
  }

  private func text(_ range: Range<Int>) -> String {
    String(decoding: bytes[range], as: UTF8.self)
  }
}

extension SQLScanner {
  /// A word that begins or ends a transaction or a savepoint.
  enum Control: String {
    case begin, commit, end, rollback, savepoint, release
  }

  /// The first word in small letters, if the SQL begins with one.
  static func firstWord(_ sql: String) -> String? {
    var scanner = SQLScanner(sql)
    while let (token, range) = scanner.next() {
      if token == .other, scanner.bytes[range.lowerBound] == UInt8(ascii: ";") { continue }
      return token == .word ? asciiLowercased(scanner.text(range)) : nil
    }
    return nil
  }

  /// Returns whether the first word begins a SELECT.
  static func isSelect(_ sql: String) -> Bool {
    firstWord(sql).map { ["select", "values", "with"].contains($0) } ?? false
  }

  /// Returns whether only blanks, comments and semicolons follow `offset`.
  static func isBlank(_ sql: String, from offset: Int) -> Bool {
    guard offset < sql.utf8.count else { return true }
    var scanner = SQLScanner(sql)
    scanner.position = offset
    while let (_, range) = scanner.next() {
      guard range.count == 1, scanner.bytes[range.lowerBound] == UInt8(ascii: ";") else {
        return false
      }
    }
    return true
  }

  /// Returns whether the word `magicdata_list` occurs.
  static func mentionsList(_ sql: String) -> Bool {
    containsBytes(sql, "magicdata_list")
  }
}

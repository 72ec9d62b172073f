/// A lexer that splits text into the same tokens as SQLite's lexer.
///
/// It doesn't use the grammar. For example, WINDOW, OVER and FILTER are always keywords, even where
/// the grammar requires a name.
package struct Lexer: Sendable {
  /// The text, followed by four zero bytes. A zero byte ends every token.
  private let padded: [UInt8]
  /// The number of bytes in the text.
  package let count: Int
  private let keywords: Keywords
  private let digitSeparators: Bool
  /// The offset of the next token, in bytes from the start of the text.
  package var position = 0

  /// Creates a lexer for a string.
  ///
  /// - Parameters:
  ///   - sql: The text.
  ///   - digitSeparators: Whether numbers may contain underscores, as in `1_000` (SQLite 3.46 and
  ///     later).
  package init(_ sql: String, digitSeparators: Bool = false) {
    var padded: [UInt8] = []
    padded.reserveCapacity(sql.utf8.count + 4)
    padded.append(contentsOf: sql.utf8)
    self.init(bytes: padded, digitSeparators: digitSeparators)
  }

  /// Creates a lexer for bytes, which don't have to be valid UTF-8. Ignores the bytes from offset
  /// `UInt32.max - 8` on.
  package init(bytes: [UInt8], digitSeparators: Bool = false) {
    count = Swift.min(bytes.count, Int(UInt32.max) - 8)
    var bytes = bytes
    if bytes.count > count { bytes.removeLast(bytes.count - count) }
    for _ in 0..<4 { bytes.append(0) }
    padded = bytes
    keywords = Keywords.table
    self.digitSeparators = digitSeparators
  }

  /// The bytes of the text.
  package var bytes: ArraySlice<UInt8> { padded[..<count] }

  /// The byte at `offset`, or zero for the four bytes after the text.
  package subscript(_ offset: Int) -> UInt8 { padded[offset] }

  /// Returns the text of a range, with replacement characters for invalid UTF-8.
  package func text(_ range: Range<Int>) -> String {
    String(decoding: padded[range], as: UTF8.self)
  }

  /// Advances past the next token and returns its code. At the end of the text, returns
  /// `.endOfText`.
  package mutating func next() -> TokenCode {
    scan(padded[position], position)
  }

  /// Advances past the next token that is neither blank nor a comment. Returns its code and offset.
  package mutating func nextSignificant() -> (code: TokenCode, start: Int) {
    while true {
      let start = position
      let code = scan(padded[start], start)
      if code != .blank, code != .comment { return (code, start) }
    }
  }
}

extension Lexer {
  @inline(__always)
  private mutating func take(_ length: Int, _ code: TokenCode) -> TokenCode {
    position += length
    return code
  }

  private mutating func scan(_ byte: UInt8, _ start: Int) -> TokenCode {
    switch byte {
    case UInt8(ascii: "x"), UInt8(ascii: "X"):
      return padded[start + 1] == UInt8(ascii: "'") ? scanBlob(start) : scanWord(start)
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "_"):
      return scanWord(start)
    case 9, 10, 12, 13, 32: return scanBlank(start)
    case UInt8(ascii: "("): return take(1, .leftParenthesis)
    case UInt8(ascii: ")"): return take(1, .rightParenthesis)
    case UInt8(ascii: ","): return take(1, .comma)
    case UInt8(ascii: ";"): return take(1, .semicolon)
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return scanNumber(start)
    case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"): return scanQuoted(byte, start)
    case UInt8(ascii: "."):
      return isDigit(padded[start + 1]) ? scanNumber(start) : take(1, .dot)
    case UInt8(ascii: "?"): return scanNumberedParameter(start)
    default: return byte >= 0x80 ? scanLetterBeyondASCII(start) : scanMark(byte, start)
    }
  }

  private mutating func scanMark(_ byte: UInt8, _ start: Int) -> TokenCode {
    let following = padded[start + 1]
    switch byte {
    case UInt8(ascii: "="): return take(following == UInt8(ascii: "=") ? 2 : 1, .equal)
    case UInt8(ascii: "*"): return take(1, .star)
    case UInt8(ascii: "+"): return take(1, .plus)
    case UInt8(ascii: "-"): return scanMinus(following, start)
    case UInt8(ascii: "/"):
      return following == UInt8(ascii: "*") && padded[start + 2] != 0
        ? scanComment(start) : take(1, .slash)
    case UInt8(ascii: "<"): return scanLess(following)
    case UInt8(ascii: ">"):
      if following == UInt8(ascii: "=") { return take(2, .greaterOrEqual) }
      return following == UInt8(ascii: ">") ? take(2, .shiftRight) : take(1, .greater)
    case UInt8(ascii: "!"):
      return following == UInt8(ascii: "=") ? take(2, .notEqual) : take(1, .illegal)
    case UInt8(ascii: "|"):
      return following == UInt8(ascii: "|") ? take(2, .concatenate) : take(1, .bar)
    case UInt8(ascii: "%"): return take(1, .percent)
    case UInt8(ascii: "&"): return take(1, .ampersand)
    case UInt8(ascii: "~"): return take(1, .tilde)
    case UInt8(ascii: "["): return scanBracketed(start)
    case UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$"), UInt8(ascii: "#"):
      return scanNamedParameter(start)
    case 0: return scanEnd()
    default: return take(1, .illegal)
    }
  }

  /// Scans a zero byte. It is either the end of the text, or a NUL in the text, after which SQLite
  /// reads nothing.
  private mutating func scanEnd() -> TokenCode {
    guard position < count else { return .endOfText }
    position = count
    return .unread
  }

  private mutating func scanLess(_ following: UInt8) -> TokenCode {
    switch following {
    case UInt8(ascii: "="): take(2, .lessOrEqual)
    case UInt8(ascii: ">"): take(2, .notEqual)
    case UInt8(ascii: "<"): take(2, .shiftLeft)
    default: take(1, .less)
    }
  }

  private mutating func scanMinus(_ following: UInt8, _ start: Int) -> TokenCode {
    if following == UInt8(ascii: "-") {
      var end = start + 2
      while padded[end] != 0, padded[end] != 10 { end += 1 }
      position = end
      return .comment
    }
    guard following == UInt8(ascii: ">") else { return take(1, .minus) }
    return padded[start + 2] == UInt8(ascii: ">") ? take(3, .longArrow) : take(2, .arrow)
  }

  /// Scans a block comment. An unterminated comment extends to the end of the text.
  private mutating func scanComment(_ start: Int) -> TokenCode {
    var end = start + 3
    var byte = padded[start + 2]
    while byte != UInt8(ascii: "*") || padded[end] != UInt8(ascii: "/") {
      byte = padded[end]
      if byte == 0 { break }
      end += 1
    }
    position = byte == 0 ? end : end + 1
    return .comment
  }

  /// Scans blanks. A vertical tab is blank only if it follows another blank.
  private mutating func scanBlank(_ start: Int) -> TokenCode {
    var end = start + 1
    while isBlank(padded[end]) { end += 1 }
    position = end
    return .blank
  }

  private mutating func scanWord(_ start: Int) -> TokenCode {
    var end = start
    var low: UInt64 = 0
    var high: UInt64 = 0
    var shift: UInt64 = 0
    var byte = padded[start]
    repeat {
      let letter = UInt64(byte & 0xdf)
      if shift < 64 {
        low |= letter &<< shift
      } else if shift < 128 {
        high |= letter &<< (shift &- 64)
      }
      shift &+= 8
      end += 1
      byte = padded[end]
    } while isWordByte(byte)
    position = end
    guard end - start > 1, end - start < 18 else { return .identifier }
    if end - start == 17 { high ^= UInt64(padded[end - 1] & 0xdf) << 32 }
    return keywords.code(low, high)
  }

  /// Scans a non-ASCII byte. A byte order mark is blank. Any other byte begins an identifier.
  private mutating func scanLetterBeyondASCII(_ start: Int) -> TokenCode {
    if padded[start] == 0xef, padded[start + 1] == 0xbb, padded[start + 2] == 0xbf {
      return take(3, .blank)
    }
    var end = start + 1
    while isWordByte(padded[end]) { end += 1 }
    position = end
    return .identifier
  }

  private mutating func scanQuoted(_ quote: UInt8, _ start: Int) -> TokenCode {
    var end = start + 1
    while true {
      let byte = padded[end]
      if byte == quote {
        if padded[end + 1] != quote { break }
        end += 1
      } else if byte == 0 {
        position = end
        return .illegal
      }
      end += 1
    }
    position = end + 1
    return quote == UInt8(ascii: "'") ? .string : .identifier
  }

  private mutating func scanBracketed(_ start: Int) -> TokenCode {
    var end = start + 1
    while padded[end] != UInt8(ascii: "]") {
      if padded[end] == 0 {
        position = end
        return .illegal
      }
      end += 1
    }
    position = end + 1
    return .identifier
  }

  private mutating func scanBlob(_ start: Int) -> TokenCode {
    var end = start + 2
    while isHexDigit(padded[end]) { end += 1 }
    var code = TokenCode.blob
    if padded[end] != UInt8(ascii: "'") || (end - start) % 2 != 0 {
      code = .illegal
      while padded[end] != 0, padded[end] != UInt8(ascii: "'") { end += 1 }
    }
    position = padded[end] == 0 ? end : end + 1
    return code
  }

  private mutating func scanNumberedParameter(_ start: Int) -> TokenCode {
    var end = start + 1
    while isDigit(padded[end]) { end += 1 }
    position = end
    return .parameter
  }

  /// Scans a named parameter such as `:name`. The Tcl form `$name::name(suffix)` is one token. Its
  /// suffix can't contain blanks.
  private mutating func scanNamedParameter(_ start: Int) -> TokenCode {
    var end = start + 1
    var letters = 0
    while true {
      let byte = padded[end]
      if isWordByte(byte) {
        letters += 1
      } else if byte == UInt8(ascii: "("), letters > 0 {
        return scanParameterSuffix(end)
      } else if byte == UInt8(ascii: ":"), padded[end + 1] == UInt8(ascii: ":") {
        end += 1
      } else {
        break
      }
      end += 1
    }
    position = end
    return letters == 0 ? .illegal : .parameter
  }

  private mutating func scanParameterSuffix(_ parenthesis: Int) -> TokenCode {
    var end = parenthesis + 1
    while padded[end] != 0, !isBlank(padded[end]), padded[end] != UInt8(ascii: ")") { end += 1 }
    guard padded[end] == UInt8(ascii: ")") else {
      position = end
      return .illegal
    }
    position = end + 1
    return .parameter
  }
}

extension Lexer {
  private mutating func scanNumber(_ start: Int) -> TokenCode {
    if padded[start] == UInt8(ascii: "0"), padded[start + 1] | 0x20 == UInt8(ascii: "x"),
      isHexDigit(padded[start + 2])
    {
      return scanHexNumber(start)
    }
    var code = TokenCode.integer
    var end = digitsEnd(start)
    if padded[end] == UInt8(ascii: ".") {
      code = .real
      end = digitsEnd(end + 1)
    }
    if padded[end] | 0x20 == UInt8(ascii: "e"), let digits = exponentDigits(end) {
      code = .real
      end = digitsEnd(digits)
    }
    return finishNumber(code, end)
  }

  /// Scans a hexadecimal number. Without `digitSeparators`, a letter after the digits begins the
  /// next token. With `digitSeparators` (SQLite 3.46 and later), it makes the number illegal.
  private mutating func scanHexNumber(_ start: Int) -> TokenCode {
    var end = start + 3
    while isHexDigit(padded[end]) || digitSeparators && padded[end] == UInt8(ascii: "_") {
      end += 1
    }
    guard digitSeparators else {
      position = end
      return .integer
    }
    return finishNumber(.integer, end)
  }

  private mutating func finishNumber(_ code: TokenCode, _ end: Int) -> TokenCode {
    position = end
    guard isWordByte(padded[end]) else { return code }
    while isWordByte(padded[position]) { position += 1 }
    return .illegal
  }

  private func digitsEnd(_ start: Int) -> Int {
    var end = start
    while isDigit(padded[end]) || digitSeparators && padded[end] == UInt8(ascii: "_") { end += 1 }
    return end
  }

  /// Returns the offset of an exponent's digits, or nil if the `e` at `offset` doesn't begin an
  /// exponent.
  private func exponentDigits(_ offset: Int) -> Int? {
    let byte = padded[offset + 1]
    if isDigit(byte) { return offset + 1 }
    let isSign = byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
    return isSign && isDigit(padded[offset + 2]) ? offset + 2 : nil
  }
}

extension Lexer {
  /// Advances past the next semicolon outside of strings, quoted names and comments, or to the end
  /// of the text if there is none. Returns whether there is a semicolon.
  ///
  /// It is faster than `next()`, because it scans only tokens that may contain a semicolon.
  package mutating func skipPastSemicolon() -> Bool {
    var offset = position
    while true {
      let byte = padded[offset]
      if isWordByte(byte), byte != UInt8(ascii: "$") {
        repeat { offset += 1 } while isWordByte(padded[offset])
        continue
      }
      switch byte {
      case UInt8(ascii: ";"):
        position = offset + 1
        return true
      case 0:
        position = offset
        return false
      case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"), UInt8(ascii: "["),
        UInt8(ascii: "-"), UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "@"),
        UInt8(ascii: "$"), UInt8(ascii: "#"):
        position = offset
        _ = next()
        offset = position
      default: offset += 1
      }
    }
  }
}

@inlinable @inline(__always)
package func isDigit(_ byte: UInt8) -> Bool { byte &- 48 < 10 }

@inlinable @inline(__always)
package func isHexDigit(_ byte: UInt8) -> Bool { isDigit(byte) || (byte | 0x20) &- 97 < 6 }

@inlinable @inline(__always)
package func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte &- 9 < 5 }

/// Returns whether the byte is a letter, a digit, `_`, `$`, or not ASCII.
@inlinable @inline(__always)
package func isWordByte(_ byte: UInt8) -> Bool {
  if byte >= 128 { return true }
  let mask: UInt64 = byte < 64 ? 0x03ff_0010_0000_0000 : 0x07ff_fffe_87ff_fffe
  return mask >> UInt64(byte & 63) & 1 != 0
}

/// Returns an ASCII letter in lowercase, and any other byte unchanged.
@inlinable @inline(__always)
package func lowercased(_ byte: UInt8) -> UInt8 { byte &- 65 < 26 ? byte | 0x20 : byte }

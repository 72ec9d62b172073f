extension SQLName {
  /// Creates the name that `token` represents in `bytes`, without the quotation marks around it.
  init(_ token: SQLToken, in bytes: ArraySlice<UInt8>) {
    let range = token.range
    let quoting = SQLName.quoting(bytes[range.lowerBound])
    let text =
      quoting == .none
      ? String(decoding: bytes[range], as: UTF8.self)
      : unquoted(bytes[(range.lowerBound + 1)..<(range.upperBound - 1)], quoting)
    self.init(text, quoting: quoting, span: SQLSpan(range))
  }

  private static func quoting(_ byte: UInt8) -> Quoting {
    switch byte {
    case UInt8(ascii: "\""): .double
    case UInt8(ascii: "`"): .back
    case UInt8(ascii: "["): .bracket
    case UInt8(ascii: "'"): .single
    default: .none
    }
  }

  /// Returns whether `text` must be quoted as a name, because it is a keyword or not a single word.
  static func needsQuotes(_ text: String) -> Bool {
    var tokens = SQLTokens(text)
    guard let token = tokens.next(), tokens.position == tokens.utf8Count else { return true }
    return token.kind != .identifier || token.text(in: tokens).first.map(isQuote) ?? true
  }

  private static func isQuote(_ character: Character) -> Bool {
    character == "\"" || character == "`" || character == "["
  }
}

extension SQLToken {
  func text(in tokens: SQLTokens) -> String { tokens.text(of: self) }
}

/// Returns the text between two quotation marks, with doubled marks replaced by single ones.
func unquoted(_ bytes: ArraySlice<UInt8>, _ quoting: SQLName.Quoting) -> String {
  let mark = quoting.mark
  guard quoting != .bracket, bytes.contains(mark) else {
    return String(decoding: bytes, as: UTF8.self)
  }
  var plain: [UInt8] = []
  var isDoubled = false
  for byte in bytes {
    isDoubled = byte == mark && !isDoubled
    if !isDoubled { plain.append(byte) }
  }
  return String(decoding: plain, as: UTF8.self)
}

extension SQLName.Quoting {
  /// The opening quotation mark, or 0 for an unquoted name.
  var mark: UInt8 {
    switch self {
    case .none: 0
    case .double: UInt8(ascii: "\"")
    case .back: UInt8(ascii: "`")
    case .bracket: UInt8(ascii: "[")
    case .single: UInt8(ascii: "'")
    }
  }
}

extension String {
  /// The text with each control character (`isControl`), including line ends, replaced by an escape
  /// such as `\u{1B}`.
  package var visible: String {
    guard unicodeScalars.contains(where: \.isControl) else { return self }
    var text = ""
    for scalar in unicodeScalars {
      if scalar.isControl {
        text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  /// The text in quotation marks for a message. Control characters are escaped, and everything
  /// after 60 scalars is replaced by an ellipsis.
  package var quoted: String {
    let start = unicodeScalars.prefix(60)
    let isCut = start.endIndex < unicodeScalars.endIndex
    return "\"\(String(start).visible)\(isCut ? "…" : "")\""
  }
}

extension Unicode.Scalar {
  /// Whether a terminal can interpret the scalar instead of showing it: control characters (general
  /// category Cc), line and paragraph separators, and characters that change the text direction.
  package var isControl: Bool {
    switch value {
    case ..<0x20, 0x7F...0x9F, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}

extension StringProtocol {
  /// The number of terminal columns that the text occupies. The text must not contain control
  /// characters.
  package var terminalWidth: Int { reduce(0) { $0 + $1.terminalWidth } }

  /// Returns the text, truncated to a number of terminal columns. A truncated text ends in `…`,
  /// which occupies one of them.
  package func cut(to columns: Int) -> String {
    var width = 0
    var end = startIndex
    // The last index that leaves a column for the ellipsis.
    var last = startIndex
    while end < endIndex {
      width += self[end].terminalWidth
      if width > columns { return self[..<last] + "…" }
      end = index(after: end)
      if width < columns { last = end }
    }
    return String(self)
  }
}

extension Character {
  /// The number of terminal columns that the character occupies: 2 for wide East Asian characters
  /// and emoji, 0 for a combining mark or format character without a base character, otherwise 1.
  package var terminalWidth: Int {
    guard let first = unicodeScalars.first else { return 0 }
    switch first.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    // An emoji, or a symbol with an emoji variation selector.
    if first.properties.isEmojiPresentation || unicodeScalars.contains("\u{FE0F}") { return 2 }
    return first.isWide ? 2 : 1
  }
}

extension Unicode.Scalar {
  /// Whether the scalar is wide or fullwidth according to Unicode Annex 11 (East Asian Width W or
  /// F). Doesn't include emoji.
  fileprivate var isWide: Bool {
    switch value {
    case 0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF,
      0xA960...0xA97C,
      0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60,
      0xFFE0...0xFFE6,
      0x16FE0...0x18CFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F251, 0x20000...0x3FFFD:
      true
    default: false
    }
  }
}

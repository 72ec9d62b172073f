/// A token of Swift source. Comments and blanks are not tokens.
struct SwiftToken: Equatable {
  enum Kind { case word, string, symbol }

  let kind: Kind
  /// The text; for a string literal its content, with interpolations as they are written.
  let text: String
  /// Whether the token is the first on its line.
  let startsLine: Bool

  init(_ kind: Kind, _ text: String, startsLine: Bool = false) {
    self.kind = kind
    self.text = text
    self.startsLine = startsLine
  }
}

/// Splits Swift source into tokens: enough of the grammar to find string literals and the calls that contain them.
struct SwiftLexer {
  private let bytes: [UInt8]
  private var position = 0
  private var startsLine = true

  init(_ source: String) {
    bytes = Array(source.utf8)
  }

  static func tokens(of source: String) -> [SwiftToken] {
    var lexer = SwiftLexer(source)
    var tokens: [SwiftToken] = []
    while let token = lexer.next() { tokens.append(token) }
    return tokens
  }

  private static let operators = [
    "...", "..<", "->", "??", "+=", "==", "!=", "&&", "||", "&+", "~=",
  ]
  .map { Array($0.utf8) }

  private mutating func next() -> SwiftToken? {
    skipBlanks()
    guard position < bytes.count else { return nil }
    let first = startsLine
    startsLine = false
    let start = position
    if let string = string() { return SwiftToken(.string, string, startsLine: first) }
    while position < bytes.count, isWord(bytes[position]) { position += 1 }
    if position > start { return SwiftToken(.word, text(start), startsLine: first) }
    if let found = Self.operators.first(where: { has($0) }) {
      position += found.count
    } else {
      position += 1
    }
    return SwiftToken(.symbol, text(start), startsLine: first)
  }

  private func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"),
      UInt8(ascii: "@"), UInt8(ascii: "`"), 0x80...:
      true
    default: false
    }
  }

  private func text(_ start: Int) -> String {
    String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private func has(_ prefix: [UInt8]) -> Bool { has(prefix, at: position) }

  private func has(_ prefix: [UInt8], at position: Int) -> Bool {
    position + prefix.count <= bytes.count
      && bytes[position..<position + prefix.count].elementsEqual(prefix)
  }

  private mutating func skipBlanks() {
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "\n"):
        startsLine = true
        position += 1
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): position += 1
      case UInt8(ascii: "/") where has(Array("//".utf8)):
        while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
      case UInt8(ascii: "/") where has(Array("/*".utf8)):
        var depth = 0
        repeat {
          if has(Array("/*".utf8)) {
            depth += 1
            position += 2
          } else if has(Array("*/".utf8)) {
            depth -= 1
            position += 2
          } else {
            position += 1
          }
        } while depth > 0 && position < bytes.count
      default: return
      }
    }
  }

  /// Reads a string literal, or returns nil if there is none at the position.
  private mutating func string() -> String? {
    var pounds = 0
    while has(Array("#".utf8), at: position + pounds) { pounds += 1 }
    guard has(Array("\"".utf8), at: position + pounds) else { return nil }
    let start = position
    position += pounds
    let multiline = has(Array("\"\"\"".utf8))
    let quote = Array((multiline ? "\"\"\"" : "\"").utf8)
    position += quote.count
    let end = quote + Array(repeating: UInt8(ascii: "#"), count: pounds)
    let escape = [UInt8(ascii: "\\")] + Array(repeating: UInt8(ascii: "#"), count: pounds)
    var content: [UInt8] = []
    while position < bytes.count, !has(end) {
      if has(escape), position + escape.count < bytes.count {
        position += escape.count
        let escaped = bytes[position]
        position += 1
        switch escaped {
        case UInt8(ascii: "("): content += Array("\\(".utf8) + interpolation()
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): content.append(escaped)
        case UInt8(ascii: "\n"): content.append(0)
        default: content += [UInt8(ascii: "\\"), escaped]
        }
      } else {
        content.append(bytes[position])
        position += 1
      }
    }
    position += end.count
    guard position <= bytes.count else {
      position = start + 1
      return nil
    }
    guard multiline else { return String(decoding: content, as: UTF8.self) }
    var lines = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let indentation = lines.last?.prefix { $0 == UInt8(ascii: " ") }.count ?? 0
    lines = Array(lines.dropFirst().dropLast())
    let text = lines.map { line in
      // A line that ends in a backslash may be joined to the next one: its indentation goes too.
      line.split(separator: 0, omittingEmptySubsequences: false)
        .map { String(decoding: $0.dropFirst(indentation), as: UTF8.self) }.joined()
    }
    return text.joined(separator: "\\n")
  }

  /// Reads an interpolation up to its closing parenthesis, with each run of blanks as one space.
  private mutating func interpolation() -> [UInt8] {
    var depth = 1
    var content: [UInt8] = []
    while position < bytes.count, depth > 0 {
      let byte = bytes[position]
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "#") {
        let start = position
        if string() != nil {
          content += bytes[start..<position]
          continue
        }
      }
      if byte == UInt8(ascii: "(") { depth += 1 }
      if byte == UInt8(ascii: ")") { depth -= 1 }
      position += 1
      if byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") {
        if content.last != UInt8(ascii: " ") { content.append(UInt8(ascii: " ")) }
      } else {
        content.append(byte)
      }
    }
    return content
  }
}

internal import SQLLexer

/// Looks at the virtual tables of a schema that somebody else has written, before SQLite uses one of them: each runs
/// a module of this process.
///
/// That a row of `sqlite_schema` is what it says, a table or a view of its name, SQLite looks at itself.
struct SchemaCheck {
  /// The modules of full-text search and of R*Trees that come with SQLite.
  static let ownModules: Set<String> = ["fts3", "fts4", "fts5", "rtree", "rtree_i32"]

  private static let tokenizers: Set<String> = [
    "simple", "porter", "unicode61", "ascii", "trigram",
  ]

  /// The modules that virtual tables may use, in small letters.
  let modules: Set<String>

  /// Throws if the text makes a virtual table of another module, or of arguments that nobody knows.
  func check(_ name: String, sql: String) throws(SQLiteError) {
    func refused(_ reason: String) -> SQLiteError {
      SQLiteError(.corrupt, "“\(name)” of the schema is refused: \(reason)")
    }
    var text = SchemaText(sql)
    guard text.makesVirtualTable() else { return }
    guard let module = text.module() else { throw refused("its SQL is not understood") }
    guard modules.contains(module.name) else {
      throw refused("the module \(module.name) is not allowed")
    }
    guard module.name.utf8.starts(with: "fts".utf8) else { return }
    for argument in module.arguments {
      guard SchemaCheck.hasKnownTokenizer(argument) else {
        throw refused("its tokenizer is not known, or lacks a value")
      }
    }
  }

  /// Whether an argument of full-text search names no tokenizer, or one of SQLite's with its options.
  private static func hasKnownTokenizer(_ argument: [String]) -> Bool {
    guard argument.first == "tokenize" else { return true }
    let values = argument.dropFirst(argument.dropFirst().first == "=" ? 2 : 1)
    // FTS5 takes all in one text, FTS4 word by word.
    var words = values.flatMap { value in
      value.split { $0 == " " || $0 == "\t" || $0 == "\n" || $0 == "\r" }.map { word in
        String(word.drop { $0 == "'" || $0 == "\"" }.prefix { $0 != "'" && $0 != "\"" })
      }
    }[...]
    if words.first == "porter", words.count > 1 { words = words.dropFirst() }
    guard let tokenizer = words.popFirst(), tokenizers.contains(tokenizer) else { return false }
    // An option without its value is read past its end before SQLite 3.47.
    return tokenizer != "trigram" || words.count % 2 == 0
  }
}

/// The words of a text of `sqlite_schema`.
private struct SchemaText {
  private var lexer: Lexer
  private var code = TokenCode.endOfText
  private var range = 0..<0

  init(_ sql: String) {
    lexer = Lexer(sql)
    advance()
  }

  private mutating func advance() {
    let (code, start) = lexer.nextSolid()
    self.code = code
    range = start..<lexer.position
  }

  private mutating func take(_ wanted: TokenCode) -> Bool {
    guard code == wanted else { return false }
    advance()
    return true
  }

  /// The token without quotes, in its own letters.
  private var name: [UInt8] {
    let bytes = lexer.bytes[range]
    guard let first = bytes.first, let last = bytes.last, bytes.count > 1,
      [UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"), UInt8(ascii: "[")].contains(first)
    else { return Array(bytes) }
    var name: [UInt8] = []
    var isDoubled = false
    for byte in bytes.dropFirst().dropLast() {
      isDoubled = byte == last && first != UInt8(ascii: "[") && !isDoubled
      if !isDoubled { name.append(byte) }
    }
    return name
  }

  /// Reads CREATE VIRTUAL TABLE and all up to USING, if the text begins so.
  mutating func makesVirtualTable() -> Bool {
    while take(.semicolon) {}
    guard take(.create), take(.virtual) else { return false }
    while code != .using, code != .endOfText { advance() }
    return true
  }

  /// Reads the module of a virtual table, in small letters, and the words of its arguments.
  mutating func module() -> (name: String, arguments: [[String]])? {
    guard take(.using), code.isWord || code == .string else { return nil }
    let module = asciiLowercased(String(decoding: name, as: UTF8.self))
    advance()
    var arguments: [[String]] = [[]]
    if take(.leftParenthesis) {
      var depth = 1
      while depth > 0 {
        switch code {
        case .endOfText, .illegal: return nil
        case .leftParenthesis: depth += 1
        case .rightParenthesis: depth -= 1
        case .comma where depth == 1: arguments.append([])
        default:
          arguments[arguments.count - 1].append(
            asciiLowercased(String(decoding: name, as: UTF8.self)))
        }
        advance()
      }
    }
    while take(.semicolon) {}
    return code == .endOfText ? (module, arguments) : nil
  }
}

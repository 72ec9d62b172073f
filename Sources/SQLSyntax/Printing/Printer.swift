/// Writes a tree as text.
struct Printer {
  var text = ""
  let style: SQLStyle
  private var depth = 0

  init(_ style: SQLStyle) { self.style = style }

  static func text(_ style: SQLStyle, _ body: (inout Printer) -> Void) -> String {
    var printer = Printer(style)
    body(&printer)
    return printer.text
  }

  // MARK: Parts

  mutating func write(_ part: String) { text += part }

  /// A blank, or a new line where clauses stand on lines of their own.
  mutating func clause() {
    if style == .compact {
      text += " "
    } else {
      line()
    }
  }

  private mutating func line() {
    text += "\n"
    for _ in 0..<depth { text += "  " }
  }

  /// What `body` writes in parentheses, indented if clauses stand on lines of their own.
  mutating func block(_ body: (inout Printer) -> Void) {
    text += "("
    depth += 1
    if style == .indented { line() }
    body(&self)
    depth -= 1
    if style == .indented { line() }
    text += ")"
  }

  mutating func parentheses(_ body: (inout Printer) -> Void) {
    text += "("
    body(&self)
    text += ")"
  }

  mutating func list<Element>(
    _ elements: [Element], _ separator: String = ", ", _ body: (inout Printer, Element) -> Void
  ) {
    var isFirst = true
    for element in elements {
      if !isFirst { text += separator }
      isFirst = false
      body(&self, element)
    }
  }

  /// The elements, each on a line of its own where clauses are.
  mutating func lines<Element>(
    _ elements: [Element], _ body: (inout Printer, Element) -> Void
  ) {
    var isFirst = true
    for element in elements {
      if !isFirst {
        text += ","
        clause()
      }
      isFirst = false
      body(&self, element)
    }
  }

  // MARK: Names

  mutating func name(_ name: SQLName) {
    switch name.quoting {
    case .none where name.isPlainWord: text += name.text
    case .none, .double: quoted(name.text, "\"")
    case .back: quoted(name.text, "`")
    case .single: quoted(name.text, "'")
    case .bracket:
      if name.text.utf8.contains(UInt8(ascii: "]")) {
        quoted(name.text, "\"")
      } else {
        text += "[\(name.text)]"
      }
    }
  }

  mutating func quoted(_ content: String, _ mark: Character) {
    text.append(mark)
    if content.utf8.contains(where: { $0 == mark.asciiValue }) {
      for character in content.unicodeScalars {
        text.unicodeScalars.append(character)
        if Character(character) == mark { text.append(mark) }
      }
    } else {
      text += content
    }
    text.append(mark)
  }

  mutating func name(_ name: SQLQualifiedName) {
    if let schema = name.schema {
      self.name(schema)
      text += "."
    }
    self.name(name.name)
  }

  mutating func names(_ names: [SQLName]) {
    parentheses { $0.list(names) { $0.name($1) } }
  }

  /// Names in parentheses behind a blank, or nothing.
  mutating func optionalNames(_ names: [SQLName]) {
    guard !names.isEmpty else { return }
    text += " "
    self.names(names)
  }

  mutating func word(_ word: String?) {
    guard let word else { return }
    text += " "
    text += word
  }
}

extension SQLName {
  /// Whether the text is one word of letters, digits, `_` and `$`.
  fileprivate var isPlainWord: Bool {
    var isFirst = true
    for byte in text.utf8 {
      guard isWordByte(byte), !isFirst || !isDigit(byte) && byte != UInt8(ascii: "$") else {
        return false
      }
      isFirst = false
    }
    return !isFirst && !text.unicodeScalars.starts(with: ["\u{feff}"])
  }
}

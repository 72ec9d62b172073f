import SQLLexer

/// A printer that writes a tree as SQL text.
struct Printer {
  private var bytes: [UInt8] = []
  let style: SQLStyle
  private var depth = 0

  init(_ style: SQLStyle) { self.style = style }

  static func text(_ style: SQLStyle, _ body: (inout Printer) -> Void) -> String {
    var printer = Printer(style)
    printer.bytes.reserveCapacity(128)
    body(&printer)
    return String(decoding: printer.bytes, as: UTF8.self)
  }

  // MARK: Parts

  mutating func write(_ part: String) { bytes.append(contentsOf: part.utf8) }

  /// Writes SQL that is a compile-time constant.
  mutating func write(_ part: StaticString) {
    part.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
  }

  /// Writes a space or, in the indented style, a line break.
  mutating func clause() {
    if style == .compact {
      write(" ")
    } else {
      line()
    }
  }

  private mutating func line() {
    write("\n")
    for _ in 0..<depth { write("  ") }
  }

  /// Writes the output of `body` in parentheses. In the indented style, the output is on lines of
  /// its own, which are indented by one more level.
  mutating func block(_ body: (inout Printer) -> Void) {
    write("(")
    depth += 1
    if style == .indented { line() }
    body(&self)
    depth -= 1
    if style == .indented { line() }
    write(")")
  }

  mutating func parentheses(_ body: (inout Printer) -> Void) {
    write("(")
    body(&self)
    write(")")
  }

  mutating func list<Element>(
    _ elements: [Element], _ body: (inout Printer, Element) -> Void
  ) {
    var isFirst = true
    for element in elements {
      if !isFirst { write(", ") }
      isFirst = false
      body(&self, element)
    }
  }

  /// Writes elements that are separated by commas, each on its own line in the indented style.
  mutating func lines<Element>(
    _ elements: [Element], _ body: (inout Printer, Element) -> Void
  ) {
    var isFirst = true
    for element in elements {
      if !isFirst {
        write(",")
        clause()
      }
      isFirst = false
      body(&self, element)
    }
  }

  // MARK: Names

  mutating func name(_ name: SQLName) {
    switch name.quoting {
    case .none where name.isPlainWord: write(name.text)
    case .none, .double: quoted(name.text, UInt8(ascii: "\""))
    case .back: quoted(name.text, UInt8(ascii: "`"))
    case .single: quoted(name.text, UInt8(ascii: "'"))
    case .bracket:
      if name.text.utf8.contains(UInt8(ascii: "]")) {
        quoted(name.text, UInt8(ascii: "\""))
      } else {
        write("[")
        write(name.text)
        write("]")
      }
    }
  }

  mutating func quoted(_ content: String, _ mark: UInt8) {
    bytes.append(mark)
    for byte in content.utf8 {
      bytes.append(byte)
      if byte == mark { bytes.append(mark) }
    }
    bytes.append(mark)
  }

  mutating func name(_ name: SQLQualifiedName) {
    if let schema = name.schema {
      self.name(schema)
      write(".")
    }
    self.name(name.name)
  }

  mutating func names(_ names: [SQLName]) {
    parentheses { $0.list(names) { $0.name($1) } }
  }

  /// Writes a space and names in parentheses, or nothing if there are no names.
  mutating func optionalNames(_ names: [SQLName]) {
    guard !names.isEmpty else { return }
    write(" ")
    self.names(names)
  }

  mutating func word(_ word: String?) {
    guard let word else { return }
    write(" ")
    write(word)
  }
}

extension SQLName {
  /// Whether the name consists only of letters, digits, `_` and `$`, and begins with a letter or
  /// `_`. Non-ASCII characters count as letters, except for a byte order mark at the start.
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

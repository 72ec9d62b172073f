/// A value in a text, with its byte range and its place in the tree of values.
///
/// All tokens of a text are in one array, in which each container precedes its content.
package struct Token {
  package enum Kind: UInt8 {
    case scalar, object, array
  }

  package let kind: Kind
  package let designator: Designator
  /// The byte range of a scalar's text or of an object's type name; empty for an array.
  let range: Range<Int>
  /// The byte range of the key if the value is a member of an object; otherwise empty.
  var key = 0..<0
  /// The position of the value in its container, starting at 0.
  var index = 0
  /// The index of the container's token, or -1 for the outermost value.
  package var parent = -1
  /// The index of the first token after this value and its content.
  var next = 0
  /// The number of members or elements of a container; 0 for a scalar.
  package var count = 0

  init(_ kind: Kind, _ designator: Designator, _ range: Range<Int>) {
    self.kind = kind
    self.designator = designator
    self.range = range
  }
}

/// A parser that finds the values of a text, in one pass over its bytes and without recursion.
struct Tokenizer {
  let maximumDepth: Int
  var tokens: [Token] = []
  var position = 0
  /// The offset and description of the first construct that only the first implementation of SPON
  /// wrote; nil if there is none.
  var legacy: (offset: Int, what: StaticString)?
  /// The offset of the first escape sequence that the first implementation didn't write; nil if
  /// there is none. A text that also contains a `legacy` construct is ambiguous and causes an
  /// error.
  var escape: Int?
  private var open = -1
  private var depth = 0
  /// The byte range of the key of the member whose value is read next.
  private var key = 0..<0

  init(maximumDepth: Int) {
    self.maximumDepth = maximumDepth
  }

  mutating func run(_ input: Span<UInt8>) throws(SPONSyntaxError) {
    // Typical texts have one token per 30 bytes. For others, the array grows.
    tokens.reserveCapacity(input.count / 32 + 4)
    skipBlanks(input)
    try readElement(input)
    while open >= 0 {
      let blanks = position
      skipBlanks(input)
      guard position < input.count else { throw unexpected("the end", input) }
      let count = tokens[open].count
      if tokens[open].kind == .object {
        if input[position] == Byte.closeObject {
          try close(input)
        } else {
          guard count == 0 || position > blanks else { throw unexpected("a blank or “>”", input) }
          try readMember(input)
        }
      } else if input[position] == Byte.closeArray {
        try close(input)
      } else {
        if count > 0 {
          guard input[position] == Byte.comma else { throw unexpected("“,” or “]”", input) }
          position += 1
          skipBlanks(input)
        }
        try readElement(input)
      }
    }
    skipBlanks(input)
    guard position == input.count else { throw unexpected("the end of the text", input) }
    if let legacy, let escape {
      throw SPONSyntaxError(
        escape,
        "the text uses the first form of SPON (\(legacy.what) at byte \(legacy.offset)), in which "
          + "an escape is ambiguous")
    }
  }

  @inline(__always) private mutating func skipBlanks(_ input: Span<UInt8>) {
    while position < input.count, input[position].isBlank { position += 1 }
  }

  private mutating func readMember(_ input: Span<UInt8>) throws(SPONSyntaxError) {
    if input[position] == Byte.quote {
      key = try readQuoted(input)
    } else {
      let start = position
      while position < input.count, input[position].isBareKey { position += 1 }
      guard position > start else { throw unexpected("a key", input) }
      key = start..<position
    }
    guard position < input.count else { throw unexpected("the mark of a value", input) }
    if input[position] == Byte.equals {
      position += 1
      guard position < input.count, input[position] == Byte.at else {
        throw unexpected("“@obj” or “@array[” after a key without a mark", input)
      }
      return try readContainer(input)
    }
    guard let designator = Designator(rawValue: input[position]) else {
      throw unexpected("the mark of a value or “=” after a key", input)
    }
    position += 1
    if designator == .null { return add(scalar: .null, position..<position) }
    guard position + 1 < input.count, input[position] == Byte.equals,
      input[position + 1] == Byte.quote
    else { throw unexpected("“=`”", input) }
    position += 1
    if designator == .described { note(legacy: "the mark “?”") }
    add(scalar: designator, try readQuoted(input))
  }

  private mutating func readElement(_ input: Span<UInt8>) throws(SPONSyntaxError) {
    key = 0..<0
    guard position < input.count else { throw unexpected("a value", input) }
    switch input[position] {
    case Byte.at: try readContainer(input)
    case Byte.quote: try readQuotedElement(input)
    case Byte.null:
      position += 1
      add(scalar: .null, position..<position)
    case Byte.openObject: try readLegacyNull(input)
    default: try readBareElement(input)
    }
  }

  private mutating func readContainer(_ input: Span<UInt8>) throws(SPONSyntaxError) {
    let start = position
    if matches("@array[", input) {
      position += 7
      return try enter(Token(.array, .described, start..<start))
    }
    guard matches("@obj", input) else { throw unexpected("“@obj” or “@array[”", input) }
    position += 4
    var name = position..<position
    if position < input.count, input[position] == Byte.colon {
      position += 1
      while position < input.count, input[position] != Byte.openObject {
        let byte = input[position]
        guard byte >= 0x20, byte != Byte.quote else {
          throw unexpected("the name of a type", input)
        }
        position += 1
      }
      name = start + 5..<position
    }
    guard position < input.count, input[position] == Byte.openObject else {
      throw unexpected("“<” of an object", input)
    }
    position += 1
    try enter(Token(.object, .described, name))
  }

  private mutating func enter(_ token: Token) throws(SPONSyntaxError) {
    depth += 1
    guard depth <= maximumDepth else {
      throw SPONSyntaxError(position, "containers are nested more than \(maximumDepth) levels deep")
    }
    add(token)
    open = tokens.count - 1
  }

  private mutating func close(_ input: Span<UInt8>) throws(SPONSyntaxError) {
    position += 1
    depth -= 1
    tokens[open].next = tokens.count
    if tokens[open].kind == .object { try checkKeys(of: open, input) }
    open = tokens[open].parent
  }

  private mutating func add(_ token: Token) {
    var token = token
    token.parent = open
    token.next = tokens.count + 1
    token.key = key
    if open >= 0 {
      token.index = tokens[open].count
      tokens[open].count += 1
    }
    tokens.append(token)
  }

  private func matches(_ word: StaticString, _ input: Span<UInt8>) -> Bool {
    let count = word.utf8CodeUnitCount
    guard input.count - position >= count else { return false }
    return word.withUTF8Buffer { word in
      for index in 0..<count where unsafe word[index] != input[position + index] { return false }
      return true
    }
  }

  mutating func note(legacy what: StaticString) {
    if legacy == nil { legacy = (position, what) }
  }

  mutating func add(scalar designator: Designator, _ range: Range<Int>) {
    add(Token(.scalar, designator, range))
  }

  /// Reads text in back-quotes and returns the range between the quotes. Also records the first
  /// escape sequence in `escape`, and the first `&` outside of one in `legacy`.
  mutating func readQuoted(_ input: Span<UInt8>) throws(SPONSyntaxError) -> Range<Int> {
    let start = position + 1
    guard let end = input.firstIndex(of: Byte.quote, in: start..<input.count) else {
      throw SPONSyntaxError(start - 1, "the back-quote has no closing one")
    }
    var index = start
    while let found = input.firstIndex(of: Byte.ampersand, in: index..<end) {
      if let known = Escape(input, at: found, before: end) {
        if !known.isLegacy, escape == nil { escape = found }
      } else if legacy == nil {
        legacy = (found, "a bare “&”")
      }
      index = found + 1
    }
    position = end + 1
    return start..<end
  }

  @inline(never)
  func unexpected(_ expected: String, _ input: Span<UInt8>) -> SPONSyntaxError {
    guard position < input.count else {
      return SPONSyntaxError(input.count, "expected \(expected), but the text ends")
    }
    let byte = input[position]
    let found =
      (0x21...0x7e).contains(byte)
      ? "“\(Unicode.Scalar(byte))”" : "the byte 0x" + String(byte, radix: 16)
    return SPONSyntaxError(position, "expected \(expected), found \(found)")
  }
}

extension Tokenizer {
  /// Reads a quoted element of an array and its mark. Without a mark, the element is text: the
  /// first implementation wrote text in arrays this way.
  mutating func readQuotedElement(_ input: Span<UInt8>) throws(SPONSyntaxError) {
    let range = try readQuoted(input)
    guard position < input.count, let designator = Designator(rawValue: input[position]) else {
      note(legacy: "text without a mark")
      return add(scalar: .text, range)
    }
    guard designator != .null else { throw unexpected("the mark of quoted text", input) }
    if designator == .described { note(legacy: "the mark “?”") }
    position += 1
    add(scalar: designator, range)
  }

  /// Reads an unquoted number, word or base64 text, and its mark.
  mutating func readBareElement(_ input: Span<UInt8>) throws(SPONSyntaxError) {
    let start = position
    while position < input.count, input[position].isBareElement { position += 1 }
    let range = start..<position
    guard position < input.count else { throw unexpected("the mark of a value", input) }
    switch Designator(rawValue: input[position]) {
    case .data?:
      break
    case .bool?, .integer?, .float?, .double?:
      guard !range.isEmpty else { throw unexpected("a value", input) }
    case .described?:
      note(legacy: "the mark “?”")
    case .text?, .date?:
      throw unexpected("a back-quote before text or a date", input)
    case .null?, nil:
      return try readLegacyDescription(from: start, input)
    }
    let designator = Designator(rawValue: input[position]) ?? .described
    position += 1
    add(scalar: designator, range)
  }

  /// Reads an unquoted value that the first implementation wrote with the mark `?` and that
  /// contains spaces or colons, for example `2017-10-13 12:00:00 +0000?`. The value must begin with
  /// a digit.
  ///
  /// Accepts only spaces, colons and the bytes of unquoted elements before the `?`, so that the
  /// value can't extend past its end.
  private mutating func readLegacyDescription(
    from start: Int, _ input: Span<UInt8>
  ) throws(SPONSyntaxError) {
    if input[start] == Byte.openArray {
      throw unexpected("a value (the first form of SPON truncated nested arrays)", input)
    }
    let isDate = position > start && (48...57).contains(input[start])
    guard isDate else { throw unexpected("a value and its mark", input) }
    while position < input.count,
      input[position] == Byte.space || input[position] == Byte.colon
        || input[position].isBareElement
    {
      position += 1
    }
    guard position < input.count, input[position] == Designator.described.rawValue else {
      throw unexpected("the mark of a value", input)
    }
    note(legacy: "the mark “?”")
    add(scalar: .described, start..<position)
    position += 1
  }

  /// Reads `<null>?`, which the first implementation wrote for nil.
  mutating func readLegacyNull(_ input: Span<UInt8>) throws(SPONSyntaxError) {
    let start = position
    guard matches("<null>?", input) else { throw unexpected("a value or “<null>?”", input) }
    position += 7
    note(legacy: "“<null>?”")
    add(scalar: .null, start..<start)
  }
}

extension Tokenizer {
  /// Throws if two members of an object have the same key.
  private func checkKeys(of object: Int, _ input: Span<UInt8>) throws(SPONSyntaxError) {
    var keys = Set<KeyText>(minimumCapacity: tokens[object].count)
    var member = object + 1
    while member < tokens[object].next {
      let token = tokens[member]
      let key = text(input, token.key)
      guard keys.insert(KeyText(text: key)).inserted else {
        throw SPONSyntaxError(token.key.lowerBound, "the key “\(key)” is used twice")
      }
      member = token.next
    }
  }
}

extension Tokenizer {
  /// Reads quoted text and its mark; the seed wrote text in arrays without one.
  mutating func readQuotedElement(_ input: Span<UInt8>) throws(SPONSyntaxError) {
    let (range, hasEscapes) = try readQuoted(input)
    guard position < input.count, let designator = Designator(rawValue: input[position]) else {
      note(seeds: "text without a mark")
      return add(scalar: .text, range, hasEscapes: hasEscapes)
    }
    guard designator != .null else { throw unexpected("the mark of quoted text", input) }
    if designator == .described { note(seeds: "the mark “?”") }
    position += 1
    add(scalar: designator, range, hasEscapes: hasEscapes)
  }

  /// Reads what stands without quotes: a number, a word or base64, and its mark.
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
      note(seeds: "the mark “?”")
    case .text?, .date?:
      throw unexpected("a back-quote before text or a date", input)
    case .null?, nil:
      return try readSeedsDescription(from: start, input)
    }
    let designator = Designator(rawValue: input[position]) ?? .described
    position += 1
    add(scalar: designator, range)
  }

  /// Reads what the seed wrote for values that it had no mark for, such as `2017-10-13 12:00:00 +0000?`.
  ///
  /// It did not quote them, so nothing else may follow than what ends an element.
  private mutating func readSeedsDescription(
    from start: Int, _ input: Span<UInt8>
  ) throws(SPONSyntaxError) {
    if input[start] == Byte.openArray {
      throw unexpected("a value (arrays in arrays were not written whole)", input)
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
    note(seeds: "the mark “?”")
    add(scalar: .described, start..<position)
    position += 1
  }

  /// Reads `<null>?`, as the seed wrote what was nil.
  mutating func readSeedsNull(_ input: Span<UInt8>) throws(SPONSyntaxError) {
    let start = position
    for byte in "<null>?".utf8 {
      guard position < input.count, input[position] == byte else {
        throw unexpected("a value or “<null>?”", input)
      }
      position += 1
    }
    note(seeds: "“<null>?”")
    add(scalar: .null, start..<start)
  }
}

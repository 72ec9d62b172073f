extension Tokenizer {
  /// Refuses an object that has a key twice.
  mutating func checkKeys(of object: Int, _ input: Span<UInt8>) throws(SPONSyntaxError) {
    if tokens[object].count > 16 { return try checkManyKeys(of: object, input) }
    var first = object + 1
    let end = Int(tokens[object].next)
    while first < end {
      let hash = tokens[first].keyHash
      var second = Int(tokens[first].next)
      while second < end {
        if tokens[second].keyHash == hash, keyText(first, input) == keyText(second, input) {
          throw twice(second, input)
        }
        second = Int(tokens[second].next)
      }
      first = Int(tokens[first].next)
    }
  }

  private func checkManyKeys(of object: Int, _ input: Span<UInt8>) throws(SPONSyntaxError) {
    var keys = Set<KeyText>(minimumCapacity: Int(tokens[object].count))
    var member = object + 1
    while member < tokens[object].next {
      guard keys.insert(keyText(member, input)).inserted else { throw twice(member, input) }
      member = Int(tokens[member].next)
    }
  }

  private func keyText(_ member: Int, _ input: Span<UInt8>) -> KeyText {
    let token = tokens[member]
    return KeyText(text: text(input, token.keyRange, hasEscapes: token.keyHasEscapes))
  }

  private func twice(_ member: Int, _ input: Span<UInt8>) -> SPONSyntaxError {
    SPONSyntaxError(
      Int(tokens[member].keyStart), "the key “\(keyText(member, input).text)” comes twice")
  }
}

/// The text of a range with its escapes resolved.
func text(_ input: Span<UInt8>, _ range: Range<Int>, hasEscapes: Bool) -> String {
  guard hasEscapes else {
    return unsafe input.extracting(range).withUnsafeBufferPointer {
      unsafe String(decoding: $0, as: UTF8.self)
    }
  }
  return String(decoding: resolved(input, range), as: UTF8.self)
}

/// The bytes of a range with its escapes resolved.
func resolved(_ input: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
  var bytes: [UInt8] = []
  bytes.reserveCapacity(range.count)
  var index = range.lowerBound
  while index < range.upperBound {
    let byte = input[index]
    if byte == Byte.ampersand, let escape = Escape(input, at: index, before: range.upperBound) {
      bytes.append(contentsOf: UTF8.encode(escape.scalar) ?? UTF8.encodedReplacementCharacter)
      index += escape.count
    } else {
      bytes.append(byte)
      index += 1
    }
  }
  return bytes
}

/// A text of SPON, taken apart.
package struct Document {
  package let bytes: [UInt8]
  package internal(set) var tokens: [Token]

  /// Takes a text apart.
  ///
  /// - Parameters:
  ///   - bytes: UTF-8.
  ///   - maximumDepth: How deep containers may be nested.
  ///   - maximumSize: How many bytes there may be.
  /// - Throws: ``SPONSyntaxError``.
  /// - Complexity: O(*n*)
  package init(
    _ bytes: [UInt8], maximumDepth: Int = 512, maximumSize: Int = 1 << 30
  ) throws(SPONSyntaxError) {
    // Offsets have 32 bits.
    let limit = min(maximumSize, Int(Int32.max) - 1)
    guard bytes.count <= limit else {
      throw SPONSyntaxError(
        limit, "the text has \(bytes.count) bytes, of which \(limit) are allowed")
    }
    var tokenizer = Tokenizer(maximumDepth: maximumDepth)
    try tokenizer.run(bytes.span)
    if tokenizer.hasNonASCII { try Self.checkUTF8(bytes) }
    self.bytes = bytes
    tokens = tokenizer.tokens
  }

  private static func checkUTF8(_ bytes: [UInt8]) throws(SPONSyntaxError) {
    if String(validating: bytes, as: UTF8.self) != nil { return }
    var decoder = Unicode.UTF8.ForwardParser()
    var input = bytes.makeIterator()
    var offset = 0
    while case .valid(let scalar) = decoder.parseScalar(from: &input) { offset += scalar.count }
    throw SPONSyntaxError(offset, "the text is not UTF-8")
  }

  /// The text of a scalar.
  package func text(of token: Int) -> String {
    let token = tokens[token]
    return SPON.text(bytes.span, token.range, hasEscapes: token.hasEscapes)
  }

  /// The key of a member.
  package func key(of member: Int) -> String {
    let token = tokens[member]
    return SPON.text(bytes.span, token.keyRange, hasEscapes: token.keyHasEscapes)
  }

  /// The name of an object's type, or nothing.
  package func typeName(of object: Int) -> String {
    SPON.text(bytes.span, tokens[object].range, hasEscapes: false)
  }
}

extension Document {
  /// The integer that a scalar's text says, or nil if it says none, or one that does not fit.
  package func integer<Integer: FixedWidthInteger>(
    of token: Int, as type: Integer.Type = Integer.self
  ) -> Integer? {
    let range = tokens[token].range
    if let short = shortInteger(range) { return Integer(exactly: short) }
    // Beyond 64 bits; Swift would also take a plus.
    guard range.count > 18, bytes[range.lowerBound] != UInt8(ascii: "+") else { return nil }
    return Integer(String(decoding: bytes[range], as: UTF8.self))
  }

  /// Reads at most 18 digits.
  private func shortInteger(_ range: Range<Int>) -> Int64? {
    var index = range.lowerBound
    let end = range.upperBound
    guard index < end, end - index <= 19 else { return nil }
    let isNegative = bytes[index] == UInt8(ascii: "-")
    if isNegative { index += 1 }
    guard index < end, end - index <= 18 else { return nil }
    var number: Int64 = 0
    while index < end {
      let digit = bytes[index] &- UInt8(ascii: "0")
      guard digit <= 9 else { return nil }
      number = number &* 10 &+ Int64(digit)
      index += 1
    }
    return isNegative ? -number : number
  }

  /// The number that a scalar's text says, or nil if it says none.
  package func double(of token: Int) -> Double? {
    shortDouble(tokens[token].range) ?? number(of: token, as: Double.self)
  }

  /// The number that a scalar's text says, or nil if it says none.
  func number<Number: LosslessStringConvertible>(of token: Int, as type: Number.Type) -> Number? {
    let range = tokens[token].range
    return isNumber(range) ? Number(String(decoding: bytes[range], as: UTF8.self)) : nil
  }

  /// Reads digits with at most one point, when both the digits and the power of ten are exact: then
  /// one division is correctly rounded, in half the time of `Double(_:)`.
  private func shortDouble(_ range: Range<Int>) -> Double? {
    guard let first = range.first, range.count <= 17 else { return nil }
    let isNegative = bytes[first] == UInt8(ascii: "-")
    var number: UInt64 = 0
    var digits = 0
    // Ten to the number of digits after the point, or 0 before it.
    var power = 0.0
    var index = isNegative ? first + 1 : first
    while index < range.upperBound {
      let digit = bytes[index] &- UInt8(ascii: "0")
      if digit <= 9 {
        number = number &* 10 &+ UInt64(digit)
        digits += 1
        power *= 10
      } else if bytes[index] == UInt8(ascii: "."), power == 0, digits > 0 {
        power = 1
      } else {
        return nil
      }
      index += 1
    }
    guard (1...15).contains(digits) else { return nil }
    let value = power > 0 ? Double(number) / power : Double(number)
    return isNegative ? -value : value
  }

  /// Whether a text is a decimal number, `inf`, `-inf` or `nan`; Swift would also read hexadecimals.
  private func isNumber(_ range: Range<Int>) -> Bool {
    var hasDigit = false
    for index in range {
      switch bytes[index] {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): hasDigit = true
      case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "e"),
        UInt8(ascii: "E"):
        break
      default:
        let word = String(decoding: bytes[range], as: UTF8.self)
        return word == "inf" || word == "-inf" || word == "nan" || word == "+infinity"
          || word == "-infinity"
      }
    }
    return hasDigit
  }
}

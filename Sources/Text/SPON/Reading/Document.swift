/// A text of SPON, taken apart.
package struct Document {
  package let bytes: [UInt8]
  package let tokens: [Token]

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
    guard bytes.count <= maximumSize else {
      throw SPONSyntaxError(
        maximumSize, "the text has \(bytes.count) bytes, of which \(maximumSize) are allowed")
    }
    var tokenizer = Tokenizer(maximumDepth: maximumDepth)
    try tokenizer.run(bytes.span)
    try Self.checkUTF8(bytes)
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
  package func text(of token: Int) -> String { SPON.text(bytes.span, tokens[token].range) }

  /// The key of a member.
  package func key(of member: Int) -> String { SPON.text(bytes.span, tokens[member].key) }

  /// The name of an object's type, or nothing.
  package func typeName(of object: Int) -> String {
    String(decoding: bytes[tokens[object].range], as: UTF8.self)
  }

  /// The members of an object, or the elements of an array.
  package func children(of container: Int) -> [Int] {
    sequence(first: container + 1) { tokens[$0].next }.prefix { $0 < tokens[container].next }
  }
}

extension Document {
  /// The integer that a scalar's text says, or nil if it says none, or one that does not fit.
  package func integer<Integer: FixedWidthInteger>(
    of token: Int, as type: Integer.Type = Integer.self
  ) -> Integer? {
    let text = text(of: token)
    // Swift would also take a plus.
    return text.utf8.first == UInt8(ascii: "+") ? nil : Integer(text)
  }

  /// The number that a scalar's text says, or nil if it says none.
  package func double(of token: Int) -> Double? { number(of: token, as: Double.self) }

  /// The number that a scalar's text says, or nil if it says none; Swift would also read hexadecimals.
  func number<Number: LosslessStringConvertible>(of token: Int, as type: Number.Type) -> Number? {
    let text = text(of: token)
    let words = ["inf", "-inf", "nan", "+infinity", "-infinity"]
    return text.isDecimal || words.contains(text) ? Number(text) : nil
  }
}

extension String {
  /// Whether the text is made of the characters of decimal numbers.
  var isDecimal: Bool {
    !utf8.isEmpty
      && utf8.allSatisfy { (48...57).contains($0) || [43, 45, 46, 69, 101].contains($0) }
  }
}

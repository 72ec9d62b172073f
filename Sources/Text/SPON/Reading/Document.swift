/// A parsed SPON text. Its methods identify a value by the index of its token in `tokens`.
package struct Document {
  package let bytes: [UInt8]
  package let tokens: [Token]

  /// Creates a document by parsing a text.
  ///
  /// - Parameters:
  ///   - bytes: The text in UTF-8.
  ///   - maximumDepth: The maximum nesting depth of containers.
  ///   - maximumSize: The maximum number of bytes.
  /// - Throws: ``SPONSyntaxError`` if the text isn't valid SPON or UTF-8, or exceeds a limit.
  /// - Complexity: O(*n*) in the number of bytes.
  package init(
    _ bytes: [UInt8], maximumDepth: Int = 512, maximumSize: Int = 1 << 30
  ) throws(SPONSyntaxError) {
    guard bytes.count <= maximumSize else {
      throw SPONSyntaxError(
        maximumSize, "the text has \(bytes.count) bytes, but the limit is \(maximumSize)")
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
    throw SPONSyntaxError(offset, "the text is not valid UTF-8")
  }

  /// Returns the text of a scalar, with its escape sequences resolved.
  package func text(of token: Int) -> String { SPON.text(bytes.span, tokens[token].range) }

  /// Returns the key of a member, with its escape sequences resolved.
  package func key(of member: Int) -> String { SPON.text(bytes.span, tokens[member].key) }

  /// Returns the name of an object's type, or an empty string if the object has none.
  package func typeName(of object: Int) -> String {
    String(decoding: bytes[tokens[object].range], as: UTF8.self)
  }

  /// Returns the token indexes of an object's members or of an array's elements.
  package func children(of container: Int) -> [Int] {
    sequence(first: container + 1) { tokens[$0].next }.prefix { $0 < tokens[container].next }
  }
}

extension Document {
  /// Returns the integer value of a scalar, or nil if its text isn't an integer or doesn't fit
  /// `type`.
  package func integer<Integer: FixedWidthInteger>(
    of token: Int, as type: Integer.Type = Integer.self
  ) -> Integer? {
    let text = text(of: token)
    // The initializer also accepts a plus sign.
    return text.utf8.first == UInt8(ascii: "+") ? nil : Integer(text)
  }

  /// Returns the value of a scalar as a `Double`, rounded if necessary, or nil if its text isn't a
  /// number.
  package func double(of token: Int) -> Double? { number(of: token, as: Double.self) }

  /// Returns the numeric value of a scalar, or nil if its text isn't a decimal number, infinity or
  /// NaN. Rejects hexadecimal numbers and other texts that only the initializer of `type` accepts.
  func number<Number: LosslessStringConvertible>(of token: Int, as type: Number.Type) -> Number? {
    let text = text(of: token)
    let words = ["inf", "-inf", "nan", "+infinity", "-infinity"]
    return text.isDecimal || words.contains(text) ? Number(text) : nil
  }
}

extension String {
  /// Whether the text isn't empty and contains only digits, `+`, `-`, `.`, `e` and `E`. It may
  /// still not be a number, such as `1e`.
  var isDecimal: Bool {
    !utf8.isEmpty
      && utf8.allSatisfy { (48...57).contains($0) || [43, 45, 46, 69, 101].contains($0) }
  }
}

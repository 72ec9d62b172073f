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

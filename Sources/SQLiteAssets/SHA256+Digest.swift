import ExactText

extension SHA256 {
  /// The 32 bytes that stand for a content.
  ///
  /// Its description is the usual 64 lower-case hexadecimal digits, and can be read back.
  public struct Digest: Hashable, Sendable {
    private let words: SIMD8<UInt32>

    init(_ words: SIMD8<UInt32>) {
      self.words = words
    }

    /// Makes a digest from its 32 bytes, or nil from any other number of bytes.
    ///
    /// - Parameter bytes: The bytes in their usual order.
    public init?(bytes: [UInt8]) {
      guard bytes.count == 32 else { return nil }
      var words = SIMD8<UInt32>()
      for (index, byte) in bytes.enumerated() {
        words[index / 4] = words[index / 4] &<< 8 | UInt32(byte)
      }
      self.words = words
    }

    /// The 32 bytes in their usual order.
    public var bytes: [UInt8] {
      (0..<32).map { UInt8(truncatingIfNeeded: words[$0 / 4] &>> UInt32(24 - $0 % 4 * 8)) }
    }
  }
}

extension SHA256.Digest: LosslessStringConvertible {
  /// Makes a digest from its 64 hexadecimal digits, or nil from any other text.
  ///
  /// - Parameter description: Lower-case digits, as the description has them.
  public init?(_ description: String) {
    guard description.utf8.count == 64 else { return nil }
    var words = SIMD8<UInt32>()
    var rest = Substring(description)
    for index in words.indices {
      guard let word = UInt32(hexadecimal: rest.prefix(8)) else { return nil }
      words[index] = word
      rest = rest.dropFirst(8)
    }
    self.words = words
  }

  /// The 64 lower-case hexadecimal digits.
  public var description: String {
    words.indices.map { words[$0].hexadecimal }.joined()
  }
}

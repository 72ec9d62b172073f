import ExactText

/// An escape in quoted text: `&00;` for `&`, `&01;` for a back-quote, `&u…;` for any other scalar.
///
/// The seed of this library wrote `&01;` and left every other `&` as it was. So an `&` that begins
/// none of these is an `&`.
struct Escape {
  let scalar: Unicode.Scalar
  /// The bytes from `&` to `;`.
  let count: Int
  /// Whether the seed wrote it, too.
  let isSeeds: Bool

  /// Reads the escape that an `&` begins, if it begins one.
  init?(_ input: Span<UInt8>, at start: Int, before end: Int) {
    guard end - start >= 4 else { return nil }
    switch (input[start + 1], input[start + 2], input[start + 3]) {
    case (UInt8(ascii: "0"), UInt8(ascii: "0"), Byte.semicolon):
      self.init(scalar: "&", count: 4, isSeeds: false)
    case (UInt8(ascii: "0"), UInt8(ascii: "1"), Byte.semicolon):
      self.init(scalar: "`", count: 4, isSeeds: true)
    case (UInt8(ascii: "u"), _, _):
      self.init(hexadecimal: input, at: start, before: end)
    default:
      return nil
    }
  }

  private init(scalar: Unicode.Scalar, count: Int, isSeeds: Bool) {
    self.scalar = scalar
    self.count = count
    self.isSeeds = isSeeds
  }

  private init?(hexadecimal input: Span<UInt8>, at start: Int, before end: Int) {
    var position = start + 2
    var code: UInt32 = 0
    while position < end, position - start <= 7, let digit = Hex.value(input[position]) {
      code = code << 4 | UInt32(digit)
      position += 1
    }
    guard position > start + 2, position < end, input[position] == Byte.semicolon,
      let scalar = Unicode.Scalar(code)
    else { return nil }
    self.init(scalar: scalar, count: position - start + 1, isSeeds: false)
  }
}

import ExactText
import Platform

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
    guard input[start] == Byte.ampersand, end - start >= 4 else { return nil }
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

// Reading.

extension Span<UInt8> {
  /// The index of the first byte in a range that equals another, by `memchr`, which looks at many at once.
  func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
    unsafe extracting(range).withUnsafeBufferPointer { bytes in
      guard let start = bytes.baseAddress else { return nil }
      return unsafe memchr(start, Int32(byte), bytes.count)
        .map { unsafe range.lowerBound + (UnsafeRawPointer($0) - UnsafeRawPointer(start)) }
    }
  }
}

/// The text of a range with its escapes resolved.
func text(_ input: Span<UInt8>, _ range: Range<Int>) -> String {
  guard input.firstIndex(of: Byte.ampersand, in: range) != nil else {
    return unsafe input.extracting(range).withUnsafeBufferPointer {
      unsafe String(decoding: $0, as: UTF8.self)
    }
  }
  var bytes: [UInt8] = []
  var index = range.lowerBound
  while index < range.upperBound {
    if let escape = Escape(input, at: index, before: range.upperBound) {
      bytes.append(contentsOf: UTF8.encode(escape.scalar) ?? UTF8.encodedReplacementCharacter)
      index += escape.count
    } else {
      bytes.append(input[index])
      index += 1
    }
  }
  return String(decoding: bytes, as: UTF8.self)
}

// Writing.

extension UInt8 {
  /// Returns whether an escape stands for the byte in quoted text.
  @inline(__always) var isEscaped: Bool {
    self < 0x20 || self == Byte.quote || self == Byte.ampersand || self == 0x7f
  }
}

extension String {
  /// Whether an escape stands for any of its bytes. All are looked at, which the compiler does 16 at once.
  fileprivate var hasEscaped: Bool {
    func found(_ bytes: some Sequence<UInt8>) -> Bool {
      var found = false
      for byte in bytes { found = found || byte.isEscaped }
      return found
    }
    return unsafe utf8.withContiguousStorageIfAvailable { unsafe found($0) } ?? found(utf8)
  }
}

extension TextBuffer {
  /// Appends text, and escapes what must not stand between back-quotes.
  package mutating func appendEscaped(_ text: String) {
    guard text.hasEscaped else { return bytes.append(contentsOf: text.utf8) }
    for byte in text.utf8 {
      switch byte {
      case Byte.ampersand: append("&00;")
      case Byte.quote: append("&01;")
      case _ where byte.isEscaped:
        bytes.append(contentsOf: "&u\(String(byte, radix: 16, uppercase: true));".utf8)
      default: append(byte)
      }
    }
  }
}

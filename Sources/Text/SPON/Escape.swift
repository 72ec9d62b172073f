import ExactText
import Platform

/// An escape sequence in quoted text: `&00;` for `&`, `&01;` for a back-quote, or `&u…;` with the
/// hexadecimal code of any scalar.
///
/// The first implementation of SPON wrote `&01;` and left every other `&` unescaped. An `&` that
/// doesn't begin an escape sequence therefore represents itself.
struct Escape {
  let scalar: Unicode.Scalar
  /// The number of bytes from `&` to `;`.
  let count: Int
  /// Whether the first implementation of SPON also wrote this escape sequence.
  let isLegacy: Bool

  /// Reads the escape sequence at `start`, or returns nil if there is none.
  init?(_ input: Span<UInt8>, at start: Int, before end: Int) {
    guard input[start] == Byte.ampersand, end - start >= 4 else { return nil }
    switch (input[start + 1], input[start + 2], input[start + 3]) {
    case (UInt8(ascii: "0"), UInt8(ascii: "0"), Byte.semicolon):
      self.init(scalar: "&", count: 4, isLegacy: false)
    case (UInt8(ascii: "0"), UInt8(ascii: "1"), Byte.semicolon):
      self.init(scalar: "`", count: 4, isLegacy: true)
    case (UInt8(ascii: "u"), _, _):
      self.init(hexadecimal: input, at: start, before: end)
    default:
      return nil
    }
  }

  private init(scalar: Unicode.Scalar, count: Int, isLegacy: Bool) {
    self.scalar = scalar
    self.count = count
    self.isLegacy = isLegacy
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
    self.init(scalar: scalar, count: position - start + 1, isLegacy: false)
  }
}

// MARK: Reading

extension Span<UInt8> {
  /// Returns the index of the first `byte` in `range`, or nil if there is none. Uses `memchr`,
  /// which compares many bytes at a time.
  func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
    unsafe extracting(range).withUnsafeBufferPointer { bytes in
      guard let start = bytes.baseAddress else { return nil }
      return unsafe memchr(start, Int32(byte), bytes.count)
        .map { unsafe range.lowerBound + (UnsafeRawPointer($0) - UnsafeRawPointer(start)) }
    }
  }
}

/// Returns the text of the bytes in `range` of `input`, with its escape sequences resolved.
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

// MARK: Writing

extension UInt8 {
  /// Whether quoted text must contain an escape sequence instead of the byte.
  @inline(__always) var isEscaped: Bool {
    self < 0x20 || self == Byte.quote || self == Byte.ampersand || self == 0x7f
  }
}

extension String {
  /// Whether quoted text must contain an escape sequence for at least one byte of the string. The
  /// loop doesn't stop at the first such byte, so that the compiler can vectorize it.
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
  /// Appends `text`, with escape sequences for the bytes that quoted text can't contain.
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

import ExactText

/// The mark that says what a scalar is.
package enum Designator: UInt8, Sendable {
  /// `%`: `true` or `false`.
  case bool = 0x25
  /// `!`: an integer of any width.
  case integer = 0x21
  /// `$`: text.
  case text = 0x24
  /// `^`: a single-precision number.
  case float = 0x5e
  /// `&`: a double-precision number.
  case double = 0x26
  /// `*`: bytes as base64.
  case data = 0x2a
  /// `#`: a moment.
  case date = 0x23
  /// `~`: no value.
  case null = 0x7e
  /// `?`: what the seed of this library wrote by `String(describing:)`. Only read, never written.
  case described = 0x3f

  /// The name of such a scalar in messages.
  package var name: StaticString {
    switch self {
    case .bool: "a Boolean (%)"
    case .integer: "an integer (!)"
    case .text: "text ($)"
    case .float: "a single-precision number (^)"
    case .double: "a double-precision number (&)"
    case .data: "bytes (*)"
    case .date: "a date (#)"
    case .null: "no value (~)"
    case .described: "a value of an unknown type (?)"
    }
  }
}

/// Bytes that the grammar names.
package enum Byte {
  package static let quote = UInt8(ascii: "`")
  package static let ampersand = UInt8(ascii: "&")
  package static let equals = UInt8(ascii: "=")
  package static let at = UInt8(ascii: "@")
  package static let colon = UInt8(ascii: ":")
  package static let semicolon = UInt8(ascii: ";")
  package static let comma = UInt8(ascii: ",")
  package static let space = UInt8(ascii: " ")
  package static let openObject = UInt8(ascii: "<")
  package static let closeObject = UInt8(ascii: ">")
  package static let openArray = UInt8(ascii: "[")
  package static let closeArray = UInt8(ascii: "]")
  package static let null = UInt8(ascii: "~")
}

extension UInt8 {
  /// Returns whether a key may hold the byte without quotes: anything above the blank that is no mark
  /// of the language.
  @inline(__always) var isBareKey: Bool {
    switch self {
    case 0...0x20, 0x7f, Byte.quote, Byte.equals, Byte.openObject, Byte.closeObject,
      Byte.openArray, Byte.closeArray, Byte.colon, Byte.comma, Byte.at,
      UInt8(ascii: "%"), UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "^"),
      UInt8(ascii: "&"), UInt8(ascii: "*"), UInt8(ascii: "?"), UInt8(ascii: "#"),
      UInt8(ascii: "~"):
      false
    default: true
    }
  }

  /// Returns whether an element may hold the byte without quotes: the bytes of numbers, words and
  /// base64.
  @inline(__always) var isBareElement: Bool {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "+"), UInt8(ascii: "-"),
      UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: "="):
      true
    default: false
    }
  }

  @inline(__always) var isBlank: Bool {
    self == Byte.space || self == 0x0a || self == 0x0d || self == 0x09
  }

  /// Returns whether an escape stands for the byte in quoted text.
  @inline(__always) var isEscaped: Bool {
    self < 0x20 || self == Byte.quote || self == Byte.ampersand || self == 0x7f
  }
}

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

/// Text that equals only the very same bytes, unlike `String`.
struct KeyText: Hashable {
  let text: String

  static func == (left: KeyText, right: KeyText) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }

  func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

/// A text that is not SPON, or that the seed of this library wrote in a form that can be read in two
/// ways.
public struct SPONSyntaxError: Error, Hashable, CustomStringConvertible {
  /// Where the text stops being SPON: a number of bytes from its beginning.
  public let offset: Int
  /// The text that stands there, or that is expected.
  public let reason: String

  package init(_ offset: Int, _ reason: String) {
    self.offset = offset
    self.reason = reason
  }

  /// The offset and the reason.
  public var description: String { "not SPON: byte \(offset): \(reason)" }
}

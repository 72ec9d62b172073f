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
  @inline(__always) package var isBareElement: Bool {
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
}

/// Text that equals only the very same bytes, unlike `String`.
struct KeyText: Hashable {
  let text: String

  static func == (left: KeyText, right: KeyText) -> Bool {
    left.text == right.text && left.text.utf8.elementsEqual(right.text.utf8)
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

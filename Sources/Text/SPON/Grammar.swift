/// The mark that specifies the type of a scalar.
package enum Designator: UInt8, Sendable {
  /// The mark `%` of a Boolean: `true` or `false`.
  case bool = 0x25
  /// The mark `!` of an integer of any width.
  case integer = 0x21
  /// The mark `$` of text.
  case text = 0x24
  /// The mark `^` of a single-precision number.
  case float = 0x5e
  /// The mark `&` of a double-precision number.
  case double = 0x26
  /// The mark `*` of data, which is encoded in base64.
  case data = 0x2a
  /// The mark `#` of a date.
  case date = 0x23
  /// The mark `~` of a null value.
  case null = 0x7e
  /// The mark `?` of a value that the first implementation of SPON wrote with
  /// `String(describing:)`. It is read, but never written.
  case described = 0x3f

  /// The text that names the scalar type in error messages, such as `a date (#)`.
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

/// Constants for the bytes that delimit keys, values, containers and escape sequences, and for the
/// mark of null.
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
  /// Whether an unquoted key may contain the byte: any byte above the space, except DEL and the
  /// marks and delimiters of the grammar.
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

  /// Whether an unquoted element may contain the byte: the characters of numbers, words and base64.
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

/// A key that is compared by its UTF-8 bytes. `String` compares by canonical equivalence instead.
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

/// An error that describes where and why a text isn't valid SPON.
///
/// It is also thrown if a text exceeds a limit of the decoder, or if a text of the first
/// implementation of SPON, which this library replaces, has more than one possible meaning.
public struct SPONSyntaxError: Error, Hashable, CustomStringConvertible {
  /// The offset of the error, in bytes from the beginning of the text.
  public let offset: Int
  /// What is wrong at ``offset``, such as `expected a key, found “=”`.
  public let reason: String

  package init(_ offset: Int, _ reason: String) {
    self.offset = offset
    self.reason = reason
  }

  /// A message that contains the offset and the reason.
  public var description: String { "invalid SPON at byte \(offset): \(reason)" }
}

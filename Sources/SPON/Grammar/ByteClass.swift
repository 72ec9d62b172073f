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
  /// Says whether a key may hold the byte without quotes: anything above the blank that is no mark
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

  /// Says whether an element may hold the byte without quotes: what numbers, words and base64 are
  /// made of.
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

  /// Says whether quoted text is written with an escape in the byte's place.
  @inline(__always) var isEscaped: Bool {
    self < 0x20 || self == Byte.quote || self == Byte.ampersand || self == 0x7f
  }
}

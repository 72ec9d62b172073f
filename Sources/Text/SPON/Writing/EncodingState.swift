/// The state that all parts of one encoding operation share.
final class EncodingState {
  let encoder: SPONEncoder
  /// The text of all scalars, in the order in which they were encoded.
  var scalars = TextBuffer()
  /// The first error in a function that can't throw, such as one that returns a container; nil if
  /// there was none. It is thrown before the next value that isn't a scalar is encoded, or at the
  /// end of the encoding operation.
  private(set) var failure: (any Error)?
  private var typeNames: [ObjectIdentifier: [UInt8]] = [:]

  init(_ encoder: SPONEncoder) {
    self.encoder = encoder
  }

  /// Returns the type name to write in an object, with a leading colon and with parentheses instead
  /// of angle brackets: `:Address`, `:Page(Int)`, `:Dictionary`. Returns an empty array if the
  /// encoder omits type names.
  func name(of type: Any.Type) -> [UInt8] {
    if encoder.outputFormatting.contains(.withoutTypeNames) { return [] }
    if let name = typeNames[ObjectIdentifier(type)] { return name }
    let text = String(describing: type)
    let name = text.hasPrefix("Dictionary<") ? "Dictionary" : text
    let bytes = name.utf8.map { byte in
      switch byte {
      case Byte.openObject: UInt8(ascii: "(")
      case Byte.closeObject: UInt8(ascii: ")")
      case 0..<0x20, 0x7f, Byte.quote: UInt8(ascii: "_")
      default: byte
      }
    }
    typeNames[ObjectIdentifier(type)] = [Byte.colon] + bytes
    return [Byte.colon] + bytes
  }

  func fail(_ error: any Error) {
    if failure == nil { failure = error }
  }

  func invalid(_ value: Any, _ reason: String, at path: [any CodingKey] = []) -> EncodingError {
    .invalidValue(value, EncodingError.Context(codingPath: path, debugDescription: reason))
  }
}

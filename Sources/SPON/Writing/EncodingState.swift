/// What all parts of one encoding share.
final class EncodingState {
  let encoder: SPONEncoder
  let writesTypeNames: Bool
  let usesDefaultKeys: Bool
  /// What went wrong where nothing can be thrown: a container cannot refuse to be made.
  var failure: (any Error)?
  private var typeNames: [ObjectIdentifier: [UInt8]] = [:]
  private var lastType: Any.Type?
  private var lastName: [UInt8] = []

  init(_ encoder: SPONEncoder) {
    self.encoder = encoder
    writesTypeNames = !encoder.outputFormatting.contains(.withoutTypeNames)
    usesDefaultKeys = if case .useDefaultKeys = encoder.keyEncodingStrategy { true } else { false }
  }

  /// The name of a type as an object carries it, with its colon.
  func name(of type: Any.Type) -> [UInt8] {
    if let lastType, lastType == type { return lastName }
    let id = ObjectIdentifier(type)
    let name = typeNames[id] ?? TypeName.bytes(of: type)
    typeNames[id] = name
    lastType = type
    lastName = name
    return name
  }

  func fail(_ error: @autoclosure () -> any Error) {
    if failure == nil { failure = error() }
  }
}

/// Names of types in objects: `Address`, `Page(Int)`, `Dictionary`.
enum TypeName {
  static func bytes(of type: Any.Type) -> [UInt8] {
    let name = String(describing: type)
    // The seed of this library named dictionaries so, whatever was in them.
    if name.hasPrefix("Dictionary<") { return Array(":Dictionary".utf8) }
    var bytes: [UInt8] = [Byte.colon]
    for byte in name.utf8 {
      switch byte {
      case Byte.openObject: bytes.append(UInt8(ascii: "("))
      case Byte.closeObject: bytes.append(UInt8(ascii: ")"))
      // The name of a type in back-quotes can have any character.
      case 0..<0x20, 0x7f, Byte.quote: bytes.append(UInt8(ascii: "_"))
      default: bytes.append(byte)
      }
    }
    return bytes
  }
}

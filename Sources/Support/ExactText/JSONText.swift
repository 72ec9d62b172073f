/// A buffer to which strings and arrays are appended as JSON text.
package struct JSONText {
  package var bytes: [UInt8] = []

  package init() {}

  package mutating func append(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0x0a: bytes += "\\n".utf8
      case 0..<0x20, 0x7f:
        let digits = String(byte, radix: 16)
        bytes += "\\u00\(digits.utf8.count < 2 ? "0" : "")\(digits)".utf8
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  package mutating func append<Element, Failure: Error>(
    array: [Element], _ write: (inout JSONText, Element) throws(Failure) -> Void
  ) throws(Failure) {
    bytes.append(UInt8(ascii: "["))
    for (index, element) in array.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      try write(&self, element)
    }
    bytes.append(UInt8(ascii: "]"))
  }
}

/// SPON text that is being written.
///
/// A scalar has two forms: a member's comes behind a key (``name$=`Ann` ``), an element's stands in an
/// array or alone (`` `Ann`$ ``).
package struct TextBuffer {
  package var bytes: [UInt8] = []

  package init() {}

  /// Appends ASCII text.
  @inline(__always) package mutating func append(_ text: StaticString) {
    text.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
  }

  @inline(__always) package mutating func append(_ byte: UInt8) {
    bytes.append(byte)
  }

  package mutating func appendNull() {
    bytes.append(Byte.null)
  }

  package mutating func append(_ value: Bool, isMember: Bool) {
    append(plain: value ? "true" : "false", .bool, isMember: isMember)
  }

  package mutating func append<Integer: FixedWidthInteger>(_ value: Integer, isMember: Bool) {
    guard let short = Int64(exactly: value) else {
      return append(plain: String(value), .integer, isMember: isMember)
    }
    begin(.integer, isMember, isQuoted: false)
    append(digitsOf: short)
    end(.integer, isMember, isQuoted: false)
  }

  /// Appends an integer, in two thirds of the time that its description takes (benchmark `codec`).
  private mutating func append(digitsOf integer: Int64) {
    if integer < 0 { bytes.append(UInt8(ascii: "-")) }
    var first = bytes.count
    var rest = integer.magnitude
    repeat {
      bytes.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    } while rest > 0
    var last = bytes.count - 1
    while first < last {
      bytes.swapAt(first, last)
      first += 1
      last -= 1
    }
  }

  /// Appends any scalar in quotes.
  package mutating func append(_ text: String, _ designator: Designator, isMember: Bool) {
    begin(designator, isMember, isQuoted: true)
    appendEscaped(text)
    end(designator, isMember, isQuoted: true)
  }

  /// Appends a scalar whose text is made of bytes that need no escape.
  package mutating func append(plain text: String, _ designator: Designator, isMember: Bool) {
    begin(designator, isMember, isQuoted: designator == .date)
    var text = text
    text.withUTF8 { unsafe bytes.append(contentsOf: $0) }
    end(designator, isMember, isQuoted: designator == .date)
  }

  @inline(__always)
  private mutating func begin(_ designator: Designator, _ isMember: Bool, isQuoted: Bool) {
    if isMember {
      bytes.append(designator.rawValue)
      append("=`")
    } else if isQuoted {
      bytes.append(Byte.quote)
    }
  }

  @inline(__always)
  private mutating func end(_ designator: Designator, _ isMember: Bool, isQuoted: Bool) {
    if isMember || isQuoted { bytes.append(Byte.quote) }
    if !isMember { bytes.append(designator.rawValue) }
  }

  /// Appends a key, quoted if it must be, and returns a hash of its bytes.
  @discardableResult
  package mutating func append(key: String) -> UInt32 {
    var key = key
    return key.withUTF8 { text in
      var hash: UInt32 = 2_166_136_261
      var isBare = !text.isEmpty
      for index in text.indices {
        let byte = unsafe text[index]
        hash = (hash ^ UInt32(byte)) &* 16_777_619
        if !byte.isBareKey { isBare = false }
      }
      if isBare {
        unsafe bytes.append(contentsOf: text)
      } else {
        unsafe quote(text)
      }
      return hash
    }
  }

  private mutating func quote(_ key: UnsafeBufferPointer<UInt8>) {
    bytes.append(UInt8(ascii: "`"))
    unsafe appendEscaped(key)
    bytes.append(UInt8(ascii: "`"))
  }
}

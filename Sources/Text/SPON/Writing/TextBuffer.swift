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
    begin(.bool, isMember)
    append(value ? "true" : "false")
    end(.bool, isMember)
  }

  package mutating func append(_ value: String, isMember: Bool) {
    if isMember {
      append("$=`")
      appendEscaped(value)
      bytes.append(Byte.quote)
    } else {
      bytes.append(Byte.quote)
      appendEscaped(value)
      append("`$")
    }
  }

  /// Appends any scalar in quotes.
  mutating func append(_ text: String, _ designator: Designator, isMember: Bool) {
    if isMember {
      bytes.append(designator.rawValue)
      append("=`")
    } else {
      bytes.append(Byte.quote)
    }
    appendEscaped(text)
    bytes.append(Byte.quote)
    if !isMember { bytes.append(designator.rawValue) }
  }

  package mutating func append(_ value: Double, isMember: Bool) {
    begin(.double, isMember)
    append(number: value.description)
    end(.double, isMember)
  }

  package mutating func append(_ value: Float, isMember: Bool) {
    begin(.float, isMember)
    append(number: value.description)
    end(.float, isMember)
  }

  package mutating func append<Integer: FixedWidthInteger>(_ value: Integer, isMember: Bool) {
    begin(.integer, isMember)
    if let short = Int64(exactly: value) {
      append(integer: short)
    } else {
      append(number: String(value))
    }
    end(.integer, isMember)
  }

  /// Appends a scalar whose text is made of bytes that need no escape.
  package mutating func append(
    plain text: some Sequence<UInt8>, _ designator: Designator, isMember: Bool
  ) {
    begin(designator, isMember)
    bytes.append(contentsOf: text)
    end(designator, isMember)
  }

  @inline(__always) private mutating func begin(_ designator: Designator, _ isMember: Bool) {
    if isMember {
      bytes.append(designator.rawValue)
      append("=`")
    } else if designator == .date {
      bytes.append(Byte.quote)
    }
  }

  @inline(__always) private mutating func end(_ designator: Designator, _ isMember: Bool) {
    if isMember {
      bytes.append(Byte.quote)
    } else {
      if designator == .date { bytes.append(Byte.quote) }
      bytes.append(designator.rawValue)
    }
  }

  private mutating func append(number: String) {
    var number = number
    number.withUTF8 { unsafe bytes.append(contentsOf: $0) }
  }

  private mutating func append(integer: Int64) {
    if integer < 0 { bytes.append(UInt8(ascii: "-")) }
    var rest = integer.magnitude
    guard rest > 9 else {
      bytes.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest))
      return
    }
    var limit: UInt64 = 10
    var count = 1
    while count < 20, rest >= limit {
      count += 1
      let (product, overflows) = limit.multipliedReportingOverflow(by: 10)
      guard !overflows else { break }
      limit = product
    }
    if rest >= limit, count < 20 { count = 20 }
    let start = bytes.count
    bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: count))
    var index = start + count
    while index > start {
      index -= 1
      let (quotient, remainder) = rest.quotientAndRemainder(dividingBy: 10)
      bytes[index] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: remainder)
      rest = quotient
    }
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

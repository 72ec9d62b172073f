/// A buffer for SPON text that is being written.
///
/// A scalar has two forms. As a member, it follows a key (``name$=`Ann` ``). As an element, it is
/// in an array or alone (`` `Ann`$ ``).
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

  package mutating func append(_ value: some FixedWidthInteger, isMember: Bool) {
    append(plain: String(value), .integer, isMember: isMember)
  }

  /// Appends a scalar as quoted text, with escape sequences where necessary.
  package mutating func append(_ text: String, _ designator: Designator, isMember: Bool) {
    begin(designator, isMember, isQuoted: true)
    appendEscaped(text)
    end(designator, isMember, isQuoted: true)
  }

  /// Appends a scalar whose text doesn't need escape sequences. A member is always quoted, and an
  /// element only if it is a date.
  package mutating func append(plain text: String, _ designator: Designator, isMember: Bool) {
    begin(designator, isMember, isQuoted: designator == .date)
    bytes.append(contentsOf: text.utf8)
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

  /// Appends a key, in back-quotes if it is empty or contains a byte that an unquoted key can't
  /// contain.
  package mutating func append(key: String) {
    if !key.isEmpty, key.utf8.allSatisfy(\.isBareKey) {
      bytes.append(contentsOf: key.utf8)
    } else {
      bytes.append(Byte.quote)
      appendEscaped(key)
      bytes.append(Byte.quote)
    }
  }
}

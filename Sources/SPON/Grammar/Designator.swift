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

  /// What a message calls such a scalar.
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

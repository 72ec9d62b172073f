import SQLiteCore

/// The types whose stored values are kept as they are, told apart once for each property and not once
/// for each value, which would cost run-time metadata of generic types.
enum PlainKind: Sendable {
  case text
  case integer
  case real
  case boolean

  /// The kind of a type, or of the type that it is the optional of.
  init?(_ type: Any.Type) {
    if type == String.self || type == String?.self {
      self = .text
    } else if type == Int.self || type == Int?.self || type == Int64.self || type == Int64?.self {
      self = .integer
    } else if type == Double.self || type == Double?.self {
      self = .real
    } else if type == Bool.self || type == Bool?.self {
      self = .boolean
    } else {
      return nil
    }
  }

  /// Says whether a stored value is one of the kind. If not, it may still be converted.
  func fits(_ value: Value) -> Bool {
    switch (self, value) {
    case (.text, .text), (.integer, .integer), (.real, .real): true
    case (.boolean, .integer(let integer)): integer == 0 || integer == 1
    default: false
    }
  }
}

extension MagicProperty {
  /// The kind of the property's values, if they are kept as they are stored.
  static var plainKind: PlainKind? { PlainKind(Value.self) }
}

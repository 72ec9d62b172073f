/// One column of a ``Row``, read in the form that is wanted.
///
///     if let name = row["Name"]?.asString() { … }
///
/// Each reading returns nil for NULL and for what cannot be read that way without loss. Use
/// ``Row/get(_:as:)-(String,_)`` for an error that says why.
public struct Column: Hashable, Sendable {
  /// The stored value.
  public let value: Value

  /// The text, or nil if no text is stored.
  public func asString() -> String? {
    if case .text(let text) = value { text } else { nil }
  }

  /// The integer, or nil if no integer is stored, or none that fits.
  public func asInt() -> Int? { asInt64().flatMap { Int(exactly: $0) } }

  /// The integer, or nil if no integer is stored. A real without a fraction counts as one.
  public func asInt64() -> Int64? {
    switch value {
    case .integer(let integer): integer
    case .real(let real): Int64(exactly: real)
    default: nil
    }
  }

  /// The real, or nil if no number is stored, or an integer that a Double cannot hold.
  public func asDouble() -> Double? {
    switch value {
    case .real(let real): real
    case .integer(let integer): Double(exactly: integer)
    default: nil
    }
  }

  /// False for 0, true for any other number (SQLite's rule), nil if no number is stored.
  public func asBool() -> Bool? {
    switch value {
    case .integer(let integer): integer != 0
    case .real(let real): real != 0
    default: nil
    }
  }

  /// The bytes of a blob, or nil if none is stored.
  public func asBytes() -> [UInt8]? {
    if case .blob(let bytes) = value { bytes } else { nil }
  }

  /// The stored value.
  public func asValue() -> Value { value }
}

/// The names of a statement's columns, shared by the rows of one result.
package final class ColumnNames: Sendable {
  package let names: [String]
  /// Positions by name in ASCII lower case, the first of several.
  private let positions: [String: Int]

  init(_ names: [String]) {
    self.names = names
    positions = Dictionary(
      names.enumerated().map { (asciiLowercased($0.element), $0.offset) },
      uniquingKeysWith: { first, _ in first })
  }

  package var count: Int { names.count }

  /// The position of the first column of that name by SQLite's rule: ASCII letters of either case
  /// are one letter, all others are distinct.
  package func position(of name: String) -> Int? {
    let wanted = asciiLowercased(name)
    guard let position = positions[wanted] else { return nil }
    if sameBytes(asciiLowercased(names[position]), wanted) { return position }
    // Another spelling of canonically the same name came first.
    return names.firstIndex { sameBytes(asciiLowercased($0), wanted) }
  }
}

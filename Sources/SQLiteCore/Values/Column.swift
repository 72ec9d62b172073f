/// A column of a ``Row``, with methods that read its value as a Swift type.
///
///     if let name = row["Name"]?.asString() { … }
///
/// Except for ``asValue()``, each method returns nil for NULL, and for a value that its result type
/// can't represent. ``asBool()`` converts every number; all other methods convert only numbers that
/// the result represents exactly. To get an error that states the reason instead of nil, use
/// ``Row/get(_:as:)-(String,_)``.
public struct Column: Hashable, Sendable {
  /// The stored value.
  public let value: Value

  /// Returns the text, or nil if the column doesn't store text.
  public func asString() -> String? {
    if case .text(let text) = value { text } else { nil }
  }

  /// Returns the integer, or nil if the column doesn't store an integer that fits `Int`. A real
  /// without a fraction counts as an integer.
  public func asInt() -> Int? { asInt64().flatMap { Int(exactly: $0) } }

  /// Returns the integer, or nil if the column doesn't store an integer. A real without a fraction
  /// counts as an integer.
  public func asInt64() -> Int64? {
    switch value {
    case .integer(let integer): integer
    case .real(let real): Int64(exactly: real)
    default: nil
    }
  }

  /// Returns the number, or nil if the column doesn't store a number that a `Double` represents
  /// exactly.
  public func asDouble() -> Double? {
    switch value {
    case .real(let real): real
    case .integer(let integer): Double(exactly: integer)
    default: nil
    }
  }

  /// Returns false for 0 and true for any other number, like SQLite; nil if the column doesn't
  /// store a number.
  public func asBool() -> Bool? {
    switch value {
    case .integer(let integer): integer != 0
    case .real(let real): real != 0
    default: nil
    }
  }

  /// Returns the bytes, or nil if the column doesn't store a blob.
  public func asBytes() -> [UInt8]? {
    if case .blob(let bytes) = value { bytes } else { nil }
  }

  /// Returns the stored value, without conversion.
  public func asValue() -> Value { value }
}

/// The names of a statement's columns, shared by all rows of a result.
package final class ColumnNames: Sendable {
  package let names: [String]
  /// The index of each column, keyed by its name in ASCII lower case. If several columns have the
  /// same name, it is the index of the first one.
  private let positions: [String: Int]

  init(_ names: [String]) {
    self.names = names
    positions = Dictionary(
      names.enumerated().map { (asciiLowercased($0.element), $0.offset) },
      uniquingKeysWith: { first, _ in first })
  }

  package var count: Int { names.count }

  /// Returns the position of the first column with a name, or nil if there is none. Like SQLite, it
  /// ignores the case of ASCII letters only.
  package func position(of name: String) -> Int? {
    let wanted = asciiLowercased(name)
    guard let position = positions[wanted] else { return nil }
    if sameBytes(asciiLowercased(names[position]), wanted) { return position }
    // An earlier column has a canonically equivalent name with other bytes.
    return names.firstIndex { sameBytes(asciiLowercased($0), wanted) }
  }
}

/// A value as SQLite stores it: one case for each storage class.
///
/// Reals compare by IEEE rules in `==`, as in SQLite; text compares by its UTF-8 bytes, so that two
/// canonically equivalent spellings of one character are different values, as they are in a table.
public enum Value: Sendable {
  /// SQL NULL.
  case null
  /// A 64-bit signed integer.
  case integer(Int64)
  /// An IEEE 754 double.
  case real(Double)
  /// Text, kept with any NUL characters in it.
  case text(String)
  /// Bytes. An empty blob is not NULL.
  case blob([UInt8])
}

extension Value: Hashable {
  /// Returns whether both have the same storage class and the same content, text byte for byte.
  public static func == (left: Value, right: Value) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.integer(let left), .integer(let right)): left == right
    case (.real(let left), .real(let right)): left == right
    case (.text(let left), .text(let right)): sameBytes(left, right)
    case (.blob(let left), .blob(let right)): left == right
    default: false
    }
  }

  /// Feeds the storage class and the content to `hasher`.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null:
      hasher.combine(0)
    case .integer(let integer):
      hasher.combine(1)
      hasher.combine(integer)
    case .real(let real):
      hasher.combine(2)
      hasher.combine(real)
    case .text(let text):
      hasher.combine(3)
      for byte in text.utf8 { hasher.combine(byte) }
    case .blob(let bytes):
      hasher.combine(4)
      hasher.combine(bytes)
    }
  }
}

extension Value {
  /// SQLite's name of the storage class: `NULL`, `INTEGER`, `REAL`, `TEXT` or `BLOB`.
  public var storageClass: String {
    switch self {
    case .null: "NULL"
    case .integer: "INTEGER"
    case .real: "REAL"
    case .text: "TEXT"
    case .blob: "BLOB"
    }
  }

  /// Whether this is SQL NULL.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }
}

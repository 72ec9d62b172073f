/// A value in the form in which SQLite stores it, with one case for each storage class.
///
/// `==` compares reals by IEEE rules, like SQLite. It compares texts by their UTF-8 bytes: two
/// canonically equivalent spellings of a character are different values, both in Swift and in a
/// table.
public enum Value: Sendable {
  /// The SQL value NULL.
  case null
  /// A 64-bit signed integer.
  case integer(Int64)
  /// An IEEE 754 double.
  case real(Double)
  /// A text, which may contain NUL characters.
  case text(String)
  /// An array of bytes. An empty blob is not NULL.
  case blob([UInt8])
}

extension Value: Hashable {
  /// Returns whether two values have the same storage class and the same content. Texts are
  /// compared byte by byte.
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

  /// Hashes the storage class and the content.
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
  /// SQLite's name for the storage class: `NULL`, `INTEGER`, `REAL`, `TEXT` or `BLOB`.
  public var storageClass: String {
    switch self {
    case .null: "NULL"
    case .integer: "INTEGER"
    case .real: "REAL"
    case .text: "TEXT"
    case .blob: "BLOB"
    }
  }

  /// A Boolean value that indicates whether the value is NULL.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }
}

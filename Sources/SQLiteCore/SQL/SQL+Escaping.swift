import ExactText

extension SQL {
  /// A value as SQL text, for people who write SQL by hand.
  ///
  /// Interpolating the value binds it, which is faster and safer. Reals have 17 digits; SQLite
  /// before 3.43 may read such a number one bit off.
  ///
  /// - Parameter value: Any value that can be bound.
  /// - Returns: A literal, such as `'O''Hara'`, `x'00ff'` or `NULL`; a text with a NUL becomes a
  ///   cast, since SQL text cannot hold one.
  /// - Throws: ``SQLiteError`` if the value cannot be stored.
  public static func escapeValue(_ value: (any Bindable)?) throws(SQLiteError) -> String {
    switch try value?.databaseValue ?? .null {
    case .null: return "NULL"
    // In parentheses, since two minus signs in a row begin a comment.
    case .integer(let integer): return integer < 0 ? "(\(integer))" : "\(integer)"
    case .real(let real) where real.isInfinite: return real < 0 ? "(-9e999)" : "9e999"
    case .real(let real): return real.sign == .minus ? "(\(real))" : "\(real)"
    case .text(let text) where text.utf8.contains(0):
      return "CAST(\(hexadecimal(Array(text.utf8))) AS TEXT)"
    case .text(let text): return quoted(text, by: UInt8(ascii: "'"))
    case .blob(let bytes): return hexadecimal(bytes)
    }
  }

  /// A name in double quotes, with those in it doubled.
  ///
  /// - Parameter name: The name of a table, a column or another thing of the schema.
  /// - Throws: ``SQLiteError`` if `name` is empty or holds a NUL.
  public static func escapeIdentifier(_ name: String) throws(SQLiteError) -> String {
    try quotedIdentifier(name)
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    "x'\(Hex.lowercaseText(of: bytes))'"
  }
}

/// `text` between quotes, with those in it doubled.
///
/// By bytes: a quote followed by a combining mark is one Character, but still ends the text.
func quoted(_ text: String, by quote: UInt8) -> String {
  var quoted: [UInt8] = [quote]
  for byte in text.utf8 {
    if byte == quote { quoted.append(byte) }
    quoted.append(byte)
  }
  quoted.append(quote)
  return String(decoding: quoted, as: UTF8.self)
}

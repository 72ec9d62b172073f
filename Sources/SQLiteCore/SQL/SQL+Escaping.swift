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
    case .text(let text) where containsNUL(text):
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

  /// Replaces each `i?` by a quoted identifier, and returns the values for the other `?`.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/range`` if an identifier is missing, or
  ///   ``ResultCode/mismatch`` if it is not text.
  static func substituteIdentifiers(
    in sql: String, arguments: [(any Bindable)?]
  ) throws(SQLiteError) -> (sql: String, arguments: [(any Bindable)?]) {
    var scanner = SQLScanner(sql)
    var result: [UInt8] = []
    var copied = 0
    var used = 0
    var remaining: [(any Bindable)?] = []
    while let (token, range) = scanner.next() {
      guard token == .parameter || token == .identifierParameter else { continue }
      guard used < arguments.count else {
        throw SQLiteError(.range, "more parameters than the \(used) arguments", sql: sql)
      }
      defer { used += 1 }
      guard token == .identifierParameter else {
        remaining.append(arguments[used])
        continue
      }
      guard case .text(let name)? = try arguments[used]?.databaseValue else {
        throw SQLiteError(
          .mismatch, "argument \(used + 1) names an identifier, so it must be text", sql: sql)
      }
      result += scanner.bytes[copied..<range.lowerBound]
      result += try quotedIdentifier(name).utf8
      copied = range.upperBound
    }
    guard copied > 0 else { return (sql, arguments) }
    result += scanner.bytes[copied...]
    remaining += arguments[used...]
    return (String(decoding: result, as: UTF8.self), remaining)
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    "x'\(Hex.lowercaseText(of: bytes))'"
  }
}

/// `text` between quotes, with those in it doubled.
///
/// By bytes: a quote followed by a combining mark is one Character, but still ends the text.
@inline(never)
func quoted(_ text: String, by quote: UInt8) -> String {
  var quoted: [UInt8] = [quote]
  for byte in text.utf8 {
    if byte == quote { quoted.append(byte) }
    quoted.append(byte)
  }
  quoted.append(quote)
  return String(decoding: quoted, as: UTF8.self)
}

/// `name` in double quotes, with those in it doubled.
///
/// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if `name` is empty or holds a NUL, which
///   would end the SQL there.
@inline(never)
package func quotedIdentifier(_ name: String) throws(SQLiteError) -> String {
  guard !name.isEmpty, !containsNUL(name) else {
    throw SQLiteError(.misuse, "an identifier is empty or contains a NUL character")
  }
  return quoted(name, by: UInt8(ascii: "\""))
}

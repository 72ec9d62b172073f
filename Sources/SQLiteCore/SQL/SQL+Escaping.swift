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

  /// Returns the statement with values for its `?`, and with quoted identifiers for its `i?`.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/range`` if an identifier is missing, or
  ///   ``ResultCode/mismatch`` if it is not text.
  func withArgs(_ arguments: [(any Bindable)?]) throws(SQLiteError) -> SQL {
    try checkHasNoValues()
    var values: [Value] = []
    for argument in arguments { values.append(try argument?.databaseValue ?? .null) }
    let sql = text
    guard containsBytes(sql, "i?") else { return SQL(sql, values) }
    var scanner = SQLScanner(sql)
    var result: [UInt8] = []
    var copied = 0
    var used = 0
    var remaining: [Value] = []
    while let (token, range) = scanner.next() {
      guard token == .parameter || token == .identifierParameter else { continue }
      guard used < values.count else {
        throw SQLiteError(.range, "more parameters than the \(used) arguments", sql: sql)
      }
      defer { used += 1 }
      guard token == .identifierParameter else {
        remaining.append(values[used])
        continue
      }
      guard case .text(let name) = values[used] else {
        throw SQLiteError(
          .mismatch, "argument \(used + 1) names an identifier, so it must be text", sql: sql)
      }
      result += scanner.bytes[copied..<range.lowerBound]
      result += try quotedIdentifier(name).utf8
      copied = range.upperBound
    }
    result += scanner.bytes[copied...]
    return SQL(String(decoding: result, as: UTF8.self), remaining + values[used...])
  }

  /// Throws unless the values of all parameters come by other ways.
  func checkHasNoValues() throws(SQLiteError) {
    if let failure { throw failure.with(sql: text) }
    guard pieces.isEmpty else {
      throw SQLiteError(
        .misuse, "values come by interpolation or by withArgs, not by both", sql: text)
    }
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
  var quoted: [UInt8] = []
  quoted.reserveCapacity(text.utf8.count + 2)
  quoted.append(quote)
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

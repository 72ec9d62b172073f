import ExactText

extension SQL {
  /// Returns a value as an SQL literal, for code that composes SQL text itself.
  ///
  /// Prefer interpolating the value, which binds it to a parameter. This is faster and safer. Reals
  /// have up to 17 significant digits; SQLite before 3.43 may read the last bit of such a number
  /// incorrectly.
  ///
  /// - Parameter value: A value that can be bound, or nil for NULL.
  /// - Returns: A literal, such as `'O''Hara'`, `x'00ff'` or `NULL`. A text that contains NUL
  ///   characters becomes a CAST of a blob, because SQL text can't contain them.
  /// - Throws: ``SQLiteError`` with ``ResultCode/mismatch`` or ``ResultCode/range`` if SQLite can't
  ///   store the value exactly, for example because it is NaN.
  public static func escapeValue(_ value: (any Bindable)?) throws(SQLiteError) -> String {
    switch try value?.databaseValue ?? .null {
    case .null: return "NULL"
    // In parentheses, because two successive minus signs begin a comment.
    case .integer(let integer): return integer < 0 ? "(\(integer))" : "\(integer)"
    case .real(let real) where real.isInfinite: return real < 0 ? "(-9e999)" : "9e999"
    case .real(let real): return real.sign == .minus ? "(\(real))" : "\(real)"
    case .text(let text) where containsNUL(text):
      return "CAST(\(hexadecimal(Array(text.utf8))) AS TEXT)"
    case .text(let text): return quoted(text, by: UInt8(ascii: "'"))
    case .blob(let bytes): return hexadecimal(bytes)
    }
  }

  /// Returns a name as a quoted identifier: in double quotes, with embedded double quotes doubled.
  ///
  /// - Parameter name: The name of a table, a column or another element of the schema.
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if `name` is empty or contains a NUL
  ///   character.
  public static func escapeIdentifier(_ name: String) throws(SQLiteError) -> String {
    try quotedIdentifier(name)
  }

  /// Returns the statement with `arguments` as the values of its parameters. An argument for an
  /// `i?` replaces it as a quoted identifier.
  ///
  /// The number of arguments is checked only if the text contains an `i?`; otherwise it is checked
  /// when the statement runs.
  ///
  /// - Throws: ``SQLiteError``, with ``ResultCode/range`` if an `i?` occurs and there are fewer
  ///   arguments than parameters, ``ResultCode/mismatch`` if the argument for an `i?` isn't text,
  ///   or ``ResultCode/misuse`` if the statement has interpolated values; the error of an argument
  ///   that SQLite can't store.
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
        throw SQLiteError(
          .range, "the SQL has more parameters than the \(used) arguments", sql: sql)
      }
      defer { used += 1 }
      guard token == .identifierParameter else {
        remaining.append(values[used])
        continue
      }
      guard case .text(let name) = values[used] else {
        throw SQLiteError(
          .mismatch, "argument \(used + 1) is used as an identifier, so it must be text", sql: sql)
      }
      result += scanner.bytes[copied..<range.lowerBound]
      result += try quotedIdentifier(name).utf8
      copied = range.upperBound
    }
    result += scanner.bytes[copied...]
    return SQL(String(decoding: result, as: UTF8.self), remaining + values[used...])
  }

  /// Throws if the SQL has interpolated values, because a statement gets its values either by
  /// interpolation or from arguments, not both. Also throws the error of an interpolated value that
  /// can't be bound.
  func checkHasNoValues() throws(SQLiteError) {
    if let failure { throw failure.with(sql: text) }
    guard pieces.isEmpty else {
      throw SQLiteError(
        .misuse, "pass values either by interpolation or as withArgs, not both", sql: text)
    }
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    "x'\(Hex.lowercaseText(of: bytes))'"
  }
}

/// Returns `text` in quotes, with embedded quotes doubled.
///
/// Compares bytes, because a quote that is followed by a combining mark is a different `Character`,
/// but still ends the text in SQL.
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

/// Returns `name` in double quotes, with embedded double quotes doubled.
///
/// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if `name` is empty or contains a NUL
///   character, at which SQLite would stop reading the SQL.
@inline(never)
package func quotedIdentifier(_ name: String) throws(SQLiteError) -> String {
  guard !name.isEmpty, !containsNUL(name) else {
    throw SQLiteError(.misuse, "an identifier is empty or contains a NUL character")
  }
  return quoted(name, by: UInt8(ascii: "\""))
}

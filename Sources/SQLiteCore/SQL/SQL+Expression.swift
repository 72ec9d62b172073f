extension SQL {
  /// Throws unless the pieces, joined by operands, form a single SQL expression: all quotes,
  /// comments and parentheses are closed, there is no semicolon, and the only parameters are those
  /// of interpolated values.
  package static func checkExpression(_ pieces: [SQL]) throws(SQLiteError) {
    let sql = pieces.map(\.text).joined(separator: " ? ")
    let parameterCount = pieces.reduce(pieces.count - 1) { $0 + $1.pieces.count }
    func fault(_ message: String) -> SQLiteError {
      SQLiteError(.misuse, "the SQL is not a complete expression: \(message)", sql: sql)
    }
    // If all quotes and comments are closed, the last token is the appended semicolon.
    var scanner = SQLScanner("\(sql)\n;")
    var (depth, found, isAtEnd) = (0, 0, false)
    while let (token, range) = scanner.next() {
      if isAtEnd { throw fault("it contains a semicolon") }
      switch (scanner.bytes[range.lowerBound], range.count) {
      case _ where token == .parameter: found += 1
      case (UInt8(ascii: "("), 1): depth += 1
      case (UInt8(ascii: ")"), 1): depth -= 1
      case (UInt8(ascii: ";"), 1): isAtEnd = true
      case (UInt8(ascii: "?"), _), (UInt8(ascii: ":"), _), (UInt8(ascii: "@"), _),
        (UInt8(ascii: "$"), _):
        throw fault("it contains a parameter; interpolate the value instead")
      default: break
      }
      if depth < 0 { throw fault("a closing parenthesis has no opening one") }
    }
    if !isAtEnd { throw fault("a quote or a comment is not closed") }
    if depth > 0 { throw fault("a parenthesis is not closed") }
    guard found == parameterCount else {
      throw fault("a value or column is interpolated inside quotes or a comment")
    }
  }
}

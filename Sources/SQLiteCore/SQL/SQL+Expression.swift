extension SQL {
  /// Throws unless the pieces, with an operand between each two of them, form a single SQL
  /// expression: all quotes, comments and parentheses are closed, it contains no semicolon, and
  /// each parameter has a value.
  package static func checkExpression(_ pieces: [SQL]) throws(SQLiteError) {
    let sql = pieces.map(\.text).joined(separator: " ? ")
    let parameterCount = pieces.reduce(pieces.count - 1) { $0 + $1.pieces.count }
    func fault(_ message: String) -> SQLiteError {
      SQLiteError(.misuse, "this is no SQL expression by itself: \(message)", sql: sql)
    }
    // If all quotes and comments are closed, the last token is the appended semicolon.
    var scanner = SQLScanner("\(sql)\n;")
    var (depth, found, isAtEnd) = (0, 0, false)
    while let (token, range) = scanner.next() {
      if isAtEnd { throw fault("a semicolon ends a statement") }
      switch (scanner.bytes[range.lowerBound], range.count) {
      case _ where token == .parameter: found += 1
      case (UInt8(ascii: "("), 1): depth += 1
      case (UInt8(ascii: ")"), 1): depth -= 1
      case (UInt8(ascii: ";"), 1): isAtEnd = true
      case (UInt8(ascii: "?"), _), (UInt8(ascii: ":"), _), (UInt8(ascii: "@"), _),
        (UInt8(ascii: "$"), _):
        throw fault("a value is interpolated, and not bound to a parameter with a name")
      default: break
      }
      if depth < 0 { throw fault("a parenthesis is closed that was not opened") }
    }
    if !isAtEnd { throw fault("a quote or a comment has no end") }
    if depth > 0 { throw fault("a parenthesis is not closed") }
    guard found == parameterCount else {
      throw fault("values and columns are interpolated, and not within quotes or comments")
    }
  }
}

import SQLLexer

extension Parser {
  /// Parses a name where the grammar allows only a name (`nm` in SQLite's grammar).
  mutating func parseName() throws(ParsingFailure) -> SQLName {
    guard token.code.isName else { try throwSyntaxError() }
    let name = takeName()
    try advance()
    return name
  }

  /// Parses a name or a string, but not a join keyword (`ids` in SQLite's grammar).
  mutating func parseIdentifierOrText() throws(ParsingFailure) -> SQLName {
    guard token.code.isIdentifierOrText else { try throwSyntaxError() }
    let name = takeName()
    try advance()
    return name
  }

  /// Parses `name` or `schema.name`.
  mutating func parseQualifiedName() throws(ParsingFailure) -> SQLQualifiedName {
    let name = try parseName()
    guard try take(.dot) else { return SQLQualifiedName(name) }
    return SQLQualifiedName(schema: name, try parseName())
  }

  /// Parses one or more names that are separated by commas (`idlist` in SQLite's grammar).
  mutating func parseNames() throws(ParsingFailure) -> [SQLName] {
    var names: [SQLName] = []
    repeat { names.append(try parseName()) } while try take(.comma)
    return names
  }

  /// Parses names in parentheses (`idlist_opt` in SQLite's grammar). Returns an empty array if
  /// there is no opening parenthesis.
  mutating func parseNamesInParentheses() throws(ParsingFailure) -> [SQLName] {
    guard try take(.leftParenthesis) else { return [] }
    let names = try parseNames()
    try expect(.rightParenthesis)
    return names
  }

  /// Parses column names in parentheses (`eidlist_opt` in SQLite's grammar). Returns an empty array
  /// if there is no opening parenthesis.
  mutating func parseColumnNamesInParentheses() throws(ParsingFailure) -> [SQLName] {
    guard token.code == .leftParenthesis else { return [] }
    return try parseColumnNames()
  }

  /// Parses column names in parentheses.
  ///
  /// The grammar accepts COLLATE, ASC and DESC after a name, because old versions of SQLite wrote
  /// them into schemas. In a new statement, they are an error.
  mutating func parseColumnNames() throws(ParsingFailure) -> [SQLName] {
    try expect(.leftParenthesis)
    var names: [SQLName] = []
    repeat {
      let range = token.range
      let name = try parseName()
      var isPlain = true
      if try take(.collate) {
        _ = try parseIdentifierOrText()
        isPlain = false
      }
      if token.code == .asc || token.code == .desc {
        try advance()
        isPlain = false
      }
      if !isPlain, !grammar.readsStoredSchema {
        recordError("syntax error after column name \"\(tokens.text(range))\"", range)
      }
      names.append(name)
    } while try take(.comma)
    try expect(.rightParenthesis)
    return names
  }

  /// Parses the words and numbers of a type (`typetoken` in SQLite's grammar), or returns nil if
  /// there are none.
  mutating func parseTypeName() throws(ParsingFailure) -> SQLTypeName? {
    guard token.code.isIdentifierOrText else { return nil }
    let start = start
    repeat { try advance() } while token.code.isIdentifierOrText
    if try take(.leftParenthesis) {
      try skipSignedNumber()
      if try take(.comma) { try skipSignedNumber() }
      try expect(.rightParenthesis)
    }
    let range = start..<previousEnd
    return SQLTypeName(tokens.text(range), span: SQLSpan(range))
  }

  private mutating func skipSignedNumber() throws(ParsingFailure) {
    if token.code == .plus || token.code == .minus { try advance() }
    guard token.code == .integer || token.code == .real else { try throwSyntaxError() }
    try advance()
  }

  /// Parses `AS name`, or a name without AS. Returns nil if there is neither.
  mutating func parseAlias() throws(ParsingFailure) -> SQLName? {
    if try take(.as) { return try parseName() }
    guard token.code.isIdentifierOrText else { return nil }
    return try parseIdentifierOrText()
  }
}

extension TokenCode {
  /// Whether the token is a name where the grammar allows only a name.
  var isName: Bool {
    isIdentifier || self == .string || isJoinWord || self == .indexed
  }

  /// Whether the token is a name or a string, but not a join keyword.
  @inline(__always)
  var isIdentifierOrText: Bool { isIdentifier || self == .string }
}

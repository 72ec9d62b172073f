import SQLLexer

extension Parser {
  /// Reads a name where nothing but a name may stand: `nm` in SQLite's grammar.
  mutating func parseName() throws(Refusal) -> SQLName {
    guard token.code.isName else { try refuse() }
    let name = takeName()
    try advance()
    return name
  }

  /// Reads a name or a text, but no word of a join: `ids` in SQLite's grammar.
  mutating func parseIdentifierOrText() throws(Refusal) -> SQLName {
    guard token.code.isIdentifierOrText else { try refuse() }
    let name = takeName()
    try advance()
    return name
  }

  /// Reads `name` or `schema.name`.
  mutating func parseQualifiedName() throws(Refusal) -> SQLQualifiedName {
    let name = try parseName()
    guard try take(.dot) else { return SQLQualifiedName(name) }
    return SQLQualifiedName(schema: name, try parseName())
  }

  /// Reads names with commas between them: `idlist`.
  mutating func parseNames() throws(Refusal) -> [SQLName] {
    var names: [SQLName] = []
    repeat { names.append(try parseName()) } while try take(.comma)
    return names
  }

  /// Reads names in parentheses, if a parenthesis stands here: `idlist_opt`.
  mutating func parseNamesInParentheses() throws(Refusal) -> [SQLName] {
    guard try take(.leftParenthesis) else { return [] }
    let names = try parseNames()
    try expect(.rightParenthesis)
    return names
  }

  /// Reads names in parentheses, if a parenthesis stands here: `eidlist_opt`.
  mutating func parseColumnNamesInParentheses() throws(Refusal) -> [SQLName] {
    guard token.code == .leftParenthesis else { return [] }
    return try parseColumnNames()
  }

  /// Reads names in parentheses. The grammar takes COLLATE, ASC and DESC behind them, as old
  /// versions of SQLite wrote them into schemas; a statement with them is refused.
  mutating func parseColumnNames() throws(Refusal) -> [SQLName] {
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
        object("syntax error after column name \"\(tokens.text(range))\"", range)
      }
      names.append(name)
    } while try take(.comma)
    try expect(.rightParenthesis)
    return names
  }

  /// Reads the words and numbers of a type, if there are any: `typetoken`.
  mutating func parseTypeName() throws(Refusal) -> SQLTypeName? {
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

  private mutating func skipSignedNumber() throws(Refusal) {
    if token.code == .plus || token.code == .minus { try advance() }
    guard token.code == .integer || token.code == .real else { try refuse() }
    try advance()
  }

  /// Reads `AS name`, or a name without AS.
  mutating func parseAlias() throws(Refusal) -> SQLName? {
    if try take(.as) { return try parseName() }
    guard token.code.isIdentifierOrText else { return nil }
    return try parseIdentifierOrText()
  }
}

extension TokenCode {
  /// A name where nothing but a name may stand.
  var isName: Bool {
    isIdentifier || self == .string || isJoinWord || self == .indexed
  }

  /// A name or a text, but no word of a join.
  @inline(__always)
  var isIdentifierOrText: Bool { isIdentifier || self == .string }
}

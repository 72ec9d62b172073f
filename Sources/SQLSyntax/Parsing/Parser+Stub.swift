struct Waiting {}
extension Parser {
  mutating func parseOnlyStatement() throws(Refusal) -> SQLStatement { try refuse() }
  mutating func parseNextStatement() throws(Refusal) -> SQLParsedStatement { try refuse() }
  mutating func parseOnlyExpression() throws(Refusal) -> SQLExpression { try refuse() }
}
extension SQLStatement {
  /// Prints the statement.
  public func printed(_ style: SQLStyle = .compact) -> String { "" }
}

/// How a tree is printed.
public enum SQLStyle: Hashable, Sendable {
  /// On one line.
  case compact
  /// One clause a line, queries in parentheses indented by two blanks.
  case indented
}

extension SQLStatement: CustomStringConvertible {
  /// Returns the statement as text, without a semicolon, with no more parentheses than it needs.
  ///
  /// Parentheses that were read stay, and so does the way names are quoted.
  ///
  /// - Complexity: O(n).
  public func printed(_ style: SQLStyle = .compact) -> String {
    Printer.text(style) { $0.statement(self) }
  }

  /// The statement on one line.
  public var description: String { printed() }
}

extension SQLExpression: CustomStringConvertible {
  /// Returns the expression as text.
  public func printed(_ style: SQLStyle = .compact) -> String {
    Printer.text(style) { $0.expression(self) }
  }

  /// The expression on one line.
  public var description: String { printed() }
}

extension SQLSelect: CustomStringConvertible {
  /// Returns the query as text.
  public func printed(_ style: SQLStyle = .compact) -> String {
    Printer.text(style) { $0.select(self) }
  }

  /// The query on one line.
  public var description: String { printed() }
}

extension SQLName: CustomStringConvertible {
  /// The name with its quotes.
  public var description: String { Printer.text(.compact) { $0.name(self) } }
}

extension SQLQualifiedName: CustomStringConvertible {
  /// The name with its schema and its quotes.
  public var description: String { Printer.text(.compact) { $0.name(self) } }
}

extension SQLColumnDefinition: CustomStringConvertible {
  /// The column as it stands in CREATE TABLE.
  public var description: String { Printer.text(.compact) { $0.column(self) } }
}

extension SQLColumnConstraint: CustomStringConvertible {
  /// The constraint as it stands in CREATE TABLE.
  public var description: String { Printer.text(.compact) { $0.columnConstraint(self) } }
}

extension SQLTableConstraint: CustomStringConvertible {
  /// The constraint as it stands in CREATE TABLE.
  public var description: String { Printer.text(.compact) { $0.tableConstraint(self) } }
}

/// The layout of printed SQL.
public enum SQLStyle: Hashable, Sendable {
  /// Prints everything on one line.
  case compact
  /// Prints each clause, and each column and constraint of CREATE TABLE, on its own line. Indents
  /// queries in parentheses, and the columns and constraints, by two spaces.
  case indented
}

extension SQLStatement: CustomStringConvertible {
  /// Returns the statement as SQL, without a semicolon.
  ///
  /// Parentheses of the original text are kept. Others are added only where they are necessary.
  /// Names keep their quotation marks. A name that would be invalid this way is printed in double
  /// quotes.
  ///
  /// - Parameter style: The layout of the text. By default, it is on one line.
  /// - Complexity: O(*n*) in the size of the statement.
  public func printed(_ style: SQLStyle = .compact) -> String {
    Printer.text(style) { $0.statement(self) }
  }

  /// The statement as SQL on one line.
  public var description: String { printed() }
}

extension SQLExpression: CustomStringConvertible {
  /// Returns the expression as SQL, with parentheses only where they are necessary or were in the
  /// original text.
  ///
  /// - Parameter style: The layout of the text. By default, it is on one line.
  public func printed(_ style: SQLStyle = .compact) -> String {
    Printer.text(style) { $0.expression(self) }
  }

  /// The expression as SQL on one line.
  public var description: String { printed() }
}

extension SQLSelect: CustomStringConvertible {
  /// Returns the query as SQL, without a semicolon.
  ///
  /// - Parameter style: The layout of the text. By default, it is on one line.
  public func printed(_ style: SQLStyle = .compact) -> String {
    Printer.text(style) { $0.select(self) }
  }

  /// The query as SQL on one line.
  public var description: String { printed() }
}

extension SQLName: CustomStringConvertible {
  /// The name as SQL, with its quotation marks.
  public var description: String { Printer.text(.compact) { $0.name(self) } }
}

extension SQLQualifiedName: CustomStringConvertible {
  /// The name as SQL, with its schema and quotation marks.
  public var description: String { Printer.text(.compact) { $0.name(self) } }
}

extension SQLColumnDefinition: CustomStringConvertible {
  /// The column definition as SQL on one line, as in a CREATE TABLE statement.
  public var description: String { Printer.text(.compact) { $0.column(self) } }
}

extension SQLColumnConstraint: CustomStringConvertible {
  /// The constraint as SQL on one line, as in a CREATE TABLE statement.
  public var description: String { Printer.text(.compact) { $0.columnConstraint(self) } }
}

extension SQLTableConstraint: CustomStringConvertible {
  /// The constraint as SQL on one line, as in a CREATE TABLE statement.
  public var description: String { Printer.text(.compact) { $0.tableConstraint(self) } }
}

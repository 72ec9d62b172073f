/// A part of a statement or expression that `forEachPart` and `rewrite` pass to their closure.
public enum SQLPart: Hashable, Sendable {
  /// An expression, either a whole one or an operand.
  case expression(SQLExpression)
  /// A query, either the statement itself or nested in it.
  case select(SQLSelect)
  /// A table or view that the statement queries, changes, indexes or references. The names in
  /// CREATE TABLE, CREATE VIRTUAL TABLE, CREATE VIEW, DROP, REINDEX and ANALYZE aren't passed.
  case table(SQLQualifiedName)
}

extension SQLStatement {
  /// Calls `body` with every part of the statement. Nested parts come before the part that contains
  /// them.
  ///
  ///     statement.forEachPart { part in
  ///       if case .table(let name) = part { print(name) }
  ///     }
  ///
  /// - Parameter body: A closure that receives each part.
  /// - Throws: Any error that `body` throws.
  /// - Complexity: O(*n*) in the size of the statement.
  public func forEachPart(_ body: (SQLPart) throws -> Void) rethrows {
    try withoutActuallyEscaping(body) { body in
      var walker = Walker(rewrites: false) { (part: inout SQLPart) throws in try body(part) }
      var statement = self
      try walker.statement(&statement)
    }
  }

  /// Calls `body` with every part of the statement, and replaces each part with the value that
  /// `body` assigns to it. Nested parts come before the part that contains them.
  ///
  ///     statement.rewrite { part in
  ///       if case .expression(let value) = part, case .parameter = value.node {
  ///         part = .expression(SQLExpression(.literal(.null)))
  ///       }
  ///     }
  ///
  /// A replacement with another case of ``SQLPart`` is ignored. Spans keep the positions in the
  /// original text.
  ///
  /// - Parameter body: A closure that receives each part and may replace it.
  /// - Throws: Any error that `body` throws. The statement is then unchanged.
  /// - Complexity: O(*n*) in the size of the statement.
  public mutating func rewrite(_ body: (inout SQLPart) throws -> Void) rethrows {
    var statement = self
    try withoutActuallyEscaping(body) { body in
      var walker = Walker(rewrites: true, body)
      try walker.statement(&statement)
    }
    self = statement
  }
}

extension SQLExpression {
  /// Calls `body` with every part of the expression. Nested parts come before the part that
  /// contains them, and the expression itself comes last.
  ///
  /// - Parameter body: A closure that receives each part.
  /// - Throws: Any error that `body` throws.
  public func forEachPart(_ body: (SQLPart) throws -> Void) rethrows {
    try withoutActuallyEscaping(body) { body in
      var walker = Walker(rewrites: false) { (part: inout SQLPart) throws in try body(part) }
      var expression = self
      try walker.expression(&expression)
    }
  }

  /// Calls `body` with every part of the expression, and replaces each part with the value that
  /// `body` assigns to it. Nested parts come before the part that contains them, and the expression
  /// itself comes last.
  ///
  /// A replacement with another case of ``SQLPart`` is ignored.
  ///
  /// - Parameter body: A closure that receives each part and may replace it.
  /// - Throws: Any error that `body` throws. The expression is then unchanged.
  public mutating func rewrite(_ body: (inout SQLPart) throws -> Void) rethrows {
    var expression = self
    try withoutActuallyEscaping(body) { body in
      var walker = Walker(rewrites: true, body)
      try walker.expression(&expression)
    }
    self = expression
  }
}

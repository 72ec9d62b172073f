/// A part of a statement, as walking and rewriting tell it.
public enum SQLPart: Hashable, Sendable {
  /// An expression.
  case expression(SQLExpression)
  /// A query, as a statement or in one.
  case select(SQLSelect)
  /// A table that is read, written or referred to.
  case table(SQLQualifiedName)
}

extension SQLStatement {
  /// Tells every part: those inside another one before it.
  ///
  ///     try statement.forEachPart { part in
  ///       if case .table(let name) = part { print(name) }
  ///     }
  ///
  /// - Complexity: O(n).
  public func forEachPart(_ body: (SQLPart) throws -> Void) rethrows {
    try withoutActuallyEscaping(body) { body in
      var walker = Walker(rewrites: false) { (part: inout SQLPart) throws in try body(part) }
      var statement = self
      try walker.statement(&statement)
    }
  }

  /// Lets `body` change every part: those inside another one before it.
  ///
  ///     statement.rewrite { part in
  ///       if case .expression(let value) = part, case .parameter = value.node {
  ///         part = .expression(SQLExpression(.literal(.null)))
  ///       }
  ///     }
  ///
  /// A part that becomes one of another kind is left as it was. Spans stay those of the old text.
  ///
  /// - Complexity: O(n).
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
  /// Tells the parts of the expression and then the expression.
  public func forEachPart(_ body: (SQLPart) throws -> Void) rethrows {
    try withoutActuallyEscaping(body) { body in
      var walker = Walker(rewrites: false) { (part: inout SQLPart) throws in try body(part) }
      var expression = self
      try walker.expression(&expression)
    }
  }

  /// Lets `body` change the parts of the expression and then the expression.
  public mutating func rewrite(_ body: (inout SQLPart) throws -> Void) rethrows {
    var expression = self
    try withoutActuallyEscaping(body) { body in
      var walker = Walker(rewrites: true, body)
      try walker.expression(&expression)
    }
    self = expression
  }
}

/// An expression: a value, a column, an operator with its operands, a call, or a query that is used
/// as a value.
///
///     let sum = try SQLExpression(parsing: "a + 2 * b")
///     if case .binary(_, let operation, _) = sum.node { print(operation) }  // add
public struct SQLExpression: Hashable, Sendable {
  /// The kind of the expression, with its operands.
  public var node: Node
  /// The range of the expression in the source text.
  public var span: SQLSpan

  /// Creates an expression from a node. By default, it has no source range.
  public init(_ node: Node, span: SQLSpan = .none) {
    self.node = node
    self.span = span
  }

  /// The kinds of expressions, with their operands.
  public indirect enum Node: Sendable {
    /// A number, a string, a blob, NULL or the current time.
    case literal(SQLLiteral)
    /// A parameter, including its prefix: `?`, `?1`, `:name`, `@name`, `$name`.
    case parameter(String)
    /// An unqualified name. It is a column, or a string if the name is in double quotes and there
    /// is no column of this name.
    case column(SQLName)
    /// A qualified column, such as `note.title` or `main.note.title`.
    case qualifiedColumn(schema: SQLName?, table: SQLName, column: SQLName)
    /// A prefix operator with its operand.
    case unary(SQLUnaryOperator, SQLExpression)
    /// A binary operator between its operands.
    case binary(SQLExpression, SQLBinaryOperator, SQLExpression)
    /// A pattern match with LIKE, GLOB, REGEXP or MATCH.
    case like(SQLExpression, SQLLike)
    /// A range test, `value BETWEEN low AND high`.
    case between(SQLExpression, isNegated: Bool, low: SQLExpression, high: SQLExpression)
    /// A membership test, `value IN (…)`.
    case `in`(SQLExpression, isNegated: Bool, SQLInSet)
    /// `value ISNULL`. The form `value IS NULL` is ``SQLBinaryOperator/is`` with NULL.
    case isNull(SQLExpression)
    /// `value NOTNULL` in one word, or `value NOT NULL`.
    case notNull(SQLExpression, isOneWord: Bool)
    /// `value COLLATE a COLLATE b`, with the collations in the order in which they are written.
    case collate(SQLExpression, [SQLName])
    /// `CAST(value AS type)`. The type can be empty.
    case cast(SQLExpression, SQLTypeName)
    /// A CASE expression, `CASE base WHEN … THEN … ELSE … END`.
    case `case`(SQLCase)
    /// A call of a scalar, aggregate or window function, such as `count(*)`.
    case call(SQLFunctionCall)
    /// `EXISTS (SELECT …)`, which tests whether a query returns rows.
    case exists(SQLSelect)
    /// `(SELECT …)`, used as a value or a row.
    case subquery(SQLSelect)
    /// `(a, b)`, a row of two or more values.
    case row([SQLExpression])
    /// `(a)`. The parentheses don't change the value, but SQLite includes them in the name of a
    /// result column without an alias.
    case parenthesized(SQLExpression)
    /// `RAISE(…)`, which is allowed only in triggers.
    case raise(SQLRaise)
  }
}

/// A value that is written in the SQL text, NULL, or the current date or time.
public enum SQLLiteral: Hashable, Sendable {
  /// The value NULL.
  case null
  /// An integer in its original notation: `17`, `0x1F`, `1_000`.
  case integer(String)
  /// A floating-point number in its original notation: `1.5`, `.5e3`.
  case real(String)
  /// A string without the quotes around it. Quotes that are doubled in the SQL text occur only
  /// once.
  case string(String)
  /// A blob, as the hexadecimal digits between the quotes of `x'53'`.
  case blob(String)
  /// The current time in UTC, CURRENT_TIME.
  case currentTime
  /// The current date in UTC, CURRENT_DATE.
  case currentDate
  /// The current date and time in UTC, CURRENT_TIMESTAMP.
  case currentTimestamp
}

/// A prefix operator.
public enum SQLUnaryOperator: UInt8, Hashable, Sendable, CaseIterable {
  /// Negative sign, `-`.
  case minus
  /// Positive sign, `+`.
  case plus
  /// Bitwise negation, `~`.
  case bitNot
  /// Logical negation, `NOT`.
  case not
}

/// An operator between two operands.
public enum SQLBinaryOperator: UInt8, Hashable, Sendable, CaseIterable {
  /// Logical OR.
  case or
  /// Logical AND.
  case and
  /// Equality, `=` or `==`.
  case equal
  /// Inequality, `<>` or `!=`.
  case notEqual
  /// `IS`, an equality test that treats two NULLs as equal.
  case `is`
  /// `IS NOT`, an inequality test that treats two NULLs as equal.
  case isNot
  /// `IS DISTINCT FROM`, which means the same as `IS NOT`.
  case isDistinctFrom
  /// `IS NOT DISTINCT FROM`, which means the same as `IS`.
  case isNotDistinctFrom
  /// Less than, `<`.
  case less
  /// Less than or equal, `<=`.
  case lessOrEqual
  /// Greater than, `>`.
  case greater
  /// Greater than or equal, `>=`.
  case greaterOrEqual
  /// Bitwise AND, `&`.
  case bitAnd
  /// Bitwise OR, `|`.
  case bitOr
  /// Shift to the left, `<<`.
  case shiftLeft
  /// Shift to the right, `>>`.
  case shiftRight
  /// Addition, `+`.
  case add
  /// Subtraction, `-`.
  case subtract
  /// Multiplication, `*`.
  case multiply
  /// Division, `/`.
  case divide
  /// Remainder of a division, `%`.
  case remainder
  /// Concatenation of text, `||`.
  case concatenate
  /// Extraction of a part of JSON as JSON, `->`.
  case extract
  /// Extraction of a part of JSON as an SQL value, `->>`.
  case extractText
}

/// The operator, pattern and escape character of a match such as `value NOT LIKE pattern ESCAPE
/// escape`.
public struct SQLLike: Hashable, Sendable {
  /// The operators that match a pattern.
  public enum Operator: String, Hashable, Sendable, CaseIterable {
    /// LIKE, with the wildcards `%` and `_`. By default, ASCII letters match in either case.
    case like = "LIKE"
    /// GLOB, with the wildcards `*`, `?` and `[…]`. It is case-sensitive.
    case glob = "GLOB"
    /// REGEXP, which calls the function `regexp`. SQLite doesn't define this function.
    case regexp = "REGEXP"
    /// MATCH, which searches a virtual table such as a full-text index, or calls the function
    /// `match`.
    case match = "MATCH"
  }

  /// The operator that matches the pattern.
  public var `operator`: Operator
  /// A Boolean value that indicates whether NOT precedes the operator.
  public var isNegated: Bool
  /// The pattern after the operator.
  public var pattern: SQLExpression
  /// The escape character after ESCAPE; nil if there is none.
  public var escape: SQLExpression?

  /// Creates a match with a pattern. The default operator is LIKE.
  public init(
    _ operator: Operator = .like, isNegated: Bool = false, pattern: SQLExpression,
    escape: SQLExpression? = nil
  ) {
    self.operator = `operator`
    self.isNegated = isNegated
    self.pattern = pattern
    self.escape = escape
  }
}

/// The right operand of IN: the set in which IN looks up a value.
public enum SQLInSet: Hashable, Sendable {
  /// A list such as `(1, 2)`, which can be empty.
  case list([SQLExpression])
  /// The rows of `(SELECT …)`.
  case select(SQLSelect)
  /// The rows of a table or view: `IN name`.
  case table(SQLQualifiedName)
  /// The rows of a table-valued function: `IN name(arguments)`.
  case function(SQLQualifiedName, [SQLExpression])
}

/// A CASE expression: `CASE base WHEN condition THEN result … ELSE otherwise END`.
public struct SQLCase: Hashable, Sendable {
  /// The value to compare with the conditions, or nil if each condition is a Boolean expression.
  public var base: SQLExpression?
  /// The WHEN branches. There is at least one.
  public var branches: [Branch]
  /// The result after ELSE; nil if there is no ELSE, so that the result is NULL.
  public var otherwise: SQLExpression?

  /// Creates a CASE expression from its branches. At least one branch is required.
  public init(
    _ base: SQLExpression? = nil, branches: [Branch], otherwise: SQLExpression? = nil
  ) {
    self.base = base
    self.branches = branches
    self.otherwise = otherwise
  }

  /// A branch of a CASE expression: `WHEN condition THEN result`.
  public struct Branch: Hashable, Sendable {
    /// The condition after WHEN. If the CASE expression has a base, this is the value to compare
    /// with the base.
    public var condition: SQLExpression
    /// The result after THEN.
    public var result: SQLExpression

    /// Creates the branch `WHEN condition THEN result`.
    public init(when condition: SQLExpression, then result: SQLExpression) {
      self.condition = condition
      self.result = result
    }
  }
}

/// A call of a scalar, aggregate or window function.
public struct SQLFunctionCall: Hashable, Sendable {
  /// The name of the function to call.
  public var name: SQLName
  /// The keyword DISTINCT or ALL before the arguments; nil if there is none.
  public var quantifier: SQLQuantifier?
  /// The arguments, or nil for the star in `count(*)`.
  public var arguments: [SQLExpression]?
  /// The terms of ORDER BY after the arguments, which requires SQLite 3.44; empty if there is none.
  public var orderBy: [SQLOrderTerm]
  /// The expression of `WITHIN GROUP (ORDER BY …)`, which requires SQLite 3.47 and a build with
  /// ENABLE_ORDERED_SET_AGGREGATES; nil if there is none.
  public var withinGroup: SQLExpression?
  /// The condition of `FILTER (WHERE …)`; nil if there is none.
  public var filter: SQLExpression?
  /// The window after OVER; nil if the function isn't called as a window function.
  public var over: SQLOver?

  /// Creates a call of the function `name`. If `arguments` is nil, the argument is a star.
  public init(
    _ name: SQLName, quantifier: SQLQuantifier? = nil, _ arguments: [SQLExpression]? = [],
    orderBy: [SQLOrderTerm] = [], withinGroup: SQLExpression? = nil,
    filter: SQLExpression? = nil, over: SQLOver? = nil
  ) {
    self.name = name
    self.quantifier = quantifier
    self.arguments = arguments
    self.orderBy = orderBy
    self.withinGroup = withinGroup
    self.filter = filter
    self.over = over
  }
}

/// The keyword DISTINCT or ALL before result columns or arguments.
public enum SQLQuantifier: String, Hashable, Sendable, CaseIterable {
  /// Removes duplicate rows from the result, or duplicate arguments of an aggregate function.
  case distinct = "DISTINCT"
  /// Retains duplicate rows or arguments. This is the default.
  case all = "ALL"
}

/// A call of RAISE, which stops a trigger with or without an error.
public struct SQLRaise: Hashable, Sendable {
  /// The effects of RAISE.
  public enum Action: String, Hashable, Sendable, CaseIterable {
    /// Ends the trigger without an error. The change of the row that fired it is skipped, unless
    /// SQLite has already made it.
    case ignore = "IGNORE"
    /// The statement fails with the message, and the transaction is rolled back.
    case rollback = "ROLLBACK"
    /// The statement fails with the message, and its changes are undone.
    case abort = "ABORT"
    /// The statement fails with the message, but the changes that it has already made remain.
    case fail = "FAIL"
  }

  /// The effect on the trigger, the statement and the transaction.
  public var action: Action
  /// The error message, or nil for IGNORE. Before SQLite 3.47, it must be a string or a name.
  public var message: SQLExpression?

  /// Creates a call of RAISE. Every action except IGNORE requires a message.
  public init(_ action: Action, message: SQLExpression? = nil) {
    self.action = action
    self.message = message
  }
}

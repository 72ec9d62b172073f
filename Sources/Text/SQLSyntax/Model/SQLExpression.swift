/// An expression: a value, a column, an operator with its operands, a call, a query as a value.
///
///     let sum = try SQLExpression(parsing: "a + 2 * b")
///     if case .binary(_, let operation, _) = sum.node { print(operation) }  // add
public struct SQLExpression: Hashable, Sendable {
  /// What the expression is.
  public var node: Node
  /// Where the expression was read.
  public var span: SQLSpan

  /// Makes the expression `node`.
  public init(_ node: Node, span: SQLSpan = .none) {
    self.node = node
    self.span = span
  }

  /// The kinds of expressions.
  public indirect enum Node: Sendable {
    /// A number, a text, a blob, NULL or the present time.
    case literal(SQLLiteral)
    /// A placeholder as it is written: `?`, `?1`, `:name`, `@name`, `$name`.
    case parameter(String)
    /// A name alone: a column, or a text if it is in double quotes and no column has the name.
    case column(SQLName)
    /// A column of a table, as in `note.title` or `main.note.title`.
    case qualifiedColumn(schema: SQLName?, table: SQLName, column: SQLName)
    /// An operator before its operand.
    case unary(SQLUnaryOperator, SQLExpression)
    /// An operator between two operands.
    case binary(SQLExpression, SQLBinaryOperator, SQLExpression)
    /// LIKE, GLOB, REGEXP or MATCH.
    case like(SQLExpression, SQLLike)
    /// `value BETWEEN low AND high`.
    case between(SQLExpression, isNegated: Bool, low: SQLExpression, high: SQLExpression)
    /// `value IN (…)`.
    case `in`(SQLExpression, isNegated: Bool, SQLInSet)
    /// `value ISNULL`. `value IS NULL` is ``SQLBinaryOperator/is`` with NULL.
    case isNull(SQLExpression)
    /// `value NOTNULL` or `value NOT NULL`.
    case notNull(SQLExpression, isOneWord: Bool)
    /// `value COLLATE a COLLATE b`: the collations in the order of the text.
    case collate(SQLExpression, [SQLName])
    /// `CAST(value AS type)`; without words the type is empty.
    case cast(SQLExpression, SQLTypeName)
    /// `CASE base WHEN … THEN … ELSE … END`.
    case `case`(SQLCase)
    /// A call of a function.
    case call(SQLFunctionCall)
    /// `EXISTS (SELECT …)`.
    case exists(SQLSelect)
    /// `(SELECT …)` as a value or a row.
    case subquery(SQLSelect)
    /// `(a, b)`: two values or more.
    case row([SQLExpression])
    /// `(a)`. SQLite evaluates the same without the parentheses; they count in a column's name.
    case parenthesized(SQLExpression)
    /// `RAISE(…)`, in triggers.
    case raise(SQLRaise)
  }
}

/// A value that is written out.
public enum SQLLiteral: Hashable, Sendable {
  /// NULL.
  case null
  /// An integer as it is written: `17`, `0x1F`, `1_000`.
  case integer(String)
  /// A floating-point number as it is written: `1.5`, `.5e3`.
  case real(String)
  /// A text, without its quotes.
  case string(String)
  /// The hexadecimal digits of a blob.
  case blob(String)
  /// CURRENT_TIME.
  case currentTime
  /// CURRENT_DATE.
  case currentDate
  /// CURRENT_TIMESTAMP.
  case currentTimestamp
}

/// An operator before its operand.
public enum SQLUnaryOperator: UInt8, Hashable, Sendable, CaseIterable {
  /// `-`
  case minus
  /// `+`
  case plus
  /// `~`
  case bitNot
  /// `NOT`
  case not
}

/// An operator between two operands.
public enum SQLBinaryOperator: UInt8, Hashable, Sendable, CaseIterable {
  /// `OR`
  case or
  /// `AND`
  case and
  /// `=`, also written `==`
  case equal
  /// `<>`, also written `!=`
  case notEqual
  /// `IS`
  case `is`
  /// `IS NOT`
  case isNot
  /// `IS DISTINCT FROM`
  case isDistinctFrom
  /// `IS NOT DISTINCT FROM`
  case isNotDistinctFrom
  /// `<`
  case less
  /// `<=`
  case lessOrEqual
  /// `>`
  case greater
  /// `>=`
  case greaterOrEqual
  /// `&`
  case bitAnd
  /// `|`
  case bitOr
  /// `<<`
  case shiftLeft
  /// `>>`
  case shiftRight
  /// `+`
  case add
  /// `-`
  case subtract
  /// `*`
  case multiply
  /// `/`
  case divide
  /// `%`
  case remainder
  /// `||`
  case concatenate
  /// `->`
  case extract
  /// `->>`
  case extractText
}

/// What stands behind the value in `value NOT LIKE pattern ESCAPE escape`.
public struct SQLLike: Hashable, Sendable {
  /// The operators that match a pattern.
  public enum Operator: String, Hashable, Sendable, CaseIterable {
    /// LIKE.
    case like = "LIKE"
    /// GLOB.
    case glob = "GLOB"
    /// REGEXP.
    case regexp = "REGEXP"
    /// MATCH.
    case match = "MATCH"
  }

  /// The operator.
  public var `operator`: Operator
  /// Whether NOT stands before it.
  public var isNegated: Bool
  /// The pattern.
  public var pattern: SQLExpression
  /// What stands behind ESCAPE.
  public var escape: SQLExpression?

  /// Makes the match of a value with `pattern`.
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

/// What IN looks into.
public enum SQLInSet: Hashable, Sendable {
  /// `(1, 2)`, which may be empty.
  case list([SQLExpression])
  /// `(SELECT …)`.
  case select(SQLSelect)
  /// A table with one column.
  case table(SQLQualifiedName)
  /// A table-valued function.
  case function(SQLQualifiedName, [SQLExpression])
}

/// `CASE base WHEN condition THEN result … ELSE otherwise END`.
public struct SQLCase: Hashable, Sendable {
  /// The value that the conditions are compared with.
  public var base: SQLExpression?
  /// The branches, at least one.
  public var branches: [Branch]
  /// What stands behind ELSE.
  public var otherwise: SQLExpression?

  /// Makes a CASE of `branches`.
  public init(
    _ base: SQLExpression? = nil, branches: [Branch], otherwise: SQLExpression? = nil
  ) {
    self.base = base
    self.branches = branches
    self.otherwise = otherwise
  }

  /// `WHEN condition THEN result`.
  public struct Branch: Hashable, Sendable {
    /// What stands behind WHEN.
    public var condition: SQLExpression
    /// What stands behind THEN.
    public var result: SQLExpression

    /// Makes a branch.
    public init(when condition: SQLExpression, then result: SQLExpression) {
      self.condition = condition
      self.result = result
    }
  }
}

/// A call of a function, of an aggregate or of a window function.
public struct SQLFunctionCall: Hashable, Sendable {
  /// The name of the function.
  public var name: SQLName
  /// Whether DISTINCT or ALL stands before the arguments.
  public var quantifier: SQLQuantifier?
  /// The arguments; nil is the star of `count(*)`.
  public var arguments: [SQLExpression]?
  /// ORDER BY behind the arguments. From SQLite 3.44 on.
  public var orderBy: [SQLOrderTerm]
  /// The expression of `WITHIN GROUP (ORDER BY …)`, which few builds of SQLite know.
  public var withinGroup: SQLExpression?
  /// The condition of `FILTER (WHERE …)`.
  public var filter: SQLExpression?
  /// The window behind OVER.
  public var over: SQLOver?

  /// Makes a call of `name`; nil for `arguments` is a star.
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

/// DISTINCT or ALL.
public enum SQLQuantifier: String, Hashable, Sendable, CaseIterable {
  /// Equal rows count once.
  case distinct = "DISTINCT"
  /// All rows count, as they do without a word.
  case all = "ALL"
}

/// What RAISE does in a trigger.
public struct SQLRaise: Hashable, Sendable {
  /// The ways to stop.
  public enum Action: String, Hashable, Sendable, CaseIterable {
    /// The rest of the trigger and the change that fired it are left out.
    case ignore = "IGNORE"
    /// The transaction is rolled back.
    case rollback = "ROLLBACK"
    /// The statement is undone.
    case abort = "ABORT"
    /// The statement stops, what it did stays.
    case fail = "FAIL"
  }

  /// What happens.
  public var action: Action
  /// The message of the error; nil for IGNORE. Before SQLite 3.47 a text or a name.
  public var message: SQLExpression?

  /// Makes a RAISE.
  public init(_ action: Action, message: SQLExpression? = nil) {
    self.action = action
    self.message = message
  }
}

/// A query: a SELECT or VALUES clause, or several of them combined with UNION, INTERSECT or EXCEPT.
public struct SQLSelect: Hashable, Sendable {
  /// The WITH clause; nil if there is none.
  public var with: SQLWith?
  /// The first SELECT or VALUES clause, which is usually the only one.
  public var body: SQLSelectBody
  /// The other SELECT or VALUES clauses, each with the operator that precedes it.
  public var compounds: [SQLCompound]
  /// The terms of the ORDER BY clause, which sorts the combined rows; empty if there is none.
  public var orderBy: [SQLOrderTerm]
  /// The LIMIT clause, which applies to the combined rows; nil if there is none.
  public var limit: SQLLimit?
  /// The range of the query in the source text.
  public var span: SQLSpan

  /// Creates a query from its clauses. Only `body` is required.
  public init(
    with: SQLWith? = nil, _ body: SQLSelectBody, compounds: [SQLCompound] = [],
    orderBy: [SQLOrderTerm] = [], limit: SQLLimit? = nil, span: SQLSpan = .none
  ) {
    self.with = with
    self.body = body
    self.compounds = compounds
    self.orderBy = orderBy
    self.limit = limit
    self.span = span
  }
}

/// A SELECT or VALUES clause.
public indirect enum SQLSelectBody: Hashable, Sendable {
  /// A clause `SELECT … FROM …`.
  case select(SQLSelectCore)
  /// A clause `VALUES (…), (…)`, with one array of values per row.
  case values([[SQLExpression]])
}

/// A SELECT or VALUES clause that follows UNION, INTERSECT or EXCEPT.
public struct SQLCompound: Hashable, Sendable {
  /// The operators that combine the rows of two queries.
  public enum Operator: String, Hashable, Sendable, CaseIterable {
    /// The rows of both queries, without duplicates.
    case union = "UNION"
    /// The rows of both queries, with duplicates.
    case unionAll = "UNION ALL"
    /// The rows that both queries have in common.
    case intersect = "INTERSECT"
    /// The rows of the first query that are not in the second.
    case except = "EXCEPT"
  }

  /// The operator before the clause, such as UNION.
  public var `operator`: Operator
  /// The SELECT or VALUES clause after the operator.
  public var body: SQLSelectBody

  /// Creates a SELECT or VALUES clause that `operator` combines with the preceding ones.
  public init(_ operator: Operator, _ body: SQLSelectBody) {
    self.operator = `operator`
    self.body = body
  }
}

/// The clause `SELECT columns FROM … WHERE … GROUP BY … HAVING … WINDOW …`.
public struct SQLSelectCore: Hashable, Sendable {
  /// The keyword DISTINCT or ALL before the columns; nil if there is none.
  public var quantifier: SQLQuantifier?
  /// The result columns. There is at least one.
  public var columns: [SQLResultColumn]
  /// The FROM clause; nil if there is none.
  public var from: SQLFrom?
  /// The condition after WHERE; nil if there is none.
  public var `where`: SQLExpression?
  /// The expressions of the GROUP BY clause; empty if there is none.
  public var groupBy: [SQLExpression]
  /// The condition after HAVING; nil if there is none.
  public var having: SQLExpression?
  /// The windows that the WINDOW clause defines; empty if there is none.
  public var windows: [SQLNamedWindow]

  /// Creates a SELECT clause from its parts. Only the result columns are required.
  public init(
    quantifier: SQLQuantifier? = nil, _ columns: [SQLResultColumn], from: SQLFrom? = nil,
    where: SQLExpression? = nil, groupBy: [SQLExpression] = [], having: SQLExpression? = nil,
    windows: [SQLNamedWindow] = []
  ) {
    self.quantifier = quantifier
    self.columns = columns
    self.from = from
    self.where = `where`
    self.groupBy = groupBy
    self.having = having
    self.windows = windows
  }
}

/// A result column of a query or a RETURNING clause.
public struct SQLResultColumn: Hashable, Sendable {
  /// The kinds of result columns.
  public enum Kind: Hashable, Sendable {
    /// `*`, all columns of all tables in the FROM clause.
    case all
    /// `table.*`, all columns of one table.
    case allOf(SQLName)
    /// The value of an expression.
    case expression(SQLExpression)
  }

  /// The content of the column: all columns, the columns of one table, or an expression.
  public var kind: Kind {
    didSet { written.text = nil }
  }
  /// The alias of the column, written with or without AS; nil if there is none.
  public var alias: SQLName?
  /// The range of the result column in the source text.
  public var span = SQLSpan.none
  /// The source text of an expression without an alias. In a view or in CREATE TABLE AS, it becomes
  /// the name of the column.
  var written = WrittenText()

  /// Creates the result column `expression AS alias`, or `expression` if `alias` is nil.
  public init(_ expression: SQLExpression, as alias: SQLName? = nil) {
    kind = .expression(expression)
    self.alias = alias
  }

  /// Creates a result column without an alias, such as `*` or `table.*`.
  public init(_ kind: Kind) { self.kind = kind }
}

/// A WITH clause: `WITH RECURSIVE a AS (…), b AS (…)`.
public struct SQLWith: Hashable, Sendable {
  /// A Boolean value that indicates whether the clause contains RECURSIVE.
  public var isRecursive: Bool
  /// The common table expressions, in the order in which they are written.
  public var tables: [SQLCommonTable]

  /// Creates a WITH clause from common table expressions, or WITH RECURSIVE if `isRecursive` is
  /// true.
  public init(isRecursive: Bool = false, _ tables: [SQLCommonTable]) {
    self.isRecursive = isRecursive
    self.tables = tables
  }
}

/// A common table expression: `name(columns) AS NOT MATERIALIZED (query)`.
public struct SQLCommonTable: Hashable, Sendable {
  /// The name by which the statement refers to the rows of the query.
  public var name: SQLName
  /// The column names. If the array is empty, the query determines the names.
  public var columns: [SQLName]
  /// A Boolean value that indicates whether the keyword is MATERIALIZED (true) or NOT MATERIALIZED
  /// (false); nil if neither is written.
  public var isMaterialized: Bool?
  /// The query that produces the rows.
  public var select: SQLSelect

  /// Creates the common table expression `name(columns) AS (select)`.
  public init(
    _ name: SQLName, columns: [SQLName] = [], isMaterialized: Bool? = nil, _ select: SQLSelect
  ) {
    self.name = name
    self.columns = columns
    self.isMaterialized = isMaterialized
    self.select = select
  }
}

/// A term of an ORDER BY clause, or a column of an index or key.
public struct SQLOrderTerm: Hashable, Sendable {
  /// The sort directions.
  public enum Direction: String, Hashable, Sendable, CaseIterable {
    /// From the smallest value to the largest.
    case ascending = "ASC"
    /// From the largest value to the smallest.
    case descending = "DESC"
  }

  /// The positions of NULL in the sort order.
  public enum Nulls: String, Hashable, Sendable, CaseIterable {
    /// NULL precedes all other values.
    case first = "NULLS FIRST"
    /// NULL follows all other values.
    case last = "NULLS LAST"
  }

  /// The expression or column to sort by.
  public var expression: SQLExpression
  /// The sort direction; nil if neither ASC nor DESC is written, which means ascending.
  public var direction: Direction?
  /// The position of NULL; nil if neither NULLS FIRST nor NULLS LAST is written, so that NULL sorts
  /// as the smallest value.
  public var nulls: Nulls?

  /// Creates a term that sorts by an expression. By default, the order is ascending and NULL comes
  /// first.
  public init(_ expression: SQLExpression, _ direction: Direction? = nil, nulls: Nulls? = nil) {
    self.expression = expression
    self.direction = direction
    self.nulls = nulls
  }
}

/// A LIMIT clause: `LIMIT count OFFSET offset`.
public struct SQLLimit: Hashable, Sendable {
  /// The maximum number of rows. A negative value means that there is no limit.
  public var count: SQLExpression
  /// The number of rows to skip; nil if there is no OFFSET.
  public var offset: SQLExpression?
  /// A Boolean value that indicates whether the clause is written `LIMIT offset, count`.
  public var isOffsetFirst: Bool

  /// Creates a LIMIT clause that returns at most `count` rows, after skipping `offset` rows.
  public init(
    _ count: SQLExpression, offset: SQLExpression? = nil, isOffsetFirst: Bool = false
  ) {
    self.count = count
    self.offset = offset
    self.isOffsetFirst = isOffsetFirst
  }
}

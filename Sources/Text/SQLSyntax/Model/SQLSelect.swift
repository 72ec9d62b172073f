/// A query: SELECT or VALUES, or several of them joined by UNION, INTERSECT and EXCEPT.
public struct SQLSelect: Hashable, Sendable {
  /// The common tables before the query.
  public var with: SQLWith?
  /// The first, and mostly the only, SELECT or VALUES.
  public var body: SQLSelectBody
  /// The further ones with the operators before them.
  public var compounds: [SQLCompound]
  /// ORDER BY, for all of them.
  public var orderBy: [SQLOrderTerm]
  /// LIMIT, for all of them.
  public var limit: SQLLimit?
  /// Where the query was read.
  public var span: SQLSpan

  /// Makes a query.
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

/// One SELECT or one VALUES.
public indirect enum SQLSelectBody: Hashable, Sendable {
  /// `SELECT … FROM …`.
  case select(SQLSelectCore)
  /// `VALUES (…), (…)`.
  case values([[SQLExpression]])
}

/// A further SELECT of a compound one.
public struct SQLCompound: Hashable, Sendable {
  /// The ways to join two queries.
  public enum Operator: String, Hashable, Sendable, CaseIterable {
    /// The rows of either, each once.
    case union = "UNION"
    /// The rows of both.
    case unionAll = "UNION ALL"
    /// The rows that are in both.
    case intersect = "INTERSECT"
    /// The rows of the first that are not in the second.
    case except = "EXCEPT"
  }

  /// The operator.
  public var `operator`: Operator
  /// The query behind it.
  public var body: SQLSelectBody

  /// Makes a further part of a query.
  public init(_ operator: Operator, _ body: SQLSelectBody) {
    self.operator = `operator`
    self.body = body
  }
}

/// `SELECT columns FROM … WHERE … GROUP BY … HAVING … WINDOW …`.
public struct SQLSelectCore: Hashable, Sendable {
  /// DISTINCT or ALL.
  public var quantifier: SQLQuantifier?
  /// The columns of the result, at least one.
  public var columns: [SQLResultColumn]
  /// FROM.
  public var from: SQLFrom?
  /// The condition behind WHERE.
  public var `where`: SQLExpression?
  /// GROUP BY.
  public var groupBy: [SQLExpression]
  /// The condition behind HAVING.
  public var having: SQLExpression?
  /// The windows behind WINDOW.
  public var windows: [SQLNamedWindow]

  /// Makes a SELECT.
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

/// A column of a result.
public struct SQLResultColumn: Hashable, Sendable {
  /// The kinds of result columns.
  public enum Kind: Hashable, Sendable {
    /// `*`
    case all
    /// `table.*`
    case allOf(SQLName)
    /// An expression.
    case expression(SQLExpression)
  }

  /// What the column is.
  public var kind: Kind {
    didSet { written.text = nil }
  }
  /// The name that it is given, with AS or without.
  public var alias: SQLName?
  /// Where the column was read.
  public var span = SQLSpan.none
  /// The text of an expression that names a column of a view or a table by its own text.
  var written = WrittenText()

  /// Makes the column `expression AS alias`.
  public init(_ expression: SQLExpression, as alias: SQLName? = nil) {
    kind = .expression(expression)
    self.alias = alias
  }

  /// Makes a column, `*` or `table.*` included.
  public init(_ kind: Kind) { self.kind = kind }
}

/// `WITH RECURSIVE a AS (…), b AS (…)`.
public struct SQLWith: Hashable, Sendable {
  /// Whether RECURSIVE is written.
  public var isRecursive: Bool
  /// The common tables.
  public var tables: [SQLCommonTable]

  /// Makes a WITH.
  public init(isRecursive: Bool = false, _ tables: [SQLCommonTable]) {
    self.isRecursive = isRecursive
    self.tables = tables
  }
}

/// `name(columns) AS NOT MATERIALIZED (query)`.
public struct SQLCommonTable: Hashable, Sendable {
  /// The name of the table.
  public var name: SQLName
  /// The names of its columns.
  public var columns: [SQLName]
  /// Whether MATERIALIZED (true) or NOT MATERIALIZED (false) is written.
  public var isMaterialized: Bool?
  /// The query.
  public var select: SQLSelect

  /// Makes a common table.
  public init(
    _ name: SQLName, columns: [SQLName] = [], isMaterialized: Bool? = nil, _ select: SQLSelect
  ) {
    self.name = name
    self.columns = columns
    self.isMaterialized = isMaterialized
    self.select = select
  }
}

/// A term of ORDER BY, or a column of an index or a key.
public struct SQLOrderTerm: Hashable, Sendable {
  /// ASC or DESC.
  public enum Direction: String, Hashable, Sendable, CaseIterable {
    /// Small values first.
    case ascending = "ASC"
    /// Great values first.
    case descending = "DESC"
  }

  /// Where NULL stands.
  public enum Nulls: String, Hashable, Sendable, CaseIterable {
    /// Before all values.
    case first = "NULLS FIRST"
    /// Behind all values.
    case last = "NULLS LAST"
  }

  /// What is sorted by.
  public var expression: SQLExpression
  /// ASC or DESC.
  public var direction: Direction?
  /// NULLS FIRST or NULLS LAST.
  public var nulls: Nulls?

  /// Makes a term.
  public init(_ expression: SQLExpression, _ direction: Direction? = nil, nulls: Nulls? = nil) {
    self.expression = expression
    self.direction = direction
    self.nulls = nulls
  }
}

/// `LIMIT count OFFSET offset`.
public struct SQLLimit: Hashable, Sendable {
  /// How many rows.
  public var count: SQLExpression
  /// How many rows are left out first.
  public var offset: SQLExpression?
  /// Whether it is written `LIMIT offset, count`.
  public var offsetStandsFirst: Bool

  /// Makes a limit.
  public init(
    _ count: SQLExpression, offset: SQLExpression? = nil, offsetStandsFirst: Bool = false
  ) {
    self.count = count
    self.offset = offset
    self.offsetStandsFirst = offsetStandsFirst
  }
}

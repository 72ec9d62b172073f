/// What happens where a constraint would be broken.
public enum SQLConflict: String, Hashable, Sendable, CaseIterable {
  /// The transaction is rolled back.
  case rollback = "ROLLBACK"
  /// The statement is undone, as without a word.
  case abort = "ABORT"
  /// The statement stops, what it did stays.
  case fail = "FAIL"
  /// The row is left out.
  case ignore = "IGNORE"
  /// The rows in the way are removed.
  case replace = "REPLACE"
}

/// INSERT or REPLACE.
public struct SQLInsert: Hashable, Sendable {
  /// Where the rows come from.
  public enum Source: Hashable, Sendable {
    /// A query, mostly VALUES.
    case select(SQLSelect)
    /// DEFAULT VALUES.
    case defaultValues
  }

  /// The common tables before it.
  public var with: SQLWith?
  /// Whether it is written REPLACE, which means INSERT OR REPLACE.
  public var isReplace: Bool
  /// The word behind OR.
  public var conflict: SQLConflict?
  /// The table.
  public var table: SQLQualifiedName
  /// The name of the table in the statement.
  public var alias: SQLName?
  /// The columns that get a value; all if empty.
  public var columns: [SQLName]
  /// The rows.
  public var source: Source
  /// ON CONFLICT clauses in their order.
  public var upserts: [SQLUpsert]
  /// RETURNING.
  public var returning: [SQLResultColumn]

  /// Makes an INSERT.
  public init(
    with: SQLWith? = nil, isReplace: Bool = false, or conflict: SQLConflict? = nil,
    into table: SQLQualifiedName, as alias: SQLName? = nil, columns: [SQLName] = [],
    _ source: Source, upserts: [SQLUpsert] = [], returning: [SQLResultColumn] = []
  ) {
    self.with = with
    self.isReplace = isReplace
    self.conflict = conflict
    self.table = table
    self.alias = alias
    self.columns = columns
    self.source = source
    self.upserts = upserts
    self.returning = returning
  }
}

/// `ON CONFLICT (columns) WHERE … DO …`.
public struct SQLUpsert: Hashable, Sendable {
  /// What is done with the row in the way.
  public enum Action: Hashable, Sendable {
    /// DO NOTHING.
    case nothing
    /// `DO UPDATE SET … WHERE …`.
    case update([SQLAssignment], where: SQLExpression?)
  }

  /// The columns of the index that may be in the way; any if empty.
  public var target: [SQLOrderTerm]
  /// The condition of a partial index.
  public var targetWhere: SQLExpression?
  /// What is done.
  public var action: Action

  /// Makes an ON CONFLICT clause.
  public init(
    _ target: [SQLOrderTerm] = [], where targetWhere: SQLExpression? = nil, do action: Action
  ) {
    self.target = target
    self.targetWhere = targetWhere
    self.action = action
  }
}

/// `column = value`, or `(columns) = row`.
public struct SQLAssignment: Hashable, Sendable {
  /// The columns.
  public var columns: [SQLName]
  /// Whether the columns stand in parentheses.
  public var isParenthesized: Bool
  /// The value.
  public var value: SQLExpression

  /// Makes the assignment of `value` to `column`.
  public init(_ column: SQLName, _ value: SQLExpression) {
    columns = [column]
    isParenthesized = false
    self.value = value
  }

  /// Makes the assignment of a row to columns.
  public init(_ columns: [SQLName], _ value: SQLExpression) {
    self.columns = columns
    isParenthesized = true
    self.value = value
  }
}

/// UPDATE.
public struct SQLUpdate: Hashable, Sendable {
  /// The common tables before it.
  public var with: SQLWith?
  /// The word behind OR.
  public var conflict: SQLConflict?
  /// The table.
  public var table: SQLTableReference
  /// The assignments behind SET.
  public var assignments: [SQLAssignment]
  /// The tables that values come from.
  public var from: SQLFrom?
  /// The condition behind WHERE.
  public var `where`: SQLExpression?
  /// RETURNING.
  public var returning: [SQLResultColumn]
  /// ORDER BY, which only goes with LIMIT.
  public var orderBy: [SQLOrderTerm]
  /// LIMIT.
  public var limit: SQLLimit?

  /// Makes an UPDATE.
  public init(
    with: SQLWith? = nil, or conflict: SQLConflict? = nil, _ table: SQLTableReference,
    set assignments: [SQLAssignment], from: SQLFrom? = nil, where: SQLExpression? = nil,
    returning: [SQLResultColumn] = [], orderBy: [SQLOrderTerm] = [], limit: SQLLimit? = nil
  ) {
    self.with = with
    self.conflict = conflict
    self.table = table
    self.assignments = assignments
    self.from = from
    self.where = `where`
    self.returning = returning
    self.orderBy = orderBy
    self.limit = limit
  }
}

/// DELETE.
public struct SQLDelete: Hashable, Sendable {
  /// The common tables before it.
  public var with: SQLWith?
  /// The table.
  public var table: SQLTableReference
  /// The condition behind WHERE.
  public var `where`: SQLExpression?
  /// RETURNING.
  public var returning: [SQLResultColumn]
  /// ORDER BY, which only goes with LIMIT.
  public var orderBy: [SQLOrderTerm]
  /// LIMIT.
  public var limit: SQLLimit?

  /// Makes a DELETE.
  public init(
    with: SQLWith? = nil, from table: SQLTableReference, where: SQLExpression? = nil,
    returning: [SQLResultColumn] = [], orderBy: [SQLOrderTerm] = [], limit: SQLLimit? = nil
  ) {
    self.with = with
    self.table = table
    self.where = `where`
    self.returning = returning
    self.orderBy = orderBy
    self.limit = limit
  }
}

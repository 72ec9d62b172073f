/// The action that SQLite takes if a row violates a constraint.
public enum SQLConflict: String, Hashable, Sendable, CaseIterable {
  /// The statement fails, and the transaction is rolled back.
  case rollback = "ROLLBACK"
  /// The statement fails, and its changes are undone. This is the default.
  case abort = "ABORT"
  /// The statement fails, but the changes that it has already made remain.
  case fail = "FAIL"
  /// The statement skips the row and continues with the next one.
  case ignore = "IGNORE"
  /// The statement deletes existing rows that have the same UNIQUE or PRIMARY KEY values as the new
  /// row. For NOT NULL, it uses the default value of the column instead of NULL.
  case replace = "REPLACE"
}

/// An INSERT or REPLACE statement, which adds rows to a table.
public struct SQLInsert: Hashable, Sendable {
  /// The source of the inserted rows: a query or DEFAULT VALUES.
  public enum Source: Hashable, Sendable {
    /// A query, usually VALUES.
    case select(SQLSelect)
    /// DEFAULT VALUES, which inserts one row.
    case defaultValues
  }

  /// The WITH clause; nil if there is none.
  public var with: SQLWith?
  /// A Boolean value that indicates whether the statement is written as REPLACE, which means INSERT
  /// OR REPLACE.
  public var isReplace: Bool
  /// The action after OR if a row violates a constraint; nil if there is no OR clause.
  public var conflict: SQLConflict?
  /// The table to insert into.
  public var table: SQLQualifiedName
  /// The alias of the table in this statement; nil if it has none.
  public var alias: SQLName?
  /// The columns that receive values. If the array is empty, all columns except generated ones
  /// receive values.
  public var columns: [SQLName]
  /// The source of the inserted rows: a query or DEFAULT VALUES.
  public var source: Source
  /// The ON CONFLICT clauses, in the order in which SQLite tries them; empty if there are none.
  public var upserts: [SQLUpsert]
  /// The columns of the RETURNING clause; empty if there is none.
  public var returning: [SQLResultColumn]

  /// Creates an INSERT statement from its clauses, or a REPLACE statement if `isReplace` is true.
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

/// An `ON CONFLICT (columns) WHERE … DO …` clause of an INSERT statement.
public struct SQLUpsert: Hashable, Sendable {
  /// The action for a row that conflicts with an existing row.
  public enum Action: Hashable, Sendable {
    /// DO NOTHING, which skips the row.
    case nothing
    /// `DO UPDATE SET … WHERE …`, which updates the existing row if the condition after WHERE is
    /// true. Without WHERE, the condition is nil and the row is always updated.
    case update([SQLAssignment], where: SQLExpression?)
  }

  /// The columns or expressions of the unique index to which the clause applies. If the array is
  /// empty, the clause applies to any conflict.
  public var target: [SQLOrderTerm]
  /// The condition of the partial unique index to which the clause applies; nil if the index isn't
  /// partial.
  public var targetWhere: SQLExpression?
  /// The action after DO for a row that conflicts with an existing row.
  public var action: Action

  /// Creates an ON CONFLICT clause for conflicts in the unique index on `target`, or for any
  /// conflict if `target` is empty.
  public init(
    _ target: [SQLOrderTerm] = [], where targetWhere: SQLExpression? = nil, do action: Action
  ) {
    self.target = target
    self.targetWhere = targetWhere
    self.action = action
  }
}

/// An assignment after SET: `column = value` or `(columns) = row`.
public struct SQLAssignment: Hashable, Sendable {
  /// The columns that receive the value: one, or several if the value is a row.
  public var columns: [SQLName]
  /// A Boolean value that indicates whether the columns are in parentheses.
  public var isParenthesized: Bool
  /// The value, or the row of values, to assign.
  public var value: SQLExpression

  /// Creates the assignment `column = value`, without parentheses around the column.
  public init(_ column: SQLName, _ value: SQLExpression) {
    columns = [column]
    isParenthesized = false
    self.value = value
  }

  /// Creates the assignment `(columns) = value`. For several columns, the value must be a row or a
  /// query with the same number of columns.
  public init(_ columns: [SQLName], _ value: SQLExpression) {
    self.columns = columns
    isParenthesized = true
    self.value = value
  }
}

/// An UPDATE statement, which changes rows of a table.
public struct SQLUpdate: Hashable, Sendable {
  /// The WITH clause; nil if there is none.
  public var with: SQLWith?
  /// The action after OR if a row violates a constraint; nil if there is no OR clause.
  public var conflict: SQLConflict?
  /// The table to update.
  public var table: SQLTableReference
  /// The assignments after SET.
  public var assignments: [SQLAssignment]
  /// The FROM clause, whose tables provide values for the assignments; nil if there is none.
  public var from: SQLFrom?
  /// The condition after WHERE; nil if there is none.
  public var `where`: SQLExpression?
  /// The columns of the RETURNING clause; empty if there is none.
  public var returning: [SQLResultColumn]
  /// The terms of the ORDER BY clause; empty if there is none. SQLite requires LIMIT after them.
  public var orderBy: [SQLOrderTerm]
  /// The LIMIT clause; nil if there is none.
  public var limit: SQLLimit?

  /// Creates an UPDATE statement from its clauses. If `from`, `where` and `limit` are nil, it
  /// updates all rows.
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

/// A DELETE statement, which removes rows from a table.
public struct SQLDelete: Hashable, Sendable {
  /// The WITH clause; nil if there is none.
  public var with: SQLWith?
  /// The table to delete from.
  public var table: SQLTableReference
  /// The condition after WHERE; nil if there is none.
  public var `where`: SQLExpression?
  /// The columns of the RETURNING clause; empty if there is none.
  public var returning: [SQLResultColumn]
  /// The terms of the ORDER BY clause; empty if there is none. SQLite requires LIMIT after them.
  public var orderBy: [SQLOrderTerm]
  /// The LIMIT clause; nil if there is none.
  public var limit: SQLLimit?

  /// Creates a DELETE statement from its clauses. If `where` and `limit` are nil, it deletes all
  /// rows.
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

/// The tables after FROM and their joins.
public struct SQLFrom: Hashable, Sendable {
  /// The first table, query or other source of rows.
  public var first: SQLTableSource
  /// The other sources of rows, each with the join operator before it.
  public var joins: [SQLJoin]

  /// Creates a FROM clause from a table and its joins.
  public init(_ first: SQLTableSource, joins: [SQLJoin] = []) {
    self.first = first
    self.joins = joins
  }
}

/// A join operator, the table after it, and the ON or USING clause.
public struct SQLJoin: Hashable, Sendable {
  /// The operators that join a table with the preceding ones.
  public enum Operator: Hashable, Sendable {
    /// A comma, which means the same as JOIN.
    case comma
    /// JOIN, with the keywords before it in the order in which they are written.
    case join([Word])
  }

  /// A keyword before JOIN.
  public enum Word: String, Hashable, Sendable, CaseIterable {
    /// Requires equal values in the columns that have the same name in both tables.
    case natural = "NATURAL"
    /// Keeps rows of the left table that have no match. The columns of the right table are then
    /// NULL.
    case left = "LEFT"
    /// Keeps rows of the right table that have no match. The columns of the left table are then
    /// NULL.
    case right = "RIGHT"
    /// Keeps rows of both tables that have no match. The columns of the other table are then NULL.
    case full = "FULL"
    /// An optional keyword after LEFT, RIGHT or FULL, without an effect.
    case outer = "OUTER"
    /// Keeps only pairs of matching rows. This is the default.
    case inner = "INNER"
    /// Keeps only pairs of matching rows, and prevents SQLite from reordering the tables.
    case cross = "CROSS"
  }

  /// The condition that a joined pair of rows must satisfy.
  public enum Constraint: Hashable, Sendable {
    /// A condition, `ON condition`.
    case on(SQLExpression)
    /// The columns that must have equal values in both tables, `USING (columns)`.
    case using([SQLName])
  }

  /// The join operator: a comma, or JOIN with the keywords before it.
  public var `operator`: Operator
  /// The table after the operator.
  public var source: SQLTableSource
  /// The ON or USING clause; nil if there is none.
  public var constraint: Constraint?

  /// Creates a join of `source` with the preceding tables. The default operator is JOIN.
  public init(
    _ operator: Operator = .join([]), _ source: SQLTableSource, _ constraint: Constraint? = nil
  ) {
    self.operator = `operator`
    self.source = source
    self.constraint = constraint
  }
}

/// A source of rows in a FROM clause. An alias is nil if none is written.
public indirect enum SQLTableSource: Hashable, Sendable {
  /// A table or view.
  case table(SQLTableReference)
  /// A table-valued function with its arguments.
  case function(SQLQualifiedName, [SQLExpression], alias: SQLName?)
  /// A query in parentheses, `(SELECT …) AS alias`.
  case subquery(SQLSelect, alias: SQLName?)
  /// Joined tables in parentheses.
  case group(SQLFrom, alias: SQLName?)
}

/// A table that a statement reads or writes, with its alias and index hint.
public struct SQLTableReference: Hashable, Sendable {
  /// A hint that requires or forbids an index: INDEXED BY or NOT INDEXED.
  public enum Indexing: Hashable, Sendable {
    /// `INDEXED BY name`: the statement fails if it can't use this index.
    case by(SQLName)
    /// `NOT INDEXED`: the statement can use no index except the rowid.
    case none
  }

  /// The name of the table or view, with its schema if one is written.
  public var name: SQLQualifiedName
  /// The alias of the table in this statement; nil if it has none.
  public var alias: SQLName?
  /// The index hint after the table; nil if there is none.
  public var indexing: Indexing?

  /// Creates a reference to the table or view `name`, optionally with an alias and an index hint.
  public init(_ name: SQLQualifiedName, as alias: SQLName? = nil, indexing: Indexing? = nil) {
    self.name = name
    self.alias = alias
    self.indexing = indexing
  }
}

/// The window of a window function, which follows OVER.
public indirect enum SQLOver: Hashable, Sendable {
  /// The name of a window that the WINDOW clause defines.
  case name(SQLName)
  /// A window definition in parentheses.
  case window(SQLWindow)
}

/// A window definition in a WINDOW clause: `name AS (window)`.
public struct SQLNamedWindow: Hashable, Sendable {
  /// The name by which OVER and other window definitions refer to the window.
  public var name: SQLName
  /// The window definition in the parentheses after AS.
  public var window: SQLWindow

  /// Creates the window definition `name AS (window)` for a WINDOW clause.
  public init(_ name: SQLName, _ window: SQLWindow) {
    self.name = name
    self.window = window
  }
}

/// A window definition: `(base PARTITION BY … ORDER BY … ROWS …)`. It determines the rows that a
/// window function reads.
public struct SQLWindow: Hashable, Sendable {
  /// The name of the window that this one extends; nil if there is none.
  public var base: SQLName?
  /// The expressions of PARTITION BY; empty if there is none.
  public var partitionBy: [SQLExpression]
  /// The terms of ORDER BY; empty if there is none.
  public var orderBy: [SQLOrderTerm]
  /// The frame: ROWS, RANGE or GROUPS, with its bounds; nil if none is written, so that SQLite uses
  /// its default frame.
  public var frame: SQLFrame?

  /// Creates a window from its clauses. Without clauses, the window consists of all rows.
  public init(
    base: SQLName? = nil, partitionBy: [SQLExpression] = [], orderBy: [SQLOrderTerm] = [],
    frame: SQLFrame? = nil
  ) {
    self.base = base
    self.partitionBy = partitionBy
    self.orderBy = orderBy
    self.frame = frame
  }
}

/// The rows around the current row that a window function reads.
public struct SQLFrame: Hashable, Sendable {
  /// The units in which the bounds of a frame are measured.
  public enum Unit: String, Hashable, Sendable, CaseIterable {
    /// Measures the bounds in rows.
    case rows = "ROWS"
    /// Measures the bounds as differences between values of the ORDER BY term.
    case range = "RANGE"
    /// Measures the bounds in groups of rows that have equal ORDER BY values.
    case groups = "GROUPS"
  }

  /// The start or end of a frame.
  public enum Bound: Hashable, Sendable {
    /// The first row of the partition, UNBOUNDED PRECEDING.
    case unboundedPreceding
    /// A number of units before the current row, `count PRECEDING`.
    case preceding(SQLExpression)
    /// The current row, CURRENT ROW.
    case currentRow
    /// A number of units after the current row, `count FOLLOWING`.
    case following(SQLExpression)
    /// The last row of the partition, UNBOUNDED FOLLOWING.
    case unboundedFollowing
  }

  /// The rows of the frame that the window function skips.
  public enum Exclusion: String, Hashable, Sendable, CaseIterable {
    /// Skips no rows. This is the default.
    case noOthers = "NO OTHERS"
    /// Excludes the current row from the frame (`EXCLUDE CURRENT ROW`).
    case currentRow = "CURRENT ROW"
    /// Skips the current row and the other rows with equal ORDER BY values.
    case group = "GROUP"
    /// Skips the other rows with the same ORDER BY values as the current row.
    case ties = "TIES"
  }

  /// The unit in which the bounds are measured.
  public var unit: Unit
  /// The bound at which the frame starts.
  public var start: Bound
  /// The end of the frame after AND; nil if the frame is written without BETWEEN, so that it ends
  /// at the current row.
  public var end: Bound?
  /// The rows that the EXCLUDE clause removes from the frame; nil if there is no such clause.
  public var exclusion: Exclusion?

  /// Creates a frame. If `end` is nil, the frame ends at the current row.
  public init(_ unit: Unit, _ start: Bound, and end: Bound? = nil, exclude: Exclusion? = nil) {
    self.unit = unit
    self.start = start
    self.end = end
    self.exclusion = exclude
  }
}

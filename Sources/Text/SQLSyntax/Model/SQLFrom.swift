/// What FROM reads: a table, joined with others.
public struct SQLFrom: Hashable, Sendable {
  /// The first table.
  public var first: SQLTableSource
  /// The further tables, each with the words of its join.
  public var joins: [SQLJoin]

  /// Makes a FROM.
  public init(_ first: SQLTableSource, joins: [SQLJoin] = []) {
    self.first = first
    self.joins = joins
  }
}

/// A further table of FROM.
public struct SQLJoin: Hashable, Sendable {
  /// What joins a table with those before it.
  public enum Operator: Hashable, Sendable {
    /// A comma.
    case comma
    /// JOIN, with the words before it in the order of the text.
    case join([Word])
  }

  /// A word before JOIN.
  public enum Word: String, Hashable, Sendable, CaseIterable {
    /// Columns of one name are compared.
    case natural = "NATURAL"
    /// Rows of the left side stay.
    case left = "LEFT"
    /// Rows of the right side stay.
    case right = "RIGHT"
    /// Rows of both sides stay.
    case full = "FULL"
    /// Says nothing beside LEFT, RIGHT or FULL.
    case outer = "OUTER"
    /// The plain join.
    case inner = "INNER"
    /// The plain join; SQLite keeps the order of the tables.
    case cross = "CROSS"
  }

  /// What limits the pairs of rows.
  public enum Constraint: Hashable, Sendable {
    /// `ON condition`.
    case on(SQLExpression)
    /// `USING (columns)`.
    case using([SQLName])
  }

  /// The comma, or JOIN with its words.
  public var `operator`: Operator
  /// The table behind it.
  public var source: SQLTableSource
  /// ON or USING.
  public var constraint: Constraint?

  /// Makes a join.
  public init(
    _ operator: Operator = .join([]), _ source: SQLTableSource, _ constraint: Constraint? = nil
  ) {
    self.operator = `operator`
    self.source = source
    self.constraint = constraint
  }
}

/// One table of FROM.
public indirect enum SQLTableSource: Hashable, Sendable {
  /// A table or view.
  case table(SQLTableReference)
  /// A table-valued function with its arguments.
  case function(SQLQualifiedName, [SQLExpression], alias: SQLName?)
  /// A query.
  case subquery(SQLSelect, alias: SQLName?)
  /// Tables in parentheses.
  case group(SQLFrom, alias: SQLName?)
}

/// A table that is read or written, with its alias and the index to use.
public struct SQLTableReference: Hashable, Sendable {
  /// INDEXED BY or NOT INDEXED.
  public enum Indexing: Hashable, Sendable {
    /// `INDEXED BY name`: the query fails without this index.
    case by(SQLName)
    /// `NOT INDEXED`: no index but the rowid.
    case none
  }

  /// The table.
  public var name: SQLQualifiedName
  /// Its name in the statement.
  public var alias: SQLName?
  /// INDEXED BY or NOT INDEXED.
  public var indexing: Indexing?

  /// Makes a reference to the table `name`.
  public init(_ name: SQLQualifiedName, as alias: SQLName? = nil, indexing: Indexing? = nil) {
    self.name = name
    self.alias = alias
    self.indexing = indexing
  }
}

/// What stands behind OVER.
public indirect enum SQLOver: Hashable, Sendable {
  /// The name of a window behind WINDOW.
  case name(SQLName)
  /// A window of its own.
  case window(SQLWindow)
}

/// `name AS (window)` behind WINDOW.
public struct SQLNamedWindow: Hashable, Sendable {
  /// The name.
  public var name: SQLName
  /// The window.
  public var window: SQLWindow

  /// Makes a named window.
  public init(_ name: SQLName, _ window: SQLWindow) {
    self.name = name
    self.window = window
  }
}

/// `(base PARTITION BY … ORDER BY … ROWS …)`.
public struct SQLWindow: Hashable, Sendable {
  /// The window that this one goes on from.
  public var base: SQLName?
  /// PARTITION BY.
  public var partitionBy: [SQLExpression]
  /// ORDER BY.
  public var orderBy: [SQLOrderTerm]
  /// ROWS, RANGE or GROUPS.
  public var frame: SQLFrame?

  /// Makes a window.
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

/// The rows around the present one that a window function reads.
public struct SQLFrame: Hashable, Sendable {
  /// What a bound counts.
  public enum Unit: String, Hashable, Sendable, CaseIterable {
    /// Rows.
    case rows = "ROWS"
    /// The value of the one ORDER BY term.
    case range = "RANGE"
    /// Groups of rows that are equal for ORDER BY.
    case groups = "GROUPS"
  }

  /// One end of a frame.
  public enum Bound: Hashable, Sendable {
    /// UNBOUNDED PRECEDING.
    case unboundedPreceding
    /// `count PRECEDING`.
    case preceding(SQLExpression)
    /// CURRENT ROW.
    case currentRow
    /// `count FOLLOWING`.
    case following(SQLExpression)
    /// UNBOUNDED FOLLOWING.
    case unboundedFollowing
  }

  /// The rows that are left out.
  public enum Exclusion: String, Hashable, Sendable, CaseIterable {
    /// None, as without EXCLUDE.
    case noOthers = "NO OTHERS"
    /// The present row.
    case currentRow = "CURRENT ROW"
    /// The present row and its equals.
    case group = "GROUP"
    /// The equals of the present row.
    case ties = "TIES"
  }

  /// ROWS, RANGE or GROUPS.
  public var unit: Unit
  /// The first bound.
  public var start: Bound
  /// The bound behind AND; nil without BETWEEN.
  public var end: Bound?
  /// EXCLUDE.
  public var exclusion: Exclusion?

  /// Makes a frame.
  public init(_ unit: Unit, _ start: Bound, and end: Bound? = nil, exclude: Exclusion? = nil) {
    self.unit = unit
    self.start = start
    self.end = end
    self.exclusion = exclude
  }
}

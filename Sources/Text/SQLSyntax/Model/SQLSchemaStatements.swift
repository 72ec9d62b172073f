/// A CREATE VIRTUAL TABLE statement, for a table that a module such as `fts5` implements.
public struct SQLCreateVirtualTable: Hashable, Sendable {
  /// A Boolean value that indicates whether the statement contains IF NOT EXISTS.
  public var ifNotExists: Bool
  /// The name of the virtual table to create, with its schema if one is written.
  public var name: SQLQualifiedName
  /// The module that implements the table, such as `fts5`.
  public var module: SQLName
  /// The arguments of the module: the texts between the commas, as SQLite passes them to the
  /// module; nil if there are no parentheses.
  public var arguments: [String]?

  /// Creates a CREATE VIRTUAL TABLE statement for a table that `module` implements.
  public init(
    ifNotExists: Bool = false, _ name: SQLQualifiedName, using module: SQLName,
    _ arguments: [String]? = nil
  ) {
    self.ifNotExists = ifNotExists
    self.name = name
    self.module = module
    self.arguments = arguments
  }
}

/// A CREATE INDEX statement, which creates an index, optionally a unique one, on a table.
public struct SQLCreateIndex: Hashable, Sendable {
  /// A Boolean value that indicates whether the statement contains UNIQUE.
  public var isUnique: Bool
  /// A Boolean value that indicates whether the statement contains IF NOT EXISTS.
  public var ifNotExists: Bool
  /// The name of the index to create, with its schema if one is written.
  public var name: SQLQualifiedName
  /// The name of the table to index.
  public var table: SQLName
  /// The columns and expressions to index.
  public var columns: [SQLOrderTerm]
  /// The condition of a partial index; nil if the index includes all rows.
  public var `where`: SQLExpression?

  /// Creates a CREATE INDEX statement for columns or expressions of a table. Without `where`, the
  /// index includes all rows.
  public init(
    isUnique: Bool = false, ifNotExists: Bool = false, _ name: SQLQualifiedName,
    on table: SQLName, _ columns: [SQLOrderTerm], where: SQLExpression? = nil
  ) {
    self.isUnique = isUnique
    self.ifNotExists = ifNotExists
    self.name = name
    self.table = table
    self.columns = columns
    self.where = `where`
  }
}

/// A CREATE VIEW statement, which stores a query under a name.
public struct SQLCreateView: Hashable, Sendable {
  /// A Boolean value that indicates whether the statement contains TEMP or TEMPORARY.
  public var isTemporary: Bool
  /// A Boolean value that indicates whether the statement contains IF NOT EXISTS.
  public var ifNotExists: Bool
  /// The name of the view to create, with its schema if one is written.
  public var name: SQLQualifiedName
  /// The column names. If the array is empty, the query determines the names.
  public var columns: [SQLName]
  /// The query that produces the rows of the view.
  public var select: SQLSelect

  /// Creates a CREATE VIEW statement for a view with the rows of a query.
  public init(
    isTemporary: Bool = false, ifNotExists: Bool = false, _ name: SQLQualifiedName,
    columns: [SQLName] = [], as select: SQLSelect
  ) {
    self.isTemporary = isTemporary
    self.ifNotExists = ifNotExists
    self.name = name
    self.columns = columns
    self.select = select
  }
}

/// A CREATE TRIGGER statement, which defines statements that run when rows of a table or view
/// change.
public struct SQLCreateTrigger: Hashable, Sendable {
  /// The time at which a trigger runs, relative to the change that fires it.
  public enum Time: String, Hashable, Sendable, CaseIterable {
    /// The trigger runs before the row changes. This is the default.
    case before = "BEFORE"
    /// The trigger runs after the row has changed.
    case after = "AFTER"
    /// The trigger runs instead of a change to a view.
    case insteadOf = "INSTEAD OF"
  }

  /// The change that fires a trigger.
  public enum Event: Hashable, Sendable {
    /// The trigger fires for a DELETE.
    case delete
    /// The trigger fires for an INSERT.
    case insert
    /// The trigger fires for an UPDATE of these columns, or of any column if the array is empty.
    case update(of: [SQLName])
  }

  /// A Boolean value that indicates whether the statement contains TEMP or TEMPORARY.
  public var isTemporary: Bool
  /// A Boolean value that indicates whether the statement contains IF NOT EXISTS.
  public var ifNotExists: Bool
  /// The name of the trigger to create, with its schema if one is written.
  public var name: SQLQualifiedName
  /// The time at which the trigger runs; nil if none is written, which means BEFORE.
  public var time: Time?
  /// The change that fires the trigger.
  public var event: Event
  /// The table or view whose changes fire the trigger.
  public var table: SQLQualifiedName
  /// A Boolean value that indicates whether the statement contains FOR EACH ROW, which has no
  /// effect.
  public var forEachRow: Bool
  /// The condition after WHEN; nil if there is none.
  public var when: SQLExpression?
  /// The SELECT, INSERT, UPDATE and DELETE statements between BEGIN and END.
  public var body: [SQLStatement]

  /// Creates a CREATE TRIGGER statement. The trigger runs `body` for each row that `event` affects.
  public init(
    isTemporary: Bool = false, ifNotExists: Bool = false, _ name: SQLQualifiedName,
    _ time: Time? = nil, _ event: Event, on table: SQLQualifiedName, forEachRow: Bool = false,
    when: SQLExpression? = nil, body: [SQLStatement]
  ) {
    self.isTemporary = isTemporary
    self.ifNotExists = ifNotExists
    self.name = name
    self.time = time
    self.event = event
    self.table = table
    self.forEachRow = forEachRow
    self.when = when
    self.body = body
  }
}

/// An ALTER TABLE statement, which renames a table or changes its columns or constraints.
public struct SQLAlterTable: Hashable, Sendable {
  /// The change that an ALTER TABLE statement makes.
  public enum Action: Hashable, Sendable {
    /// Renames the table: `RENAME TO name`.
    case rename(SQLName)
    /// Renames a column: `RENAME COLUMN name TO name`.
    case renameColumn(SQLName, to: SQLName)
    /// Adds a column: `ADD COLUMN definition`.
    case addColumn(SQLColumnDefinition)
    /// Drops a column: `DROP COLUMN name`.
    case dropColumn(SQLName)
    /// Adds a CHECK constraint: `ADD CONSTRAINT name CHECK (…)`, or `ADD CHECK (…)` if the name is
    /// nil. The action of its ON CONFLICT clause is nil if it isn't written. Requires SQLite 3.53.
    case addCheck(name: SQLName?, SQLExpression, SQLConflict?)
    /// Drops a constraint: `DROP CONSTRAINT name`. Requires SQLite 3.53.
    case dropConstraint(SQLName)
    /// Adds NOT NULL to a column: `ALTER COLUMN name SET NOT NULL`. The action of its ON CONFLICT
    /// clause is nil if it isn't written. Requires SQLite 3.53.
    case setNotNull(SQLName, SQLConflict?)
    /// Removes NOT NULL from a column: `ALTER COLUMN name DROP NOT NULL`. Requires SQLite 3.53.
    case dropNotNull(SQLName)
  }

  /// The table to change.
  public var table: SQLQualifiedName
  /// The change that the statement makes to the table.
  public var action: Action

  /// Creates an ALTER TABLE statement that makes one change to a table.
  public init(_ table: SQLQualifiedName, _ action: Action) {
    self.table = table
    self.action = action
  }
}

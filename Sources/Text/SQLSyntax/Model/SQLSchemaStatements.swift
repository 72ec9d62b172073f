/// CREATE VIRTUAL TABLE.
public struct SQLCreateVirtualTable: Hashable, Sendable {
  /// Whether IF NOT EXISTS is written.
  public var ifNotExists: Bool
  /// The name of the table.
  public var name: SQLQualifiedName
  /// The module that makes it, such as `fts5`.
  public var module: SQLName
  /// The texts between the commas, as SQLite hands them to the module; nil without parentheses.
  public var arguments: [String]?

  /// Makes a CREATE VIRTUAL TABLE.
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

/// CREATE INDEX.
public struct SQLCreateIndex: Hashable, Sendable {
  /// Whether UNIQUE is written.
  public var isUnique: Bool
  /// Whether IF NOT EXISTS is written.
  public var ifNotExists: Bool
  /// The name of the index.
  public var name: SQLQualifiedName
  /// The table.
  public var table: SQLName
  /// The columns and expressions.
  public var columns: [SQLOrderTerm]
  /// The condition of a partial index.
  public var `where`: SQLExpression?

  /// Makes a CREATE INDEX.
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

/// CREATE VIEW.
public struct SQLCreateView: Hashable, Sendable {
  /// Whether TEMP is written.
  public var isTemporary: Bool
  /// Whether IF NOT EXISTS is written.
  public var ifNotExists: Bool
  /// The name of the view.
  public var name: SQLQualifiedName
  /// The names of its columns.
  public var columns: [SQLName]
  /// The query.
  public var select: SQLSelect

  /// Makes a CREATE VIEW.
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

/// CREATE TRIGGER.
public struct SQLCreateTrigger: Hashable, Sendable {
  /// When a trigger runs.
  public enum Time: String, Hashable, Sendable, CaseIterable {
    /// Before the row changes, as without a word.
    case before = "BEFORE"
    /// After the row changed.
    case after = "AFTER"
    /// In place of a change to a view.
    case insteadOf = "INSTEAD OF"
  }

  /// What fires a trigger.
  public enum Event: Hashable, Sendable {
    /// DELETE.
    case delete
    /// INSERT.
    case insert
    /// `UPDATE OF columns`; of any column if empty.
    case update(of: [SQLName])
  }

  /// Whether TEMP is written.
  public var isTemporary: Bool
  /// Whether IF NOT EXISTS is written.
  public var ifNotExists: Bool
  /// The name of the trigger.
  public var name: SQLQualifiedName
  /// BEFORE, AFTER or INSTEAD OF.
  public var time: Time?
  /// What fires it.
  public var event: Event
  /// The table or view.
  public var table: SQLQualifiedName
  /// Whether FOR EACH ROW is written.
  public var forEachRow: Bool
  /// The condition behind WHEN.
  public var when: SQLExpression?
  /// The statements between BEGIN and END: SELECT, INSERT, UPDATE, DELETE.
  public var body: [SQLStatement]

  /// Makes a CREATE TRIGGER.
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

/// ALTER TABLE.
public struct SQLAlterTable: Hashable, Sendable {
  /// What is changed.
  public enum Action: Hashable, Sendable {
    /// `RENAME TO name`.
    case rename(SQLName)
    /// `RENAME COLUMN name TO name`.
    case renameColumn(SQLName, to: SQLName)
    /// `ADD COLUMN …`.
    case addColumn(SQLColumnDefinition)
    /// `DROP COLUMN name`.
    case dropColumn(SQLName)
    /// `ADD CONSTRAINT name CHECK (…)`. From SQLite 3.53 on.
    case addCheck(name: SQLName?, SQLExpression, SQLConflict?)
    /// `DROP CONSTRAINT name`. From SQLite 3.53 on.
    case dropConstraint(SQLName)
    /// `ALTER COLUMN name SET NOT NULL`. From SQLite 3.53 on.
    case setNotNull(SQLName, SQLConflict?)
    /// `ALTER COLUMN name DROP NOT NULL`. From SQLite 3.53 on.
    case dropNotNull(SQLName)
  }

  /// The table.
  public var table: SQLQualifiedName
  /// The change.
  public var action: Action

  /// Makes an ALTER TABLE.
  public init(_ table: SQLQualifiedName, _ action: Action) {
    self.table = table
    self.action = action
  }
}

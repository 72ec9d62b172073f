/// CREATE TABLE.
public struct SQLCreateTable: Hashable, Sendable {
  /// What the table is made from.
  public enum Body: Hashable, Sendable {
    /// Columns and constraints.
    case definition(SQLTableDefinition)
    /// `AS SELECT …`.
    case select(SQLSelect)
  }

  /// Whether TEMP is written.
  public var isTemporary: Bool
  /// Whether IF NOT EXISTS is written.
  public var ifNotExists: Bool
  /// The name of the table.
  public var name: SQLQualifiedName
  /// The columns, or the query.
  public var body: Body

  /// Makes a CREATE TABLE.
  public init(
    isTemporary: Bool = false, ifNotExists: Bool = false, _ name: SQLQualifiedName, _ body: Body
  ) {
    self.isTemporary = isTemporary
    self.ifNotExists = ifNotExists
    self.name = name
    self.body = body
  }
}

/// The columns, constraints and options of a table.
public struct SQLTableDefinition: Hashable, Sendable {
  /// The columns, at least one.
  public var columns: [SQLColumnDefinition]
  /// The constraints behind the columns.
  public var constraints: [SQLTableConstraint]
  /// WITHOUT ROWID and STRICT, in the order of the text.
  public var options: [SQLTableOption]
  /// The parentheses and what is in them.
  public var span: SQLSpan

  /// Makes a table of `columns`.
  public init(
    _ columns: [SQLColumnDefinition], constraints: [SQLTableConstraint] = [],
    options: [SQLTableOption] = [], span: SQLSpan = .none
  ) {
    self.columns = columns
    self.constraints = constraints
    self.options = options
    self.span = span
  }
}

/// An option behind the parentheses of a table.
public enum SQLTableOption: String, Hashable, Sendable, CaseIterable {
  /// The rows are stored by their primary key.
  case withoutRowID = "WITHOUT ROWID"
  /// Columns hold values of their type only.
  case strict = "STRICT"
}

/// A column of a table: its name, its type and its constraints.
public struct SQLColumnDefinition: Hashable, Sendable {
  /// The name.
  public var name: SQLName
  /// The type, if there is one.
  public var type: SQLTypeName?
  /// The constraints in the order of the text.
  public var constraints: [SQLColumnConstraint]
  /// Where the column was read.
  public var span: SQLSpan

  /// Makes a column.
  public init(
    _ name: SQLName, _ type: SQLTypeName? = nil, constraints: [SQLColumnConstraint] = [],
    span: SQLSpan = .none
  ) {
    self.name = name
    self.type = type
    self.constraints = constraints
    self.span = span
  }
}

/// A constraint of a column, with the name before it.
public struct SQLColumnConstraint: Hashable, Sendable {
  /// The kinds of constraints of a column.
  public enum Kind: Hashable, Sendable {
    /// A name without a constraint, `CONSTRAINT name`, which SQLite accepts and ignores.
    case nameOnly
    /// NULL, which says nothing.
    case null(SQLConflict?)
    /// NOT NULL.
    case notNull(SQLConflict?)
    /// PRIMARY KEY.
    case primaryKey(SQLOrderTerm.Direction?, SQLConflict?, isAutoincrement: Bool)
    /// UNIQUE.
    case unique(SQLConflict?)
    /// CHECK.
    case check(SQLExpression)
    /// DEFAULT.
    case `default`(SQLDefault)
    /// REFERENCES.
    case references(SQLReference)
    /// DEFERRABLE, which belongs to the REFERENCES before it.
    case deferrable(SQLDeferral)
    /// COLLATE.
    case collate(SQLName)
    /// `GENERATED ALWAYS AS (expression) STORED`; the last word is VIRTUAL or STORED.
    case generated(SQLExpression, storage: SQLName?, isShort: Bool)
  }

  /// The name behind CONSTRAINT.
  public var name: SQLName?
  /// What the constraint says.
  public var kind: Kind
  /// Where the constraint was read, its name included.
  public var span: SQLSpan

  /// Makes a constraint.
  public init(name: SQLName? = nil, _ kind: Kind, span: SQLSpan = .none) {
    self.name = name
    self.kind = kind
    self.span = span
  }
}

/// What stands behind DEFAULT: a literal, a signed number, a name, or an expression in parentheses.
public struct SQLDefault: Hashable, Sendable {
  /// The value.
  public var value: SQLExpression {
    didSet { written.text = nil }
  }
  /// The text of the value, which `PRAGMA table_xinfo` tells byte for byte.
  var written = WrittenText()

  /// Makes the default `value`.
  public init(_ value: SQLExpression) { self.value = value }
}

/// `REFERENCES table (columns) ON DELETE …`.
public struct SQLReference: Hashable, Sendable {
  /// What happens to the rows that refer to a row that changes.
  public enum Action: String, Hashable, Sendable, CaseIterable {
    /// They refer to nothing.
    case setNull = "SET NULL"
    /// They get their default.
    case setDefault = "SET DEFAULT"
    /// They are changed or removed too.
    case cascade = "CASCADE"
    /// The change fails at once.
    case restrict = "RESTRICT"
    /// The change fails at the end of the statement or the transaction.
    case noAction = "NO ACTION"
  }

  /// A clause behind the columns.
  public enum Clause: Hashable, Sendable {
    /// ON DELETE.
    case onDelete(Action)
    /// ON UPDATE.
    case onUpdate(Action)
    /// ON INSERT, which SQLite accepts and ignores.
    case onInsert(Action)
    /// MATCH, which SQLite accepts and ignores.
    case match(SQLName)
  }

  /// The table that is referred to.
  public var table: SQLName
  /// Its columns; its primary key if empty.
  public var columns: [SQLName]
  /// The clauses in the order of the text.
  public var clauses: [Clause]

  /// Makes a reference.
  public init(_ table: SQLName, columns: [SQLName] = [], _ clauses: [Clause] = []) {
    self.table = table
    self.columns = columns
    self.clauses = clauses
  }
}

/// `NOT DEFERRABLE INITIALLY …`.
public struct SQLDeferral: Hashable, Sendable {
  /// When a foreign key is checked.
  public enum Initially: String, Hashable, Sendable, CaseIterable {
    /// At the end of the transaction.
    case deferred = "DEFERRED"
    /// At the end of the statement.
    case immediate = "IMMEDIATE"
  }

  /// Whether NOT stands before it.
  public var isNegated: Bool
  /// What stands behind INITIALLY.
  public var initially: Initially?

  /// Makes a DEFERRABLE clause.
  public init(isNegated: Bool = false, initially: Initially? = nil) {
    self.isNegated = isNegated
    self.initially = initially
  }
}

/// A constraint of a table, with the name before it.
public struct SQLTableConstraint: Hashable, Sendable {
  /// The kinds of constraints of a table.
  public enum Kind: Hashable, Sendable {
    /// A name without a constraint, which SQLite accepts and ignores.
    case nameOnly
    /// PRIMARY KEY.
    case primaryKey([SQLOrderTerm], isAutoincrement: Bool, SQLConflict?)
    /// UNIQUE.
    case unique([SQLOrderTerm], SQLConflict?)
    /// CHECK.
    case check(SQLExpression, SQLConflict?)
    /// FOREIGN KEY.
    case foreignKey([SQLName], SQLReference, SQLDeferral?)
  }

  /// The name behind CONSTRAINT.
  public var name: SQLName?
  /// What the constraint says.
  public var kind: Kind
  /// Where the constraint was read, its name included.
  public var span: SQLSpan

  /// Makes a constraint.
  public init(name: SQLName? = nil, _ kind: Kind, span: SQLSpan = .none) {
    self.name = name
    self.kind = kind
    self.span = span
  }
}

/// A CREATE TABLE statement, which creates a table from column definitions or from a query.
public struct SQLCreateTable: Hashable, Sendable {
  /// The part of a CREATE TABLE statement that determines the columns.
  public enum Body: Hashable, Sendable {
    /// The columns, constraints and options of the table.
    case definition(SQLTableDefinition)
    /// `AS SELECT …`, a query that determines the columns and rows.
    case select(SQLSelect)
  }

  /// A Boolean value that indicates whether the statement contains TEMP or TEMPORARY.
  public var isTemporary: Bool
  /// A Boolean value that indicates whether the statement contains IF NOT EXISTS.
  public var ifNotExists: Bool
  /// The name of the table to create, with its schema if one is written.
  public var name: SQLQualifiedName
  /// The columns, constraints and options, or the query that determines the columns.
  public var body: Body

  /// Creates a CREATE TABLE statement for the table `name`, with columns or a query as its body.
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
  /// The columns, in the order in which they are written. There is at least one.
  public var columns: [SQLColumnDefinition]
  /// The table constraints after the columns.
  public var constraints: [SQLTableConstraint]
  /// The options after the parentheses, in the order in which they are written.
  public var options: [SQLTableOption]
  /// The range of the parentheses and their content in the source text, without the options.
  public var span: SQLSpan

  /// Creates the definition of a table from its columns, constraints and options.
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

/// An option after the parentheses of a CREATE TABLE statement.
public enum SQLTableOption: String, Hashable, Sendable, CaseIterable {
  /// WITHOUT ROWID: the table has no rowid, and its rows are stored in the order of the primary
  /// key.
  case withoutRowID = "WITHOUT ROWID"
  /// STRICT: columns accept only values that have the declared type or convert to it without loss.
  case strict = "STRICT"
}

/// A column definition: a name, a type and constraints.
public struct SQLColumnDefinition: Hashable, Sendable {
  /// The name of the column, with its quotation marks.
  public var name: SQLName
  /// The type, or nil if none is declared.
  public var type: SQLTypeName?
  /// The constraints, in the order in which they are written.
  public var constraints: [SQLColumnConstraint]
  /// The source range of the column definition.
  public var span: SQLSpan

  /// Creates a column definition from a name, a type and constraints.
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

/// A column constraint, including its name.
public struct SQLColumnConstraint: Hashable, Sendable {
  /// The kinds of column constraints. An associated value is nil if its clause isn't written.
  public enum Kind: Hashable, Sendable {
    /// A name without a constraint, `CONSTRAINT name`, which SQLite accepts and ignores.
    case nameOnly
    /// NULL, with the action for violations. SQLite ignores both.
    case null(SQLConflict?)
    /// NOT NULL, with the action for violations.
    case notNull(SQLConflict?)
    /// PRIMARY KEY, with the sort direction, the action for violations, and whether AUTOINCREMENT
    /// follows.
    case primaryKey(SQLOrderTerm.Direction?, SQLConflict?, isAutoincrement: Bool)
    /// UNIQUE, with the action for violations.
    case unique(SQLConflict?)
    /// CHECK, with the condition that a row must satisfy.
    case check(SQLExpression)
    /// DEFAULT, with the default value.
    case `default`(SQLDefault)
    /// REFERENCES, with the parent table and its columns.
    case references(SQLReference)
    /// DEFERRABLE or NOT DEFERRABLE, which applies to the preceding REFERENCES.
    case deferrable(SQLDeferral)
    /// COLLATE, with the name of the collation.
    case collate(SQLName)
    /// `GENERATED ALWAYS AS (expression) STORED`. The storage is VIRTUAL or STORED; nil means
    /// VIRTUAL. The short form omits GENERATED ALWAYS.
    case generated(SQLExpression, storage: SQLName?, isShort: Bool)
  }

  /// The name of the constraint after CONSTRAINT; nil if it has none.
  public var name: SQLName?
  /// The kind of the constraint, with its content.
  public var kind: Kind
  /// The source range of the constraint, including its name.
  public var span: SQLSpan

  /// Creates a column constraint, which begins with `CONSTRAINT name` unless `name` is nil.
  public init(name: SQLName? = nil, _ kind: Kind, span: SQLSpan = .none) {
    self.name = name
    self.kind = kind
    self.span = span
  }
}

/// The value after DEFAULT: a literal, a signed number, a name, or an expression in parentheses.
public struct SQLDefault: Hashable, Sendable {
  /// The expression after DEFAULT, including its parentheses if it has any.
  public var value: SQLExpression {
    didSet { written.text = nil }
  }
  /// The source text of the value. The printer writes it unchanged, because `PRAGMA table_xinfo`
  /// returns it byte for byte. Its `text` is nil if the value was not parsed or has changed.
  var written = WrittenText()

  /// Creates a default value. The printer puts it in parentheses if the grammar requires them.
  public init(_ value: SQLExpression) { self.value = value }
}

/// A REFERENCES clause of a foreign key: `REFERENCES table (columns) ON DELETE …`.
public struct SQLReference: Hashable, Sendable {
  /// The action for the rows that reference an updated or deleted row.
  public enum Action: String, Hashable, Sendable, CaseIterable {
    /// Sets the foreign key of the referencing rows to NULL.
    case setNull = "SET NULL"
    /// Sets the foreign key of the referencing rows to its default value.
    case setDefault = "SET DEFAULT"
    /// Updates or deletes the referencing rows, too.
    case cascade = "CASCADE"
    /// Rejects the change immediately, even if the foreign key is deferred.
    case restrict = "RESTRICT"
    /// Rejects the change at the end of the statement, or of the transaction if the foreign key is
    /// deferred.
    case noAction = "NO ACTION"
  }

  /// A clause after the columns of a foreign key reference.
  public enum Clause: Hashable, Sendable {
    /// ON DELETE, with the action if the referenced row is deleted.
    case onDelete(Action)
    /// ON UPDATE, with the action if the referenced key changes.
    case onUpdate(Action)
    /// ON INSERT, which SQLite accepts and ignores.
    case onInsert(Action)
    /// MATCH, which SQLite accepts and ignores.
    case match(SQLName)
  }

  /// The referenced table, which is the parent table of the foreign key.
  public var table: SQLName
  /// The referenced columns. If the array is empty, the foreign key references the primary key.
  public var columns: [SQLName]
  /// The ON and MATCH clauses after the columns, in the order in which they are written.
  public var clauses: [Clause]

  /// Creates a reference to columns of a table, or to its primary key if `columns` is empty.
  public init(_ table: SQLName, columns: [SQLName] = [], _ clauses: [Clause] = []) {
    self.table = table
    self.columns = columns
    self.clauses = clauses
  }
}

/// A DEFERRABLE or NOT DEFERRABLE clause of a foreign key, with or without INITIALLY.
public struct SQLDeferral: Hashable, Sendable {
  /// The time at which a foreign key is checked.
  public enum Initially: String, Hashable, Sendable, CaseIterable {
    /// Checks the foreign key at the end of the transaction.
    case deferred = "DEFERRED"
    /// Checks the foreign key at the end of the statement.
    case immediate = "IMMEDIATE"
  }

  /// A Boolean value that indicates whether the clause begins with NOT. If true, SQLite always
  /// checks the foreign key at the end of the statement.
  public var isNegated: Bool
  /// The time after INITIALLY; nil if it isn't written, which means IMMEDIATE.
  public var initially: Initially?

  /// Creates a DEFERRABLE clause, or a NOT DEFERRABLE clause if `isNegated` is true.
  public init(isNegated: Bool = false, initially: Initially? = nil) {
    self.isNegated = isNegated
    self.initially = initially
  }
}

/// A table constraint, including its name.
public struct SQLTableConstraint: Hashable, Sendable {
  /// The kinds of table constraints. An associated value is nil if its clause isn't written.
  public enum Kind: Hashable, Sendable {
    /// A name without a constraint, which SQLite accepts and ignores.
    case nameOnly
    /// PRIMARY KEY, with its columns, whether AUTOINCREMENT follows them, and the action for
    /// violations.
    case primaryKey([SQLOrderTerm], isAutoincrement: Bool, SQLConflict?)
    /// UNIQUE, with its columns and the action for violations.
    case unique([SQLOrderTerm], SQLConflict?)
    /// CHECK, with its condition and an ON CONFLICT action, which SQLite accepts and ignores.
    case check(SQLExpression, SQLConflict?)
    /// FOREIGN KEY, with its columns, its REFERENCES clause, and its DEFERRABLE clause.
    case foreignKey([SQLName], SQLReference, SQLDeferral?)
  }

  /// The name of the constraint after CONSTRAINT; nil if it has none.
  public var name: SQLName?
  /// The kind of the constraint, with its content.
  public var kind: Kind
  /// The source range of the constraint, including its name.
  public var span: SQLSpan

  /// Creates a table constraint, which begins with `CONSTRAINT name` unless `name` is nil.
  public init(name: SQLName? = nil, _ kind: Kind, span: SQLSpan = .none) {
    self.name = name
    self.kind = kind
    self.span = span
  }
}

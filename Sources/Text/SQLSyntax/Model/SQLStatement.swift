/// A parsed SQL statement.
///
///     let statement = try SQLStatement(parsing: "SELECT title FROM note WHERE id = ?")
///     if case .select(let query) = statement { print(query.printed()) }
///
/// Each case contains one kind of statement with all its clauses, but without comments, blanks and
/// optional keywords such as TRANSACTION in `BEGIN TRANSACTION`.
public indirect enum SQLStatement: Hashable, Sendable {
  /// A query: SELECT or VALUES.
  case select(SQLSelect)
  /// An INSERT or REPLACE statement, which adds rows to a table.
  case insert(SQLInsert)
  /// An UPDATE statement, which changes rows of a table.
  case update(SQLUpdate)
  /// A DELETE statement, which removes rows from a table.
  case delete(SQLDelete)
  /// A CREATE TABLE statement, which creates a table from column definitions or from a query.
  case createTable(SQLCreateTable)
  /// A CREATE VIRTUAL TABLE statement, for a table that a module such as `fts5` implements.
  case createVirtualTable(SQLCreateVirtualTable)
  /// A CREATE INDEX statement, which creates an index, optionally a unique one, on a table.
  case createIndex(SQLCreateIndex)
  /// A CREATE VIEW statement, which stores a query under a name.
  case createView(SQLCreateView)
  /// A CREATE TRIGGER statement, which defines statements that run when rows of a table or view
  /// change.
  case createTrigger(SQLCreateTrigger)
  /// An ALTER TABLE statement, which renames a table or changes its columns or constraints.
  case alterTable(SQLAlterTable)
  /// A DROP statement for a table, index, view or trigger.
  case drop(SQLDrop)
  /// A BEGIN statement, with the locking mode and the name of the transaction; nil if they aren't
  /// written. SQLite ignores the name.
  case begin(SQLTransactionMode?, name: SQLName?)
  /// A COMMIT or END statement, with the name of the transaction if it is written. SQLite ignores
  /// the name.
  case commit(name: SQLName?)
  /// A ROLLBACK statement that ends the transaction, with the name of the transaction if it is
  /// written. SQLite ignores the name.
  case rollback(name: SQLName?)
  /// A `ROLLBACK TO savepoint` statement. SQLite ignores the name of the transaction.
  case rollbackTo(savepoint: SQLName, transaction: SQLName?)
  /// A SAVEPOINT statement with the name of the savepoint.
  case savepoint(SQLName)
  /// A RELEASE statement with the name of the savepoint.
  case release(SQLName)
  /// A PRAGMA statement, which reads or sets an option or runs a command of SQLite.
  case pragma(SQLPragma)
  /// An `ATTACH file AS schema KEY key` statement. The key is nil if there is no KEY clause.
  case attach(SQLExpression, as: SQLExpression, key: SQLExpression?)
  /// A DETACH statement, with the schema name of the attached database.
  case detach(SQLExpression)
  /// A `VACUUM schema INTO file` statement. The schema and the file are nil if they aren't written.
  case vacuum(SQLName?, into: SQLExpression?)
  /// A REINDEX statement for a table, an index or a collation, or for all indexes if the name is
  /// nil.
  case reindex(SQLQualifiedName?)
  /// An ANALYZE statement for a schema, a table or an index, or for all schemas if the name is nil.
  case analyze(SQLQualifiedName?)
  /// An EXPLAIN or EXPLAIN QUERY PLAN statement.
  case explain(SQLStatement, isQueryPlan: Bool)
}

/// The locking mode after BEGIN.
public enum SQLTransactionMode: String, Hashable, Sendable, CaseIterable {
  /// Acquires locks only when a statement reads or writes the database. This is the default.
  case deferred = "DEFERRED"
  /// Acquires the write lock immediately.
  case immediate = "IMMEDIATE"
  /// Acquires the write lock immediately and, outside of WAL mode, also blocks readers.
  case exclusive = "EXCLUSIVE"
}

/// A PRAGMA statement: `PRAGMA schema.name = value` or `PRAGMA schema.name(value)`.
public struct SQLPragma: Hashable, Sendable {
  /// The kinds of pragma values.
  public enum Value: Hashable, Sendable {
    /// A number in its original notation, including the sign.
    case number(String)
    /// A name, a string, or a word such as ON.
    case name(SQLName)
  }

  /// The name of the pragma, optionally with a schema.
  public var name: SQLQualifiedName
  /// The value after `=` or in parentheses; nil if there is none.
  public var value: Value?
  /// A Boolean value that indicates whether the value is in parentheses.
  public var isCall: Bool

  /// Creates a PRAGMA statement. The value follows `=`, or is in parentheses if `isCall` is true.
  public init(_ name: SQLQualifiedName, _ value: Value? = nil, isCall: Bool = false) {
    self.name = name
    self.value = value
    self.isCall = isCall
  }
}

/// A DROP TABLE, DROP INDEX, DROP VIEW or DROP TRIGGER statement.
public struct SQLDrop: Hashable, Sendable {
  /// The kinds of objects that can be dropped.
  public enum Target: String, Hashable, Sendable, CaseIterable {
    /// The statement drops a table or virtual table.
    case table = "TABLE"
    /// The statement drops an index.
    case index = "INDEX"
    /// The statement drops a view.
    case view = "VIEW"
    /// The statement drops a trigger.
    case trigger = "TRIGGER"
  }

  /// The kind of the object to drop.
  public var target: Target
  /// A Boolean value that indicates whether the statement contains IF EXISTS.
  public var ifExists: Bool
  /// The name of the object to drop, with its schema if one is written.
  public var name: SQLQualifiedName

  /// Creates a DROP statement for the table, index, view or trigger `name`.
  public init(_ target: Target, ifExists: Bool = false, _ name: SQLQualifiedName) {
    self.target = target
    self.ifExists = ifExists
    self.name = name
  }
}

/// One statement of SQL.
///
///     let statement = try SQLStatement(parsing: "SELECT title FROM note WHERE id = ?")
///     if case .select(let query) = statement { print(query.printed()) }
///
/// Each kind of statement has a structure of its own. What a statement says is in it entirely, but
/// for comments, blanks and words without meaning, such as TRANSACTION in `BEGIN TRANSACTION`.
public indirect enum SQLStatement: Hashable, Sendable {
  /// SELECT or VALUES.
  case select(SQLSelect)
  /// INSERT or REPLACE.
  case insert(SQLInsert)
  /// UPDATE.
  case update(SQLUpdate)
  /// DELETE.
  case delete(SQLDelete)
  /// CREATE TABLE.
  case createTable(SQLCreateTable)
  /// CREATE VIRTUAL TABLE.
  case createVirtualTable(SQLCreateVirtualTable)
  /// CREATE INDEX.
  case createIndex(SQLCreateIndex)
  /// CREATE VIEW.
  case createView(SQLCreateView)
  /// CREATE TRIGGER.
  case createTrigger(SQLCreateTrigger)
  /// ALTER TABLE.
  case alterTable(SQLAlterTable)
  /// DROP TABLE, INDEX, VIEW or TRIGGER.
  case drop(SQLDrop)
  /// BEGIN.
  case begin(SQLTransactionMode?, name: SQLName?)
  /// COMMIT or END.
  case commit(name: SQLName?)
  /// ROLLBACK.
  case rollback(name: SQLName?)
  /// `ROLLBACK TO savepoint`.
  case rollbackTo(savepoint: SQLName, transaction: SQLName?)
  /// SAVEPOINT.
  case savepoint(SQLName)
  /// RELEASE.
  case release(SQLName)
  /// PRAGMA.
  case pragma(SQLPragma)
  /// `ATTACH file AS schema KEY key`.
  case attach(SQLExpression, as: SQLExpression, key: SQLExpression?)
  /// DETACH.
  case detach(SQLExpression)
  /// `VACUUM schema INTO file`.
  case vacuum(SQLName?, into: SQLExpression?)
  /// REINDEX of a table, an index or a collation, or of all.
  case reindex(SQLQualifiedName?)
  /// ANALYZE of a schema, a table or an index, or of all.
  case analyze(SQLQualifiedName?)
  /// EXPLAIN, or EXPLAIN QUERY PLAN.
  case explain(SQLStatement, isQueryPlan: Bool)
}

/// The word behind BEGIN.
public enum SQLTransactionMode: String, Hashable, Sendable, CaseIterable {
  /// Nothing is locked before it is used, as without a word.
  case deferred = "DEFERRED"
  /// The right to write is taken at once.
  case immediate = "IMMEDIATE"
  /// As immediate; without WAL also readers are kept out.
  case exclusive = "EXCLUSIVE"
}

/// `PRAGMA schema.name = value` or `PRAGMA schema.name(value)`.
public struct SQLPragma: Hashable, Sendable {
  /// What a pragma may be given.
  public enum Value: Hashable, Sendable {
    /// A number as it is written, with its sign.
    case number(String)
    /// A name, a text or a word such as ON.
    case name(SQLName)
  }

  /// The name, with the schema that it is for.
  public var name: SQLQualifiedName
  /// The value.
  public var value: Value?
  /// Whether the value stands in parentheses.
  public var isCall: Bool

  /// Makes a pragma.
  public init(_ name: SQLQualifiedName, _ value: Value? = nil, isCall: Bool = false) {
    self.name = name
    self.value = value
    self.isCall = isCall
  }
}

/// DROP TABLE, INDEX, VIEW or TRIGGER.
public struct SQLDrop: Hashable, Sendable {
  /// What can be dropped.
  public enum Target: String, Hashable, Sendable, CaseIterable {
    /// A table, also a virtual one.
    case table = "TABLE"
    /// An index.
    case index = "INDEX"
    /// A view.
    case view = "VIEW"
    /// A trigger.
    case trigger = "TRIGGER"
  }

  /// What is dropped.
  public var target: Target
  /// Whether IF EXISTS is written.
  public var ifExists: Bool
  /// Its name.
  public var name: SQLQualifiedName

  /// Makes a DROP.
  public init(_ target: Target, ifExists: Bool = false, _ name: SQLQualifiedName) {
    self.target = target
    self.ifExists = ifExists
    self.name = name
  }
}

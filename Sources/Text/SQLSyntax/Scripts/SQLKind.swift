import SQLLexer

/// The kind of a statement, determined by its first keywords.
///
/// The kind doesn't determine whether a statement writes. For example, some pragmas write, and
/// CREATE … IF NOT EXISTS doesn't write if the object exists. To find out, call
/// `sqlite3_stmt_readonly`.
public enum SQLKind: String, Hashable, Sendable, CaseIterable {
  /// A query: SELECT or VALUES.
  case query
  /// A change of rows: INSERT, REPLACE, UPDATE or DELETE.
  case change
  /// A change of the schema: CREATE, ALTER or DROP.
  case schema
  /// Transaction control: BEGIN, COMMIT, END, ROLLBACK, SAVEPOINT or RELEASE.
  case transaction
  /// A PRAGMA statement, which reads or sets an option or runs a command of SQLite.
  case pragma
  /// A change of the attached databases: ATTACH or DETACH.
  case attachment
  /// Maintenance of the database: VACUUM, REINDEX or ANALYZE.
  case maintenance
  /// An EXPLAIN statement, whatever statement follows.
  case explanation
  /// Any other text, such as an invalid or empty statement.
  case unknown

  init(_ code: SQLToken.Code) {
    switch code {
    case .select, .values: self = .query
    case .insert, .replace, .update, .delete: self = .change
    case .create, .alter, .drop: self = .schema
    case .begin, .commit, .end, .rollback, .savepoint, .release: self = .transaction
    case .pragma: self = .pragma
    case .attach, .detach: self = .attachment
    case .vacuum, .reindex, .analyze: self = .maintenance
    case .explain: self = .explanation
    default: self = .unknown
    }
  }

  /// Creates the kind of the first statement in `sql` from its keywords, without parsing the
  /// statement. If there is no statement, the kind is ``unknown``.
  ///
  /// - Parameter sql: The SQL text.
  /// - Complexity: O(*n*) in the length of the text.
  public init(of sql: String) {
    var script = SQLScript(sql)
    self = script.next()?.kind ?? .unknown
  }
}

extension SQLStatement {
  /// The kind of the statement, which is never ``SQLKind/unknown``.
  public var kind: SQLKind {
    switch self {
    case .select: .query
    case .insert, .update, .delete: .change
    case .createTable, .createVirtualTable, .createIndex, .createView, .createTrigger,
      .alterTable, .drop:
      .schema
    case .begin, .commit, .rollback, .rollbackTo, .savepoint, .release: .transaction
    case .pragma: .pragma
    case .attach, .detach: .attachment
    case .vacuum, .reindex, .analyze: .maintenance
    case .explain: .explanation
    }
  }
}

import SQLLexer

/// What a statement is for, as its first words say.
///
/// Whether a statement writes cannot be told from its text alone: a pragma may, and CREATE … IF NOT
/// EXISTS may not. Ask `sqlite3_stmt_readonly` for that.
public enum SQLKind: String, Hashable, Sendable, CaseIterable {
  /// SELECT or VALUES.
  case query
  /// INSERT, REPLACE, UPDATE or DELETE.
  case change
  /// CREATE, ALTER or DROP.
  case schema
  /// BEGIN, COMMIT, END, ROLLBACK, SAVEPOINT or RELEASE.
  case transaction
  /// PRAGMA.
  case pragma
  /// ATTACH or DETACH.
  case attachment
  /// VACUUM, REINDEX or ANALYZE.
  case maintenance
  /// EXPLAIN.
  case explanation
  /// None of these.
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

  /// Reads what the first statement of `sql` is for, by its tokens alone.
  ///
  /// - Complexity: O(1); behind WITH as far as the statement proper.
  public init(of sql: String) {
    var script = SQLScript(sql)
    self = script.next()?.kind ?? .unknown
  }
}

extension SQLStatement {
  /// What the statement is for.
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

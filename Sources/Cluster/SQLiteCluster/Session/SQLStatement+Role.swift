import SQLSyntax
import SQLiteCore

extension SQLStatement {
  /// Whether the statement returns all columns of a table (`*`).
  var hasAllColumns: Bool {
    switch self {
    case .select(let select): select.body.hasAllColumns
    case .insert(let insert): insert.returning.hasAll
    case .update(let update): update.returning.hasAll
    case .delete(let delete): delete.returning.hasAll
    default: false
    }
  }

  /// Whether a node may prepare the statement once and reuse it for all later runs.
  ///
  /// This excludes statements with `*`, because the columns may change. It also excludes EXPLAIN,
  /// which would hold the snapshot of its session, so that all later reads would see the old state.
  /// SQLite ends that snapshot only when the statement is reset, and a node of version 1.11 doesn't
  /// reset a statement after its last row.
  var canStayPrepared: Bool {
    if case .explain = self { return false }
    return !hasAllColumns
  }

  /// Returns the kind of request that runs the statement at a node.
  ///
  /// - Throws: `SQLiteError` if the statement isn't available on a cluster, would crash the node,
  ///   or would be misinterpreted by it.
  func role(_ sql: String) throws(SQLiteError) -> ClusterStatement.Role {
    func refused(_ what: String) -> SQLiteError {
      SQLiteError(.authorization, "a cluster does not support \(what)", sql: sql)
    }
    switch self {
    case .select, .explain: return .query
    case .insert(let insert):
      return .change(isInsert: true, countsRows: true, returnsRows: !insert.returning.isEmpty)
    case .update(let update):
      return .change(isInsert: false, countsRows: true, returnsRows: !update.returning.isEmpty)
    case .delete(let delete):
      return .change(isInsert: false, countsRows: true, returnsRows: !delete.returning.isEmpty)
    case .createTable(let table):
      if case .definition(let definition) = table.body {
        for column in definition.columns { try column.checkType(sql) }
      }
    case .alterTable(let change):
      if case .addColumn(let column) = change.action { try column.checkType(sql) }
    case .createVirtualTable(let table):
      // SQLite 3.40 crashes if an argument of this tokenizer has no value.
      if (table.arguments ?? []).contains(where: { $0.lowercased().contains("trigram") }) {
        throw refused("the tokenizer trigram")
      }
    case .createIndex, .createView, .createTrigger, .drop, .reindex, .analyze: break
    case .begin(let mode, _): return .control(.begin(mode ?? .deferred))
    case .commit: return .control(.commit)
    case .rollback: return .control(.rollback)
    case .rollbackTo(let savepoint, _): return .control(.rollbackTo(savepoint.text))
    case .savepoint(let name): return .control(.savepoint(name.text))
    case .release(let name): return .control(.release(name.text))
    case .pragma(let pragma):
      guard let role = pragma.role else { throw refused("PRAGMA \(pragma.name.name.text)") }
      return role
    case .attach, .detach: throw refused("ATTACH and DETACH")
    case .vacuum: throw refused("VACUUM")
    }
    return .change(isInsert: false, countsRows: false, returnsRows: false)
  }
}

extension SQLSelectBody {
  fileprivate var hasAllColumns: Bool {
    if case .select(let core) = self { core.columns.hasAll } else { false }
  }
}

extension [SQLResultColumn] {
  fileprivate var hasAll: Bool {
    contains { column in
      if case .expression = column.kind { false } else { true }
    }
  }
}

extension SQLColumnDefinition {
  /// Throws `SQLiteError` if the column has one of the declared types whose values can crash a
  /// node.
  fileprivate func checkType(_ sql: String) throws(SQLiteError) {
    // SQLite removes the quotes around the name.
    guard let type,
      ClusterSession.crashingTypes.contains(
        type.text.lowercased().filter { !"\"'`[]".contains($0) })
    else { return }
    throw SQLiteError(
      .authorization,
      "a cluster does not support the column type \(type.text) of \(name.text); use INTEGER, "
        + "REAL or TEXT",
      sql: sql)
  }
}

extension SQLPragma {
  private static let asked: Set<String> = [
    "application_id", "collation_list", "compile_options", "data_version", "database_list",
    "defer_foreign_keys", "encoding", "foreign_key_check", "foreign_key_list", "foreign_keys",
    "freelist_count", "function_list", "index_info", "index_list", "index_xinfo", "integrity_check",
    "journal_mode", "module_list", "page_count", "page_size", "pragma_list", "quick_check",
    "recursive_triggers", "schema_version", "synchronous", "table_info", "table_list",
    "table_xinfo", "trusted_schema", "user_version",
  ]
  private static let called: Set<String> = [
    "foreign_key_check", "foreign_key_list", "index_info", "index_list", "index_xinfo",
    "integrity_check", "quick_check", "table_info", "table_list", "table_xinfo",
  ]

  /// The kind of request that runs the pragma at a node; nil if the pragma isn't supported.
  fileprivate var role: ClusterStatement.Role? {
    let name = name.name.text.lowercased()
    guard value != nil else { return SQLPragma.asked.contains(name) ? .query : nil }
    if SQLPragma.called.contains(name) { return .query }
    switch name {
    case "defer_foreign_keys", "foreign_keys", "recursive_triggers", "trusted_schema":
      return .setting
    case "application_id", "user_version":
      return .change(isInsert: false, countsRows: false, returnsRows: false)
    default: return nil
    }
  }
}

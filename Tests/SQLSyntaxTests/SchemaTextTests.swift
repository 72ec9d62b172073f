import SQLSyntax
import SyntaxOracle
import Testing

/// Tests tables and indexes that printed texts create.
@Suite struct SchemaTextTests {
  let oracle: Oracle
  let grammar: SQLGrammar

  init() throws {
    oracle = try Oracle(runsPragmas: true)
    grammar = SQLGrammar(version: Oracle.version, options: Oracle.options)
  }

  /// Returns what SQLite reports of all tables and indexes after running `sql`, or nil if SQLite
  /// rejects it.
  private func schema(after sql: String, on preparation: [String]) -> [String]? {
    oracle.run("BEGIN")
    defer { oracle.run("ROLLBACK") }
    for sql in preparation { guard oracle.run(sql) else { return nil } }
    guard oracle.run(sql) else { return nil }
    let queries = [
      "SELECT type, name, tbl_name FROM sqlite_schema UNION ALL "
        + "SELECT type, name, tbl_name FROM sqlite_temp_schema",
      "SELECT name, type, wr, strict FROM pragma_table_list WHERE name NOT LIKE 'sqlite%'",
      "SELECT t.name, x.* FROM pragma_table_list t, pragma_table_xinfo(t.name) x",
      "SELECT t.name, x.* FROM pragma_table_list t, pragma_foreign_key_list(t.name) x",
      "SELECT t.name, i.*, x.* FROM pragma_table_list t, pragma_index_list(t.name) i, "
        + "pragma_index_xinfo(i.name) x",
    ]
    var found: [String] = []
    for query in queries {
      let rows = oracle.rows(query)
      #expect(rows != nil)
      found += rows ?? []
    }
    return found
  }

  private func compare(_ sql: String, _ printed: String, _ differences: inout Differences) -> Bool {
    let preparation = sql.contains("INDEX") ? TreeSource.schema : []
    let before = schema(after: sql, on: preparation)
    if before != schema(after: printed, on: preparation) {
      differences.add("another schema", sql + "\n -> " + printed)
    }
    return before != nil
  }

  @Test func `printed texts create the same tables and indexes`() throws {
    var differences = Differences()
    var made = 0
    for text in Texts.marked where text.refusal == nil {
      guard let statement = try? SQLStatement(parsing: text.sql, grammar: grammar) else { continue }
      switch statement {
      case .createTable, .createIndex:
        for style in [SQLStyle.compact, .indented] {
          if compare(text.sql, statement.printed(style), &differences) { made += 1 }
        }
      default: break
      }
    }
    #expect(differences.count == 0, "\(differences)")
    #expect(made > 100, "\(made) texts were run")
  }

  @Test func `printed random texts create the same tables and indexes`() throws {
    var differences = Differences()
    var made = 0
    for seed in 0..<1_500 {
      var source = TreeSource(seed: UInt64(seed))
      let statement =
        seed % 3 == 0
        ? SQLStatement.createIndex(source.createIndex())
        : SQLStatement.createTable(source.createTable())
      let sql = statement.printed()
      guard let read = try? SQLStatement(parsing: sql, grammar: grammar) else {
        differences.add("rejected", sql)
        continue
      }
      if compare(sql, read.printed(.indented), &differences) { made += 1 }
    }
    #expect(differences.count == 0, "\(differences)")
    #expect(made > 500, "\(made) texts were run")
  }
}

import SQLSyntax
import SQLiteCore

extension TableRebuild {
  /// Returns the error messages of the views and triggers that SQLite can't compile. The keys
  /// describe the views and triggers, such as `the view “old”`.
  ///
  /// SQLite compiles a trigger as part of a statement that fires it, together with all other
  /// triggers for the same table and event. The message for a trigger can therefore be about
  /// another of these triggers.
  func dependentErrors() throws -> [String: String] {
    var faults: [String: String] = [:]
    let schema = try connection.schemaModel()
    func check(_ name: String, _ sql: SQL) throws(SQLiteError) {
      do throws(SQLiteError) {
        var statement = try connection.statement(sql)
        // Compiles the statement again if it was compiled before the change.
        _ = try statement.step()
      } catch {
        guard error.code.primary == .error else { throw error }
        faults[name] = error.message
      }
    }
    for view in schema.views {
      let name = view.name.name.text
      try check("the view “\(name)”", "EXPLAIN SELECT * FROM main.\(identifier: name)")
    }
    for trigger in schema.triggers {
      guard let sql = try firing(trigger) else { continue }
      try check("the trigger “\(trigger.name.name.text)”", sql)
    }
    return faults
  }

  /// Returns an EXPLAIN statement that compiles a trigger without firing it, or nil if the
  /// trigger's table has no column that can be updated.
  private func firing(_ trigger: SQLCreateTrigger) throws -> SQL? {
    let table = trigger.table.name.text
    switch trigger.event {
    case .insert: return "EXPLAIN INSERT INTO main.\(identifier: table) DEFAULT VALUES"
    case .delete: return "EXPLAIN DELETE FROM main.\(identifier: table)"
    case .update(let columns):
      var names = columns.map(\.text)
      if names.isEmpty {
        names = try connection.columns(of: table).filter { $0.kind == .ordinary }.prefix(1).map(
          \.name)
      }
      guard !names.isEmpty else { return nil }
      let assignments = names.map { name -> SQL in "\(identifier: name) = \(identifier: name)" }
      return
        "EXPLAIN UPDATE main.\(identifier: table) SET \(SQL(joining: assignments, separator: ", "))"
    }
  }

  // MARK: Objects that depend on the order of columns

  /// Rewrites the views and triggers that depend on the order of the columns, so that they name the
  /// columns in their previous order.
  ///
  /// - Throws: ``RebuildError`` if a view or trigger can't be parsed or rewritten.
  mutating func nameColumnsExplicitly() throws {
    var grammar = SQLGrammar.linked
    grammar.readsStoredSchema = true
    let objects = try connection.rows(
      "SELECT type, name, sql FROM main.sqlite_schema WHERE type IN ('view', 'trigger') ORDER BY rowid",
      as: String.self, String.self, String.self)
    var obstacles: [String] = []
    for (kind, name, sql) in objects {
      var places = ColumnOrderUses(
        table: self.name, columns: old.columns.filter { $0.generated == nil }, all: old.columns)
      do {
        try places.inspect(at: try SQLStatement(parsing: sql, grammar: grammar))
      } catch {
        if places.mayUseTable(in: sql) {
          obstacles.append("the SQL of the \(kind) “\(name)” cannot be parsed")
        }
        continue
      }
      obstacles += places.obstacles.map { "the \(kind) “\(name)” \($0)" }
      guard !places.edits.isEmpty else { continue }
      guard let changed = SQLEdit.apply(places.edits, to: sql) else {
        obstacles.append("the SQL of the \(kind) “\(name)” cannot be parsed")
        continue
      }
      // `run()` sets the new text after it has created the triggers of the table again.
      rewritten.append(SchemaObject(kind: kind, name: name, sql: changed))
    }
    guard obstacles.isEmpty else { throw RebuildError(name, obstacles) }
  }
}

/// The positions in a statement that depend on the order of a table's columns.
private struct ColumnOrderUses {
  let table: String
  /// The columns to which an INSERT without column names assigns values.
  let columns: [SQLColumnDefinition]
  /// The columns that `*` returns.
  let all: [SQLColumnDefinition]
  var edits: [SQLEdit] = []
  var obstacles: [String] = []

  init(table: String, columns: [SQLColumnDefinition], all: [SQLColumnDefinition]) {
    self.table = table
    self.columns = columns
    self.all = all
  }

  /// Returns whether a token of a text contains the name of the table.
  func mayUseTable(in sql: String) -> Bool {
    let tokens = SQLTokens(sql)
    return tokens.contains { token in
      asciiLowercased(tokens.text(of: token)).contains(asciiLowercased(table))
    }
  }

  private func isTable(_ name: SQLQualifiedName) -> Bool {
    name.name.matches(table) && (name.schema?.matches("main") ?? true)
  }

  mutating func inspect(at statement: SQLStatement) throws {
    if case .createTrigger(let trigger) = statement {
      for case .insert(let insert) in trigger.body { inspect(at: insert) }
    }
    var selects: [SQLSelect] = []
    statement.forEachPart { part in if case .select(let select) = part { selects.append(select) } }
    var isShadowed = false
    for select in selects {
      isShadowed = isShadowed || select.with?.tables.contains { $0.name.matches(table) } ?? false
    }
    for select in selects {
      for body in [select.body] + select.compounds.map(\.body) {
        if case .select(let core) = body { inspect(at: core, isShadowed: isShadowed) }
      }
    }
  }

  private mutating func inspect(at insert: SQLInsert) {
    guard isTable(insert.table), insert.columns.isEmpty, case .select = insert.source else {
      return
    }
    let end = (insert.alias?.span ?? insert.table.name.span).range.upperBound
    let list = columns.map(\.name.description).joined(separator: ", ")
    edits.append(SQLEdit(end..<end, " (\(list))"))
  }

  private mutating func inspect(at core: SQLSelectCore, isShadowed: Bool) {
    guard let from = core.from else { return }
    var sources: [SQLTableReference] = []
    Self.tables(of: from, &sources)
    let own = sources.filter { isTable($0.name) }
    guard !own.isEmpty else { return }
    for column in core.columns {
      switch column.kind {
      case .expression: continue
      case .all where from.joins.isEmpty && sources.count == 1 && !isShadowed:
        expand(column, prefix: "")
      case .allOf(let name)
      where own.count == 1 && !isShadowed && (own[0].alias ?? own[0].name.name).matches(name):
        expand(column, prefix: "\(name).")
      case .allOf(let name) where !own.contains { ($0.alias ?? $0.name.name).matches(name) }:
        continue
      case .all, .allOf:
        obstacles.append("uses * and depends on the order of the columns")
      }
    }
  }

  private mutating func expand(_ column: SQLResultColumn, prefix: String) {
    let list = all.map { "\(prefix)\($0.name)" }.joined(separator: ", ")
    edits.append(SQLEdit(column.span.range, list))
  }

  /// Collects the tables of a FROM clause, except those in subqueries.
  private static func tables(of from: SQLFrom, _ tables: inout [SQLTableReference]) {
    for source in [from.first] + from.joins.map(\.source) {
      switch source {
      case .table(let table): tables.append(table)
      case .group(let inner, _): Self.tables(of: inner, &tables)
      case .function, .subquery: continue
      }
    }
  }
}

import SQLSyntax
import SQLiteCore
import SQLiteMapping

/// The rebuild of a table from its edited SQL text, within the open transaction. It follows the
/// steps in SQLite's manual (<https://www.sqlite.org/lang_altertable.html#otheralter>).
///
/// Every byte of the SQL text that no edit changes stays the same. Indexes and triggers are created
/// again from their own SQL texts.
struct TableRebuild {
  let connection: Connection
  /// The name of the table, as stored in `sqlite_schema`.
  let name: String
  /// The SQL text of the table before the edits.
  private let oldText: SQLTableText
  /// The SQL text of the table, which the caller edits before ``run()``.
  var text: SQLTableText
  /// The SQL expressions that compute the new values of columns from a row of the old table. Other
  /// columns are copied unchanged.
  var sources: [(column: SQLName, value: SQL)] = []
  /// The names of the columns with a new type. If the conversion would lose a value of such a
  /// column, ``run()`` throws.
  var converted: [SQLName] = []
  /// The names of the indexes that aren't created again.
  var droppedIndexes: Set<String> = []
  /// The views and triggers with new texts.
  var rewritten: [SchemaObject] = []
  /// The name of the new table until it replaces the old one.
  let scratch: String
  /// The name of the old table after the new one has replaced it.
  private let outgoing: String
  /// The definition of the table before the edits.
  var old: SQLTableDefinition { oldText.definition }

  /// A row of `sqlite_schema`.
  struct SchemaObject: Sendable {
    let kind: String
    let name: String
    var sql: String
  }

  /// Creates the rebuild of a table from the table's SQL text in the schema. Throws
  /// ``RebuildError`` if there is no such table, it is virtual, a temporary table or view has the
  /// same name, or the SQL text can't be parsed.
  init(_ table: String, _ connection: Connection) throws {
    self.connection = connection
    let found = try connection.firstRow(
      "SELECT name, sql FROM main.sqlite_schema WHERE type = 'table' AND name = \(table) COLLATE NOCASE",
      as: String.self, String.self)
    guard let (name, sql) = found else {
      throw RebuildError(table, ["there is no such table"])
    }
    self.name = name
    let isHidden =
      try connection.firstRow(
        "SELECT 1 FROM temp.sqlite_schema WHERE name = \(name) COLLATE NOCASE") != nil
    if isHidden { throw RebuildError(name, ["a temporary table or view has the same name"]) }
    var grammar = SQLGrammar.linked
    grammar.readsStoredSchema = true
    do {
      text = try SQLTableText(sql, grammar: grammar)
    } catch SQLTableText.EditError.noTable {
      throw RebuildError(name, ["it is a virtual table"])
    } catch {
      throw RebuildError(name, ["its SQL cannot be parsed: \(error)"])
    }
    oldText = text
    let taken = try connection.rows("SELECT name FROM main.sqlite_schema", as: String.self)
    let free = Array(
      (1...).lazy.map { "magicdata_rebuild_\($0)" }
        .filter { name in !taken.contains { isSameName($0, name) } }.prefix(2))
    (scratch, outgoing) = (free[0], free[1])
  }

  /// Returns an error with the reasons why the table can't be changed.
  func refuse(_ obstacles: String..., rowIDs: [Int64] = []) -> RebuildError {
    RebuildError(name, obstacles, rowIDs: rowIDs)
  }

  // MARK: The steps

  /// Creates the new table, copies the rows into it, and replaces the old table with it.
  ///
  /// - Throws: ``RebuildError`` if rows, views or triggers don't fit the new table. The caller must
  ///   then roll back.
  func run() throws {
    let before = try dependentErrors()
    try connection.withoutForeignKeys {
      let dependents = try TableDependents(of: name, connection)
      try makeScratch()
      try copyRows()
      try checkConversions()
      try drop(dependents)
      // Rename the old table before dropping it. On a server, delete rules would otherwise delete
      // rows that reference the table.
      try connection.renameTable(name, to: outgoing, sql: try sql(of: oldText, named: outgoing))
      try connection.renameTable(scratch, to: name, sql: text.text)
      try connection.executeChange("DROP TABLE main.\(identifier: outgoing)")
      try restore(dependents)
    }
    for object in rewritten { try connection.setSQL(object.sql, of: object.kind, object.name) }
    let after = try dependentErrors()
    let broken = after.filter { before[$0.key] == nil }.map { "\($0.key) would fail: \($0.value)" }
    guard broken.isEmpty else { throw RebuildError(name, broken.sorted()) }
  }

  /// Creates the new table, empty, under its temporary name.
  private func makeScratch() throws {
    let sql = try sql(of: text, named: scratch)
    do throws(SQLiteError) {
      try connection.executeChange(SQL(unchecked: sql))
    } catch {
      guard error.code.primary == .error else { throw error }
      throw refuse(message(of: error))
    }
  }

  /// Returns the SQL text of a table with another table name.
  private func sql(of text: SQLTableText, named newName: String) throws -> String {
    let name = name
    let other = SQLName(newName).description
    var edits = [SQLEdit(text.table.name.name.span.range, other)]
    SQLStatement.createTable(text.table).forEachPart { part in
      // A CHECK may contain the name of the table before a column.
      guard case .expression(let value) = part,
        case .qualifiedColumn(schema: nil, let table, _) = value.node, table.matches(name),
        !table.span.isEmpty
      else { return }
      edits.append(SQLEdit(table.span.range, other))
    }
    guard let sql = SQLEdit.apply(edits, to: text.text) else {
      throw refuse("its SQL cannot be parsed")
    }
    return sql
  }

  /// Returns SQLite's message with the name of the table instead of its temporary name.
  private func message(of error: SQLiteError) -> String {
    error.message.replacing(scratch, with: name)
  }

  // MARK: Rows

  /// Returns the names of the columns to insert into, and the expressions that compute their values
  /// from a row of the old table.
  private func assignments() throws -> (columns: [SQL], values: [SQL]) {
    var columns: [SQL] = []
    var values: [SQL] = []
    for column in text.definition.columns where column.generated == nil {
      guard old.columns.contains(where: { $0.name.matches(column.name) }) else { continue }
      columns.append("\(identifier: column.name.text)")
      values.append(
        sources.first { $0.column.matches(column.name) }?.value
          ?? "\(identifier: column.name.text)")
    }
    guard !old.isWithoutRowID, !text.definition.isWithoutRowID,
      try keyColumn(of: scratch) == nil
    else { return (columns, values) }
    // Keep a rowid that isn't in a column. Full-text indexes and link tables may refer to it.
    guard let from = try rowID(of: name, old), let to = try rowID(of: scratch, text.definition)
    else {
      throw refuse(
        "its rowid cannot be read, because columns use all of its names (rowid, oid and _rowid_)")
    }
    return (["\(identifier: to)"] + columns, ["\(identifier: from)"] + values)
  }

  /// Copies the rows, or throws an error with the rowids of those that the new table rejects.
  private func copyRows() throws {
    let (columns, values) = try assignments()
    // OR ABORT overrides the conflict clauses of constraints, which could skip or replace rows.
    let copy: SQL =
      "INSERT OR ABORT INTO main.\(identifier: scratch) (\(SQL(joining: columns, separator: ", "))) SELECT \(SQL(joining: values, separator: ", ")) FROM main.\(identifier: name)"
    do throws(SQLiteError) {
      try connection.executeChange(copy)
    } catch {
      guard error.code.primary == .constraint else { throw error }
      let rowIDs = try rejectedRows(by: copy)
      throw refuse("\(message(of: error))\(Self.list(rowIDs))", rowIDs: Array(rowIDs.prefix(10)))
    }
  }

  /// Copies row by row, and returns the rowids of the first rows that the new table rejects, at
  /// most 11. Returns none for a table WITHOUT ROWID. Afterwards, the new table contains the rows
  /// that it has accepted.
  private func rejectedRows(by copy: SQL) throws -> [Int64] {
    guard !old.isWithoutRowID, let rowID = try rowID(of: name, old) else { return [] }
    struct Enough: Error {}
    var refused: [Int64] = []
    do {
      try connection.forEachRow(
        "SELECT \(identifier: rowID) FROM main.\(identifier: name)"
      ) { row in
        let id = row.integer(at: 0)
        do throws(SQLiteError) {
          try connection.executeChange("\(copy) WHERE \(identifier: rowID) = \(id)")
        } catch {
          guard error.code.primary == .constraint else { throw error }
          refused.append(id)
          if refused.count > 10 { throw Enough() }
        }
      }
    } catch is Enough {}
    return refused
  }

  /// Returns a phrase with the first ten rowids for an error message, or an empty string without
  /// rowids.
  private static func list(_ rowIDs: [Int64]) -> String {
    guard !rowIDs.isEmpty else { return "" }
    let ids = rowIDs.prefix(10).map(String.init).joined(separator: ", ")
    return " by the rows with rowid \(ids)\(rowIDs.count > 10 ? ", …" : "")"
  }

  /// Throws if values couldn't be converted to their new type, or have changed.
  private func checkConversions() throws {
    for name in converted {
      let column = try text.column(name.text)
      let affinity = (column.type ?? "").affinity
      guard let before = old.columns.first(where: { $0.name.matches(name) }),
        column.generated == nil, (before.type ?? "").affinity != affinity
      else { continue }
      let kind: SQL? =
        switch affinity {
        case .integer: "'integer'"
        case .real: "'real'"
        case .text: "'text'"
        case .numeric, .blob: nil
        }
      let (from, to): (SQL, SQL) = (
        "o.\(identifier: before.name.text)", "n.\(identifier: column.name.text)"
      )
      var lost: SQL = """
        typeof(\(from)) IN ('integer', 'real') AND typeof(\(to)) IN ('integer', 'real') AND \(from) <> \(to)
        OR typeof(\(from)) = 'real' AND typeof(\(to)) = 'text' AND CAST(\(to) AS REAL) <> \(from)
        """
      if let kind { lost = "\(lost) OR typeof(\(to)) NOT IN ('null', \(kind))" }
      let (rowID, match) = try pairing()
      let rows = try connection.rows(
        """
        SELECT \(rowID) FROM main.\(identifier: self.name) AS o JOIN main.\(identifier: scratch) AS n
        ON \(match) WHERE \(lost) LIMIT 11
        """, as: Int64?.self)
      guard rows.isEmpty else {
        let ids = rows.compactMap { $0 }
        throw refuse(
          "“\(column.name.text)” would lose values as \(column.type?.text ?? "a column without a type")"
            + (ids.isEmpty
              ? ""
              : ", in the rows with rowid \(ids.prefix(10).map(String.init).joined(separator: ", "))"
                + (ids.count > 10 ? ", …" : "")),
          rowIDs: Array(ids.prefix(10)))
      }
    }
  }

  /// Returns SQL for the rowid of an old row `o`, and the condition that matches this row with its
  /// new row `n`. The rowid is NULL if the tables are matched by primary key.
  private func pairing() throws -> (rowID: SQL, match: SQL) {
    if !old.isWithoutRowID, !text.definition.isWithoutRowID,
      let from = try rowID(of: name, old), let to = try rowID(of: scratch, text.definition)
    {
      // If a column becomes the rowid, it identifies the row in both tables.
      let key = try keyColumn(of: scratch)
      let oldSide: SQL = key.map { "o.\(identifier: $0)" } ?? "o.\(identifier: from)"
      return ("o.\(identifier: from)", "\(oldSide) = n.\(identifier: to)")
    }
    let keys = old.primaryKey.map { key -> SQL in
      "o.\(identifier: key) = n.\(identifier: key)"
    }
    return ("NULL", keys.isEmpty ? "1" : SQL(joining: keys, separator: " AND "))
  }

  /// Returns the name of the column that is the rowid, an `INTEGER PRIMARY KEY`, or nil if the
  /// table has none.
  private func keyColumn(of table: String) throws -> String? {
    try connection.firstRow(
      """
      SELECT name FROM pragma_table_info(\(table), 'main') WHERE pk = 1
      AND (SELECT count(*) FROM pragma_table_info(\(table), 'main') WHERE pk > 0) = 1
      AND type = 'INTEGER' COLLATE NOCASE
      AND NOT EXISTS (SELECT 1 FROM pragma_index_list(\(table), 'main') WHERE origin = 'pk')
      """, as: String.self)
  }

  /// Returns the name of the column that is the rowid, or a name of the rowid that no column has.
  /// Returns nil if columns use all names of the rowid.
  private func rowID(of table: String, _ definition: SQLTableDefinition) throws -> String? {
    if let key = try keyColumn(of: table) { return key }
    return ["rowid", "_rowid_", "oid"].first { name in
      !definition.columns.contains { $0.name.matches(name) }
    }
  }
}

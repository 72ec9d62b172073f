import SQLSyntax
import SQLiteCore
import SQLiteMapping

/// A table that is made anew from an edited text, by the steps of SQLite's manual
/// (<https://www.sqlite.org/lang_altertable.html#otheralter>), as part of the open transaction.
///
/// Every byte of the text that no edit names stays; indexes and triggers are made again from their own texts.
struct TableRebuild {
  let connection: Connection
  /// The name, as `sqlite_schema` has it.
  let name: String
  /// The text before the edits.
  private let oldText: SQLTableText
  /// The text, which the caller edits.
  var text: SQLTableText
  /// What columns take in place of their old values.
  var sources: [(column: SQLName, value: SQL)] = []
  /// The columns of another type: the rows whose values would be lost stand in the way.
  var converted: [SQLName] = []
  /// The indexes that go.
  var droppedIndexes: Set<String> = []
  /// New texts of views and triggers.
  var rewritten: [SchemaObject] = []
  /// The name of the new table until it takes the place of the old one.
  let scratch: String
  /// The name of the old table from then on.
  private let outgoing: String
  /// The definition before the edits.
  var old: SQLTableDefinition { oldText.definition }

  /// A row of `sqlite_schema`.
  struct SchemaObject: Sendable {
    let kind: String
    let name: String
    var sql: String
  }

  /// Reads the text of a table.
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
    } catch SQLTableText.Refusal.noTable {
      throw RebuildError(name, ["it is a virtual table"])
    } catch {
      throw RebuildError(name, ["its SQL is not understood: \(error)"])
    }
    oldText = text
    let taken = try connection.rows("SELECT name FROM main.sqlite_schema", as: String.self)
    let free = Array(
      (1...).lazy.map { "magicdata_rebuild_\($0)" }
        .filter { name in !taken.contains { isSameName($0, name) } }.prefix(2))
    (scratch, outgoing) = (free[0], free[1])
  }

  /// Throws that something stands in the way.
  func refuse(_ obstacles: String..., rowIDs: [Int64] = []) -> RebuildError {
    RebuildError(name, obstacles, rowIDs: rowIDs)
  }

  // MARK: The steps

  /// Makes the table anew.
  ///
  /// - Throws: ``RebuildError`` if rows, views or triggers do not fit it; the caller undoes what was done then.
  func run() throws {
    let before = try dependentFaults()
    try connection.withoutForeignKeys {
      let belongings = try Belongings(of: name, connection)
      try makeScratch()
      try copyRows()
      try checkConversions()
      try drop(belongings)
      // Rows of others that refer to the table by its name would be deleted with it, unless it has another name.
      try connection.putTable(name, inPlaceOf: outgoing, sql: try sql(of: oldText, named: outgoing))
      try connection.putTable(scratch, inPlaceOf: name, sql: text.text)
      try connection.executeChange("DROP TABLE main.\(identifier: outgoing)")
      try restore(belongings)
    }
    for object in rewritten { try connection.setSQL(object.sql, of: object.kind, object.name) }
    let after = try dependentFaults()
    let broken = after.filter { before[$0.key] == nil }.map { "\($0.key) would fail: \($0.value)" }
    guard broken.isEmpty else { throw RebuildError(name, broken.sorted()) }
  }

  /// Makes the new table, empty, under its other name.
  private func makeScratch() throws {
    let sql = try sql(of: text, named: scratch)
    do throws(SQLiteError) {
      try connection.executeChange(SQL(unchecked: sql))
    } catch {
      guard error.code.primary == .error else { throw error }
      throw refuse(words(of: error))
    }
  }

  /// The table's text with another name.
  private func sql(of text: SQLTableText, named newName: String) throws -> String {
    let name = name
    let other = SQLName(newName).description
    var edits = [SQLEdit(text.table.name.name.span.range, other)]
    SQLStatement.createTable(text.table).forEachPart { part in
      // A CHECK may say the table's name before a column's.
      guard case .expression(let value) = part,
        case .qualifiedColumn(schema: nil, let table, _) = value.node, table.matches(name),
        !table.span.isEmpty
      else { return }
      edits.append(SQLEdit(table.span.range, other))
    }
    guard let sql = SQLEdit.apply(edits, to: text.text) else {
      throw refuse("its SQL is not understood")
    }
    return sql
  }

  /// SQLite's words, with the name that the user knows.
  private func words(of error: SQLiteError) -> String {
    error.message.replacing(scratch, with: name)
  }

  // MARK: Rows

  /// The columns of an INSERT, and the values of the old table that they take.
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
    // A rowid that no column holds: full-text indexes and this library's own links may know it.
    guard let from = try rowID(of: name, old), let to = try rowID(of: scratch, text.definition)
    else { throw refuse("all names of the rowid are columns") }
    return (["\(identifier: to)"] + columns, ["\(identifier: from)"] + values)
  }

  /// Copies the rows, or finds those that the new table does not take.
  private func copyRows() throws {
    let (columns, values) = try assignments()
    // OR ABORT, since a constraint may say that rows are to be left out or replaced.
    let copy: SQL =
      "INSERT OR ABORT INTO main.\(identifier: scratch) (\(SQL(joining: columns, separator: ", "))) SELECT \(SQL(joining: values, separator: ", ")) FROM main.\(identifier: name)"
    do throws(SQLiteError) {
      try connection.executeChange(copy)
    } catch {
      guard error.code.primary == .constraint else { throw error }
      let rowIDs = try rowsRefused(by: copy)
      throw refuse("\(words(of: error))\(Self.list(rowIDs))", rowIDs: Array(rowIDs.prefix(10)))
    }
  }

  /// Copies row by row, and returns the rowids of the first that fail; the new table has some rows then.
  private func rowsRefused(by copy: SQL) throws -> [Int64] {
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

  /// The rowids for a message.
  private static func list(_ rowIDs: [Int64]) -> String {
    guard !rowIDs.isEmpty else { return "" }
    let ids = rowIDs.prefix(10).map(String.init).joined(separator: ", ")
    return " by the rows with rowid \(ids)\(rowIDs.count > 10 ? ", …" : "")"
  }

  /// Throws if values are not of their new type, or became others.
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

  /// The rowid of the old row, and what makes an old and a new row one.
  private func pairing() throws -> (rowID: SQL, match: SQL) {
    if !old.isWithoutRowID, !text.definition.isWithoutRowID,
      let from = try rowID(of: name, old), let to = try rowID(of: scratch, text.definition)
    {
      // A column that becomes the rowid is it for both.
      let key = try keyColumn(of: scratch)
      let oldSide: SQL = key.map { "o.\(identifier: $0)" } ?? "o.\(identifier: from)"
      return ("o.\(identifier: from)", "\(oldSide) = n.\(identifier: to)")
    }
    let keys = old.primaryKey.map { key -> SQL in
      "o.\(identifier: key) = n.\(identifier: key)"
    }
    return ("NULL", keys.isEmpty ? "1" : SQL(joining: keys, separator: " AND "))
  }

  /// The column that is the rowid, `INTEGER PRIMARY KEY` as SQLite takes it.
  private func keyColumn(of table: String) throws -> String? {
    try connection.firstRow(
      """
      SELECT name FROM pragma_table_info(\(table), 'main') WHERE pk = 1
      AND (SELECT count(*) FROM pragma_table_info(\(table), 'main') WHERE pk > 0) = 1
      AND type = 'INTEGER' COLLATE NOCASE
      AND NOT EXISTS (SELECT 1 FROM pragma_index_list(\(table), 'main') WHERE origin = 'pk')
      """, as: String.self)
  }

  /// The name of the rowid that no column has taken, or the column that is the rowid.
  private func rowID(of table: String, _ definition: SQLTableDefinition) throws -> String? {
    if let key = try keyColumn(of: table) { return key }
    return ["rowid", "_rowid_", "oid"].first { name in
      !definition.columns.contains { $0.name.matches(name) }
    }
  }
}

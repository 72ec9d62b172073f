import CSQLite

/// The columns of a table at the moment when its rows changed, as far as they are stored.
package final class TableLayout: Sendable {
  package struct Column: Hashable, Sendable {
    package let name: String
    /// The place in the declared primary key, from 1; 0 outside it.
    package let keyPosition: Int
    /// Whether the column is GENERATED … STORED: nobody can write it.
    package let isGenerated: Bool
    /// Whether integers become reals in the column. A hook gives them as they are packed, as integers.
    var isReal = false
    /// Whether rows from before the column have another value than NULL in it. Older hooks do not know it.
    var hasDefault = false
    /// The column's index in the table, with the columns that are not stored.
    let index: Int32
  }

  package let table: String
  /// Without columns that are computed when they are read (GENERATED … VIRTUAL).
  package let columns: [Column]
  package let isWithoutRowID: Bool
  /// Whether the table belongs to a virtual one, such as an index of full-text search.
  package let isShadow: Bool
  /// Whether `columns` lacks some of the table's.
  package let hasVirtualColumns: Bool
  /// A name of the rowid that no column has; nil in a table without one, or if it is not known.
  let rowIDName: String?
  /// The indexes of the columns of the declared key; empty for a table without one.
  package let keyColumns: [Int]

  init(
    table: String, columns: [Column], isWithoutRowID: Bool, isShadow: Bool, hasVirtualColumns: Bool,
    rowIDName: String? = nil
  ) {
    self.table = table
    self.rowIDName = rowIDName
    keyColumns = columns.indices.filter { columns[$0].keyPosition > 0 }
    self.columns = columns
    self.isWithoutRowID = isWithoutRowID
    self.isShadow = isShadow
    self.hasVirtualColumns = hasVirtualColumns
  }

  /// A table of which only the name is known.
  convenience init(table: String) {
    self.init(
      table: table, columns: [], isWithoutRowID: false, isShadow: false, hasVirtualColumns: false)
  }

  /// Whether both have the same columns.
  package func isSame(as other: TableLayout) -> Bool {
    self === other
      || (columns == other.columns && isWithoutRowID == other.isWithoutRowID
        && asciiLowercased(table) == asciiLowercased(other.table))
  }

  /// Returns which of `columns` has an index in the table.
  func column(atIndex index: Int32) -> Int? { columns.firstIndex { $0.index == index } }

  /// The number by which a hook is asked for a column.
  ///
  /// - Parameters:
  ///   - column: The index among `columns`.
  ///   - isNewOfUpdate: Whether the value after an update is asked for.
  @inline(__always)
  func hookIndex(_ column: Int, isNewOfUpdate: Bool) -> Int32 {
    guard hasVirtualColumns else { return Int32(truncatingIfNeeded: column) }
    return virtualHookIndex(column, isNewOfUpdate: isNewOfUpdate)
  }

  @inline(never)
  private func virtualHookIndex(_ column: Int, isNewOfUpdate: Bool) -> Int32 {
    // Older libraries count the stored columns where they read a record, and all columns where an index does.
    if Self.hooksCountAllColumns || (isWithoutRowID && !isNewOfUpdate) {
      return columns[column].index
    }
    return Int32(column)
  }

  /// Whether this library's hook counts columns that are not stored, as its manual says: found out on a table.
  private static let hooksCountAllColumns: Bool = {
    guard
      let handle = try? ConnectionHandle(name: ":memory:", flags: SQLITE_OPEN_READWRITE, vfs: nil)
    else { return true }
    let probe = Probe()
    withExtendedLifetime(probe) {
      unsafe sqlite3_exec(
        handle.pointer, "CREATE TABLE t (a, b AS (1), c)", nil, nil, nil)
      unsafe sqlite3_preupdate_hook(
        handle.pointer,
        { context, connection, _, _, _, _, _ in
          var pointer: OpaquePointer?
          guard let context = unsafe context,
            unsafe sqlite3_preupdate_new(connection, 2, &pointer) == SQLITE_OK
          else { return }
          let probe = unsafe Unmanaged<Probe>.fromOpaque(context).takeUnretainedValue()
          probe.hasFound = unsafe ValueView(pointer).integer == 3
        }, Unmanaged.passUnretained(probe).toOpaque())
      unsafe sqlite3_exec(handle.pointer, "INSERT INTO t VALUES (1, 3)", nil, nil, nil)
    }
    return probe.hasFound
  }()

  private final class Probe {
    var hasFound = false
  }
}

/// Whether a column of a declared type has REAL affinity (<https://www.sqlite.org/datatype3.html>, 3.1).
private func hasRealAffinity(_ type: String) -> Bool {
  let type = asciiLowercased(type)
  let others: [StaticString] = ["int", "char", "clob", "text", "blob"]
  let reals: [StaticString] = ["real", "floa", "doub"]
  return !others.contains { containsBytes(type, $0) } && reals.contains { containsBytes(type, $0) }
}

/// Looks up the columns of tables from inside a hook, as SQLite's session extension does, on the same
/// connection.
final class LayoutReader {
  private let handle: ConnectionHandle
  private var known: [String: TableLayout] = [:]
  /// The number of the schema that `known` belongs to (`PRAGMA schema_version`).
  private var version: Int64?
  private var versionStatement: StatementHandle?
  /// The statements of ``read(_:of:_:_:)``.
  private var statements: [Selection: (layout: TableLayout, handle: StatementHandle)] = [:]

  private struct Selection: Hashable {
    let layout: ObjectIdentifier
    let columns: Range<Int>
  }

  init(_ handle: ConnectionHandle) { self.handle = handle }

  /// Prepares a statement past the connection, whose own work a hook must not disturb.
  private func prepare(_ sql: String) -> StatementHandle? {
    var pointer: OpaquePointer?
    guard unsafe sqlite3_prepare_v2(handle.pointer, sql, -1, &pointer, nil) == SQLITE_OK,
      let pointer = unsafe pointer
    else { return nil }
    return unsafe StatementHandle(pointer: pointer, sql: sql)
  }

  /// Forgets all: the schema is about to change, or a change of it was undone.
  func forget() {
    known = [:]
    version = nil
    statements = [:]
  }

  /// Forgets what is of another schema than the present one. Once in each transaction.
  func check() {
    let statement = versionStatement ?? prepare("PRAGMA main.schema_version")
    versionStatement = statement
    defer { statement?.reset() }
    guard let statement, statement.step() == SQLITE_ROW else { return forget() }
    let present = statement.integer(at: 0)
    guard present != version else { return }
    forget()
    version = present
  }

  /// Returns the layout of a table of the main database, or nil if it cannot be found out.
  func layout(of table: String) -> TableLayout? {
    if let layout = known[table] { return layout }
    let sql = """
      SELECT x.name, x.pk, x.hidden, t.wr, t.type = 'shadow', x.type,
        x.dflt_value IS NOT NULL AND x.dflt_value <> 'NULL' COLLATE NOCASE
      FROM pragma_table_list(?1) AS t, pragma_table_xinfo(?1, 'main') AS x
      WHERE t.schema = 'main' ORDER BY x.cid
      """
    guard let statement = prepare(sql), (try? statement.bind(table, at: 1)) != nil else {
      return nil
    }
    var columns: [TableLayout.Column] = []
    var rowIDNames = ["_rowid_", "rowid", "oid"]
    var isWithoutRowID = false
    var isShadow = false
    var index: Int32 = 0
    var hasVirtualColumns = false
    while true {
      let code = statement.step()
      if code == SQLITE_DONE { break }
      guard code == SQLITE_ROW, let name = statement.text(at: 0) else { return nil }
      rowIDNames.removeAll { $0 == asciiLowercased(name) }
      let kind = statement.integer(at: 2)
      isWithoutRowID = statement.integer(at: 3) != 0
      isShadow = statement.integer(at: 4) != 0
      if kind == 2 {
        hasVirtualColumns = true
      } else {
        columns.append(
          TableLayout.Column(
            name: name, keyPosition: Int(statement.integer(at: 1) ?? 0), isGenerated: kind == 3,
            isReal: hasRealAffinity(statement.text(at: 5) ?? ""),
            hasDefault: statement.integer(at: 6) != 0, index: index))
      }
      index += 1
    }
    guard !columns.isEmpty else { return nil }
    let layout = TableLayout(
      table: table, columns: columns, isWithoutRowID: isWithoutRowID, isShadow: isShadow,
      hasVirtualColumns: hasVirtualColumns,
      rowIDName: isWithoutRowID ? nil : rowIDNames.first)
    known[table] = layout
    return layout
  }

  /// Reads columns of a row as it is stored now.
  ///
  /// - Parameters:
  ///   - columns: The indexes among the layout's columns.
  ///   - layout: The table, as ``layout(of:)`` returns it.
  ///   - key: The values of the primary key of a table WITHOUT ROWID, in the order of the columns; the rowid of any other.
  ///   - body: Takes the statement at the row.
  /// - Returns: Whether there is such a row.
  /// - Throws: ``SQLiteError`` if it cannot be read.
  func read(
    _ columns: Range<Int>, of layout: TableLayout, _ key: [Value],
    _ body: (StatementHandle) -> Void
  ) throws(SQLiteError) -> Bool {
    let statement = try statement(columns, of: layout)
    defer { statement.reset() }
    for (index, value) in key.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
    let code = statement.step()
    if code == SQLITE_ROW { body(statement) }
    guard code == SQLITE_ROW || code == SQLITE_DONE else {
      throw handle.error(code, sql: statement.sql)
    }
    return code == SQLITE_ROW
  }

  private func statement(
    _ columns: Range<Int>, of layout: TableLayout
  ) throws(SQLiteError) -> StatementHandle {
    let selection = Selection(layout: ObjectIdentifier(layout), columns: columns)
    if let statement = statements[selection] { return statement.handle }
    func quoted(_ name: String) -> String { SQL("\(identifier: name)").text }
    let names = layout.columns.map { quoted($0.name) }
    let keys =
      layout.isWithoutRowID ? layout.keyColumns.map { names[$0] } : layout.rowIDName.map { [$0] }
    guard let keys else {
      throw SQLiteError(.error, "all names of the rowid of “\(layout.table)” belong to columns")
    }
    let condition = zip(1..., keys).map { "\($1) = ?\($0)" }.joined(separator: " AND ")
    let sql =
      "SELECT \(names[columns].joined(separator: ", ")) FROM main.\(quoted(layout.table)) WHERE \(condition)"
    guard let statement = prepare(sql) else { throw handle.error(SQLITE_ERROR, sql: sql) }
    // Keeps the layout, so that no other one gets its identity.
    statements[selection] = (layout, statement)
    return statement
  }
}

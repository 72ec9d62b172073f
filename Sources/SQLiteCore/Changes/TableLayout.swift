import CSQLite

/// The stored columns of a table at the time when its rows changed.
package final class TableLayout: Sendable {
  package struct Column: Hashable, Sendable {
    package let name: String
    /// The position in the declared primary key, starting at 1; 0 for a column outside the key.
    package let keyPosition: Int
    /// Whether the column is GENERATED … STORED and therefore can't be written.
    package let isGenerated: Bool
    /// Whether the column stores integers as reals (REAL affinity). A hook may report such a real
    /// as an integer, because SQLite stores it as an integer to save space.
    var isReal = false
    /// Whether the column has a default other than NULL. For a row that was inserted before the
    /// column was added, the preupdate hook of some SQLite versions reports NULL instead of the
    /// default.
    var hasDefault = false
    /// The column's index in the table, where columns that aren't stored count, too.
    let index: Int32
  }

  package let table: String
  /// The stored columns of the table: all except those that are computed when they are read
  /// (GENERATED … VIRTUAL).
  package let columns: [Column]
  package let isWithoutRowID: Bool
  /// Whether the table is a shadow table, in which a virtual table stores its content.
  package let isShadow: Bool
  /// Whether the table has virtual columns, which `columns` doesn't contain.
  package let hasVirtualColumns: Bool
  /// A name of the rowid that isn't also the name of a column; nil if there is none, if the table
  /// has no rowid, or if it is unknown.
  let rowIDName: String?
  /// The positions in `columns` of the declared primary key's columns, in ascending order; empty
  /// for a table without a declared key.
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

  /// Creates a layout without columns, for a table whose rows are recorded without values.
  convenience init(table: String) {
    self.init(
      table: table, columns: [], isWithoutRowID: false, isShadow: false, hasVirtualColumns: false)
  }

  /// Returns whether both layouts are of the same table and have the same columns.
  package func isSame(as other: TableLayout) -> Bool {
    self === other
      || (columns == other.columns && isWithoutRowID == other.isWithoutRowID
        && asciiLowercased(table) == asciiLowercased(other.table))
  }

  /// Returns the position in `columns` of the column that has the given index in the table; nil if
  /// that column isn't stored.
  func column(atIndex index: Int32) -> Int? { columns.firstIndex { $0.index == index } }

  /// Returns the index that the preupdate hook uses for a column.
  ///
  /// - Parameters:
  ///   - column: The position in `columns`.
  ///   - isNewOfUpdate: Whether the hook is queried for the new value of an update.
  @inline(__always)
  func hookIndex(_ column: Int, isNewOfUpdate: Bool) -> Int32 {
    guard hasVirtualColumns else { return Int32(truncatingIfNeeded: column) }
    return virtualHookIndex(column, isNewOfUpdate: isNewOfUpdate)
  }

  @inline(never)
  private func virtualHookIndex(_ column: Int, isNewOfUpdate: Bool) -> Int32 {
    // Older libraries count only stored columns if they read a table's record, and all columns if
    // they read an index.
    if Self.hooksCountAllColumns || (isWithoutRowID && !isNewOfUpdate) {
      return columns[column].index
    }
    return Int32(column)
  }

  /// Whether the preupdate hook of the linked SQLite library counts columns that aren't stored, as
  /// its documentation states. It is determined with a test table.
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

/// Returns whether a column of a declared type has REAL affinity
/// (<https://www.sqlite.org/datatype3.html>, section 3.1).
private func hasRealAffinity(_ type: String) -> Bool {
  let type = asciiLowercased(type)
  let others: [StaticString] = ["int", "char", "clob", "text", "blob"]
  let reals: [StaticString] = ["real", "floa", "doub"]
  return !others.contains { containsBytes(type, $0) } && reals.contains { containsBytes(type, $0) }
}

/// A reader that looks up the columns of tables and reads stored rows from inside a hook. It uses
/// the hook's connection, like SQLite's session extension.
final class LayoutReader {
  private let handle: ConnectionHandle
  private var known: [String: TableLayout] = [:]
  /// The schema version to which `known` belongs (`PRAGMA schema_version`).
  private var version: Int64?
  private var versionStatement: StatementHandle?
  /// The cached statements of ``read(_:of:_:_:)``.
  private var statements: [Selection: (layout: TableLayout, handle: StatementHandle)] = [:]

  private struct Selection: Hashable {
    let layout: ObjectIdentifier
    let columns: Range<Int>
  }

  init(_ handle: ConnectionHandle) { self.handle = handle }

  /// Prepares a statement directly on the handle. A hook must not change the state of the
  /// ``Connection``.
  private func prepare(_ sql: String) -> StatementHandle? {
    var pointer: OpaquePointer?
    guard unsafe sqlite3_prepare_v2(handle.pointer, sql, -1, &pointer, nil) == SQLITE_OK,
      let pointer = unsafe pointer
    else { return nil }
    return unsafe StatementHandle(pointer: pointer, sql: sql)
  }

  /// Clears the cache, because the schema is about to change or a schema change was undone.
  func forget() {
    known = [:]
    version = nil
    statements = [:]
  }

  /// Clears the cache if it belongs to another schema version. Called once per transaction.
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

  /// Returns the layout of a table of the main database; nil if it can't be determined.
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

  /// Reads the currently stored values of some columns of a row.
  ///
  /// - Parameters:
  ///   - columns: The positions in the layout's columns.
  ///   - layout: The table, as returned by ``layout(of:)``.
  ///   - key: The values of the layout's key columns for a WITHOUT ROWID table, in the order of the
  ///     columns; the rowid for any other table.
  ///   - body: The closure to call with the statement, which is at the row.
  /// - Returns: Whether the row exists.
  /// - Throws: ``SQLiteError`` if the row can't be read.
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
      throw SQLiteError(
        .error,
        "the rowid of “\(layout.table)” cannot be read, because columns use all of its names "
          + "(rowid, oid and _rowid_); rename one of these columns")
    }
    let condition = zip(1..., keys).map { "\($1) = ?\($0)" }.joined(separator: " AND ")
    let sql =
      "SELECT \(names[columns].joined(separator: ", ")) FROM main.\(quoted(layout.table)) WHERE \(condition)"
    guard let statement = prepare(sql) else { throw handle.error(SQLITE_ERROR, sql: sql) }
    // Retain the layout, so that no other layout gets the same identifier.
    statements[selection] = (layout, statement)
    return statement
  }
}

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
    let isReal: Bool
    /// Whether rows from before the column have another value than NULL in it. Older hooks do not know it.
    let hasDefault: Bool
    /// The column's index in the table, with the columns that are not stored.
    fileprivate let index: Int32
  }

  package let table: String
  /// Without columns that are computed when they are read (GENERATED … VIRTUAL).
  package let columns: [Column]
  package let isWithoutRowID: Bool
  /// Whether the table belongs to a virtual one, such as an index of full-text search.
  package let isShadow: Bool
  /// Whether `columns` lacks some of the table's.
  package let hasVirtualColumns: Bool

  init(
    table: String, columns: [Column], isWithoutRowID: Bool, isShadow: Bool, hasVirtualColumns: Bool
  ) {
    self.table = table
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
@safe final class LayoutReader {
  private let handle: ConnectionHandle
  private var known: [String: TableLayout] = [:]
  /// The number of the schema that `known` belongs to (`PRAGMA schema_version`).
  private var version: Int64?
  private var versionStatement: OpaquePointer?

  init(_ handle: ConnectionHandle) { self.handle = handle }

  deinit { unsafe sqlite3_finalize(versionStatement) }

  /// Forgets all: the schema is about to change, or a change of it was undone.
  func forget() {
    known = [:]
    version = nil
  }

  /// Forgets what is of another schema than the present one. Once in each transaction.
  func check() {
    if unsafe versionStatement == nil {
      unsafe sqlite3_prepare_v2(
        handle.pointer, "PRAGMA main.schema_version", -1, &versionStatement, nil)
    }
    defer { unsafe sqlite3_reset(versionStatement) }
    guard unsafe sqlite3_step(versionStatement) == SQLITE_ROW else { return forget() }
    let present = unsafe sqlite3_column_int64(versionStatement, 0)
    guard present != version else { return }
    forget()
    version = present
  }

  /// Returns the layout of a table of the main database, or nil if it cannot be found out.
  func layout(of table: String) -> TableLayout? {
    if let layout = known[table] { return layout }
    var statement: OpaquePointer?
    defer { unsafe sqlite3_finalize(statement) }
    let sql = """
      SELECT x.name, x.pk, x.hidden, t.wr, t.type = 'shadow', x.type,
        x.dflt_value IS NOT NULL AND x.dflt_value <> 'NULL' COLLATE NOCASE
      FROM pragma_table_list(?1) AS t, pragma_table_xinfo(?1, 'main') AS x
      WHERE t.schema = 'main' ORDER BY x.cid
      """
    guard unsafe sqlite3_prepare_v2(handle.pointer, sql, -1, &statement, nil) == SQLITE_OK else {
      return nil
    }
    var name = table
    name.withUTF8 {
      _ = unsafe csqlite_bind_text(statement, 1, $0.baseAddress ?? nil, UInt64($0.count))
    }
    var columns: [TableLayout.Column] = []
    var isWithoutRowID = false
    var isShadow = false
    var index: Int32 = 0
    var hasVirtualColumns = false
    while true {
      let code = unsafe sqlite3_step(statement)
      if code == SQLITE_DONE { break }
      guard code == SQLITE_ROW,
        let name = unsafe ValueView(sqlite3_column_value(statement, 0)).convertedText
      else { return nil }
      let kind = unsafe sqlite3_column_int(statement, 2)
      isWithoutRowID = unsafe sqlite3_column_int(statement, 3) != 0
      isShadow = unsafe sqlite3_column_int(statement, 4) != 0
      if kind == 2 {
        hasVirtualColumns = true
      } else {
        columns.append(
          TableLayout.Column(
            name: name, keyPosition: unsafe Int(sqlite3_column_int(statement, 1)),
            isGenerated: kind == 3,
            isReal: unsafe hasRealAffinity(
              ValueView(sqlite3_column_value(statement, 5)).convertedText ?? ""),
            hasDefault: unsafe sqlite3_column_int(statement, 6) != 0, index: index))
      }
      index += 1
    }
    guard !columns.isEmpty else { return nil }
    let layout = TableLayout(
      table: table, columns: columns, isWithoutRowID: isWithoutRowID, isShadow: isShadow,
      hasVirtualColumns: hasVirtualColumns)
    known[table] = layout
    return layout
  }

  /// Hands the value that a column of a row has now to `body`; nil if it cannot be read.
  ///
  /// - Parameters:
  ///   - column: The index among the layout's columns.
  ///   - layout: The table.
  ///   - rowID: The row, unless the table is WITHOUT ROWID.
  ///   - key: Returns the value of a column of the primary key, by its index among the layout's columns.
  func present(
    _ column: Int, of layout: TableLayout, rowID: Int64, key: (Int) -> OpaquePointer?,
    _ body: (ValueView?) -> Void
  ) {
    func quoted(_ name: String) -> String { SQL("\(identifier: name)").text }
    let keys = layout.columns.indices.filter { layout.columns[$0].keyPosition > 0 }
    let names = Set(layout.columns.map { asciiLowercased($0.name) })
    let alias = ["_rowid_", "rowid", "oid"].first { !names.contains($0) } ?? "_rowid_"
    let condition =
      layout.isWithoutRowID
      ? keys.enumerated().map { "\(quoted(layout.columns[$1].name)) IS ?\($0 + 1)" }
        .joined(separator: " AND ") : "\(alias) = ?1"
    let sql =
      "SELECT \(quoted(layout.columns[column].name)) FROM main.\(quoted(layout.table)) WHERE \(condition)"
    var statement: OpaquePointer?
    defer { unsafe sqlite3_finalize(statement) }
    unsafe sqlite3_prepare_v2(handle.pointer, sql, -1, &statement, nil)
    if layout.isWithoutRowID {
      for (index, column) in keys.enumerated() {
        unsafe sqlite3_bind_value(statement, Int32(index + 1), key(column))
      }
    } else {
      unsafe sqlite3_bind_int64(statement, 1, rowID)
    }
    let isFound = unsafe sqlite3_step(statement) == SQLITE_ROW
    body(isFound ? unsafe ValueView(sqlite3_column_value(statement, 0)) : nil)
  }
}

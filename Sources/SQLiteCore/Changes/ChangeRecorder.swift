import CSQLite

import Platform

/// Collects what the transaction that runs changes: the one user of the hooks of a connection.
///
/// SQLite allows one preupdate hook for each connection, so whatever wants to know of changes
/// subscribes to the ``ChangeFeed`` that this fills. What is rolled back is dropped again.
final class ChangeRecorder {
  /// How much had been collected at some moment.
  struct Mark {
    fileprivate var tables = 0
    fileprivate var rows = 0
    fileprivate var schemaChanges = 0
  }

  let detail: ChangeDetail
  /// How many statements have begun.
  private(set) var statementCount = 0
  /// What the open transaction changed; each table once.
  private var tables: [String] = []
  private var rows: [RowChange] = []
  private var schemaChanges = 0
  private var seen: Set<String> = []
  /// The last table's name with a NUL, since most changes are of the same one.
  private var lastTable: [CChar] = []
  private var lastTableName = ""
  /// What is committed and not yet told.
  private var committed = CommittedChanges()

  init(detail: ChangeDetail) {
    self.detail = detail
  }

  var mark: Mark {
    Mark(tables: tables.count, rows: rows.count, schemaChanges: schemaChanges)
  }

  /// A statement begins; in autocommit all that is there is committed.
  func statementBegins(isAutocommit: Bool, changesSchema: Bool) {
    statementCount += 1
    if isAutocommit { settle() }
    if changesSchema { schemaChanges += 1 }
  }

  /// The whole content was replaced, past the hooks.
  func noteReplacement() {
    settle()
    committed.changesSchema = true
  }

  /// Drops what came after `mark`.
  func rollBack(to mark: Mark) {
    rows.removeLast(max(0, rows.count - mark.rows))
    schemaChanges = min(schemaChanges, mark.schemaChanges)
    guard tables.count > mark.tables else { return }
    tables.removeLast(tables.count - mark.tables)
    seen = Set(tables)
    lastTable = []
  }

  /// Drops all that is not committed.
  func rollBack() {
    rollBack(to: Mark())
  }

  /// All that is there is committed.
  private func settle() {
    guard !tables.isEmpty || schemaChanges > 0 else { return }
    committed.tables.formUnion(tables)
    committed.rows += rows
    committed.changesSchema = committed.changesSchema || schemaChanges > 0
    rollBack()
  }

  /// Returns what is committed, and forgets it.
  func takeCommitted() -> CommittedChanges {
    settle()
    defer { committed = CommittedChanges() }
    return committed
  }

  /// Notes that a row of `table` changes, and says its name if more is wanted.
  fileprivate func note(_ table: UnsafePointer<CChar>?) -> String? {
    guard let table = unsafe table else { return nil }
    let isLast = unsafe lastTable.withUnsafeBufferPointer { last in
      guard let start = last.baseAddress else { return false }
      return unsafe strcmp(start, table) == 0
    }
    if !isLast {
      lastTableName = unsafe String(cString: table)
      lastTable = lastTableName.utf8CString.map(\.self)
      if seen.insert(lastTableName).inserted { tables.append(lastTableName) }
    }
    return detail == .tables ? nil : lastTableName
  }

  fileprivate func append(_ row: RowChange) {
    rows.append(row)
  }
}

extension ConnectionHandle {
  /// Records changes in `recorder` from now on, or nothing.
  ///
  /// - Parameter usesPreupdateHook: Whether the better hook may be used, if it is there.
  func install(_ recorder: ChangeRecorder?, usesPreupdateHook: Bool) {
    let context = unsafe recorder.map { unsafe Unmanaged.passUnretained($0).toOpaque() }
    let isOn = recorder != nil
    if csqlite_has_preupdate() != 0, usesPreupdateHook {
      unsafe sqlite3_preupdate_hook(pointer, isOn ? preupdated : nil, context)
    } else {
      unsafe sqlite3_update_hook(pointer, isOn ? updated : nil, context)
      // SQLite empties whole tables without a word, unless an authorizer objects.
      keepsRowDeletes = isOn
    }
    unsafe sqlite3_rollback_hook(pointer, isOn ? rolledBack : nil, context)
    self.recorder = recorder
  }
}

private func recorder(_ context: UnsafeMutableRawPointer?) -> ChangeRecorder? {
  unsafe context.map { unsafe Unmanaged<ChangeRecorder>.fromOpaque($0).takeUnretainedValue() }
}

/// A transaction was rolled back, by SQL or by SQLite (`sqlite3_rollback_hook`).
private func rolledBack(context: UnsafeMutableRawPointer?) {
  unsafe recorder(context)?.rollBack()
}

private func isMain(_ schema: UnsafePointer<CChar>?) -> Bool {
  guard let schema = unsafe schema else { return false }
  return unsafe strcmp(schema, "main") == 0
}

/// A row has changed (`sqlite3_update_hook`).
private func updated(
  context: UnsafeMutableRawPointer?, operation: Int32, schema: UnsafePointer<CChar>?,
  table: UnsafePointer<CChar>?, rowID: Int64
) {
  guard unsafe isMain(schema), let recorder = unsafe recorder(context),
    let name = unsafe recorder.note(table)
  else { return }
  let kind: RowChange.Kind =
    switch operation {
    case SQLITE_INSERT: .insert
    case SQLITE_DELETE: .delete
    default: .update
    }
  recorder.append(
    RowChange(table: name, kind: kind, oldRowID: rowID, rowID: rowID, old: nil, new: nil))
}

/// A row is about to change (`sqlite3_preupdate_hook`).
private func preupdated(
  context: UnsafeMutableRawPointer?, connection: OpaquePointer?, operation: Int32,
  schema: UnsafePointer<CChar>?, table: UnsafePointer<CChar>?, oldRowID: Int64, newRowID: Int64
) {
  guard unsafe isMain(schema), let recorder = unsafe recorder(context),
    let name = unsafe recorder.note(table)
  else { return }
  // A blob that is written in place appears as a delete.
  let isBlobWrite =
    unsafe operation == SQLITE_DELETE && csqlite_preupdate_blobwrite(connection) >= 0
  let kind: RowChange.Kind =
    switch operation {
    case SQLITE_INSERT: .insert
    case SQLITE_DELETE where !isBlobWrite: .delete
    default: .update
    }
  let wantsValues = recorder.detail == .values
  let old =
    wantsValues && operation != SQLITE_INSERT
    ? unsafe values(of: connection, sqlite3_preupdate_old) : nil
  let new =
    wantsValues && operation != SQLITE_DELETE
    ? unsafe values(of: connection, sqlite3_preupdate_new) : nil
  recorder.append(
    RowChange(
      table: name, kind: kind, oldRowID: operation == SQLITE_INSERT ? newRowID : oldRowID,
      rowID: operation == SQLITE_DELETE ? oldRowID : newRowID, old: old, new: new))
}

/// The columns of the row that changes, before or after.
private func values(
  of connection: OpaquePointer?,
  _ read: (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Int32
) -> [Value] {
  (0..<(unsafe sqlite3_preupdate_count(connection))).map { column in
    var pointer: OpaquePointer?
    guard unsafe read(connection, column, &pointer) == SQLITE_OK else { return .null }
    return unsafe value(of: pointer) ?? .blob(valueBytes(pointer))
  }
}

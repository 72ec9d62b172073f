import CSQLite

import Platform

/// Collects what the transaction that runs changes: the one user of the hooks of a connection.
///
/// SQLite allows one preupdate hook for each connection, so whatever wants to know of changes
/// subscribes to the ``ChangeFeed`` that this fills. What is rolled back is dropped again.
final class ChangeRecorder {
  let detail: ChangeDetail
  /// How many statements have begun.
  private var statementCount = 0
  /// The tables that the open transaction changed, each once.
  private var tables: [String] = []
  private var rows: [RowChange] = []
  private var schemaChanges = 0
  private var seen: Set<String> = []
  /// The last table's name with a NUL, since most changes are of the same one.
  private var lastTable: [CChar] = []
  private var lastTableName = ""
  /// The changes that are committed and not yet told.
  private var committed = CommittedChanges()

  init(detail: ChangeDetail) {
    self.detail = detail
  }

  var mark: RecordingMark {
    RecordingMark(tables: tables.count, rows: rows.count, schemaChanges: schemaChanges)
  }

  /// Notes that a statement begins, and returns what undoes its recording. In autocommit all that was
  /// collected is committed.
  func begin(_ statement: StatementHandle, on handle: ConnectionHandle) -> RecordedRun {
    statementCount += 1
    if handle.isAutocommit { settle() }
    if statement.changesSchema { schemaChanges += 1 }
    return RecordedRun(
      mark: mark, statementCount: statementCount, totalChanges: handle.totalChanges)
  }

  /// Drops the changes of a run that failed.
  func drop(_ run: RecordedRun, on handle: ConnectionHandle) {
    // A statement with OR FAIL keeps what it did, and SQLite counts that. If others have begun meanwhile,
    // their changes stand behind the mark, and all of them are told.
    guard handle.totalChanges == run.totalChanges, statementCount == run.statementCount else {
      return
    }
    rollBack(to: run.mark)
  }

  /// Notes that the whole content was replaced, of which the hooks are not told.
  func noteReplacement() {
    settle()
    committed.changesSchema = true
  }

  /// Drops what came after `mark`.
  func rollBack(to mark: RecordingMark) {
    rows.removeLast(max(0, rows.count - mark.rows))
    schemaChanges = min(schemaChanges, mark.schemaChanges)
    guard tables.count > mark.tables else { return }
    tables.removeLast(tables.count - mark.tables)
    seen = Set(tables)
    lastTable = []
  }

  /// Drops all that is not committed.
  func rollBack() {
    rollBack(to: RecordingMark())
  }

  /// Takes all that was collected as committed.
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

extension ChangeRecorder {
  /// Whether the preupdate hook is there and may be used.
  static func hasPreupdateHook(_ mayUse: Bool) -> Bool { mayUse && csqlite_has_preupdate() != 0 }

  /// Lets SQLite tell a recorder of changes, or nobody. The caller keeps the recorder alive.
  ///
  /// - Parameters:
  ///   - recorder: The recorder, or nil.
  ///   - handle: The connection.
  ///   - usesPreupdateHook: Whether the preupdate hook is used, and not only the update hook.
  static func install(
    _ recorder: ChangeRecorder?, on handle: ConnectionHandle, usesPreupdateHook: Bool
  ) {
    let context = unsafe recorder.map { unsafe Unmanaged.passUnretained($0).toOpaque() }
    let isOn = recorder != nil
    if usesPreupdateHook {
      unsafe sqlite3_preupdate_hook(handle.pointer, isOn ? preupdated : nil, context)
    } else {
      unsafe sqlite3_update_hook(handle.pointer, isOn ? updated : nil, context)
    }
    unsafe sqlite3_rollback_hook(handle.pointer, isOn ? rolledBack : nil, context)
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
    let view = unsafe ValueView(pointer)
    return view.value ?? .blob(view.copiedBytes)
  }
}

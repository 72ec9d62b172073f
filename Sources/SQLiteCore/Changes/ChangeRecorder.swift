import CSQLite

import Platform

/// A recorder of the open transaction's changes. It is the only user of a connection's change
/// hooks.
///
/// SQLite allows one preupdate hook per connection. All other code subscribes to the ``ChangeFeed``
/// that the recorder publishes to.
///
/// The recorder drops rows that are rolled back. If a savepoint is rolled back, it drops exactly
/// the rows recorded since the savepoint began. After a statement has failed, some, all or none of
/// its changes may remain, depending on its conflict clause and its triggers. The recorder then
/// compares the touched rows with the stored ones, see ``reconcile(_:)``.
@safe final class ChangeRecorder: RunReconciler {
  /// The maximum size, in bytes, of the recorded rows of the open transaction. If it is exceeded,
  /// all of them are dropped.
  private var byteLimit = ChangeFeed.maximumByteCount

  private(set) var detail: ChangeDetail
  /// Whether to ignore changes of rows. Set while a table is rebuilt, because observers are
  /// notified of a schema change anyway.
  var isPaused = false
  /// The number of running captures. During a capture, the values of all tables' rows are recorded,
  /// whether subscribers request them or not.
  private var captureCount = 0
  private let feed: ChangeFeed?
  private weak let connection: Connection?
  /// The number of times that the recording has been shortened.
  private var cutCount = 0
  /// The names of the tables that the open transaction has changed, without duplicates.
  private var tables: [String] = [] {
    didSet { tableCount = tables.count }
  }
  // Each statement reads these counts. They are stored separately because reading an array's count
  // includes a check for exclusive access.
  private var tableCount = 0
  private var schemaChangeCount = 0
  private var seen: Set<String> = []
  /// The SQL of the statements that changed the schema.
  private var schemaChanges: [String] = [] {
    didSet { schemaChangeCount = schemaChanges.count }
  }
  /// The rows that the open transaction has changed, in the format of ``RecordedRows``.
  private let log = ChangesetBuffer()
  /// The table layouts that the rows in `log` refer to by index.
  private var layouts: [TableLayout] = []
  /// The index in `layouts` for each table; -1 for a table whose rows aren't recorded, because no
  /// subscriber needs them or the table's columns couldn't be determined.
  private var slots: [String: Int] = [:]
  private let reader: LayoutReader
  /// The name of the last changed table as a C string, with the terminating NUL. It is compared
  /// with the name in the next change, because most changes affect the same table as the previous
  /// one.
  private var lastTable: [CChar] = []
  private var lastSlot = -1
  private var lastLayout: TableLayout?
  /// The number of times that rows of the open transaction were dropped from `log`, or not
  /// recorded.
  private var lossCount = 0
  /// The value of `lossCount` when the current capture began, or 0 if nothing is being captured.
  /// Rows lost before the capture don't make the captured rows incomplete.
  private var lossesBeforeCapture = 0
  /// The bytes that ``Blob/write(_:at:)`` is about to write. The hook doesn't report them.
  private var blobWrite: (offset: Int, bytes: UnsafeRawBufferPointer)?
  /// Whether the row of `blobWrite` couldn't be read. This happens if the row has changed since the
  /// blob was opened: SQLite calls the hook and then rejects the write.
  private var isBlobUnreadable = false
  /// The sequence number of the commit that has begun, or has ended but hasn't been published; nil
  /// if there is none.
  private var commitNumber: UInt64?
  /// Whether the pre-commit closures have run for the open transaction.
  var isPrepared = false
  /// The position up to which the pre-commit closures have received the recorded rows. If several
  /// writes share a transaction, the closures run once for each of them.
  var prepared = RecordingMark()
  /// Whether the whole content of the database has been replaced since the recording was last
  /// cleared.
  private var isReplaced = false

  init(detail: ChangeDetail, for connection: Connection) {
    self.detail = detail
    self.connection = connection
    feed = connection.environment.feed
    reader = LayoutReader(connection.handle)
  }

  deinit {
    if let commitNumber { feed?.abandon(commitNumber) }
  }

  var mark: RecordingMark {
    RecordingMark(
      tables: tableCount, rows: log.count, schemaChanges: schemaChangeCount, losses: lossCount,
      preparedRows: prepared.rows)
  }

  /// Whether a commit has begun and hasn't been published or rolled back yet. In autocommit mode,
  /// that commit has ended.
  var hasCommitted: Bool { commitNumber != nil }

  /// Saves the state of the recording before a statement that may write runs, so that the recording
  /// can be corrected if the statement fails.
  ///
  /// - Parameter run: The state before the statement's previous run, or nil before its first run.
  ///   It is replaced by the current state.
  func beginRun(_ run: inout RecordedRun?) {
    guard run?.recorder === self else {
      run = RecordedRun(recorder: self, mark: mark, cutCount: cutCount)
      return
    }
    run?.mark = mark
    run?.cutCount = cutCount
  }

  /// Records the SQL of a statement that changes the schema, or tries to.
  func recordSchemaChange(_ sql: String) {
    schemaChanges.append(sql)
    forgetLayouts()
  }

  /// Corrects the recording after a writing statement has failed. Removes the rows that were
  /// recorded since the statement began. If the recording has been shortened since then, removes
  /// the rows that were recorded since the innermost savepoint began. For each removed row, records
  /// the difference between its first old values and the stored values instead.
  ///
  /// SQLite opens no savepoint while a writing statement is running. Therefore, everything that a
  /// failed statement can undo was recorded after the innermost savepoint.
  ///
  /// A row counts as changed indirectly if all its recorded changes were indirect. If only names of
  /// tables are recorded, the names that the statement has added are kept, so subscribers may be
  /// notified needlessly.
  func reconcile(_ run: RecordedRun) {
    // In autocommit mode, the commit and rollback hooks have already kept or dropped all rows.
    guard let connection, !log.isFull, !(connection.isAutocommit && commitNumber != nil) else {
      return
    }
    let innermost = connection.state.innermostMark ?? RecordingMark()
    let mark = run.cutCount == cutCount ? run.mark : innermost
    guard mark.losses == lossCount, log.count > mark.rows else { return }
    let bytes = log.bytes(from: mark.rows)
    let verified = lossCount == lossesBeforeCapture ? slots.filter { $0.value >= 0 } : [:]
    cutCount += 1
    log.truncate(to: mark.rows)
    prepared.rows = min(prepared.rows, mark.preparedRows)
    do {
      try connection.withoutAuthorizer { () throws(SQLiteError) in
        try connection.uninterrupted { () throws(SQLiteError) in
          try writeDifferences(TouchedRows(bytes, layouts))
        }
      }
    } catch {
      // The stored rows can't be read, or their table was altered.
      return overflow()
    }
    var changed: Set<String> = []
    var cursor = ChangesetCursor(log.bytes(from: mark.rows))
    while let header = try? RecordedHeader(&cursor), (try? cursor.skip(header.valueSize)) != nil {
      changed.insert(layouts[header.slot].table)
    }
    let added = tables[min(mark.tables, tableCount)...]
    let kept = added.filter { verified[$0] == nil || changed.contains($0) }
    tables.replaceSubrange(min(mark.tables, tableCount)..., with: kept)
    seen = Set(tables)
    lastTable = []
  }

  /// Records the differences between the rows before the statement and the stored rows. Deleted
  /// rows come first, so that no later change writes a row while another row still has its key.
  private func writeDifferences(_ touched: TouchedRows) throws(SQLiteError) {
    let others = ChangesetBuffer()
    let stored = ChangesetBuffer()
    for row in touched.rows {
      let recorded = layouts[row.slot]
      var flags = row.hasValues ? RecordingFlag.hasValues : 0
      if row.isIndirect { flags |= RecordingFlag.isIndirect }
      func write(_ kind: RowChange.Kind, _ parts: [ArraySlice<UInt8>]) {
        let target = kind == .delete ? log : others
        let place = target.beginRow(kind, flags: flags, slot: row.slot, row.rowID, row.rowID)
        for part in parts { target.append(part) }
        _ = target.endRow(place)
      }
      let layout = reader.layout(of: recorded.table)
      guard row.hasValues else {
        guard let layout, !layout.isWithoutRowID else {
          write(.update, [])
          continue
        }
        let exists = try reader.read(0..<1, of: layout, [.integer(row.rowID)]) { _ in }
        switch (row.existed, exists) {
        case (false, false): break
        case (false, true): write(.insert, [])
        case (true, false): write(.delete, [])
        case (true, true): write(.update, [])
        }
        continue
      }
      guard let layout, layout.isSame(as: recorded) else {
        throw SQLiteError(
          .schema, "the columns of “\(recorded.table)” changed while its rows were being recorded")
      }
      var key: [Value] = []
      switch row.identity {
      case .rowID(let rowID, _): key = [.integer(rowID)]
      case .key(let bytes, _):
        var cursor = ChangesetCursor(bytes)
        for _ in layout.keyColumns { key.append(try cursor.field() ?? .null) }
      }
      stored.truncate(to: 0)
      var exists = try reader.read(layout.columns.indices, of: layout, key) { statement in
        for column in layout.columns.indices {
          stored.append(
            statement.column(Int32(column)), isReal: layout.columns[column].isReal)
        }
      }
      let new = stored.bytes()
      var cursor = ChangesetCursor(new)
      let newFields = exists ? try cursor.fields(layout.columns.count) : []
      // A collation may match a row whose key has different bytes.
      if case .key(let bytes, _) = row.identity, exists {
        exists = layout.keyColumns.flatMap { new[newFields[$0]] } == bytes
      }
      guard let oldFields = try touched.oldFields(of: row, layout) else {
        if exists { write(.insert, [new[...]]) }
        continue
      }
      let old = touched.bytes[row.old ?? 0..<0]
      guard exists else {
        write(.delete, [old])
        continue
      }
      let isSame = layout.columns.indices.map {
        touched.bytes[oldFields[$0]] == new[newFields[$0]]
      }
      if isSame.allSatisfy(\.self) { continue }
      if layout.keyColumns.allSatisfy({ isSame[$0] }) {
        let undefined = [FieldCode.undefined][...]
        write(
          .update,
          [old] + layout.columns.indices.map { isSame[$0] ? undefined : new[newFields[$0]] })
      } else {
        write(.delete, [old])
        write(.insert, [new[...]])
      }
    }
    log.append(others.bytes()[...])
    if log.count > byteLimit || log.isFull || others.isFull || stored.isFull {
      throw SQLiteError(.tooBig)
    }
  }

  /// Records that the whole content was replaced, which the hooks don't report.
  func recordReplacement() {
    isReplaced = true
    forgetLayouts()
    assignCommitNumber()
  }

  /// Drops everything that was recorded after `mark`.
  func rollBack(to mark: RecordingMark) {
    cutCount += 1
    log.truncate(to: mark.rows)
    // Later writes of the pre-commit closures are undone, too.
    prepared.rows = min(prepared.rows, mark.preparedRows)
    if schemaChangeCount > mark.schemaChanges {
      schemaChanges.removeLast(schemaChanges.count - mark.schemaChanges)
      forgetLayouts()
    }
    guard tableCount > mark.tables else { return }
    tables.removeLast(tables.count - mark.tables)
    seen = Set(tables)
    lastTable = []
  }

  /// Drops everything that was recorded for a transaction that has been rolled back.
  func rollBack() {
    rollBack(to: RecordingMark())
    forgetLayouts()
    layouts = []
    forgetLosses()
    isPrepared = false
    prepared = RecordingMark()
    if let commitNumber { feed?.abandon(commitNumber) }
    commitNumber = nil
  }

  /// Begins a capture, during which the rows of all tables are recorded with their values. Returns
  /// the previous level of detail for ``endCapture(_:)``.
  func beginCapture() -> ChangeDetail {
    defer {
      detail = .values
      if captureCount == 0 { lossesBeforeCapture = lossCount }
      captureCount += 1
      byteLimit = ChangeFeed.maximumByteCount
      forgetSlots()
    }
    return detail
  }

  /// Ends a capture and restores `before`, the level of detail that ``beginCapture()`` returned.
  /// After the last running capture, only the rows that subscribers need are recorded again.
  func endCapture(_ before: ChangeDetail) {
    detail = before
    captureCount -= 1
    if captureCount == 0 { lossesBeforeCapture = 0 }
    forgetSlots()
  }

  /// Makes the recorder look up each table again when a row of the table next changes.
  private func forgetSlots() {
    slots = [:]
    lastTable = []
  }

  private func forgetLayouts() {
    forgetSlots()
    reader.forget()
  }

  /// Reserves the sequence number of the commit that begins. No other connection to the file can
  /// commit until this commit has succeeded or failed.
  fileprivate func assignCommitNumber() {
    if commitNumber == nil { commitNumber = feed?.assignCommitNumber() }
  }

  /// Returns the rows that the open transaction has changed since `mark`; nil if some of them
  /// weren't recorded.
  func rows(since mark: RecordingMark) -> RecordedRows? {
    lossCount > mark.losses || log.isFull
      ? nil : RecordedRows(layouts: layouts, bytes: log.bytes(from: mark.rows))
  }

  /// Returns the committed changes with their sequence number, and clears the recording. Must be
  /// called in autocommit mode.
  ///
  /// - Returns: Empty changes and nil if no commit has begun since the last call. The recording is
  ///   then not cleared.
  func takeCommitted() -> (changes: CommittedChanges, commitNumber: UInt64?) {
    var changes = CommittedChanges()
    let taken = commitNumber
    isPrepared = false
    guard taken != nil else { return (changes, nil) }
    changes.commitNumber = taken ?? 0
    changes.tables = seen
    changes.changesSchema = !schemaChanges.isEmpty || isReplaced
    changes.schemaChanges = schemaChanges
    changes.isReplaced = isReplaced
    changes.isIncomplete = lossCount > 0 || log.isFull
    if log.count > 0, !changes.isIncomplete {
      changes.recorded = RecordedRows(layouts: layouts, bytes: log.bytes())
    }
    commitNumber = nil
    isPrepared = false
    prepared = RecordingMark()
    isReplaced = false
    tables = []
    seen = []
    schemaChanges = []
    forgetLosses()
    cutCount += 1
    log.truncate(to: 0)
    layouts = []
    slots = [:]
    lastTable = []
    return (changes, taken)
  }

  /// Runs `body`, which writes `bytes` into a blob, and records the bytes. The preupdate hook
  /// records them while `body` runs, before SQLite tries to write.
  ///
  /// If the write fails, the row recorded for it is dropped, because the blob hasn't changed.
  ///
  /// - Returns: The result code of `body`.
  func writing(
    _ bytes: UnsafeRawBufferPointer, at offset: Int, _ body: () -> Int32
  ) -> Int32 {
    unsafe blobWrite = unsafe (offset, bytes)
    isBlobUnreadable = false
    defer { unsafe blobWrite = nil }
    let mark = mark
    let code = body()
    if code != SQLITE_OK {
      rollBack(to: mark)
    } else if isBlobUnreadable {
      lossCount += 1
    }
    return code
  }

  /// Records that a row of `table` changes. The next row that is recorded belongs to this table.
  @inline(__always)
  fileprivate func note(_ table: UnsafePointer<CChar>) {
    let isLast = unsafe lastTable.withUnsafeBufferPointer { last in
      guard let start = last.baseAddress else { return false }
      return unsafe strcmp(start, table) == 0
    }
    if !isLast { unsafe recordOtherTable(table) }
  }

  @inline(never)
  private func recordOtherTable(_ table: UnsafePointer<CChar>) {
    let name = unsafe String(cString: table)
    lastTable = name.utf8CString.map(\.self)
    lastSlot = -1
    lastLayout = nil
    if seen.insert(name).inserted {
      if tables.isEmpty {
        reader.check()
        byteLimit = captureCount > 0 ? ChangeFeed.maximumByteCount : feed?.byteLimit ?? 0
      }
      tables.append(name)
    }
    guard detail != .tables else { return }
    if let slot = slots[name] {
      lastSlot = slot
      lastLayout = slot < 0 ? nil : layouts[slot]
      return
    }
    var layout: TableLayout?
    if detail == .rows {
      layout = TableLayout(table: name)
    } else if captureCount > 0 || feed?.wantsValues(of: name) ?? true {
      if let connection {
        try? connection.withoutAuthorizer { () throws(SQLiteError) in
          layout = reader.layout(of: name)
        }
      }
      if layout == nil { lossCount += 1 }
    }
    if let layout {
      layouts.append(layout)
      lastSlot = layouts.count - 1
    }
    lastLayout = layout
    slots[name] = lastSlot
  }

  /// Appends the header of a row. Returns the position at which ``ChangesetBuffer/endRow(_:)`` must
  /// write the row's size, or nil if the row isn't recorded: no subscriber needs it, or rows of the
  /// transaction were dropped.
  @inline(__always)
  fileprivate func beginRow(
    _ kind: RowChange.Kind, flags: UInt8, _ oldRowID: Int64, _ rowID: Int64
  ) -> Int? {
    guard lastSlot >= 0, lossCount == lossesBeforeCapture else { return nil }
    return log.beginRow(kind, flags: flags, slot: lastSlot, oldRowID, rowID)
  }

  @inline(__always)
  fileprivate func endRow(_ place: Int) {
    let size = log.endRow(place)
    if log.count > byteLimit || size > Int(UInt32.max) || log.isFull { overflow() }
  }

  @inline(never)
  private func overflow() {
    lossCount += 1
    log.truncate(to: 0)
  }

  private func forgetLosses() {
    lossCount = 0
    lossesBeforeCapture = 0
  }

  /// Appends the values of the row that changes, read from the preupdate hook of `connection`.
  fileprivate func appendValues(
    of connection: OpaquePointer?, _ kind: RowChange.Kind, oldRowID: Int64, blobColumn: Int32
  ) {
    guard let layout = lastLayout else { return }
    let count = layout.columns.count
    var pointer: OpaquePointer?
    let first = log.count
    if kind != .insert {
      for column in 0..<count {
        let index = layout.hookIndex(column, isNewOfUpdate: false)
        if unsafe sqlite3_preupdate_old(connection, index, &pointer) == SQLITE_OK {
          let value = unsafe ValueView(pointer)
          if layout.columns[column].hasDefault, value.isNull {
            unsafe appendStoredValue(column, of: layout, oldRowID, connection)
          } else {
            log.append(value, isReal: layout.columns[column].isReal)
          }
        } else {
          log.append(FieldCode.null)
        }
      }
    }
    if blobColumn >= 0 { return appendBlobWrite(layout, blobColumn, first) }
    guard kind != .delete else { return }
    var oldStart = first
    for column in 0..<count {
      let index = layout.hookIndex(column, isNewOfUpdate: kind == .update)
      let place = log.count
      if unsafe sqlite3_preupdate_new(connection, index, &pointer) == SQLITE_OK {
        unsafe log.append(ValueView(pointer), isReal: layout.columns[column].isReal)
      } else {
        log.append(FieldCode.null)
      }
      guard kind == .update else { continue }
      let oldEnd = log.endOfValue(at: oldStart)
      if log.removeLast(from: place, ifSameAs: oldStart..<oldEnd) {
        log.append(FieldCode.undefined)
      }
      oldStart = oldEnd
    }
  }

  /// Reads and appends the stored value of a column that the hook reports as NULL. The stored value
  /// may be the default of a column that was added after the row was inserted.
  @inline(never)
  private func appendStoredValue(
    _ column: Int, of layout: TableLayout, _ rowID: Int64, _ connection: OpaquePointer?
  ) {
    let read = {
      let key: [Value] =
        layout.isWithoutRowID
        ? layout.keyColumns.map { key in
          var pointer: OpaquePointer?
          guard
            unsafe sqlite3_preupdate_old(
              connection, layout.hookIndex(key, isNewOfUpdate: false), &pointer) == SQLITE_OK
          else { return .null }
          return unsafe ValueView(pointer).value ?? .null
        } : [.integer(rowID)]
      let isFound = try? self.reader.read(column..<column + 1, of: layout, key) {
        self.log.append($0.column(0), isReal: layout.columns[column].isReal)
      }
      if isFound != true { self.log.append(FieldCode.null) }
    }
    guard let owner = self.connection else { return read() }
    try? owner.withoutAuthorizer { () throws(SQLiteError) in read() }
  }

  /// Appends the new values of a row after an in-place blob write: the old blob with the written
  /// bytes, and `undefined` for all other columns.
  private func appendBlobWrite(_ layout: TableLayout, _ tableIndex: Int32, _ first: Int) {
    guard let written = unsafe blobWrite, let changed = layout.column(atIndex: tableIndex) else {
      lossCount += 1
      return
    }
    var end = first
    for column in layout.columns.indices {
      let start = end
      end = log.endOfValue(at: start)
      guard column == changed else {
        log.append(FieldCode.undefined)
        continue
      }
      log.repeatBytes(start..<end)
      // The content is at the end of the encoded value.
      let bytes = log.bytes(from: log.count - (end - start))
      var cursor = ChangesetCursor(bytes)
      guard (try? cursor.byte()) != nil, let size = try? cursor.varint(),
        size <= UInt64(bytes.count)
      else {
        isBlobUnreadable = true
        return
      }
      unsafe log.overwrite(log.count - Int(size) + written.offset, with: written.bytes)
    }
  }
}

extension ChangeRecorder {
  /// Returns whether `mayUse` is true and SQLite has the preupdate hook.
  static func hasPreupdateHook(_ mayUse: Bool) -> Bool { mayUse && csqlite_has_preupdate() != 0 }

  /// Installs the hooks by which SQLite notifies a recorder of changes. Without a recorder, only
  /// commits are observed. The caller must keep `recorder` and `unrecorded` alive, because the
  /// hooks don't retain them.
  ///
  /// - Parameters:
  ///   - recorder: The recorder, or nil.
  ///   - unrecorded: The object that observes commits if there is no recorder.
  ///   - handle: The connection on which to install the hooks.
  ///   - usesPreupdateHook: Whether to use the preupdate hook instead of the update hook.
  static func install(
    _ recorder: ChangeRecorder?, or unrecorded: UnrecordedCommits?, on handle: ConnectionHandle,
    usesPreupdateHook: Bool
  ) {
    let context = unsafe recorder.map { unsafe Unmanaged.passUnretained($0).toOpaque() }
    let isOn = recorder != nil
    if usesPreupdateHook {
      unsafe sqlite3_preupdate_hook(handle.pointer, isOn ? preupdated : nil, context)
    } else {
      unsafe sqlite3_update_hook(handle.pointer, isOn ? updated : nil, context)
    }
    if isOn {
      unsafe sqlite3_commit_hook(handle.pointer, commits, context)
    } else {
      // Without a context, this hook does nothing.
      unsafe sqlite3_commit_hook(
        handle.pointer, commitsUnrecorded,
        unrecorded.map { unsafe Unmanaged.passUnretained($0).toOpaque() })
    }
    unsafe sqlite3_rollback_hook(handle.pointer, isOn ? rolledBack : nil, context)
  }
}

private func recorder(_ context: UnsafeMutableRawPointer?) -> ChangeRecorder? {
  unsafe context.map { unsafe Unmanaged<ChangeRecorder>.fromOpaque($0).takeUnretainedValue() }
}

/// Assigns a sequence number to the commit that begins. SQLite calls it before a transaction
/// commits (`sqlite3_commit_hook`).
private func commits(context: UnsafeMutableRawPointer?) -> Int32 {
  unsafe recorder(context)?.assignCommitNumber()
  return 0
}

/// Records that a commit begins, on a connection without a recorder. SQLite calls it before a
/// transaction commits (`sqlite3_commit_hook`).
private func commitsUnrecorded(context: UnsafeMutableRawPointer?) -> Int32 {
  if let context = unsafe context {
    unsafe Unmanaged<UnrecordedCommits>.fromOpaque(context).takeUnretainedValue().note()
  }
  return 0
}

/// Drops everything that was recorded for the transaction. SQLite calls it after a ROLLBACK
/// statement, and after it has rolled back a transaction itself (`sqlite3_rollback_hook`).
private func rolledBack(context: UnsafeMutableRawPointer?) {
  unsafe recorder(context)?.rollBack()
}

@inline(__always)
private func isMain(_ schema: UnsafePointer<CChar>?) -> Bool {
  guard let schema = unsafe schema else { return false }
  // Stops at the first difference, so it reads nothing after the NUL.
  return unsafe schema[0] == 0x6d && schema[1] == 0x61 && schema[2] == 0x69 && schema[3] == 0x6e
    && schema[4] == 0
}

/// Records the table and the rowid of a changed row. SQLite calls it after a row has changed
/// (`sqlite3_update_hook`).
private func updated(
  context: UnsafeMutableRawPointer?, operation: Int32, schema: UnsafePointer<CChar>?,
  table: UnsafePointer<CChar>?, rowID: Int64
) {
  guard unsafe isMain(schema), let recorder = unsafe recorder(context), let table = unsafe table,
    !recorder.isPaused
  else { return }
  unsafe recorder.note(table)
  let kind = RowChange.Kind(rawValue: UInt8(truncatingIfNeeded: operation)) ?? .update
  if let place = recorder.beginRow(kind, flags: 0, rowID, rowID) { recorder.endRow(place) }
}

/// Records a row that is about to change. SQLite calls it before a row changes
/// (`sqlite3_preupdate_hook`).
private func preupdated(
  context: UnsafeMutableRawPointer?, connection: OpaquePointer?, operation: Int32,
  schema: UnsafePointer<CChar>?, table: UnsafePointer<CChar>?, oldRowID: Int64, newRowID: Int64
) {
  guard unsafe isMain(schema), let context = unsafe context, let table = unsafe table else {
    return
  }
  // The connection retains the recorder while its hook runs.
  unsafe Unmanaged<ChangeRecorder>.fromOpaque(context)._withUnsafeGuaranteedRef { recorder in
    guard !recorder.isPaused else { return }
    unsafe recorder.note(table)
    guard recorder.detail != .tables else { return }
    unsafe recorder.recordRow(of: connection, operation, oldRowID, newRowID)
  }
}

extension ChangeRecorder {
  /// Records a row that is about to change, with its old and new values if the level of detail
  /// requires them.
  fileprivate func recordRow(
    of connection: OpaquePointer?, _ operation: Int32, _ oldRowID: Int64, _ newRowID: Int64
  ) {
    // SQLite reports an in-place blob write as a delete.
    let blobColumn =
      unsafe operation == SQLITE_DELETE ? csqlite_preupdate_blobwrite(connection) : -1
    let kind: RowChange.Kind =
      switch operation {
      case SQLITE_INSERT: .insert
      case SQLITE_DELETE where blobColumn < 0: .delete
      default: .update
      }
    var flags: UInt8 = detail == .values ? RecordingFlag.hasValues : 0
    if unsafe sqlite3_preupdate_depth(connection) > 0 { flags |= RecordingFlag.isIndirect }
    let start = log.count
    guard
      let place = beginRow(
        kind, flags: flags, operation == SQLITE_INSERT ? newRowID : oldRowID,
        operation == SQLITE_DELETE ? oldRowID : newRowID)
    else { return }
    if flags & RecordingFlag.hasValues != 0 {
      unsafe appendValues(
        of: connection, kind, oldRowID: oldRowID, blobColumn: blobColumn)
      if blobColumn >= 0, isBlobUnreadable { return log.truncate(to: start) }
    }
    endRow(place)
  }
}

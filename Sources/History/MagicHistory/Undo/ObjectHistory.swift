import SQLiteCore
public import SQLiteHistory
import SQLiteMapping
public import SQLiteObjects
import Synchronization

// An undo restores the rows of objects, links and assets. It doesn't have to restore asset files:
// each step holds the files that it needs (`AssetStore+Holding.swift`), so they aren't deleted.

/// The location where a history stores its groups.
public enum HistoryKeeping: Hashable, Sendable {
  /// The history is in memory. Only this `MagicData` instance uses it, and it is discarded together
  /// with the instance.
  case inMemory
  /// The history is in the database and persists after a restart. All programs that use this
  /// location share it.
  case inStore
}

/// The undo history of a store.
///
///     let history = try magic.history(limit: 200)
///     try magic.undoable("Rename") {
///       person.name = "Zoe"
///       try magic.update(person)
///     }
///     try history.undo()
///     try history.redo()
///
/// A history consists of groups. A group records all rows that it changes, whether by saving and
/// removing objects, by delete rules, raw SQL or triggers. An undo restores these rows, including
/// links and assets. It runs no triggers and no delete rules, because the group already contains
/// their effects. Asset files are kept as long as a group needs them, even after a crash.
///
/// An undo or redo is a normal write. Observers are notified, and it can be part of a
/// `transaction(_:)`. Objects in memory don't change until you fetch them again.
///
/// Concurrent changes are never overwritten. If a row was changed after the group was recorded, an
/// undo throws a `PatchError` that lists the rows and their properties, unless a closure resolves
/// the conflict. It also throws a `PatchError` if a migration has dropped a table or a column of
/// the group. Recording a new group clears all groups that could be redone. An undo doesn't revert
/// schema changes. It doesn't reset `z_index` counters either, so that no number is assigned twice.
public final class ObjectHistory: Sendable {
  private let database: Database
  private let log: HistoryLog
  private let bounds: Mutex<Bounds>

  private struct Bounds: Sendable {
    var count: Int
    var byteCount = 64 << 20
  }

  /// The location where the history is stored, as chosen in `MagicData.history(limit:keeping:)`.
  public let keeping: HistoryKeeping

  init(_ store: MagicData, limit: Int, keeping: HistoryKeeping) throws {
    database = store.database
    self.keeping = keeping
    bounds = Mutex(Bounds(count: max(1, limit)))
    log = HistoryLog(store.database, store.assets, isInStore: keeping == .inStore)
    try log.refresh()
  }

  /// The maximum number of groups, at least 1. Recording a new group removes the oldest ones beyond
  /// the limit.
  public var limit: Int {
    get { bounds.withLock { $0.count } }
    set { bounds.withLock { $0.count = max(1, newValue) } }
  }

  /// The maximum size of all groups in bytes, 64 MiB by default. Recording a new group removes the
  /// oldest ones beyond the limit, but never the new one.
  public var byteLimit: Int {
    get { bounds.withLock { $0.byteCount } }
    set { bounds.withLock { $0.byteCount = newValue } }
  }
}

// Groups that can be undone and redone.
extension ObjectHistory {
  /// The names of the groups that can be undone, the next one first. Uncommitted groups are not
  /// included.
  ///
  /// For a history in the database, each access reads the database. The names therefore include the
  /// groups of all programs that share the history, and reflect a restore.
  public var undoNames: [String] { log.committed.filter { !$0.isUndone }.reversed().map(\.name) }

  /// The names of the groups that can be redone, the next one first. Uncommitted changes of the
  /// history are not included.
  public var redoNames: [String] { log.committed.filter(\.isUndone).map(\.name) }

  /// The name of the next group to undo, for example for a menu item; nil if there is nothing to
  /// undo.
  public var undoName: String? { log.committed.last { !$0.isUndone }?.name }

  /// The name of the next group to redo, for example for a menu item; nil if there is nothing to
  /// redo.
  public var redoName: String? { log.committed.first(where: \.isUndone)?.name }

  /// A Boolean value that indicates whether there is a group to undo.
  public var canUndo: Bool { undoName != nil }

  /// A Boolean value that indicates whether there is a group to redo.
  public var canRedo: Bool { redoName != nil }
}

// Undoing and redoing.
extension ObjectHistory {
  /// Undoes the last group. Blocks the thread.
  ///
  /// If the history is in the database, another program may have recorded the last group. To undo
  /// only the group that you have shown to the user, pass its name.
  ///
  /// - Parameters:
  ///   - name: The name that the group must have, such as ``undoName``. If it is nil, any group is
  ///     undone.
  ///   - resolve: A closure that decides how to resolve a conflict with a concurrent change. It
  ///     runs inside the transaction and must not use the store. If it is nil, a conflict throws.
  /// - Returns: The name of the undone group, or nil if there is nothing to undo.
  /// - Throws: `PatchError` if rows of the group were changed after it was recorded, or a migration
  ///   has dropped its tables or columns; ``HistoryError/unexpectedGroup(expected:next:)`` if the
  ///   last group has another name; ``HistoryError/insideGroup(name:)`` if a group is being
  ///   recorded; `SQLiteError` if a statement fails, or with `ResultCode.misuse` if `resolve`
  ///   returns a resolution that isn't allowed for the conflict; any error that `resolve` throws;
  ///   `MagicError.closed` if the store was closed. Nothing is changed in these cases.
  /// - Complexity: O(*n* log *m*), where *n* is the number of changed rows and *m* is the number of
  ///   rows in their tables.
  @available(
    *, noasync,
    message: "blocks the thread; `await` needs a @Sendable closure, in a function"
  )
  @discardableResult
  public func undo(
    expecting name: String? = nil,
    resolvingConflicts resolve: ((PatchConflict) throws -> PatchResolution)? = nil
  ) throws -> String? {
    try database.reportingClosedStore {
      try database.write { try self.move(isUndoing: true, name, $0, resolve) }
    }
  }

  /// Undoes the last group, and suspends the task meanwhile.
  ///
  /// If the history is in the database, another program may have recorded the last group. To undo
  /// only the group that you have shown to the user, pass its name.
  ///
  /// - Parameters:
  ///   - name: The name that the group must have, such as ``undoName``. If it is nil, any group is
  ///     undone.
  ///   - resolve: A closure that decides how to resolve a conflict with a concurrent change. It
  ///     runs inside the transaction and must not use the store. If it is nil, a conflict throws.
  /// - Returns: The name of the undone group, or nil if there is nothing to undo.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was cancelled.
  ///   Nothing is changed in these cases.
  @discardableResult
  nonisolated(nonsending) public func undo(
    expecting name: String? = nil,
    resolvingConflicts resolve: (@Sendable (PatchConflict) throws -> PatchResolution)? =
      nil
  ) async throws -> String? {
    try await database.reportingClosedStore {
      try await database.withoutTransaction { connection in
        try connection.transaction { try self.move(isUndoing: true, name, connection, resolve) }
      }
    }
  }

  /// Redoes the group that was undone last. Blocks the thread.
  ///
  /// - Parameters:
  ///   - name: The name that the group must have, such as ``redoName``. If it is nil, any group is
  ///     redone.
  ///   - resolve: A closure that decides how to resolve a conflict with a concurrent change. It
  ///     runs inside the transaction and must not use the store. If it is nil, a conflict throws.
  /// - Returns: The name of the redone group, or nil if there is nothing to redo.
  /// - Throws: `PatchError` if rows of the group were changed after the undo, or a migration has
  ///   dropped its tables or columns; ``HistoryError/unexpectedGroup(expected:next:)`` if the next
  ///   group to redo has another name; ``HistoryError/insideGroup(name:)`` if a group is being
  ///   recorded; `SQLiteError` if a statement fails, or with `ResultCode.misuse` if `resolve`
  ///   returns a resolution that isn't allowed for the conflict; any error that `resolve` throws;
  ///   `MagicError.closed` if the store was closed. Nothing is changed in these cases.
  @available(
    *, noasync,
    message: "blocks the thread; `await` needs a @Sendable closure, in a function"
  )
  @discardableResult
  public func redo(
    expecting name: String? = nil,
    resolvingConflicts resolve: ((PatchConflict) throws -> PatchResolution)? = nil
  ) throws -> String? {
    try database.reportingClosedStore {
      try database.write { try self.move(isUndoing: false, name, $0, resolve) }
    }
  }

  /// Redoes the group that was undone last, and suspends the task meanwhile.
  ///
  /// - Parameters:
  ///   - name: The name that the group must have, such as ``redoName``. If it is nil, any group is
  ///     redone.
  ///   - resolve: A closure that decides how to resolve a conflict with a concurrent change. It
  ///     runs inside the transaction and must not use the store. If it is nil, a conflict throws.
  /// - Returns: The name of the redone group, or nil if there is nothing to redo.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was cancelled.
  ///   Nothing is changed in these cases.
  @discardableResult
  nonisolated(nonsending) public func redo(
    expecting name: String? = nil,
    resolvingConflicts resolve: (@Sendable (PatchConflict) throws -> PatchResolution)? =
      nil
  ) async throws -> String? {
    try await database.reportingClosedStore {
      try await database.withoutTransaction { connection in
        try connection.transaction { try self.move(isUndoing: false, name, connection, resolve) }
      }
    }
  }

  /// Removes all groups and deletes the asset files that only they needed. Blocks the thread.
  ///
  /// - Throws: ``HistoryError/insideGroup(name:)`` if a group is being recorded; `SQLiteError` if
  ///   the database can't be changed; `MagicError.closed` if the store was closed.
  public func clear() throws {
    try database.reportingClosedStore { try database.write { try self.clear($0) } }
  }

  /// Removes all groups and deletes the asset files that only they needed. Suspends the task
  /// meanwhile.
  ///
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending) public func clear() async throws {
    try await database.reportingClosedStore { try await database.write { try self.clear($0) } }
  }

  private func clear(_ connection: Connection) throws {
    if let group = log.group { throw HistoryError.insideGroup(name: group) }
    try log.set([], insteadOf: log.steps(connection), connection)
  }

  /// Undoes or redoes the next step as part of the open transaction. Returns the name of the step,
  /// or nil if there is no such step.
  private func move(
    isUndoing: Bool, _ expected: String?, _ connection: Connection,
    _ resolve: ((PatchConflict) throws -> PatchResolution)?
  ) throws -> String? {
    if let group = log.group { throw HistoryError.insideGroup(name: group) }
    let before = try log.steps(connection)
    let place =
      isUndoing
      ? before.lastIndex { !$0.isUndone } : before.firstIndex(where: \.isUndone)
    if let expected, place.map({ before[$0].name }) != expected {
      throw HistoryError.unexpectedGroup(expected: expected, next: place.map { before[$0].name })
    }
    guard let place else { return nil }
    var steps = before
    let patch = try log.patch(of: steps[place], connection)
    let wanted = isUndoing ? patch.inverted : patch
    if resolve == nil {
      _ = try HistoryRecording.apply(wanted, connection, nil)
    } else {
      // With resolved conflicts, the step stores what was actually changed, so that the next redo
      // or undo reverts exactly that.
      let (report, rows) = try connection.recordingRows {
        try HistoryRecording.apply(wanted, connection, resolve)
      }
      if !report.resolved.isEmpty {
        let done = try HistoryRecording.patch(rows)
        try log.replace(isUndoing ? done.inverted : done, of: &steps[place], connection)
      }
    }
    steps[place].isUndone = isUndoing
    try log.set(steps, insteadOf: before, connection)
    return steps[place].name
  }
}

// Recording.
extension ObjectHistory {
  /// Runs `body` in a savepoint of the open transaction and stores its changes as a group. Inside
  /// another group, the changes become part of that group. If `body` returns
  /// `TransactionOutcome.rollback`, its changes are rolled back and nothing is stored.
  func record<Result>(
    _ name: String, _ connection: Connection, _ body: () throws -> Result
  ) throws -> Result {
    if log.group != nil { return try connection.transaction { try body() } }
    log.group = name
    defer { log.group = nil }
    var rolledBack: Result?
    do {
      let (result, rows) = try connection.recordingRows {
        let result = try body()
        if case .rollback? = result as? TransactionOutcome {
          rolledBack = result
          throw HistoryRecording.Undone()
        }
        return result
      }
      try keep(name, HistoryRecording.patch(rows), connection)
      return result
    } catch is HistoryRecording.Undone {
      guard let rolledBack else {
        throw SQLiteError(.internalError, "the group returned no result")
      }
      return rolledBack
    }
  }

  private func keep(_ name: String, _ patch: Patch, _ connection: Connection) throws {
    guard !patch.isEmpty else { return }
    let before = try log.steps(connection)
    var steps = before.filter { !$0.isUndone }
    steps.append(try log.step(name, patch, connection))
    let bounds = bounds.withLock { $0 }
    var size = steps.reduce(0) { $0 + $1.size }
    while steps.count > 1, steps.count > bounds.count || size > bounds.byteCount {
      size -= steps.removeFirst().size
    }
    try log.set(steps, insteadOf: before, connection)
  }
}

/// The functions that choose which changed rows a history records, and that apply recorded changes.
package enum HistoryRecording {
  /// The error that rolls back the changes of a group because its closure returned
  /// `TransactionOutcome.rollback`.
  struct Undone: Error {}

  /// Returns a patch of recorded rows. It omits rows of shadow tables, and of internal tables other
  /// than `magicdata_asset`.
  ///
  /// - Throws: `PatchError` with the reason `noKey` if a row has no primary key, or with the reason
  ///   `notUTF8` if changed text isn't valid UTF-8; `SQLiteError` if the recorded bytes are
  ///   damaged.
  package static func patch(_ rows: RecordedRows) throws -> Patch { try Patch(changes(rows)) }

  static func changes(_ rows: RecordedRows) throws -> [NetRows] {
    try rows.netRows { !$0.isShadow && holds($0.table) }
  }

  package static func holds(_ table: String) -> Bool {
    let name = asciiLowercased(table)
    // Key counters (`sqlite_sequence`) are excluded, so that no key is assigned twice.
    return name == "magicdata_asset" || !(name.hasPrefix("magicdata_") || name.hasPrefix("sqlite_"))
  }

  /// Applies a patch without running triggers. Updates the full-text indexes of the changed tables,
  /// which triggers do otherwise.
  package static func apply(
    _ patch: Patch, _ connection: Connection, isIdempotent: Bool = false,
    checksForeignKeys: Bool = true,
    _ resolve: ((PatchConflict) throws -> PatchResolution)?
  ) throws -> PatchReport {
    // Triggers maintain full-text indexes, but none run here.
    let indexed = try patch.tables.compactMap { table in
      try SearchTable(of: table.name, connection).map { ($0, try table.conditions(connection)) }
    }
    for (index, conditions) in indexed {
      for condition in conditions { try index.removeFromIndex(where: condition, connection) }
    }
    let report = try connection.applyExactly(
      patch, isIdempotent: isIdempotent, checksForeignKeys: checksForeignKeys, onConflict: resolve)
    for (index, conditions) in indexed {
      for condition in conditions { try index.addToIndex(where: condition, connection) }
    }
    return report
  }
}

extension Patch.Table {
  /// Returns one SQL condition for each changed row of this table. The condition selects the row by
  /// its primary key.
  fileprivate func conditions(_ connection: Connection) throws -> [SQL] {
    // A changeset of another program contains no column names.
    let names =
      try columns ?? connection.columns(of: name).filter { $0.kind == .ordinary }.map(\.name)
    return rows.map { row in
      SQL(
        joining: zip(keyColumns, key(of: row).values).compactMap { column, value in
          names.indices.contains(column)
            ? sameKey("\(identifier: names[column])", as: "\(value)") : nil
        }, separator: " AND ")
    }
  }
}

extension MagicData {
  /// Starts an undo history for this store, or returns the existing one with a new limit. Blocks
  /// the thread.
  ///
  /// The history records groups for as long as the store is open. Groups of a history in the
  /// database persist after that.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of groups, at least 1.
  ///   - keeping: The location where the groups are stored.
  /// - Returns: The history.
  /// - Throws: ``HistoryError/otherHistory`` if the store already has a history in another
  ///   location; `SQLiteError` if the database can't be read; `MagicError.closed` if the store was
  ///   closed.
  public func history(limit: Int = 100, keeping: HistoryKeeping = .inMemory) throws -> ObjectHistory
  {
    let history = try database.reportingClosedStore {
      try attachments.value { try ObjectHistory(self, limit: limit, keeping: keeping) }
    }
    guard history.keeping == keeping else { throw HistoryError.otherHistory }
    history.limit = limit
    return history
  }

  /// Starts an undo history for this store, or returns the existing one with a new limit. Suspends
  /// the task meanwhile.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of groups, at least 1.
  ///   - keeping: The location where the groups are stored.
  /// - Returns: The history.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending) public func history(
    limit: Int = 100, keeping: HistoryKeeping = .inMemory
  ) async throws -> ObjectHistory {
    try await database.reportingClosedStore {
      try await assets.work { try self.history(limit: limit, keeping: keeping) }
    }
  }

  /// Runs `body` in one transaction and records its changes as a group of the store's undo history.
  /// Blocks the thread.
  ///
  ///     try magic.undoable("Move to Zürich") {
  ///       person.city = "Zürich"
  ///       try magic.update(person)
  ///       try magic.database.executeChange("UPDATE stats SET moves = moves + 1")
  ///     }
  ///
  /// Otherwise this works like `transaction(_:)`. Inside another `undoable`, the changes become
  /// part of the outer group. Inside a `transaction(_:)`, the group is recorded when that
  /// transaction commits. No group is recorded if `body` throws, returns
  /// `TransactionOutcome.rollback` or changes nothing.
  ///
  /// - Parameters:
  ///   - name: The name of the group, for example for a menu item.
  ///   - body: A closure that calls the store.
  /// - Returns: The result of `body`.
  /// - Throws: Any error of `body`; ``HistoryError/noHistory`` if the store has no history;
  ///   `PatchError.Reason.noKey` if a changed row has no primary key; `PatchError.Reason.notUTF8`
  ///   if changed text isn't valid UTF-8; `SQLiteError`, with `ResultCode.misuse` if this
  ///   libsqlite3 was built without `SQLITE_ENABLE_PREUPDATE_HOOK`, or with `ResultCode.tooBig` if
  ///   the changed rows exceed 256 MiB; `MagicError.closed` if the store was closed. Nothing is
  ///   saved in these cases.
  @available(
    *, noasync,
    message:
      "blocks the thread; `await` needs a Sendable result and a @Sendable closure, in a function"
  )
  @discardableResult
  public func undoable<Result>(_ name: String, _ body: () throws -> Result) throws -> Result {
    let history = try existingHistory
    return try database.reportingClosedStore {
      try database.write { try history.record(name, $0, body) }
    }
  }

  /// Runs `body` in one transaction and records its changes as a group of the store's undo history.
  /// Suspends the task meanwhile.
  ///
  /// This works like the blocking form. `body` runs on a thread of the database and can use only
  /// blocking calls, as in `transaction(_:)`.
  ///
  /// - Parameters:
  ///   - name: The name of the group, for example for a menu item.
  ///   - body: A closure that calls the store.
  /// - Returns: The result of `body`.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was cancelled.
  ///   Nothing is saved in these cases.
  @discardableResult
  nonisolated(nonsending) public func undoable<Result: Sendable>(
    _ name: String, _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    let history = try existingHistory
    // Not `write`: if group commit is enabled, writes may share a transaction and run again.
    return try await database.reportingClosedStore {
      try await database.withoutTransaction { connection in
        try connection.transaction { try history.record(name, connection, body) }
      }
    }
  }

  private var existingHistory: ObjectHistory {
    get throws {
      guard let history = attachments.present(ObjectHistory.self) else {
        throw HistoryError.noHistory
      }
      return history
    }
  }
}

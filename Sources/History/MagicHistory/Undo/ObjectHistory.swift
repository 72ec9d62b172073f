import SQLiteCore
public import SQLiteHistory
import SQLiteMapping
public import SQLiteObjects
import Synchronization

// An undo writes rows back: those of objects and those of links. The files of assets never went: each step holds them
// (`AssetStore+Holding.swift`) until it is forgotten.

/// The place where a history is kept.
public enum HistoryKeeping: Hashable, Sendable {
  /// In memory: it ends with the store, and is for this store alone.
  case inMemory
  /// In the database: it is there after a restart. All programs that keep it there share it.
  case inStore
}

/// The groups of changes of a store that can be undone and redone.
///
///     let history = try magic.history(limit: 200)
///     try magic.undoable("Rename") {
///       person.name = "Zoe"
///       try magic.update(person)
///     }
///     try history.undo()
///     try history.redo()
///
/// A group holds all rows that it has changed, whatever changed them: saving and removing, delete rules, raw SQL,
/// triggers. Undoing writes the rows back as they were, without triggers or delete rules, whose effects are
/// among them, and links and assets with them. The files of assets are kept as long as a group needs them, also
/// over a crash. Undoing and redoing are writes like others: they are observed, they take part in a
/// `transaction(_:)`, and objects in memory stay as they are until they are fetched anew.
///
/// Nothing that others have written meanwhile is overwritten: that is a `PatchError`, which names the rows and the
/// properties, unless a closure decides. A table or a column that is gone by a migration is one too. A new group clears what could be redone. Changes of the schema stay, and counters of
/// `z_index` do, so that no number is ever given twice.
public final class ObjectHistory: Sendable {
  private let database: Database
  private let log: HistoryLog
  private let bounds: Mutex<Bounds>

  private struct Bounds: Sendable {
    var count: Int
    var byteCount = 64 << 20
  }

  /// The place where the history is kept.
  public let keeping: HistoryKeeping

  init(_ store: MagicData, limit: Int, keeping: HistoryKeeping) throws {
    database = store.database
    self.keeping = keeping
    bounds = Mutex(Bounds(count: max(1, limit)))
    log = HistoryLog(store.database, store.assets, isInStore: keeping == .inStore)
    try log.refresh()
  }

  /// The most groups that are kept, at least 1. The oldest go first, with the next group.
  public var limit: Int {
    get { bounds.withLock { $0.count } }
    set { bounds.withLock { $0.count = max(1, newValue) } }
  }

  /// The most bytes that the kept groups take, 64 MiB unless it is set. The oldest go first; the last one stays,
  /// whatever its size.
  public var byteLimit: Int {
    get { bounds.withLock { $0.byteCount } }
    set { bounds.withLock { $0.byteCount = newValue } }
  }
}

// What can be undone and redone.
extension ObjectHistory {
  /// The names of the groups that can be undone, the next one first, as of the last commit.
  ///
  /// A history that is kept in the store is read for each access, so that the names include the groups of all programs that
  /// share it, and those of a copy that was restored.
  public var undoNames: [String] { log.committed.filter { !$0.isUndone }.reversed().map(\.name) }

  /// The names of the groups that can be redone, the next one first, as of the last commit.
  public var redoNames: [String] { log.committed.filter(\.isUndone).map(\.name) }

  /// The name of the group that is undone next, for a menu; nil if there is none.
  public var undoName: String? { log.committed.last { !$0.isUndone }?.name }

  /// The name of the group that is redone next, for a menu; nil if there is none.
  public var redoName: String? { log.committed.first(where: \.isUndone)?.name }

  /// Whether anything can be undone.
  public var canUndo: Bool { undoName != nil }

  /// Whether anything can be redone.
  public var canRedo: Bool { redoName != nil }
}

// Undoing and redoing.
extension ObjectHistory {
  /// Undoes the last group, blocking the thread.
  ///
  /// The last group of a history that is kept in the store may be one of another program. Pass the name that you have
  /// shown to a person to undo that group or none.
  ///
  /// - Parameters:
  ///   - name: The name that the group must have, such as ``undoName``; nil for any group.
  ///   - resolve: Decides about each row that others have changed meanwhile, inside the transaction; it must not use the
  ///     store. Nil lets a conflict throw.
  /// - Returns: The name of the group; nil if there is nothing to undo.
  /// - Throws: `PatchError` if others have changed the rows, ``HistoryError``, such as
  ///   ``HistoryError/unexpectedGroup(expected:next:)``, `SQLiteError`, or what `resolve` throws; then nothing has
  ///   changed.
  /// - Complexity: O(*n* log *m*) for *n* changed rows in tables of *m*.
  @discardableResult
  public func undo(
    expecting name: String? = nil,
    resolvingConflicts resolve: ((PatchConflict) throws -> PatchResolution)? = nil
  ) throws -> String? {
    try database.reportingClosure {
      try database.write { try self.move(isUndoing: true, name, $0, resolve) }
    }
  }

  /// As `undo(expecting:resolvingConflicts:)`, without blocking the task. Throws `CancellationError` too.
  @discardableResult
  nonisolated(nonsending) public func undo(
    expecting name: String? = nil,
    resolvingConflicts resolve: (@Sendable (PatchConflict) throws -> PatchResolution)? =
      nil
  ) async throws -> String? {
    try await database.reportingClosure {
      try await database.withoutTransaction { connection in
        try connection.transaction { try self.move(isUndoing: true, name, connection, resolve) }
      }
    }
  }

  /// Redoes the group that was undone last, blocking the thread: as `undo(expecting:resolvingConflicts:)`.
  ///
  /// - Parameters:
  ///   - name: The name that the group must have, such as ``redoName``; nil for any group.
  ///   - resolve: As for `undo(expecting:resolvingConflicts:)`.
  /// - Returns: The name of the group; nil if there is nothing to redo.
  /// - Throws: As `undo(expecting:resolvingConflicts:)`.
  @discardableResult
  public func redo(
    expecting name: String? = nil,
    resolvingConflicts resolve: ((PatchConflict) throws -> PatchResolution)? = nil
  ) throws -> String? {
    try database.reportingClosure {
      try database.write { try self.move(isUndoing: false, name, $0, resolve) }
    }
  }

  /// As ``redo(expecting:resolvingConflicts:)``, without blocking the task. Throws `CancellationError` too.
  @discardableResult
  nonisolated(nonsending) public func redo(
    expecting name: String? = nil,
    resolvingConflicts resolve: (@Sendable (PatchConflict) throws -> PatchResolution)? =
      nil
  ) async throws -> String? {
    try await database.reportingClosure {
      try await database.withoutTransaction { connection in
        try connection.transaction { try self.move(isUndoing: false, name, connection, resolve) }
      }
    }
  }

  /// Forgets all groups, blocking the thread. The files of assets that only they needed are removed.
  ///
  /// - Throws: ``HistoryError/insideGroup(name:)`` or `SQLiteError`.
  public func clear() throws {
    try database.reportingClosure { try database.write { try self.clear($0) } }
  }

  /// As ``clear()``, without blocking the task. Throws `CancellationError` too.
  nonisolated(nonsending) public func clear() async throws {
    try await database.reportingClosure { try await database.write { try self.clear($0) } }
  }

  private func clear(_ connection: Connection) throws {
    if let group = log.group { throw HistoryError.insideGroup(name: group) }
    try log.set([], insteadOf: log.steps(connection), connection)
  }

  /// Undoes or redoes a step, in the open transaction.
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
      // What is done may differ from what was wanted, and is what the next redo or undo takes back.
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
  /// Runs `body` in the open transaction, or in a savepoint of it, and keeps what it has changed as one group; in
  /// another group as part of that.
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
      guard let rolledBack else { throw SQLiteError(.internalError, "a result is lost") }
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

/// The rows that belong into a history, and the way in which they come back.
enum HistoryRecording {
  /// A group that has rolled itself back by its result.
  struct Undone: Error {}

  /// The changes of recorded rows but those of this library's own books, and of indexes of full-text search.
  ///
  /// - Throws: `PatchError.Reason.noKey` for rows that cannot be found again.
  static func patch(_ rows: RecordedRows) throws -> Patch { try Patch(changes(rows)) }

  static func changes(_ rows: RecordedRows) throws -> [NetRows] {
    try rows.netRows { !$0.isShadow && holds($0.table) }
  }

  static func holds(_ table: String) -> Bool {
    let name = asciiLowercased(table)
    // Counters go on, so that no key is given twice.
    return name == "magicdata_asset" || !(name.hasPrefix("magicdata_") || name.hasPrefix("sqlite_"))
  }

  /// Writes rows as a patch has them, and nothing else, but for what full-text search knows of them.
  static func apply(
    _ patch: Patch, _ connection: Connection, isIdempotent: Bool = false,
    _ resolve: ((PatchConflict) throws -> PatchResolution)?
  ) throws -> PatchReport {
    // Triggers keep an index of full-text search in step, and none run here.
    let indexed = try patch.tables.compactMap { table in
      try SearchTable(of: table.name, connection).map { ($0, try table.conditions(connection)) }
    }
    for (index, conditions) in indexed {
      for condition in conditions { try index.takeOut(where: condition, connection) }
    }
    let report = try connection.applyExactly(
      patch, isIdempotent: isIdempotent, onConflict: resolve)
    for (index, conditions) in indexed {
      for condition in conditions { try index.putIn(where: condition, connection) }
    }
    return report
  }
}

extension Patch.Table {
  /// The conditions that find the rows.
  fileprivate func conditions(_ connection: Connection) throws -> [SQL] {
    // A changeset of another program has no names.
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
  /// Begins to keep a history of this store, or returns the one that is there, with a new limit, blocking the
  /// thread.
  ///
  /// It lasts as long as the store. What is kept in the store stays there when the program ends.
  ///
  /// - Parameters:
  ///   - limit: The most groups that are kept, at least 1.
  ///   - keeping: The place where they are kept.
  /// - Throws: ``HistoryError/otherHistory`` if there is one that is kept elsewhere; `SQLiteError`, also if SQLite
  ///   was built without what records rows (`SQLITE_ENABLE_PREUPDATE_HOOK`).
  public func history(limit: Int = 100, keeping: HistoryKeeping = .inMemory) throws -> ObjectHistory
  {
    let history = try database.reportingClosure {
      try attachments.value { try ObjectHistory(self, limit: limit, keeping: keeping) }
    }
    guard history.keeping == keeping else { throw HistoryError.otherHistory }
    history.limit = limit
    return history
  }

  /// As ``history(limit:keeping:)``, without blocking the task. Throws `CancellationError` too.
  nonisolated(nonsending) public func history(
    limit: Int = 100, keeping: HistoryKeeping = .inMemory
  ) async throws -> ObjectHistory {
    try await database.reportingClosure {
      try await assets.work { try self.history(limit: limit, keeping: keeping) }
    }
  }

  /// Runs several calls in one transaction, which the store's history undoes and redoes as one group, blocking the
  /// thread.
  ///
  ///     try magic.undoable("Move to Zürich") {
  ///       person.city = "Zürich"
  ///       try magic.update(person)
  ///       try magic.database.executeChange("UPDATE stats SET moves = moves + 1")
  ///     }
  ///
  /// Else as `transaction(_:)`. Inside another `undoable` it is a part of that one; inside a `transaction(_:)` it
  /// is kept if that commits. If `body` throws nothing is saved, and nothing kept; nor is anything kept if
  /// nothing has changed.
  ///
  /// - Parameters:
  ///   - name: The name of the group, for a menu.
  ///   - body: The calls.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, ``HistoryError/noHistory``, `PatchError.Reason.noKey` if a row has changed that has no
  ///   primary key, `notUTF8` if text has changed that is not valid UTF-8, or `SQLiteError`, such as with `ResultCode.tooBig` if the rows are too many to be kept; then nothing
  ///   was saved.
  @discardableResult
  public func undoable<Result>(_ name: String, _ body: () throws -> Result) throws -> Result {
    let history = try presentHistory
    return try database.reportingClosure {
      try database.write { try history.record(name, $0, body) }
    }
  }

  /// As ``undoable(_:_:)``, without blocking the task: `body` runs on a thread of the database's own, as that of
  /// `transaction(_:)`. Throws `CancellationError` too.
  @discardableResult
  nonisolated(nonsending) public func undoable<Result: Sendable>(
    _ name: String, _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    let history = try presentHistory
    // Not as a `write`: by an option these share a transaction, and then may run again.
    return try await database.reportingClosure {
      try await database.withoutTransaction { connection in
        try connection.transaction { try history.record(name, connection, body) }
      }
    }
  }

  private var presentHistory: ObjectHistory {
    get throws {
      guard let history = attachments.present(ObjectHistory.self) else {
        throw HistoryError.noHistory
      }
      return history
    }
  }
}

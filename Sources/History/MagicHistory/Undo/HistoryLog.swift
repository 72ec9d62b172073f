import Essentials
import SQLiteAssets
import SQLiteCore
import SQLiteHistory
import Synchronization

/// A group of changes that is undone and redone as a unit.
struct HistoryStep: Sendable {
  let number: Int64
  let name: String
  var isUndone = false
  /// The changes of the group; nil if they are stored in the database and loaded on demand.
  var patch: Patch?
  /// The size of the patch in bytes, which counts toward the size limit of the history.
  var size: Int
}

/// The undo steps of a history, the oldest first. The undone steps are at the end.
///
/// Changes to this list are part of the open transaction and are rolled back with it.
final class HistoryLog: Sendable {
  private struct State: Sendable {
    /// The steps including the uncommitted changes of the open transaction.
    var steps: [HistoryStep] = []
    /// The committed state of the steps. For a history in the database, it is the state that was
    /// read last.
    var committed: [HistoryStep] = []
    /// The number of times that the open transaction has changed the steps.
    var openChanges = 0
    var lastNumber: Int64 = 0
    /// The generation of the database's content to which the steps belong. A restore starts a new
    /// generation.
    var generation: Int
    /// The name of the group that is being recorded; nil if there is none.
    var group: String?
  }

  let database: Database
  let assets: AssetStore
  let isInStore: Bool
  private let state: Mutex<State>

  init(_ database: Database, _ assets: AssetStore, isInStore: Bool) {
    self.database = database
    self.assets = assets
    self.isInStore = isInStore
    state = Mutex(State(generation: database.content.current))
  }

  /// The committed state of the steps, including commits of other programs that share the history.
  /// If the store can't be read, for example because it was closed, it is the state that was read
  /// last.
  var committed: [HistoryStep] {
    // During an open transaction, a read on this thread would include uncommitted steps.
    if isInStore, state.withLock({ $0.openChanges }) == 0 {
      do {
        try refresh()
      } catch let error as SQLiteError where error.code == .error {
        // The content was restored from a copy whose table of that name isn't a history.
        state.withLock { $0.committed = [] }
      } catch {}
    }
    return state.withLock { state in
      isInStore || state.generation == database.content.current ? state.committed : []
    }
  }

  /// The name of the group that is being recorded; nil if there is none. There is at most one,
  /// because only one connection writes at a time.
  var group: String? {
    get { state.withLock { $0.group } }
    set { state.withLock { $0.group = newValue } }
  }

  /// Returns the steps of the history, including uncommitted changes by the open transaction of the
  /// connection.
  func steps(_ connection: Connection) throws -> [HistoryStep] {
    guard isInStore else {
      return state.withLock { state in
        if state.generation != database.content.current {
          // The steps and their holds on files belong to content that was replaced.
          state.generation = database.content.current
          state.steps = []
          state.committed = []
        }
        return state.steps
      }
    }
    guard try HistoryTable.exists(connection) else { return [] }
    return try HistoryTable.steps(connection)
  }

  /// Returns the changed rows of a step. They are loaded from the database if the history is stored
  /// there.
  func patch(of step: HistoryStep, _ connection: Connection) throws -> Patch {
    try step.patch ?? Patch(content: HistoryTable.content(of: step.number, connection))
  }

  /// Creates a step from a patch, and holds the patch's asset files so that they aren't deleted.
  /// The step is inserted into the database if the history is stored there.
  func step(_ name: String, _ patch: Patch, _ connection: Connection) throws -> HistoryStep {
    let number: Int64
    var size = patch.byteCount
    if isInStore {
      let content = try patch.content()
      size = content.count
      try HistoryTable.make(connection)
      number = try HistoryTable.insert(name, content, connection)
    } else {
      number = state.withLock { state in
        state.lastNumber += 1
        return state.lastNumber
      }
    }
    try assets.hold(patch.assetFiles, for: holder(number), in: connection)
    return HistoryStep(
      number: number, name: name, patch: isInStore ? nil : patch, size: size)
  }

  /// Replaces the changed rows of a step with those of a patch, and holds the patch's asset files.
  func replace(_ patch: Patch, of step: inout HistoryStep, _ connection: Connection) throws {
    if isInStore {
      let content = try patch.content()
      step.size = content.count
      try HistoryTable.replace(content, of: step.number, connection)
    } else {
      step.size = patch.byteCount
      step.patch = patch
    }
    try assets.hold(patch.assetFiles, for: holder(step.number), in: connection)
  }

  /// Replaces the steps of the history, as part of the open transaction. `before` contains the
  /// current steps. Removed steps release their asset files.
  func set(_ steps: [HistoryStep], insteadOf before: [HistoryStep], _ connection: Connection) throws
  {
    let numbers = Set(steps.map(\.number))
    for step in before where !numbers.contains(step.number) {
      if isInStore { try HistoryTable.remove(step.number, connection) }
      try assets.release(holder(step.number), in: connection)
    }
    if isInStore {
      let undone = Dictionary(
        before.map { ($0.number, $0.isUndone) }, uniquingKeysWith: { $1 })
      for step in steps where undone[step.number] ?? false != step.isUndone {
        try HistoryTable.mark(step.number, isUndone: step.isUndone, connection)
      }
    }
    let former = state.withLock { state in
      defer { state.steps = steps }
      state.openChanges += 1
      return state.steps
    }
    connection.afterRollback { [self] _ in
      state.withLock { state in
        state.steps = former
        state.openChanges -= 1
      }
    }
    connection.afterCommit { [self] _ in
      state.withLock { state in
        state.committed = state.steps
        state.openChanges = 0
      }
    }
  }

  /// Reloads `committed` if the history is stored in the database, where other programs can change
  /// it.
  func refresh() throws {
    guard isInStore else { return }
    let steps = try database.read { try self.steps($0) }
    state.withLock { $0.committed = steps }
  }

  private func holder(_ number: Int64) throws -> AssetHolder {
    AssetHolder(session: isInStore ? nil : try assets.holdingSession(), number: number)
  }
}

extension Patch {
  /// The version number at the start of ``content()``. Patches in the older JSON format start with
  /// a brace instead.
  private static let contentForm: UInt8 = 1

  /// Returns the encoded patch: the version, the length of the column names, the names as JSON, and
  /// the changeset.
  package func content() throws -> [UInt8] {
    let columns = try JSONEncoder().encode(tables.map(\.columns))
    var start = [Patch.contentForm]
    start.append(varint: UInt64(columns.count))
    return start + [UInt8](columns) + [UInt8](data)
  }

  package init(content: [UInt8]) throws {
    var cursor = ChangesetCursor([UInt8](content.prefix(10)))
    guard try cursor.byte() == Patch.contentForm else {
      self = try decoded(Patch.self, from: Data(content), "a step of the history")
      return
    }
    let length = try cursor.varint()
    let rest = content.dropFirst(cursor.position)
    guard length <= UInt64(rest.count) else { throw cursor.damage("the columns of a step") }
    let columns = try decoded(
      [[String]?].self, from: Data(rest.prefix(Int(length))), "a step of the history")
    let tables = try Patch(data: Data(rest.dropFirst(Int(length)))).tables
    guard columns.count == tables.count else { throw cursor.damage("the columns of a step") }
    self.init(
      tables: zip(tables, columns).map {
        Table(name: $0.name, keyPositions: $0.keyPositions, columns: $1, rows: $0.rows)
      })
  }
}

/// Decodes JSON from an internal table of this library.
///
/// - Throws: `SQLiteError` with `ResultCode.corrupt` if the JSON is invalid. Its message starts
///   with `part`.
func decoded<Content: Decodable>(
  _ type: Content.Type, from data: Data, _ part: String
) throws(SQLiteError) -> Content {
  do {
    return try JSONDecoder().decode(type, from: data)
  } catch {
    throw SQLiteError(.corrupt, "\(part) is corrupt: \(error)")
  }
}

/// The table `magicdata_history`, which stores the steps of a history in the database.
enum HistoryTable {
  static func exists(_ connection: Connection) throws -> Bool {
    try connection.firstRow("SELECT 1 FROM main.sqlite_schema WHERE name = 'magicdata_history'")
      != nil
  }

  static func make(_ connection: Connection) throws {
    if try exists(connection) { return }
    try connection.executeChange(
      """
      CREATE TABLE main.magicdata_history (
        number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, isUndone INTEGER NOT NULL,
        content BLOB NOT NULL)
      """)
  }

  static func steps(_ connection: Connection) throws -> [HistoryStep] {
    try connection.rows(
      "SELECT number, name, isUndone, length(content) FROM main.magicdata_history ORDER BY number",
      as: Int64.self, String.self, Bool.self, Int.self
    ).map { HistoryStep(number: $0, name: $1, isUndone: $2, patch: nil, size: $3) }
  }

  static func content(of number: Int64, _ connection: Connection) throws -> [UInt8] {
    let content = try connection.firstRow(
      "SELECT content FROM main.magicdata_history WHERE number = \(number)", as: [UInt8].self)
    guard let content else {
      throw SQLiteError(.notFound, "the step \(number) of the history is missing")
    }
    return content
  }

  static func insert(_ name: String, _ content: [UInt8], _ connection: Connection) throws -> Int64 {
    try connection.executeChange(
      """
      INSERT INTO main.magicdata_history (name, isUndone, content)
      VALUES (\(name), 0, \(content))
      """
    ).lastInsertedRowID
  }

  static func replace(_ content: [UInt8], of number: Int64, _ connection: Connection) throws {
    try connection.executeChange(
      "UPDATE main.magicdata_history SET content = \(content) WHERE number = \(number)")
  }

  static func mark(_ number: Int64, isUndone: Bool, _ connection: Connection) throws {
    try connection.executeChange(
      "UPDATE main.magicdata_history SET isUndone = \(isUndone) WHERE number = \(number)")
  }

  static func remove(_ number: Int64, _ connection: Connection) throws {
    try connection.executeChange("DELETE FROM main.magicdata_history WHERE number = \(number)")
  }
}

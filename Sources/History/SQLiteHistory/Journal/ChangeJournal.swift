import Platform
public import SQLiteCore
public import SQLiteMapping
import Synchronization

/// A position in a ``ChangeJournal``. Store it, and pass it to `patch(since:)` later to get the
/// changes that have been made since.
public struct JournalMark: Hashable, Codable, Sendable {
  /// The number of the last entry before the position.
  let number: Int64
  /// The random token of that entry. After a restore, another entry may have the same number, but
  /// not the same token.
  let token: Int64

  /// The mark that represents a missing journal.
  static let none = JournalMark(number: 0, token: 0)
}

/// A table in the database that records the changes of recent transactions.
///
/// A journal has two uses. It delivers exact changes made by other processes, and it returns a
/// ``Patch`` of all changes since a ``JournalMark``.
///
///     let journal = try database.journal()
///     for try await changes in journal.deltas(of: Town.self, including: .current) { … }
///
/// The entry of a transaction is written in the same transaction, so both commit or neither does.
/// For a statement outside any transaction, the entry is written in a second transaction right
/// after it. A process writes entries only while it holds a `ChangeJournal`. Every process that
/// writes to the database must hold one; the changes of other processes are missing in the journal.
/// If the journal exceeds its size limit, the oldest entries are deleted.
///
/// A restore replaces the journal together with the rest of the database. If the restored copy has
/// no valid journal, the next write creates an empty one. A mark stays valid as long as its entry
/// exists. After you restore an older copy, `patch(since:)` returns nil for marks that are newer
/// than the copy.
///
/// Readers don't poll. They are notified by inotify on Linux and by kqueue on Apple platforms.
public final class ChangeJournal: Sendable {
  /// The maximum size of an entry in bytes. A larger transaction gets an entry without its rows.
  private static let largestEntry = 64 << 20
  /// The upper bound of the running total of the entries' sizes, in bytes. No program writes that
  /// much in its lifetime, so a larger total indicates damage.
  private static let largestTotal: Int64 = 1 << 62

  private let database: Database
  private let registration: Registration
  private let subscription: Registration
  private let watcher: FileWatcher?
  let bell: JournalBell

  /// Replaces the journal's table in the database with an empty one.
  ///
  /// - Returns: The mark of the journal's start.
  private static func setUp(_ connection: Connection) throws -> JournalMark {
    try connection.executeMultipleChanges(
      """
      DROP TABLE IF EXISTS main.magicdata_journal;
      CREATE TABLE main.magicdata_journal (
        number INTEGER PRIMARY KEY, token INTEGER NOT NULL, total INTEGER NOT NULL, rows BLOB);
      """)
    let start = JournalMark(number: 1, token: .random(in: .min ... .max))
    try connection.executeChange(
      "INSERT INTO main.magicdata_journal VALUES (\(start.number), \(start.token), 0, X'')")
    return start
  }

  /// Creates the journal if the database has no valid one.
  ///
  /// - Returns: The mark of the journal's end.
  fileprivate static func prepare(_ connection: Connection) throws -> JournalMark {
    try end(connection)?.mark ?? setUp(connection)
  }

  /// Returns the mark of the last entry in the connection's snapshot, and the running total of the
  /// sizes of all entries up to it, including those that have been deleted.
  ///
  /// - Returns: The mark and the total, or nil if the table doesn't exist or its content is
  ///   invalid.
  private static func end(_ connection: Connection) throws -> (mark: JournalMark, total: Int64)? {
    let last: (Value, Value, Value)?
    do {
      last = try connection.firstRow(
        """
        SELECT number, iif(typeof(token) = 'integer', token, NULL), iif(typeof(total) = 'integer', total, NULL)
        FROM main.magicdata_journal ORDER BY number DESC LIMIT 1
        """,
        as: Value.self, Value.self, Value.self)
    } catch {
      // The table or a column may be missing.
      guard error.code == .error else { throw error }
      return nil
    }
    guard case (.integer(let number), .integer(let token), .integer(let total))? = last,
      (1..<Int64.max).contains(number), (0..<largestTotal).contains(total)
    else { return nil }
    return (JournalMark(number: number, token: token), total)
  }

  fileprivate init(_ database: Database, limit: Int) throws(SQLiteError) {
    self.database = database
    let bell = JournalBell()
    self.bell = bell
    registration = database.beforeEachCommit(once: "journal") { connection, rows in
      try ChangeJournal.write(rows, limit: Int64(max(0, limit)), connection)
    }
    let path = database.path
    subscription = database.subscribe(to: .tables) { _ in
      bell.ring()
      if let path { FileWatcher.wake(path) }
    }
    if let path {
      watcher = try FileWatcher(path) { bell.ring() }
    } else {
      watcher = nil
    }
  }

  /// Inserts the entry of a transaction, without its rows if they are too large, and deletes the
  /// oldest entries beyond the limit. Inserts nothing if a journal omits all changed tables.
  private static func write(
    _ rows: RecordedRows?, limit: Int64, _ connection: Connection
  ) throws {
    var bytes = rows.flatMap { rows in
      rows.byteCount <= largestEntry ? JournalEntry.bytes(of: rows) : nil
    }
    if bytes?.isEmpty == true { return }
    if let count = bytes?.count, count > limit { bytes = nil }
    let last = try end(connection) ?? (setUp(connection), 0)
    let number = last.mark.number + 1
    let total = last.total + Int64(bytes?.count ?? 0) + 64
    try connection.executeChange(
      """
      INSERT INTO main.magicdata_journal
      VALUES (\(number), \(Int64.random(in: .min ... .max)), \(total),
        \(bytes.map { Value.blob($0) } ?? .null))
      """)
    while let (oldest, size) = try connection.firstRow(
      """
      SELECT number, iif(typeof(total) = 'integer', total, NULL)
      FROM main.magicdata_journal ORDER BY number LIMIT 1
      """,
      as: Value.self, Value.self)
    {
      guard case .integer(let oldest) = oldest, case .integer(let size) = size else {
        // This library never writes such values, so the table is damaged.
        _ = try setUp(connection)
        return
      }
      // Totals only grow. A larger one is damaged, so its entry is deleted as well.
      guard oldest < number, size <= total - limit || size > total,
        try connection.executeChange(
          "DELETE FROM main.magicdata_journal WHERE number = \(oldest)"
        ).rows > 0
      else { return }
    }
  }

  /// The entries after a mark, or the reason why they can't be read.
  enum Entries: Sendable {
    case rows([(mark: JournalMark, rows: RecordedRows)])
    /// Entries between the mark and the end were deleted or have no rows.
    case lost(end: JournalMark)
    /// The mark belongs to other content of the database, because a copy has been restored since.
    /// The end is nil if that copy has no journal.
    case replaced(end: JournalMark?)
  }

  /// Reads the entries after a mark, until their total size reaches `limit` bytes. Reads at least
  /// one entry if there is one.
  static func entries(
    after mark: JournalMark, atMost limit: Int, _ connection: Connection
  ) throws -> Entries {
    guard let end = try end(connection)?.mark else { return .replaced(end: nil) }
    if mark == end { return .rows([]) }
    guard mark.number < end.number else { return .replaced(end: end) }
    var found: [(mark: JournalMark, rows: RecordedRows)] = []
    var size = 0
    var statement = try connection.statement(
      "SELECT number, token, rows FROM main.magicdata_journal WHERE number >= \(mark.number) ORDER BY number"
    )
    guard try statement.step(), statement.integer(at: 0) == mark.number else {
      return .lost(end: end)
    }
    guard statement.integer(at: 1) == mark.token else { return .replaced(end: end) }
    while size < limit, try statement.step() {
      let next = JournalMark(number: statement.integer(at: 0), token: statement.integer(at: 1))
      let bytes = statement.blob(at: 2)
      // Numbers are consecutive: a rollback also reverts the insertion of the entry.
      guard next.number == (found.last?.mark ?? mark).number &+ 1, !bytes.isEmpty else {
        return .lost(end: end)
      }
      size += bytes.count
      found.append((next, try JournalEntry.rows(of: bytes)))
    }
    return .rows(found)
  }

  /// Returns a sequence of the changes that transactions of all processes make to a record type's
  /// table.
  ///
  /// The elements are those of `Database.deltas(of:including:limit:)`, which covers only this
  /// process. Pending changes wait in the journal. If a reader is so slow that entries were deleted
  /// before it has read them, it receives one ``Delta/overflow``. After a restore it receives one
  /// ``Delta/replaced``. With `including: .current`, the records are read from a snapshot, so
  /// writers don't wait.
  ///
  /// - Parameters:
  ///   - type: The record type.
  ///   - start: Whether the sequence starts with all current records.
  /// - Returns: The sequence of changes. It ends when the iterating task is cancelled. It throws
  ///   `SQLiteError`, for example if the database was closed, and `RowDecodingError` if one of the
  ///   current records can't be decoded.
  public func deltas<Value: Record>(
    of type: Value.Type, including start: DeltaStart = .changes
  ) -> some AsyncSequence<[Delta<Value>], any Error> & Sendable {
    DeltaSequence(
      RecordDeltas<Value>(database: database, feed: JournalReader(self, database)), start)
  }

  /// Returns the mark of the journal's end in the connection's snapshot.
  static func mark(_ connection: Connection) throws -> JournalMark {
    try end(connection)?.mark ?? .none
  }

  /// Returns the mark of the current end of the journal. Blocks the thread.
  ///
  /// If the journal is missing, this creates it.
  ///
  /// - Returns: The mark, which you can pass to `patch(since:)` later.
  /// - Throws: `SQLiteError` if the journal can't be read or created.
  public func mark() throws -> JournalMark {
    let mark = try database.read { try Self.mark($0) }
    return mark != .none ? mark : try database.write { try Self.prepare($0) }
  }

  /// Returns the mark of the current end of the journal, and suspends the task meanwhile.
  ///
  /// If the journal is missing, this creates it.
  ///
  /// - Returns: The mark, which you can pass to `patch(since:)` later.
  /// - Throws: `SQLiteError` if the journal can't be read or created; `CancellationError` if the
  ///   task was cancelled.
  public func mark() async throws -> JournalMark {
    let mark = try await database.read { try Self.mark($0) }
    return mark != .none ? mark : try await database.write { try Self.prepare($0) }
  }

  /// Returns a patch of all changes since a mark, made by any process. Blocks the thread.
  ///
  /// - Parameter mark: The mark that `mark()` returned earlier.
  /// - Returns: The patch, or nil if entries since the mark have been deleted, if a transaction was
  ///   too large for the journal, or if a copy of the database has been restored that doesn't
  ///   contain the mark's entry.
  /// - Throws: `SQLiteError` if the journal can't be read. ``PatchError`` if a table was recreated
  ///   with other columns since the mark, or if a changed row has no primary key or contains text
  ///   that isn't valid UTF-8.
  public func patch(since mark: JournalMark) throws -> Patch? {
    try database.read { try Self.patch(since: mark, $0) }
  }

  /// Returns a patch of all changes since a mark, made by any process. Suspends the task meanwhile.
  ///
  /// - Parameter mark: The mark that `mark()` returned earlier.
  /// - Returns: The patch, or nil if entries since the mark have been deleted, if a transaction was
  ///   too large for the journal, or if a copy of the database has been restored that doesn't
  ///   contain the mark's entry.
  /// - Throws: `SQLiteError` if the journal can't be read. ``PatchError`` if a table was recreated
  ///   with other columns since the mark, or if a changed row has no primary key or contains text
  ///   that isn't valid UTF-8. `CancellationError` if the task was cancelled.
  public func patch(since mark: JournalMark) async throws -> Patch? {
    try await database.read { try Self.patch(since: mark, $0) }
  }

  private static func patch(since mark: JournalMark, _ connection: Connection) throws -> Patch? {
    guard case .rows(let entries) = try entries(after: mark, atMost: .max, connection) else {
      return nil
    }
    return try entries.reduce(Patch()) { try $0.combined(with: Patch($1.rows)) }
  }
}

extension Database {
  /// Records all changes of this process in the database's journal for as long as the result
  /// exists. Blocks the thread.
  ///
  /// Creates the journal if it is missing.
  ///
  /// - Parameter limit: The maximum size of the journal in bytes. If it is exceeded, the oldest
  ///   entries are deleted, but never the last one.
  /// - Returns: The journal. Recording ends when it is deinitialized.
  /// - Throws: `SQLiteError` with `ResultCode.misuse` if this libsqlite3 was built without
  ///   `SQLITE_ENABLE_PREUPDATE_HOOK`, with `ResultCode.cannotOpen` if the system can't watch the
  ///   file, or if the journal can't be created.
  public func journal(limit: Int = 16 << 20) throws -> ChangeJournal {
    guard recordsValues else { throw SQLiteError.noPreupdateHook }
    _ = try write { try ChangeJournal.prepare($0) }
    return try ChangeJournal(self, limit: limit)
  }

  /// Records all changes of this process in the database's journal for as long as the result
  /// exists. Suspends the task meanwhile.
  ///
  /// Creates the journal if it is missing.
  ///
  /// - Parameter limit: The maximum size of the journal in bytes. If it is exceeded, the oldest
  ///   entries are deleted, but never the last one.
  /// - Returns: The journal. Recording ends when it is deinitialized.
  /// - Throws: `SQLiteError` with `ResultCode.misuse` if this libsqlite3 was built without
  ///   `SQLITE_ENABLE_PREUPDATE_HOOK`, with `ResultCode.cannotOpen` if the system can't watch the
  ///   file, or if the journal can't be created; `CancellationError` if the task was cancelled.
  public func journal(limit: Int = 16 << 20) async throws -> ChangeJournal {
    guard recordsValues else { throw SQLiteError.noPreupdateHook }
    _ = try await write { try ChangeJournal.prepare($0) }
    return try ChangeJournal(self, limit: limit)
  }
}

import Platform
public import SQLiteCore
public import SQLiteMapping
import Synchronization

/// A place in a ``ChangeJournal``, for asking later what has changed since.
public struct JournalMark: Hashable, Codable, Sendable {
  /// The number of the last entry before it.
  let number: Int64
  /// The random token of that entry. After a restore another entry may have the number, but not the token.
  let token: Int64

  /// The mark of a journal that is missing.
  static let none = JournalMark(number: 0, token: 0)
}

/// A table of the database that keeps what each transaction has changed, the last ones up to a size: by it the changes of
/// other processes are told exactly, and a ``Patch`` is made of all that happened since a ``JournalMark``.
///
///     let journal = try database.journal()
///     for try await changes in journal.deltas(of: Town.self, including: .current) { … }
///
/// The entry of a transaction is written in that transaction, so that both are there or none. Every process that writes keeps
/// the journal, as long as it holds such a value: what others write without it is not in it. A statement outside any
/// transaction gets its entry right after itself.
///
/// A restore replaces the journal together with the rest of the database. If the restored copy has no journal, or a
/// damaged one, the next write sets up an empty one. Marks stay valid as long as their entry exists: after the restore of
/// an older copy, `patch(since:)` returns nil for marks that are newer than the copy.
///
/// On Linux readers are woken by inotify, elsewhere by kqueue: nobody asks again and again.
public final class ChangeJournal: Sendable {
  /// The most bytes of one entry; what is more is only noted as unknown.
  private static let largestEntry = 64 << 20
  /// The largest sum of sizes. A program writes less in its lifetime; a damaged file may have more.
  private static let largestTotal: Int64 = 1 << 62

  private let database: Database
  private let registration: Registration
  private let subscription: Registration
  private let watcher: FileWatcher?
  let bell: JournalBell

  /// Replaces the table by an empty journal.
  ///
  /// - Returns: The mark of its start.
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

  /// Sets the journal up unless there is one.
  ///
  /// - Returns: The mark of its end.
  fileprivate static func prepare(_ connection: Connection) throws -> JournalMark {
    try end(connection)?.mark ?? setUp(connection)
  }

  /// Returns the mark of the last entry that the snapshot of a connection has, and the size of all entries up to it.
  ///
  /// - Returns: Nil if there is no journal, or one that no program of this library has written.
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
      // There may be no such table or column.
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

  /// Adds the entry of a transaction, and removes the oldest that are too much.
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
        // No program of this library has written that.
        _ = try setUp(connection)
        return
      }
      // Sizes only grow: what is larger is damaged.
      guard oldest < number, size <= total - limit || size > total,
        try connection.executeChange(
          "DELETE FROM main.magicdata_journal WHERE number = \(oldest)"
        ).rows > 0
      else { return }
    }
  }

  /// The entries after a mark.
  enum Entries: Sendable {
    case rows([(mark: JournalMark, rows: RecordedRows)])
    /// Some are gone or unknown, up to the end.
    case lost(end: JournalMark)
    /// The mark is of another content of the database: a copy was restored since. The end is nil if the copy has no
    /// journal.
    case replaced(end: JournalMark?)
  }

  /// Reads the entries after a mark, up to some bytes of them, and at least one.
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
      // Numbers are given one by one, and taken back with what was rolled back.
      guard next.number == (found.last?.mark ?? mark).number &+ 1, !bytes.isEmpty else {
        return .lost(end: end)
      }
      size += bytes.count
      found.append((next, try JournalEntry.rows(of: bytes)))
    }
    return .rows(found)
  }

  /// Tells what each transaction of any process has changed in the table of a record type, as
  /// ``SQLiteCore/Database/deltas(of:including:limit:)`` does for this process.
  ///
  /// The changes wait in the journal: a reader that is slower than the journal is large gets one ``Delta/tooMuch``. After a
  /// restore it gets one ``Delta/replaced``. The records that come first with `including: .current` are read on a snapshot:
  /// no writer waits for that.
  ///
  /// - Parameters:
  ///   - type: The type of the records.
  ///   - start: Whether the records as they are come first.
  /// - Returns: The changes, as those of a database.
  public func deltas<Value: Record>(
    of type: Value.Type, including start: DeltaStart = .changes
  ) -> some AsyncSequence<[Delta<Value>], any Error> & Sendable {
    DeltaSequence(
      RecordDeltas<Value>(database: database, feed: JournalReader(self, database)), start)
  }

  /// Returns the mark of the end that the snapshot of a connection has.
  static func mark(_ connection: Connection) throws -> JournalMark {
    try end(connection)?.mark ?? .none
  }

  /// The present end of the journal, which is set up if it is missing.
  ///
  /// - Throws: `SQLiteError`.
  public func mark() throws -> JournalMark {
    let mark = try database.read { try Self.mark($0) }
    return mark != .none ? mark : try database.write { try Self.prepare($0) }
  }

  /// As the blocking ``mark()``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func mark() async throws -> JournalMark {
    let mark = try await database.read { try Self.mark($0) }
    return mark != .none ? mark : try await database.write { try Self.prepare($0) }
  }

  /// Returns what all transactions since a mark have changed together, whichever process they were of.
  ///
  /// - Parameter mark: The mark.
  /// - Returns: The patch; nil if the journal does not reach back so far, if it lacks a transaction that changed too
  ///   much, or if a copy was restored that does not have the entry of the mark.
  /// - Throws: `SQLiteError`; ``PatchError`` if a table has been created again with other columns since, or if a row without
  ///   a primary key, or text that is not valid UTF-8, has changed.
  public func patch(since mark: JournalMark) throws -> Patch? {
    try database.read { try Self.patch(since: mark, $0) }
  }

  /// As the blocking ``patch(since:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
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
  /// Keeps a journal of all changes in the database, as long as the result is held, blocking the thread.
  ///
  /// - Parameter limit: The size of the journal in bytes. The oldest entries are removed when it is more; the last one
  ///   stays.
  /// - Throws: `SQLiteError`: with `ResultCode.misuse` if this libsqlite3 was built without `SQLITE_ENABLE_PREUPDATE_HOOK`, with
  ///   `ResultCode.cannotOpen` if the system cannot watch the file.
  public func journal(limit: Int = 16 << 20) throws -> ChangeJournal {
    guard recordsValues else { throw SQLiteError.noPreupdateHook }
    _ = try write { try ChangeJournal.prepare($0) }
    return try ChangeJournal(self, limit: limit)
  }

  /// As the blocking ``journal(limit:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func journal(limit: Int = 16 << 20) async throws -> ChangeJournal {
    guard recordsValues else { throw SQLiteError.noPreupdateHook }
    _ = try await write { try ChangeJournal.prepare($0) }
    return try ChangeJournal(self, limit: limit)
  }
}

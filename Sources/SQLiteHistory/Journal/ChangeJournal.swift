import Platform
public import SQLiteCore
public import SQLiteMapping
import Synchronization

/// A place in a ``ChangeJournal``, for asking later what has changed since.
public struct JournalMark: Hashable, Codable, Sendable {
  /// The number of the last transaction before it.
  let number: Int64
  /// The journal, told from others that were made anew.
  let journal: String
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
/// On Linux readers are woken by inotify, elsewhere by kqueue: nobody asks again and again.
public final class ChangeJournal: Sendable {
  /// The table's name. Patches leave it out.
  static let table = "magicdata_journal"
  /// The most bytes of one entry; what is more is only noted as unknown.
  private static let largestEntry = 64 << 20

  private let database: Database
  private let registration: CommitRegistration
  private let subscription: ChangeSubscription
  private let watcher: FileWatcher?
  let bell: JournalBell
  let name: String

  /// Makes the table if it is missing.
  fileprivate static func prepare(_ connection: Connection) throws -> String {
    try connection.executeChange(
      """
      CREATE TABLE IF NOT EXISTS magicdata_journal (
        number INTEGER PRIMARY KEY AUTOINCREMENT, total INTEGER NOT NULL, rows BLOB)
      """)
    // The first entry holds the journal's name, and stays.
    if let name = try connection.firstRow(
      "SELECT rows FROM magicdata_journal WHERE number = 1", as: String.self)
    {
      return name
    }
    let name = (0..<4).map { _ in String(UInt32.random(in: 0...UInt32.max), radix: 16) }
      .joined(separator: "-")
    try connection.executeChange("INSERT INTO magicdata_journal VALUES (1, 0, \(name))")
    return name
  }

  fileprivate init(_ database: Database, name: String, limit: Int) throws(SQLiteError) {
    self.database = database
    self.name = name
    let bell = JournalBell()
    self.bell = bell
    registration = database.beforeEachCommit(once: "journal") { connection, rows in
      try ChangeJournal.write(rows, limit: limit, connection)
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
    _ rows: RecordedRows?, limit: Int, _ connection: Connection
  ) throws {
    var bytes = rows.flatMap { rows in
      rows.byteCount <= largestEntry ? JournalEntry.bytes(of: rows) : nil
    }
    if bytes?.isEmpty == true { return }
    if let count = bytes?.count, count > limit { bytes = nil }
    let last =
      try connection.firstRow(
        "SELECT total FROM magicdata_journal ORDER BY number DESC LIMIT 1", as: Int64.self) ?? 0
    let total = last &+ Int64(bytes?.count ?? 0) &+ 64
    try connection.executeChange(
      "INSERT INTO magicdata_journal (total, rows) VALUES (\(total), \(bytes.map { Value.blob($0) } ?? .null))"
    )
    while let (number, old) = try connection.firstRow(
      "SELECT number, total FROM magicdata_journal WHERE number > 1 ORDER BY number LIMIT 1",
      as: Int64.self, Int64.self), old <= total - Int64(limit)
    {
      try connection.executeChange("DELETE FROM magicdata_journal WHERE number = \(number)")
    }
  }

  /// The entries after a number.
  enum Entries: Sendable {
    case rows([(number: Int64, rows: RecordedRows)])
    /// Some are gone, or unknown; the number is that of the last one.
    case lost(last: Int64)
  }

  /// Reads the entries after a number, up to some bytes of them, and at least one.
  static func entries(
    after number: Int64, of name: String, atMost limit: Int, _ connection: Connection
  ) throws -> Entries {
    let last =
      try connection.firstRow(
        "SELECT max(number) FROM magicdata_journal", as: Int64?.self
      ).flatMap(\.self) ?? 0
    guard
      try connection.firstRow(
        "SELECT rows FROM magicdata_journal WHERE number = 1", as: String.self) == name,
      number <= last
    else { return .lost(last: last) }
    var found: [(number: Int64, rows: RecordedRows)] = []
    var size = 0
    var statement = try connection.statement(
      "SELECT number, rows FROM magicdata_journal WHERE number > \(number) ORDER BY number")
    while size < limit, try statement.step() {
      let next = statement.integer(at: 0)
      // Numbers are given one by one, and taken back with what was rolled back.
      guard next == (found.last?.number ?? number) + 1, !statement.isNull(at: 1) else {
        return .lost(last: last)
      }
      let bytes = statement.blob(at: 1)
      size += bytes.count
      found.append((next, try JournalEntry.rows(of: bytes)))
    }
    return .rows(found)
  }

  /// The number of the last entry that the snapshot of a connection has.
  static func lastNumber(_ connection: Connection) throws -> Int64 {
    try connection.firstRow("SELECT max(number) FROM magicdata_journal", as: Int64?.self)
      .flatMap(\.self) ?? 0
  }

  /// Tells what each transaction of any process has changed in the table of a record type, as
  /// ``SQLiteCore/Database/deltas(of:including:limit:)`` does for this process.
  ///
  /// The changes wait in the journal: a reader that is slower than the journal is large gets one ``Delta/tooMuch``. The
  /// records that come first with `including: .current` are read on a snapshot: no writer waits for that.
  ///
  /// - Parameters:
  ///   - type: The type of the records.
  ///   - start: Whether the records as they are come first.
  public func deltas<Value: Record>(
    of type: Value.Type, including start: DeltaStart = .changes
  ) -> Deltas<Value> {
    Deltas(database, start, JournalReader(self, database))
  }

  /// The present end of the journal.
  ///
  /// - Throws: `SQLiteError`.
  public func mark() throws -> JournalMark {
    JournalMark(number: try database.read { try Self.lastNumber($0) }, journal: name)
  }

  /// As the blocking ``mark()``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func mark() async throws -> JournalMark {
    JournalMark(number: try await database.read { try Self.lastNumber($0) }, journal: name)
  }

  /// Returns what all transactions since a mark have changed together, whichever process they were of.
  ///
  /// - Parameter mark: The mark.
  /// - Returns: The patch; nil if the journal does not reach back so far, or lacks a transaction that changed too
  ///   much.
  /// - Throws: `SQLiteError`; ``PatchError`` if a table has been created again with other columns since, or if a row without
  ///   a primary key has changed.
  public func patch(since mark: JournalMark) throws -> Patch? {
    try database.read { try self.patch(since: mark, $0) }
  }

  /// As the blocking ``patch(since:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func patch(since mark: JournalMark) async throws -> Patch? {
    try await database.read { try self.patch(since: mark, $0) }
  }

  private func patch(since mark: JournalMark, _ connection: Connection) throws -> Patch? {
    guard mark.journal == name,
      case .rows(let entries) = try Self.entries(
        after: mark.number, of: name, atMost: .max, connection)
    else { return nil }
    return try entries.reduce(Patch()) { try $0.combined(with: Patch($1.rows)) }
  }
}

extension Database {
  /// Keeps a journal of all changes in the database, as long as the result is held, blocking the thread.
  ///
  /// - Parameter limit: The size of the journal in bytes. The oldest entries are removed when it is more.
  /// - Throws: `SQLiteError`: with `ResultCode.misuse` if this libsqlite3 was built without `SQLITE_ENABLE_PREUPDATE_HOOK`, with
  ///   `ResultCode.cannotOpen` if the system cannot watch the file.
  public func journal(limit: Int = 16 << 20) throws -> ChangeJournal {
    guard recordsValues else { throw SQLiteError.noPreupdateHook }
    return try ChangeJournal(
      self, name: try write { try ChangeJournal.prepare($0) }, limit: limit)
  }

  /// As the blocking ``journal(limit:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func journal(limit: Int = 16 << 20) async throws -> ChangeJournal {
    guard recordsValues else { throw SQLiteError.noPreupdateHook }
    return try ChangeJournal(
      self, name: try await write { try ChangeJournal.prepare($0) }, limit: limit)
  }
}

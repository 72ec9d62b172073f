public import Essentials
import SQLiteCore
import SQLiteHistory
import SQLiteMapping
public import SQLiteObjects

/// A log of who changed which object and when.
///
///     let trail = try magic.keepTrail(maximumCount: 1_000_000)
///     try await ChangeAuthor.$current.withValue("ann") { try await magic.update(person) }
///     for entry in try magic.trail(of: person) { print(entry.date, entry.author ?? "?", entry.changes) }
///
/// The trail contains all writes of this process to the store's file, whether made by objects, raw
/// SQL, delete rules or an undo. Its entries are written in the same transaction as the changes, so
/// both commit or neither does. For a statement outside any transaction, the entries are written
/// right after it. Writes of processes that keep no trail are missing.
public final class ObjectTrail: Sendable {
  private let database: Database
  private let registration: Registration

  fileprivate init(_ database: Database, _ bounds: TrailBounds) throws {
    self.database = database
    guard database.recordsValues else { throw SQLiteError.noPreupdateHook }
    registration = database.beforeEachCommit(once: "trail") { connection, rows in
      try TrailTable.write(rows, bounds, connection)
    }
    // When this access ends, the connection starts to record changes.
    try database.write { try TrailTable.make($0) }
  }

  /// Deletes all entries of the trail that are older than a date. Blocks the thread.
  ///
  /// - Parameter date: The date of the oldest entry to keep.
  /// - Returns: The number of deleted rows of the trail. Each records one changed row of an object,
  ///   a link, an asset or another table.
  /// - Throws: `SQLiteError` if the rows can't be deleted.
  @discardableResult
  public func prune(before date: Date) throws -> Int {
    try database.write { try TrailTable.prune(before: date, $0) }
  }

  /// Deletes all entries of the trail that are older than a date, and suspends the task meanwhile.
  ///
  /// - Parameter date: The date of the oldest entry to keep.
  /// - Returns: The number of deleted rows of the trail. Each records one changed row of an object,
  ///   a link, an asset or another table.
  /// - Throws: `SQLiteError` if the rows can't be deleted; `CancellationError` if the task was
  ///   cancelled.
  @discardableResult
  nonisolated(nonsending) public func prune(before date: Date) async throws -> Int {
    try await database.write { try TrailTable.prune(before: date, $0) }
  }
}

extension MagicData {
  /// Starts to keep a trail of all changes in the store, or returns the existing trail. Blocks the
  /// thread.
  ///
  /// Recording lasts as long as the store is open. If several stores in this process keep a trail
  /// of the same file, each transaction is recorded once, with the limits of one of them. If this
  /// store already has a trail, its limits don't change.
  ///
  /// - Parameters:
  ///   - maximumCount: The maximum number of rows in the trail. Each records one changed row of an
  ///     object, a link, an asset or another table. If it is nil, the number is unlimited.
  ///   - maximumAge: The maximum age of an entry. Later commits delete older entries, at most 1,000
  ///     rows per commit. If it is nil, the age is unlimited.
  /// - Returns: The trail.
  /// - Throws: `SQLiteError` if the table of the trail can't be created, or with
  ///   `ResultCode.misuse` if this libsqlite3 was built without `SQLITE_ENABLE_PREUPDATE_HOOK`;
  ///   `MagicError.closed` if the store was closed.
  @discardableResult
  public func keepTrail(
    maximumCount: Int? = nil, maximumAge: Duration? = nil
  ) throws -> ObjectTrail {
    try database.reportingClosedStore {
      try attachments.value {
        try ObjectTrail(database, TrailBounds(count: maximumCount, age: maximumAge))
      }
    }
  }

  /// Starts to keep a trail of all changes in the store, or returns the existing trail. Suspends
  /// the task meanwhile.
  ///
  /// Recording lasts as long as the store is open. If this store already has a trail, its limits
  /// don't change.
  ///
  /// - Parameters:
  ///   - maximumCount: The maximum number of rows in the trail. Each records one changed row of an
  ///     object, a link, an asset or another table. If it is nil, the number is unlimited.
  ///   - maximumAge: The maximum age of an entry. Later commits delete older entries, at most 1,000
  ///     rows per commit. If it is nil, the age is unlimited.
  /// - Returns: The trail.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was cancelled.
  @discardableResult
  nonisolated(nonsending) public func keepTrail(
    maximumCount: Int? = nil, maximumAge: Duration? = nil
  ) async throws -> ObjectTrail {
    try await database.reportingClosedStore {
      try await assets.work {
        try self.keepTrail(maximumCount: maximumCount, maximumAge: maximumAge)
      }
    }
  }

  /// Returns the recorded changes of an object, the most recent first. Blocks the thread.
  ///
  /// - Parameters:
  ///   - object: An object that is saved in this store.
  ///   - limit: The maximum number of rows of the trail to read. An entry has at most one row for
  ///     the object and one for each changed link. If the limit is reached, the last entry may be
  ///     incomplete.
  /// - Returns: One entry for each transaction that changed the object. Transactions that were too
  ///   large to record also have an entry, of the kind `unknown`.
  /// - Throws: `MagicError.notSaved(type:)` if the object isn't saved in this store, or
  ///   `MagicError.closed` if the store was closed; `SQLiteError` if the trail can't be read.
  public func trail<Object: MagicObject>(of object: Object, limit: Int = 1_000) throws
    -> [TrailEntry]
  {
    guard let zIndex = object.zIndex(in: identity) else {
      throw MagicError.notSaved(type: "\(Object.self)")
    }
    return try trail(of: Object.self, zIndex: Int(zIndex), limit: limit)
  }

  /// Returns the recorded changes of an object, the most recent first. Suspends the task meanwhile.
  ///
  /// - Parameters:
  ///   - object: An object that is saved in this store.
  ///   - limit: The maximum number of rows of the trail to read. An entry has at most one row for
  ///     the object and one for each changed link. If the limit is reached, the last entry may be
  ///     incomplete.
  /// - Returns: One entry for each transaction that changed the object. Transactions that were too
  ///   large to record also have an entry, of the kind `unknown`.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending) public func trail<Object: MagicObject>(
    of object: Object, limit: Int = 1_000
  ) async throws -> [TrailEntry] {
    guard let zIndex = object.zIndex(in: identity) else {
      throw MagicError.notSaved(type: "\(Object.self)")
    }
    return try await trail(of: Object.self, zIndex: Int(zIndex), limit: limit)
  }

  /// Returns the recorded changes of the object with a `z_index`, the most recent first. Blocks the
  /// thread.
  ///
  /// The object may already be removed.
  ///
  /// - Parameters:
  ///   - type: The type of the object.
  ///   - zIndex: The `z_index` of the object.
  ///   - limit: The maximum number of rows of the trail to read. An entry has at most one row for
  ///     the object and one for each changed link. If the limit is reached, the last entry may be
  ///     incomplete.
  /// - Returns: One entry for each transaction that changed the object. Transactions that were too
  ///   large to record also have an entry, of the kind `unknown`.
  /// - Throws: `MagicError` if the type can't be stored, or `MagicError.closed` if the store was
  ///   closed; `SQLiteError` if the trail can't be read.
  public func trail<Object: MagicObject>(
    of type: Object.Type, zIndex: Int, limit: Int = 1_000
  ) throws -> [TrailEntry] {
    let tables = TrailTable.Owner(try plan(type), zIndex)
    return try read { (connection: Connection) in
      try TrailTable.entries(of: tables, limit: limit, connection)
    }
  }

  /// Returns the recorded changes of the object with a `z_index`, the most recent first. Suspends
  /// the task meanwhile.
  ///
  /// The object may already be removed.
  ///
  /// - Parameters:
  ///   - type: The type of the object.
  ///   - zIndex: The `z_index` of the object.
  ///   - limit: The maximum number of rows of the trail to read. An entry has at most one row for
  ///     the object and one for each changed link. If the limit is reached, the last entry may be
  ///     incomplete.
  /// - Returns: One entry for each transaction that changed the object. Transactions that were too
  ///   large to record also have an entry, of the kind `unknown`.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending) public func trail<Object: MagicObject>(
    of type: Object.Type, zIndex: Int, limit: Int = 1_000
  ) async throws -> [TrailEntry] {
    let tables = TrailTable.Owner(try plan(type), zIndex)
    return try await read { (connection: Connection) in
      try TrailTable.entries(of: tables, limit: limit, connection)
    }
  }
}

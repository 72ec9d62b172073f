public import Essentials
import SQLiteCore
import SQLiteHistory
import SQLiteMapping
public import SQLiteObjects

/// Writes down who changes what and when, in the transactions that do.
///
///     let trail = try magic.keepTrail(maximumCount: 1_000_000)
///     try await ChangeAuthor.$current.withValue("ann") { try await magic.update(person) }
///     for entry in try magic.trail(of: person) { print(entry.date, entry.author ?? "?", entry.changes) }
///
/// Every write of this process on the path is in it, whatever made it: objects, raw SQL, delete rules, undoing. A
/// transaction and its trail are there together or not at all; a statement outside any transaction has its trail
/// written right after it. Writes of processes that keep no trail are missing in it.
public final class ObjectTrail: Sendable {
  private let database: Database
  private let registration: Registration

  fileprivate init(_ database: Database, _ bounds: TrailBounds) throws {
    self.database = database
    guard database.recordsValues else { throw SQLiteError.noPreupdateHook }
    registration = database.beforeEachCommit(once: "trail") { connection, rows in
      try TrailTable.write(rows, bounds, connection)
    }
    // From the end of this access on the connection records what changes.
    try database.write { try TrailTable.make($0) }
  }

  /// Removes what was written down before a time, blocking the thread.
  ///
  /// - Parameter date: The time.
  /// - Returns: The number of removed rows.
  /// - Throws: `SQLiteError`.
  @discardableResult
  public func prune(before date: Date) throws -> Int {
    try database.write { try TrailTable.prune(before: date, $0) }
  }

  /// As ``prune(before:)``, without blocking the task. Throws `CancellationError` too.
  @discardableResult
  nonisolated(nonsending) public func prune(before date: Date) async throws -> Int {
    try await database.write { try TrailTable.prune(before: date, $0) }
  }
}

extension MagicData {
  /// Begins to keep a trail of all changes in the store, or returns the one that is kept, blocking the thread.
  ///
  /// It is kept as long as the store lives. If several stores of this process on the path keep it, each transaction
  /// is written once, with the limits of one of them.
  ///
  /// - Parameters:
  ///   - maximumCount: The most rows that are kept, each one's change of an object or a link; nil for any number.
  ///   - maximumAge: The time for which they are kept; nil for ever. The oldest go with later commits.
  /// - Throws: `SQLiteError`, with `ResultCode.misuse` if this libsqlite3 was built without
  ///   `SQLITE_ENABLE_PREUPDATE_HOOK`.
  @discardableResult
  public func keepTrail(
    maximumCount: Int? = nil, maximumAge: Duration? = nil
  ) throws -> ObjectTrail {
    try database.reportingClosure {
      try attachments.value {
        try ObjectTrail(database, TrailBounds(count: maximumCount, age: maximumAge))
      }
    }
  }

  /// As ``keepTrail(maximumCount:maximumAge:)``, without blocking the task. Throws `CancellationError` too.
  @discardableResult
  nonisolated(nonsending) public func keepTrail(
    maximumCount: Int? = nil, maximumAge: Duration? = nil
  ) async throws -> ObjectTrail {
    try await database.reportingClosure {
      try await assets.work {
        try self.keepTrail(maximumCount: maximumCount, maximumAge: maximumAge)
      }
    }
  }

  /// Returns what was changed in an object, the last change first, blocking the thread.
  ///
  /// - Parameters:
  ///   - object: An object that the store knows.
  ///   - limit: The most rows of the trail to read.
  /// - Throws: `MagicError.notSaved(type:)` if it does not, or `SQLiteError`.
  public func trail<Object: MagicObject>(of object: Object, limit: Int = 1_000) throws
    -> [TrailEntry]
  {
    guard let zIndex = object.zIndex(in: identity) else {
      throw MagicError.notSaved(type: "\(Object.self)")
    }
    return try trail(of: Object.self, zIndex: Int(zIndex), limit: limit)
  }

  /// As ``trail(of:limit:)``, without blocking the task. Throws `CancellationError` too.
  nonisolated(nonsending) public func trail<Object: MagicObject>(
    of object: Object, limit: Int = 1_000
  ) async throws -> [TrailEntry] {
    guard let zIndex = object.zIndex(in: identity) else {
      throw MagicError.notSaved(type: "\(Object.self)")
    }
    return try await trail(of: Object.self, zIndex: Int(zIndex), limit: limit)
  }

  /// Returns what was changed in the object with a z_index, which may be gone, the last change first, blocking the
  /// thread.
  ///
  /// - Parameters:
  ///   - type: The object's type.
  ///   - zIndex: Its z_index.
  ///   - limit: The most rows of the trail to read.
  /// - Throws: `MagicError` or `SQLiteError`.
  public func trail<Object: MagicObject>(
    of type: Object.Type, zIndex: Int, limit: Int = 1_000
  ) throws -> [TrailEntry] {
    let tables = TrailTable.Owner(try plan(type), zIndex)
    return try read { (connection: Connection) in
      try TrailTable.entries(of: tables, limit: limit, connection)
    }
  }

  /// As ``trail(of:zIndex:limit:)``, without blocking the task. Throws `CancellationError` too.
  nonisolated(nonsending) public func trail<Object: MagicObject>(
    of type: Object.Type, zIndex: Int, limit: Int = 1_000
  ) async throws -> [TrailEntry] {
    let tables = TrailTable.Owner(try plan(type), zIndex)
    return try await read { (connection: Connection) in
      try TrailTable.entries(of: tables, limit: limit, connection)
    }
  }
}

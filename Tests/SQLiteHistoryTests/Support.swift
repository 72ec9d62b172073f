import CSQLite
import Foundation
import SQLiteCore
import SQLiteHistory
import Testing

struct Stop: Error {}

/// Returns the `SQLiteError` that `body` throws, or nil.
func sqliteError(_ body: () throws -> Void) -> SQLiteError? {
  do {
    try body()
    return nil
  } catch {
    return error as? SQLiteError
  }
}

/// SQLite's own session extension on an in-memory database, as an independent user of the format.
@safe final class SessionDatabase {
  let pointer: OpaquePointer
  /// The tables and keys of the conflicts in the last `apply`.
  private(set) var conflicts: [String] = []

  init() throws {
    var opened: OpaquePointer?
    unsafe sqlite3_open_v2(
      ":memory:", &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil)
    unsafe pointer = try #require(opened)
    try execute("PRAGMA foreign_keys = ON")
  }

  deinit { unsafe sqlite3_close_v2(pointer) }

  func execute(_ sql: String) throws {
    var message: UnsafeMutablePointer<CChar>?
    let code = unsafe sqlite3_exec(pointer, sql, nil, nil, &message)
    defer { unsafe sqlite3_free(message) }
    if code != SQLITE_OK {
      throw unsafe SQLiteError(
        ResultCode(rawValue: code), message.map { unsafe String(cString: $0) }, sql: sql)
    }
  }

  /// Returns rows in the format of ``Database/dump(_:order:)``.
  func dump(_ table: String, order: String = "1, 2") throws -> [String] {
    var statement: OpaquePointer?
    unsafe sqlite3_prepare_v2(
      pointer, "SELECT * FROM \"\(table)\" ORDER BY \(order)", -1, &statement, nil)
    defer { unsafe sqlite3_finalize(statement) }
    var rows: [String] = []
    while unsafe sqlite3_step(statement) == SQLITE_ROW {
      let values: [Value] = unsafe (0..<sqlite3_column_count(statement)).map { column in
        switch unsafe sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: return unsafe .integer(sqlite3_column_int64(statement, column))
        case SQLITE_FLOAT: return unsafe .real(sqlite3_column_double(statement, column))
        case SQLITE_TEXT:
          let count = unsafe Int(sqlite3_column_bytes(statement, column))
          return unsafe .text(
            String(
              decoding: UnsafeBufferPointer(
                start: sqlite3_column_text(statement, column), count: count), as: UTF8.self))
        case SQLITE_BLOB:
          let count = unsafe Int(sqlite3_column_bytes(statement, column))
          return unsafe .blob(
            sqlite3_column_blob(statement, column).map {
              unsafe Array(Data(bytes: $0, count: count))
            }
              ?? [])
        default: return .null
        }
      }
      rows.append("\(values)")
    }
    return rows
  }

  /// Runs `body` and returns a changeset of all tables.
  func changeset(_ body: () throws -> Void) throws -> Data {
    var session: OpaquePointer?
    unsafe try check(sqlite3session_create(pointer, "main", &session))
    defer { unsafe sqlite3session_delete(session) }
    unsafe try check(sqlite3session_attach(session, nil))
    try body()
    var count: Int32 = 0
    var bytes: UnsafeMutableRawPointer?
    unsafe try check(sqlite3session_changeset(session, &count, &bytes))
    return unsafe takeData(bytes, count)
  }

  /// Applies a changeset with one answer to all conflicts, and returns the rebase buffer.
  @discardableResult
  func apply(_ data: Data, _ answer: Int32 = SQLITE_CHANGESET_ABORT) throws -> Data {
    try apply(data) { _, _ in answer }
  }

  /// Decides conflicts and records them.
  private final class Judge {
    let decide: (String, [String]) -> Int32
    /// The conflicts, as returned by ``describedConflict(_:_:_:)``.
    var conflicts: [String] = []

    init(_ decide: @escaping (String, [String]) -> Int32) { self.decide = decide }
  }

  /// Applies a changeset with answers that depend on the table and key, and returns the rebase
  /// buffer.
  @discardableResult
  func apply(
    _ data: Data, deciding decide: @escaping (String, [String]) -> Int32
  ) throws -> Data {
    var rebase: UnsafeMutableRawPointer?
    var count: Int32 = 0
    let judge = Judge(decide)
    let code = withExtendedLifetime(judge) {
      unsafe data.withUnsafeBytes { bytes in
        unsafe sqlite3changeset_apply_v2(
          pointer, Int32(bytes.count), UnsafeMutableRawPointer(mutating: bytes.baseAddress), nil,
          { context, kind, conflict in
            guard let context = unsafe context else { return SQLITE_CHANGESET_ABORT }
            let judge = unsafe Unmanaged<Judge>.fromOpaque(context).takeUnretainedValue()
            let (table, key) = unsafe describedConflict(conflict)
            judge.conflicts.append("\(table) \(key)")
            let answer = judge.decide(table, key)
            let mayReplace = kind == SQLITE_CHANGESET_DATA || kind == SQLITE_CHANGESET_CONFLICT
            return answer == SQLITE_CHANGESET_REPLACE && !mayReplace
              ? SQLITE_CHANGESET_OMIT : answer
          }, Unmanaged.passUnretained(judge).toOpaque(), &rebase, &count, 0)
      }
    }
    conflicts = judge.conflicts
    try check(code)
    return unsafe takeData(rebase, count)
  }

  private func check(_ code: Int32) throws {
    if code != SQLITE_OK { throw SQLiteError(ResultCode(rawValue: code)) }
  }
}

/// Copies bytes that SQLite allocated and frees them.
func takeData(_ bytes: UnsafeMutableRawPointer?, _ count: Int32) -> Data {
  defer { unsafe sqlite3_free(bytes) }
  return unsafe bytes.map { unsafe Data(bytes: $0, count: Int(count)) } ?? Data()
}

/// Returns the table and the key of a conflict.
private func describedConflict(_ conflict: OpaquePointer?) -> (String, [String]) {
  var name: UnsafePointer<CChar>?
  var count: Int32 = 0
  var operation: Int32 = 0
  var isIndirect: Int32 = 0
  unsafe sqlite3changeset_op(conflict, &name, &count, &operation, &isIndirect)
  var keys: UnsafeMutablePointer<UInt8>?
  unsafe sqlite3changeset_pk(conflict, &keys, nil)
  var key: [String] = []
  for column in 0..<count where unsafe keys?[Int(column)] != 0 {
    var value: OpaquePointer?
    if operation == SQLITE_INSERT {
      unsafe sqlite3changeset_new(conflict, column, &value)
    } else {
      unsafe sqlite3changeset_old(conflict, column, &value)
    }
    key.append(unsafe sqlite3_value_text(value).map { unsafe String(cString: $0) } ?? "")
  }
  return (unsafe name.map { unsafe String(cString: $0) } ?? "", key)
}

/// Returns the result of `sqlite3changeset_invert`.
func sessionInverted(_ data: Data) throws -> Data {
  var count: Int32 = 0
  var bytes: UnsafeMutableRawPointer?
  let code = unsafe data.withUnsafeBytes {
    unsafe sqlite3changeset_invert(Int32($0.count), $0.baseAddress, &count, &bytes)
  }
  #expect(code == SQLITE_OK)
  return unsafe takeData(bytes, count)
}

/// Returns the result of `sqlite3changeset_concat`.
func sessionCombined(_ first: Data, _ second: Data) throws -> Data {
  var count: Int32 = 0
  var bytes: UnsafeMutableRawPointer?
  let code = unsafe first.withUnsafeBytes { first in
    unsafe second.withUnsafeBytes { second in
      unsafe sqlite3changeset_concat(
        Int32(first.count), UnsafeMutableRawPointer(mutating: first.baseAddress),
        Int32(second.count), UnsafeMutableRawPointer(mutating: second.baseAddress), &count, &bytes)
    }
  }
  #expect(code == SQLITE_OK)
  return unsafe takeData(bytes, count)
}

/// Returns a changeset that SQLite's rebaser has rebased onto `rebase`.
func sessionRebased(_ data: Data, onto rebase: Data) throws -> Data {
  var rebaser: OpaquePointer?
  unsafe #expect(sqlite3rebaser_create(&rebaser) == SQLITE_OK)
  defer { unsafe sqlite3rebaser_delete(rebaser) }
  let configured = unsafe rebase.withUnsafeBytes {
    unsafe sqlite3rebaser_configure(rebaser, Int32($0.count), $0.baseAddress)
  }
  #expect(configured == SQLITE_OK)
  var count: Int32 = 0
  var bytes: UnsafeMutableRawPointer?
  let code = unsafe data.withUnsafeBytes {
    unsafe sqlite3rebaser_rebase(rebaser, Int32($0.count), $0.baseAddress, &count, &bytes)
  }
  #expect(code == SQLITE_OK)
  return unsafe takeData(bytes, count)
}

extension Patch {
  /// The patch without columns that are equal before and after, which SQLite's rebaser keeps.
  var normalized: Patch {
    Patch(
      tables: tables.map { table in
        let rows = table.rows.compactMap { row -> Patch.Row? in
          guard row.kind == .update else { return row }
          var old = row.old
          var new = row.new
          for column in old.indices
          where table.keyPositions[column] == 0 && old[column] == new[column] {
            old[column] = nil
            new[column] = nil
          }
          guard new.contains(where: { $0 != nil }) else { return nil }
          return Patch.Row(.update, isIndirect: row.isIndirect, old: old, new: new)
        }
        return Table(
          name: table.name, keyPositions: table.keyPositions, columns: table.columns, rows: rows)
      })
  }

  /// The changes, independent of their order.
  var content: Set<String> {
    Set(
      tables.flatMap { table in table.rows.map { "\(table.name) \($0.kind) \($0.old) \($0.new)" } })
  }
}

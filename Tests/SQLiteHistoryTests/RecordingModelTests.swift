import Foundation
import SQLiteCore
import SQLiteHistory
import Synchronization
import Testing
import TestSupport

/// Compares the recorded changes of random transactions with the difference of two dumps.
@Suite struct RecordingModelTests {
  /// 400 by default, or 5000 with `MAGICDATA_LONG=1`.
  private static var transactionCount: Int {
    ProcessInfo.processInfo.environment["MAGICDATA_LONG"] == nil ? 400 : 5000
  }

  private static var seeds: [UInt64] {
    ProcessInfo.processInfo.environment["MAGICDATA_LONG"] == nil ? [1] : [1, 2, 3]
  }

  @Test(arguments: seeds)
  func `the recorded changes equal the difference of two dumps`(seed: UInt64) throws {
    let model = try RecordingModel(seed: seed)
    for number in 1...Self.transactionCount {
      try model.runTransaction()
      let faults = model.faults
      #expect(faults.isEmpty, "transaction \(number): \(faults.joined(separator: "\n"))")
      if !faults.isEmpty { return }
    }
    for event in ["applied", "applied exactly", "patch", "raw ROLLBACK TO", "blob", "returning"] {
      #expect(model.counts[event, default: 0] > Self.transactionCount / 40, "\(event)")
    }
    if ProcessInfo.processInfo.environment["MAGICDATA_LONG"] != nil {
      print(model.counts.map { "\($0.key): \($0.value)" }.sorted().joined(separator: "\n"))
    }
  }
}

/// The rows of all tables, keyed by primary key.
private struct Dump: Equatable {
  var tables: [String: [String: [String: Value]]] = [:]

  /// Returns the number of rows that differ from another dump.
  func differenceCount(from other: Dump) -> Int {
    tables.reduce(0) { count, table in
      let others = other.tables[table.key] ?? [:]
      let keys = Set(table.value.keys).union(others.keys)
      return count + keys.count { !isSameRow(table.value[$0], others[$0]) }
    }
  }

  func isSame(_ other: Dump) -> Bool { differenceCount(from: other) == 0 }
}

/// Returns whether two rows are equal bit for bit: -0.0 differs from 0.0.
private func isSameRow(_ left: [String: Value]?, _ right: [String: Value]?) -> Bool {
  left.map { "\($0.sorted { $0.key < $1.key })" }
    == right.map { "\($0.sorted { $0.key < $1.key })" }
}

private final class RecordingModel {
  private static let schema: SQL = """
    CREATE TABLE a (id INTEGER PRIMARY KEY, u TEXT UNIQUE, n INTEGER NOT NULL, r REAL CHECK (r IS NULL OR r < 1000));
    CREATE TABLE b (
      id INTEGER PRIMARY KEY, a INTEGER REFERENCES a (id) ON DELETE CASCADE ON UPDATE CASCADE, v);
    CREATE TABLE c (
      id INTEGER PRIMARY KEY, a INTEGER REFERENCES a (id) ON DELETE SET NULL ON UPDATE SET NULL, v);
    CREATE TABLE d (
      id INTEGER PRIMARY KEY, a INTEGER REFERENCES a (id) DEFERRABLE INITIALLY DEFERRED, v);
    CREATE TABLE e (id INTEGER PRIMARY KEY, a INTEGER REFERENCES a (id), v);
    CREATE TABLE w (
      k TEXT COLLATE NOCASE, n INTEGER, v, u UNIQUE, PRIMARY KEY (k, n)) WITHOUT ROWID;
    CREATE TABLE k (k TEXT PRIMARY KEY NOT NULL, v NUMERIC, u UNIQUE ON CONFLICT REPLACE);
    CREATE TABLE plain (x, y UNIQUE);
    CREATE TABLE g (id INTEGER PRIMARY KEY, x, s AS (x || '!') STORED, z AS (id + 1));
    CREATE TABLE log (id INTEGER PRIMARY KEY, t, x);
    INSERT INTO a VALUES (1, 'u1', 1, 1), (2, 'u2', 2, NULL), (3, 'u3', 3, 0.5);
    INSERT INTO w VALUES ('a', 1, 1, 1);
    ALTER TABLE a ADD COLUMN late TEXT DEFAULT 'late';
    ALTER TABLE w ADD COLUMN late NOT NULL DEFAULT 7;
    CREATE TRIGGER a_insert AFTER INSERT ON a BEGIN
      INSERT INTO log (t, x) VALUES ('insert', new.id);
      UPDATE k SET v = new.n WHERE k = new.u;
      SELECT CASE new.n WHEN 31 THEN RAISE(FAIL, 'fail') WHEN 32 THEN RAISE(ABORT, 'abort') END;
      SELECT CASE new.n WHEN 33 THEN RAISE(ROLLBACK, 'rollback') END;
      INSERT INTO log (t, x) VALUES ('after', new.id);
    END;
    CREATE TRIGGER a_before BEFORE INSERT ON a WHEN new.n > 20 BEGIN
      INSERT INTO log (t, x) VALUES ('before', new.id);
      SELECT CASE new.n WHEN 34 THEN RAISE(IGNORE) END;
      DELETE FROM log WHERE id = (SELECT min(id) FROM log);
    END;
    CREATE TRIGGER a_update BEFORE UPDATE ON a BEGIN
      INSERT OR REPLACE INTO k VALUES ('u' || old.id, old.n, old.n % 5);
      SELECT CASE WHEN new.n = 31 THEN RAISE(FAIL, 'fail') WHEN new.n = 34 THEN RAISE(IGNORE) END;
    END;
    CREATE TRIGGER a_delete AFTER DELETE ON a BEGIN
      INSERT INTO log (t, x) VALUES ('delete', old.id);
      DELETE FROM k WHERE k = old.u;
      SELECT CASE old.n WHEN 30 THEN RAISE(FAIL, 'fail') WHEN 29 THEN RAISE(ABORT, 'abort') END;
    END;
    CREATE TRIGGER w_update AFTER UPDATE ON w WHEN new.n > 30 BEGIN
      INSERT INTO plain VALUES (new.k, new.n);
    END;
    """
  /// The compared columns and the primary key columns, which are empty if the rowid is the key.
  private static let tables: [(name: String, columns: [String], keys: [String])] = [
    ("a", ["id", "u", "n", "r", "late"], ["id"]), ("b", ["id", "a", "v"], ["id"]),
    ("c", ["id", "a", "v"], ["id"]), ("d", ["id", "a", "v"], ["id"]),
    ("e", ["id", "a", "v"], ["id"]), ("w", ["k", "n", "v", "u", "late"], ["k", "n"]),
    ("k", ["k", "v", "u"], ["k"]), ("plain", ["x", "y"], []), ("g", ["id", "x"], ["id"]),
    ("log", ["id", "t", "x"], ["id"]),
  ]

  private var random: SplitMix64
  private let database: Database
  private let exactCopy: Database
  private let plainCopy: Database
  private let journal: ChangeJournal
  private let observed = Observed()
  private let subscription: Registration
  private(set) var faults: [String] = []
  private(set) var counts: [String: Int] = [:]
  /// The statements of the transaction, for fault reports.
  private var script: [String] = []

  private final class Observed: Sendable {
    let commits = Mutex<[CommittedChanges]>([])
  }

  init(seed: UInt64) throws {
    random = SplitMix64(seed: seed)
    database = try Database.memory()
    exactCopy = try Database.memory()
    plainCopy = try Database.memory()
    try database.executeMultipleChanges(Self.schema)
    journal = try database.journal(limit: 4 << 20)
    subscription = database.subscribe(to: .values) { [observed] changes in
      observed.commits.withLock { $0.append(changes) }
    }
    try restoreCopies()
  }

  private func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
  private func happensOnce(in count: Int) -> Bool { pick(1...count) == 1 }
  private func count(_ event: String) { counts[event, default: 0] += 1 }
  private func fault(_ text: String) {
    faults.append(text + "\n  " + script.joined(separator: "\n  "))
  }

  private static func dump(_ connection: Connection) throws -> Dump {
    var dump = Dump()
    for table in tables {
      let key = table.keys.isEmpty ? ["rowid"] : table.keys
      let sql = SQL(
        unchecked:
          "SELECT \((key + table.columns).joined(separator: ", ")) FROM \(table.name)")
      var rows: [String: [String: Value]] = [:]
      for row in try connection.executeQuery(sql) {
        rows["\(Array(row.values.prefix(key.count)))"] = Dictionary(
          uniqueKeysWithValues: zip(table.columns, row.values.dropFirst(key.count)))
      }
      dump.tables[table.name] = rows
    }
    return dump
  }
}

// MARK: - Checks

extension RecordingModel {
  func runTransaction() throws {
    script = []
    if happensOnce(in: 40) {
      try database.withoutTransaction { _ = try $0.executeChange("PRAGMA recursive_triggers = ON") }
    } else if happensOnce(in: 40) {
      try database.withoutTransaction {
        _ = try $0.executeChange("PRAGMA recursive_triggers = OFF")
      }
    }
    let before = try database.read { try Self.dump($0) }
    let mark = try journal.mark()
    observed.commits.withLock { $0 = [] }
    do {
      switch pick(0...4) {
      case 0, 1, 2: try database.write { try scoped($0) }
      default: try database.withoutTransaction { try bare($0) }
      }
      count("committed")
    } catch {
      count("failed")
      script.append("-- \(error)")
    }
    let after = try database.read { try Self.dump($0) }
    check(observed: observed.commits.withLock { $0 }, before, after)
    do {
      guard let entries = try journal.patch(since: mark) else {
        return fault("the journal lacks the transaction")
      }
      check(entries, before, after, "journal")
      try apply(entries, after)
    } catch let error as PatchError where error.reason == .noKey(table: "plain") {
      count("refused without a key")
      try restoreCopies()
    }
  }

  private func check(observed commits: [CommittedChanges], _ before: Dump, _ after: Dump) {
    var state = before
    for commit in commits {
      if commit.isIncomplete { return fault("the deltas are incomplete") }
      for table in (try? commit.recorded.coalesced()) ?? [] {
        guard let known = Self.tables.first(where: { $0.name == table.layout.table }) else {
          continue
        }
        let names = table.layout.columns.map(\.name)
        func row(_ values: [Value]?) -> [String: Value]? {
          values.map { values in
            Dictionary(uniqueKeysWithValues: zip(names, values)).filter {
              known.columns.contains($0.key)
            }
          }
        }
        for delta in table.rows {
          let values = delta.old ?? delta.new ?? []
          let key =
            known.keys.isEmpty
            ? [.integer(delta.rowID)] : known.keys.compactMap { row(values)?[$0] }
          let place = "\(key)"
          guard isSameRow(state.tables[known.name]?[place], row(delta.old)) else {
            return fault(
              "deltas of \(known.name) \(place): old \(delta.old as Any), stored \(state.tables[known.name]?[place] as Any)"
            )
          }
          state.tables[known.name]?[place] = row(delta.new)
        }
      }
    }
    if !state.isSame(after) { fault("deltas: \(difference(state, after))") }
  }

  private func difference(_ left: Dump, _ right: Dump) -> String {
    Self.tables.flatMap { table -> [String] in
      let (first, second) = (left.tables[table.name] ?? [:], right.tables[table.name] ?? [:])
      return Set(first.keys).union(second.keys).filter { !isSameRow(first[$0], second[$0]) }.map {
        "\(table.name) \($0): \(first[$0] as Any) is not \(second[$0] as Any)"
      }
    }.joined(separator: "; ")
  }

  /// Compares a patch with the difference of two dumps, except for the table without a primary key.
  private func check(_ patch: Patch, _ before: Dump, _ after: Dump, _ source: String) {
    var (state, end) = (before, after)
    state.tables["plain"] = nil
    end.tables["plain"] = nil
    var rowCount = 0
    for table in patch.tables where table.name != "plain" {
      guard let known = Self.tables.first(where: { $0.name == table.name }),
        let names = table.columns
      else { return fault("\(source) has \(table.name)") }
      for row in table.rows {
        rowCount += 1
        let place =
          "\(known.keys.compactMap { key in names.firstIndex(of: key).flatMap { row.kind == .insert ? row.new[$0] : row.old[$0] } })"
        var values = state.tables[table.name]?[place] ?? [:]
        if (row.kind == .insert) != values.isEmpty {
          return fault("\(source): \(row.kind) of \(table.name) \(place)")
        }
        for (name, value) in zip(names, row.old) {
          guard let value else { continue }
          if "\(value)" != values[name].map({ "\($0)" }) {
            return fault("\(source): \(table.name) \(place) has \(name) \(values[name] as Any)")
          }
        }
        for (name, value) in zip(names, row.new) {
          if let value { values[name] = value }
        }
        state.tables[table.name]?[place] = row.kind == .delete ? nil : values
      }
    }
    if !state.isSame(end) { fault("\(source): \(difference(state, end))") }
    var start = before
    start.tables["plain"] = nil
    let expected = end.differenceCount(from: start)
    if rowCount != expected { fault("\(source) has \(rowCount) rows, \(expected) differ") }
  }

  /// Applies a patch to two copies of the start state and checks that both then equal the end
  /// state, or that applying it throws.
  ///
  /// The copy that uses the regular `apply` has no triggers, which would write additional rows.
  private func apply(_ patch: Patch, _ after: Dump) throws {
    let patch = patch.filtered { $0 != "plain" }
    for (copy, isExact) in [(exactCopy, true), (plainCopy, false)] {
      let way = isExact ? "applied exactly" : "applied"
      do {
        try copy.write { connection in
          _ = isExact ? try connection.applyExactly(patch) : try connection.apply(patch)
        }
        var (found, end) = (try copy.read { try Self.dump($0) }, after)
        found.tables["plain"] = nil
        end.tables["plain"] = nil
        if !found.isSame(end) { fault("\(way): \(difference(found, end))") }
        count(way)
      } catch let error as PatchError {
        for kind in Set(error.conflicts.map { "\($0.table) \($0.kind) \($0.row.kind)" }) {
          count("not \(way), \(kind)")
        }
        if isExact { fault("\(way): \(error)") }
        try restoreCopies()
      } catch {
        fault("\(way): \(error)")
      }
    }
  }

  private func restoreCopies() throws {
    try database.backup(to: exactCopy)
    try database.backup(to: plainCopy)
    for trigger in ["a_insert", "a_before", "a_update", "a_delete", "w_update"] {
      try plainCopy.executeChange("DROP TRIGGER \(identifier: trigger)")
    }
  }
}

// MARK: - Work

extension RecordingModel {
  /// Makes random changes in the library's savepoints and patches.
  private func scoped(_ connection: Connection, depth: Int = 0) throws {
    for _ in 0..<pick(1...4) {
      switch pick(0...9) {
      case 0 where depth < 3:
        script.append("savepoint {")
        do {
          try connection.savepoint {
            try scoped(connection, depth: depth + 1)
            if happensOnce(in: 4) { throw Stop() }
          }
          script.append("}")
        } catch {
          count("scope undone")
          script.append("} rolled back: \(error)")
        }
      case 1 where depth < 3:
        script.append("patch {")
        do {
          let before = try Self.dump(connection)
          let patch = try connection.patch { try scoped(connection, depth: depth + 1) }
          check(patch, before, try Self.dump(connection), "patch")
          count("patch")
          script.append("}")
        } catch {
          script.append("} \(error)")
          if error is PatchError { count("patch refused without a key") }
        }
      default: run(connection)
      }
    }
  }

  /// Runs random transactions and savepoints in SQL.
  private func bare(_ connection: Connection) throws {
    let names = ["s", "S", "\"s\"", "t", "'t'"]
    sql(["BEGIN", "SAVEPOINT s", "BEGIN IMMEDIATE", "SELECT 1"][pick(0...3)], connection)
    for _ in 0..<pick(2...14) {
      let name = names[pick(0...names.count - 1)]
      switch pick(0...15) {
      case 0: sql("BEGIN", connection)
      case 1, 2: sql("/* a comment */ SAVEPOINT \(name)", connection)
      case 3, 4:
        sql(
          "ROLLBACK TO \(happensOnce(in: 2) ? "SAVEPOINT " : "")\(name)", connection,
          "raw ROLLBACK TO")
      case 5: sql("; RELEASE \(name)", connection)
      case 6 where happensOnce(in: 2):
        sql(happensOnce(in: 2) ? "COMMIT" : "END TRANSACTION", connection)
      case 7 where happensOnce(in: 3): sql("ROLLBACK", connection)
      case 8:
        script.append("transaction {")
        do {
          try connection.transaction {
            try scoped(connection, depth: 1)
            if happensOnce(in: 3) { throw Stop() }
          }
          script.append("}")
        } catch { script.append("} rolled back: \(error)") }
      default: run(connection)
      }
    }
    if !connection.isAutocommit { sql("COMMIT", connection) }
    if !connection.isAutocommit {
      sql("ROLLBACK TO s", connection)
      sql("COMMIT", connection)
    }
    if !connection.isAutocommit { sql("ROLLBACK", connection) }
  }

  /// Runs a statement that may fail.
  private func sql(_ text: String, _ connection: Connection, _ event: String = "statement") {
    do {
      try connection.executeChange(SQL(unchecked: text))
      script.append(text)
      count(event)
    } catch {
      script.append("\(text)  -- \(error)")
      count("failed \(event)")
    }
  }

  private func conflict() -> String {
    switch pick(0...40) {
    case 0...19: ""
    case 20...25: "OR REPLACE"
    case 26...31: "OR FAIL"
    case 32...34: "OR ABORT"
    case 35...39: "OR IGNORE"
    default: "OR ROLLBACK"
    }
  }

  private func number() -> Int {
    happensOnce(in: 5) ? (happensOnce(in: 8) ? 33 : pick(29...34)) : pick(1...28)
  }

  private func newRow() -> String {
    "(\(pick(1...14)), 'u\(pick(1...12))', \(number()), \(["NULL", "1", "2.5", "'3'", "-0.0", "2000"][pick(0...5)]))"
  }

  private func change() -> String {
    let conflict = conflict()
    let key = pick(1...14), other = pick(1...14)
    let child = ["b", "c", "d", "e"][pick(0...3)]
    let letter = ["a", "A", "b", "B", "c"][pick(0...4)]
    switch pick(0...29) {
    case 0, 1: return "INSERT \(conflict) INTO a (id, u, n, r) VALUES \(newRow())"
    case 2, 3:
      return "INSERT \(conflict) INTO a (id, u, n, r) VALUES \(newRow()), \(newRow()), \(newRow())"
    case 4:
      return
        "INSERT INTO a (id, u, n, r) VALUES \(newRow()), \(newRow()) ON CONFLICT (id) DO UPDATE SET n = \(number()), u = excluded.u"
    case 5: return "UPDATE \(conflict) a SET n = n + 1 WHERE id > \(key)"
    case 6: return "UPDATE \(conflict) a SET id = \(other) WHERE id = \(key)"
    case 7: return "UPDATE \(conflict) a SET id = id + 1 WHERE id > \(key)"
    case 8, 9: return "UPDATE \(conflict) a SET u = 'u' || (id % 3), r = '7' WHERE id > \(key)"
    case 10: return "DELETE FROM a WHERE id BETWEEN \(key) AND \(other)"
    case 11: return "DELETE FROM a WHERE n > \(pick(15...30))"
    case 12, 13:
      return
        "INSERT \(conflict) INTO \(child) VALUES (\(key), \(other), x'010203'), (\(other), \(pick(1...14)), 1)"
    case 14: return "UPDATE \(conflict) \(child) SET a = \(other) WHERE id > \(key)"
    case 15: return "DELETE FROM \(child) WHERE id > \(key)"
    case 16, 17:
      return
        "INSERT \(conflict) INTO w (k, n, v, u) VALUES ('\(letter)', \(pick(1...5)), \(key), \(other)), ('\(letter.lowercased())', \(pick(1...5)), 1.5, \(key))"
    case 18: return "UPDATE \(conflict) w SET k = upper(k), v = v || '' WHERE n > \(pick(1...5))"
    case 19: return "UPDATE \(conflict) w SET n = n + 3, u = u % 4 WHERE k = '\(letter)'"
    case 20: return "DELETE FROM w WHERE u > \(key)"
    case 21:
      return
        "INSERT \(conflict) INTO k VALUES ('u\(key)', '\(other)', \(other)), ('u\(other)', 1, \(pick(1...9)))"
    case 22: return "UPDATE \(conflict) k SET k = 'u' || (v % 7) WHERE u > \(pick(0...9))"
    case 23 where happensOnce(in: 4):
      return "INSERT \(conflict) INTO plain VALUES (\(key), \(other)), (\(other), \(key))"
    case 24 where happensOnce(in: 4):
      return "UPDATE \(conflict) plain SET rowid = rowid + 1, x = x || 'x' WHERE y > \(key)"
    case 25 where happensOnce(in: 4): return "DELETE FROM plain WHERE y > \(key)"
    case 26:
      return
        "INSERT \(conflict) INTO g (id, x) VALUES (\(key), \(other)), (\(other), NULL), (\(pick(1...14)), x'00')"
    case 27:
      return "UPDATE \(conflict) g SET x = x || id, id = id + \(pick(0...2)) WHERE id > \(key)"
    case 28:
      // An integer overflow in the middle of the rows.
      return
        "UPDATE \(conflict) a SET r = abs(CASE WHEN id > \(key) THEN -9223372036854775808 ELSE id END)"
    default: return "INSERT \(conflict) INTO k SELECT u, n, id FROM a"
    }
  }

  private func run(_ connection: Connection) {
    switch pick(0...13) {
    case 0: abandon(connection)
    case 1: writeBlob(connection)
    case 2 where happensOnce(in: 3): sql("PRAGMA defer_foreign_keys = ON", connection)
    default: sql(change(), connection)
    }
  }

  /// Reads some rows of a RETURNING clause with other statements in between, and abandons the rest.
  private func abandon(_ connection: Connection) {
    let text = change() + " RETURNING *"
    script.append(text)
    do {
      var statement = try connection.statement(SQL(unchecked: text))
      for _ in 0..<pick(0...4) {
        script.append("-- step")
        guard try statement.step() else { break }
        if happensOnce(in: 2) { sql(change(), connection) }
      }
      if happensOnce(in: 3) {
        try statement.reset()
        script.append("-- reset")
      }
      count("returning")
    } catch {
      script.append("-- \(error)")
      count("failed returning")
    }
    script.append("-- end of returning")
  }

  /// Writes into a blob. A change of its row in between invalidates the blob.
  private func writeBlob(_ connection: Connection) {
    do {
      let row = try connection.firstRow(
        "SELECT max(id) FROM c WHERE typeof(v) = 'blob' AND length(v) > 1", as: Int64?.self)
      guard let row = row.flatMap(\.self) else { return }
      try connection.withBlob(table: "c", column: "v", rowID: row, isWritable: true) { blob in
        script.append("-- blob \(row)")
        try blob.write([UInt8(pick(0...9))], at: 1)
        if happensOnce(in: 2) { sql("UPDATE c SET a = NULL WHERE id = \(row)", connection) }
        try blob.write([7], at: 0)
      }
      count("blob")
    } catch {
      script.append("-- blob: \(error)")
      count("failed blob")
    }
  }
}

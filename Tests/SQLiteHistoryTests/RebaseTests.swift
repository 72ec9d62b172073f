import CSQLite
import Foundation
import SQLiteCore
import SQLiteHistory
import Testing
import TestSupport

/// Tests patches that are rebased onto the outcome of another one: they equal the results of
/// SQLite's rebaser, and the copies converge.
@Suite struct RebaseTests {
  private static let tables = ["town", "pair", "word"]

  private func database(_ image: [UInt8]? = nil) throws -> Database {
    if let image { return try Database.memory(serialized: image) }
    let database = try Database.memory()
    try database.executeMultipleChanges(SQL(unchecked: PatchTests.schema))
    return database
  }

  private func dump(_ database: Database) throws -> [[String]] {
    try Self.tables.map { try database.dump($0) }
  }

  /// Makes random changes in a database and returns their patch and statements.
  private func patch(
    _ database: Database, _ generator: inout SplitMix64
  ) throws -> (patch: Patch, script: [String]) {
    let script = PatchTests.randomScript(&generator)
    let patch = try database.patch { connection in
      for sql in script { _ = try? connection.executeChange(SQL(unchecked: sql)) }
    }
    return (patch, script)
  }

  /// Returns a number that depends only on a row and the seed.
  private static func number(_ table: String, _ key: [String], _ seed: Int) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325 &+ UInt64(seed) &* 977
    for byte in "\(table) \(key.joined(separator: " "))".utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    }
    return hash >> 17
  }

  private static func text(_ key: [Value]) -> [String] {
    key.map { value in
      switch value {
      case .integer(let integer): "\(integer)"
      case .text(let text): text
      default: ""
      }
    }
  }

  @Test func `a patch is applied and rebased like by the session extension`() throws {
    var generator = SplitMix64(seed: 31)
    let start = try database()
    var conflictCount = 0
    var kinds: Set<String> = []
    for round in 0..<400 {
      _ = try patch(start, &generator)
      let image = try start.serialized()
      let here = try database(image), there = try database(image)
      let session = try SessionDatabase()
      try session.execute(PatchTests.schema)
      for table in Self.tables {
        for row in try start.executeQuery("SELECT * FROM \(identifier: table)") {
          try session.execute(
            "INSERT INTO \(table) VALUES (\(row.values.map(Self.literal).joined(separator: ", ")))")
        }
      }
      #expect(try Self.tables.map { try session.dump($0) } == dump(start))
      let (local, script) = try patch(here, &generator)
      for sql in script { try? session.execute(sql) }
      let (remote, _) = try patch(there, &generator)

      let report = try here.apply(remote) { conflict in
        kinds.insert("\(conflict.kind) \(conflict.row.kind)")
        let isReplace = Self.number(conflict.table, Self.text(conflict.key), round) % 2 == 0
        return isReplace && (conflict.kind == .data || conflict.kind == .conflict)
          ? .replace : .omit
      }
      let rebase = try session.apply(remote.data) { table, key in
        Self.number(table, key, round) % 2 == 0 ? SQLITE_CHANGESET_REPLACE : SQLITE_CHANGESET_OMIT
      }
      #expect(try Self.tables.map { try session.dump($0) } == dump(here))
      #expect(
        Set(session.conflicts)
          == Set(report.resolved.map { "\($0.conflict.table) \(Self.text($0.conflict.key))" }))
      conflictCount += report.resolved.count

      let rebased = try local.rebased(onto: report)
      let theirs =
        rebase.isEmpty ? local : try Patch(data: sessionRebased(local.data, onto: rebase))
      #expect(theirs.normalized.content == rebased.content, "round \(round)")
      // The rebased patch applies to the other copy without conflicts.
      try there.apply(rebased)
      #expect(try dump(there) == dump(here), "round \(round)")
    }
    #expect(conflictCount > 300)
    #expect(
      kinds == [
        "data update", "data delete", "notFound update", "notFound delete", "conflict insert",
      ])
  }

  private static func literal(_ value: Value) -> String {
    switch value {
    case .integer(let integer): "\(integer)"
    case .real(let real): "\(real)"
    case .text(let text): "'\(text)'"
    case .blob(let blob):
      "x'" + blob.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "'"
    case .null: "NULL"
    }
  }

  @Test func `copies converge after merges, set values and idempotent patches`()
    throws
  {
    var generator = SplitMix64(seed: 32)
    let start = try database()
    var answers: Set<String> = []
    for round in 0..<400 {
      _ = try patch(start, &generator)
      let image = try start.serialized()
      let here = try database(image), there = try database(image)
      let (local, _) = try patch(here, &generator)
      var rebased = local
      let isIdempotent = round % 2 == 0
      // Applies several patches one after another.
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let (remote, _) = try patch(there, &generator)
        let report = try here.apply(remote, isIdempotent: isIdempotent) { conflict in
          let number = Self.number(conflict.table, Self.text(conflict.key), round) % 4
          let answer: PatchResolution =
            switch (conflict.kind, conflict.row.kind, number) {
            case (.data, .update, 0): .merge
            case (.data, .update, 1):
              .set([
                conflict.columns.last ?? "": .integer(77),
                conflict.conflictingColumns[0].uppercased(): .integer(99),
              ])
            case (.data, _, 2), (.conflict, _, 2): .replace
            default: .omit
            }
          answers.insert("\(conflict.kind) \(answer)".prefix(9).description)
          return answer
        }
        rebased = try rebased.rebased(onto: report)
      }
      try there.apply(rebased)
      #expect(try dump(there) == dump(here), "round \(round)")
    }
    #expect(answers.isSuperset(of: ["data merg", "data set(", "data repl", "data omit"]))
  }

  @Test func `an omitted row also reverts columns that only the other patch changed`() throws {
    let start = try Database.memory()
    try start.executeMultipleChanges(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b); INSERT INTO t VALUES (1, 'a', 'b')")
    let here = try Database.memory(serialized: start.serialized())
    let there = try Database.memory(serialized: start.serialized())
    let local = try here.patch { try $0.executeChange("UPDATE t SET b = 'here'") }
    let remote = try there.patch { try $0.executeChange("UPDATE t SET a = 'there', b = 'there'") }
    let rebased = try local.rebased(onto: here.apply(remote) { _ in .omit })
    #expect(
      rebased.tables.first?.rows == [
        Patch.Row(
          .update, isIndirect: false, old: [.integer(1), .text("there"), .text("there")],
          new: [nil, .text("a"), .text("here")])
      ])
    try there.apply(rebased)
    #expect(try there.dump("t") == here.dump("t"))
  }

  /// 500 by default, or 5000 with `MAGICDATA_LONG=1`.
  private static var crossingCount: Int {
    ProcessInfo.processInfo.environment["MAGICDATA_LONG"] == nil ? 500 : 5000
  }

  private static let uniqueSchema: SQL = """
    CREATE TABLE item (
      id INTEGER PRIMARY KEY, code TEXT UNIQUE, a, b NOT NULL DEFAULT 0, c REAL,
      CHECK (a IS NULL OR c IS NULL OR a <> 5 OR c <> 5));
    CREATE TABLE link (
      owner TEXT, place INTEGER, target INTEGER NOT NULL, note, PRIMARY KEY (owner, place),
      UNIQUE (owner, target)) WITHOUT ROWID;
    """

  private static func uniqueChange(_ generator: inout SplitMix64) -> SQL {
    func number(_ range: ClosedRange<Int> = 1...9) -> Int {
      Int.random(in: range, using: &generator)
    }
    let (key, other, value) = (number(), number(), number())
    switch number(0...13) {
    case 0, 1:
      return
        "INSERT OR IGNORE INTO item VALUES (\(key), \("c\(other)"), \(value), \(value), \(value))"
    case 2: return "UPDATE OR IGNORE item SET a = \(value), b = \(other) WHERE id = \(key)"
    case 3: return "UPDATE OR IGNORE item SET b = \(other) WHERE id = \(key)"
    case 4: return "UPDATE OR IGNORE item SET b = \(other), c = \(value) WHERE id = \(key)"
    case 5:
      return "UPDATE OR IGNORE item SET a = NULL, c = \(value) WHERE id BETWEEN \(key) AND \(other)"
    case 6: return "UPDATE OR IGNORE item SET code = \("c\(other)") WHERE id = \(key)"
    case 7:
      return "UPDATE OR REPLACE item SET code = \("c\(other)"), a = \(value) WHERE id = \(key)"
    case 8: return "DELETE FROM item WHERE id = \(key)"
    case 9: return "UPDATE OR IGNORE item SET id = \(other) WHERE id = \(key)"
    case 10:
      return "INSERT OR REPLACE INTO link VALUES (\("o\(key % 3)"), \(other), \(value), NULL)"
    case 11:
      return "UPDATE OR IGNORE link SET target = \(value), note = \(other) WHERE place = \(key)"
    case 12: return "UPDATE OR IGNORE link SET place = \(other) WHERE place = \(key)"
    default: return "DELETE FROM link WHERE place = \(key)"
    }
  }

  /// Makes random changes and returns their patch. Some changes exchange unique values.
  private static func uniquePatch(
    _ database: Database, _ generator: inout SplitMix64
  ) throws -> Patch {
    var random = generator
    defer { generator = random }
    return try database.patch { connection in
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        _ = try? connection.executeChange(uniqueChange(&random))
      }
      guard Int.random(in: 0..<3, using: &random) == 0 else { return }
      let codes = try connection.rows(
        "SELECT id, code FROM item WHERE code IS NOT NULL ORDER BY id LIMIT 3",
        as: Int.self, String.self)
      for (id, _) in codes {
        try connection.executeChange("UPDATE item SET code = NULL WHERE id = \(id)")
      }
      for (index, (id, _)) in codes.enumerated() {
        try connection.executeChange(
          "UPDATE item SET code = \(codes[(index + 1) % codes.count].1) WHERE id = \(id)")
      }
    }
  }

  /// Returns a random resolution that suits the conflict, or `abort`.
  private static func answer(
    to conflict: PatchConflict, _ generator: inout SplitMix64
  ) -> PatchResolution {
    let answers: [PatchResolution] =
      switch (conflict.kind, conflict.row.kind) {
      case (.data, .update):
        [
          .omit, .replace, .merge,
          .set([conflict.conflictingColumns.randomElement(using: &generator) ?? "": .integer(77)]),
          .set([conflict.table == "item" ? "b" : "note": .text("given")]),
        ]
      case (.data, _), (.conflict, _): [.omit, .replace]
      default: [.omit]
      }
    if Int.random(in: 0..<50, using: &generator) == 0 { return .abort }
    return answers.randomElement(using: &generator) ?? .omit
  }

  @Test func `copies converge after concurrent changes with any mix of resolutions`() throws {
    var generator = SplitMix64(seed: 4)
    let start = try Database.memory()
    try start.executeMultipleChanges(Self.uniqueSchema)
    var seen: [String: Int] = [:]
    func state(_ database: Database) throws -> [[String]] {
      try ["item", "link"].map { try database.dump($0) }
    }
    for round in 0..<Self.crossingCount {
      _ = try Self.uniquePatch(start, &generator)
      let image = try start.serialized()
      let here = try database(image), there = try database(image)
      var local = try Self.uniquePatch(here, &generator)
      let isIdempotent = Bool.random(using: &generator)
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let remote = try Self.uniquePatch(there, &generator)
        while true {
          let before = try state(here)
          var isAborted = false
          do {
            var random = generator
            defer { generator = random }
            let report = try here.apply(remote, isIdempotent: isIdempotent) { conflict in
              let answer = Self.answer(to: conflict, &random)
              seen["\(conflict.kind) \(conflict.row.kind) \("\(answer)".prefix(4))", default: 0] +=
                1
              isAborted = isAborted || answer == .abort
              return answer
            }
            try #require(!isAborted)
            local = try local.rebased(onto: report)
            break
          } catch is PatchError {
            try #require(isAborted)
            try #require(try state(here) == before)
          }
        }
        // The next changes of this copy are sent together with the earlier ones.
        if Bool.random(using: &generator) {
          local = try local.combined(with: Self.uniquePatch(here, &generator))
        }
      }
      // Decodes the patch without column names, like another program would.
      try there.apply(Patch(data: local.data))
      try #require(try state(there) == state(here), "round \(round)")
    }
    for kind in [
      "data update omit", "data update repl", "data update merg", "data update set(",
      "data update abor", "data delete omit", "data delete repl", "notFound update omit",
      "notFound delete omit", "conflict insert omit", "conflict insert repl",
      "constraint insert omit", "constraint update omit",
    ] { #expect(seen[kind, default: 0] > 3, "\(kind): \(seen)") }
  }

  @Test func `rebasing matches columns by name and throws for unknown ones`() throws {
    let one = try Database.memory(), other = try Database.memory()
    try one.executeMultipleChanges(
      "CREATE TABLE t (a INTEGER PRIMARY KEY, b, c); INSERT INTO t VALUES (1, 1, 1)")
    try other.executeMultipleChanges(
      "CREATE TABLE t (c, b, a INTEGER PRIMARY KEY); INSERT INTO t VALUES (1, 1, 1)")
    let remote = try other.patch { try $0.executeChange("UPDATE t SET b = 20, c = 30") }
    let local = try one.patch { try $0.executeChange("UPDATE t SET b = 2") }
    let report = try one.apply(remote) { _ in .merge }
    let rebased = try local.rebased(onto: report)
    #expect(
      rebased.tables.first?.rows == [
        Patch.Row(
          .update, isIndirect: false, old: [.integer(1), .integer(20), nil],
          new: [nil, .integer(2), nil])
      ])
    try other.apply(rebased)
    #expect(
      try other.rows("SELECT a, b, c FROM t", as: Int.self, Int.self, Int.self).first ?? (0, 0, 0)
        == (1, 2, 30))
    let stranger = try Database.memory()
    try stranger.executeMultipleChanges("CREATE TABLE t (k INTEGER PRIMARY KEY, b)")
    let strange = try stranger.patch { try $0.executeChange("INSERT INTO t VALUES (1, 1)") }
    let error = #expect(throws: PatchError.self) { try strange.rebased(onto: report) }
    #expect(error?.description.contains("no column “k”") == true)
    let nameless = try Patch(data: strange.data)
    let second = #expect(throws: PatchError.self) { try nameless.rebased(onto: report) }
    #expect(second?.description.contains("2 columns") == true)
  }

  @Test func `a patch without conflicts isn't changed by rebasing`() throws {
    let one = try database()
    let local = try one.patch { try $0.executeChange("INSERT INTO town VALUES (1, 'a', 1, NULL)") }
    let other = try database()
    let remote = try other.patch {
      try $0.executeChange("INSERT INTO town VALUES (2, 'b', 1, NULL)")
    }
    #expect(try local.rebased(onto: one.apply(remote)) == local)
  }
}

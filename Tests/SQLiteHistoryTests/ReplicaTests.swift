import Foundation
import SQLiteCore
import SQLiteHistory
import SQLiteMapping
import Testing
import TestSupport

private struct Item: Record, Equatable, Sendable {
  static let tableName = "item"
  static let prototype: Item? = Item(id: 0, n: 0)
  var id: Int
  var n: Int
  var code: String?
  var size: Double?
  var parent: Int?
}

private struct Pair: Record, Equatable, Sendable {
  static let tableName = "pair"
  static let primaryKeys = ["a", "b"]
  var a: String
  var b: Int
  var note: String?
}

/// Tests copies that are updated only by deltas and patches.
@Suite struct ReplicaTests {
  /// 2,000 by default, or 10,000 with `MAGICDATA_LONG=1`.
  private static var transactionCount: Int {
    ProcessInfo.processInfo.environment["MAGICDATA_LONG"] == nil ? 2000 : 10_000
  }

  private static let schema: SQL = """
    CREATE TABLE item (
      id INTEGER PRIMARY KEY, n INTEGER NOT NULL, code TEXT UNIQUE, size REAL,
      parent INTEGER REFERENCES item (id) ON DELETE CASCADE ON UPDATE CASCADE);
    CREATE TABLE pair (a TEXT, b INTEGER, note TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID;
    CREATE TRIGGER grown AFTER UPDATE OF size ON item BEGIN
      INSERT OR REPLACE INTO pair VALUES ('size', new.id, new.size);
    END;
    CREATE TRIGGER gone AFTER DELETE ON item WHEN old.id > 0 BEGIN
      DELETE FROM pair WHERE b = old.id AND a = 'size';
      INSERT OR IGNORE INTO pair VALUES ('gone', old.id, old.code);
    END;
    INSERT INTO item VALUES (0, 0, NULL, NULL, NULL);
    INSERT INTO pair VALUES ('beat', 0, '0');
    """

  private static func change(
    _ connection: Connection, _ generator: inout SplitMix64
  ) throws {
    let key = Int.random(in: 1...30, using: &generator)
    let other = Int.random(in: 1...30, using: &generator)
    switch Int.random(in: 0..<14, using: &generator) {
    case 0, 1, 2:
      try connection.executeChange(
        "INSERT INTO item VALUES (\(key), \(other), \("c\(other)"), \(Double(other) / 2), NULL)")
    case 3:
      try connection.executeChange(
        "INSERT OR REPLACE INTO item VALUES (\(key), 1, \("c\(other)"), NULL, NULL)")
    case 4: try connection.update(Item(id: key, n: other))
    case 5: try connection.executeChange("UPDATE item SET parent = \(other) WHERE id = \(key)")
    case 6: try connection.executeChange("DELETE FROM item WHERE id = \(key)")
    case 7: try connection.executeChange("UPDATE item SET id = \(other) WHERE id = \(key)")
    case 8: try connection.executeChange("UPDATE item SET size = n * 1.5 WHERE id > \(key)")
    case 9:
      try connection.executeChange(
        "UPDATE OR REPLACE item SET code = \("c\(other)") WHERE id = \(key)")
    case 10: try connection.executeChange("UPDATE OR REPLACE pair SET b = b + 1 WHERE b = \(key)")
    case 11:
      try connection.executeChange(
        "INSERT INTO pair SELECT 'p', id, code FROM item WHERE id > \(key) ON CONFLICT DO UPDATE SET note = note || 'x' WHERE length(note) < 9"
      )
    case 12 where key == 1: try connection.executeChange("DELETE FROM item")
    case 12: try connection.executeChange("DELETE FROM pair WHERE b < \(key)")
    default: try connection.executeChange("DELETE FROM pair WHERE a = 'gone'")
    }
  }

  /// Makes random changes in savepoints. Some savepoints are rolled back or fail.
  private static func transaction(
    _ database: Database, _ number: Int, _ generator: inout SplitMix64
  ) throws {
    var random = generator
    defer { generator = random }
    try database.write { connection in
      for _ in 0..<Int.random(in: 1...5, using: &random) {
        do {
          try connection.savepoint {
            for _ in 0..<Int.random(in: 1...3, using: &random) { try change(connection, &random) }
            if Int.random(in: 0..<5, using: &random) == 0 { throw Stop() }
          }
        } catch {}
      }
      try connection.executeChange(
        "INSERT INTO item (id, n) VALUES (0, \(number)) ON CONFLICT DO UPDATE SET n = \(number)")
      try connection.executeChange("INSERT OR REPLACE INTO pair VALUES ('beat', 0, \("\(number)"))")
    }
  }

  private struct Replica<Value: Record & Equatable & Sendable, Key: Hashable> {
    var rows: [Key: Value] = [:]
    let key: (Value) -> Key

    mutating func apply(_ changes: [Delta<Value>]) -> Bool {
      for change in changes {
        switch change {
        case .current(let values):
          rows = [:]
          for value in values { rows[key(value)] = value }
        case .inserted(let value):
          if rows.updateValue(value, forKey: key(value)) != nil { return false }
        case .updated(let old, let new, let properties):
          if rows.updateValue(new, forKey: key(new)) != old || properties.isEmpty { return false }
        case .deleted(let value):
          if rows.removeValue(forKey: key(value)) != value { return false }
        case .overflow, .replaced, .unreadable: return false
        }
      }
      return true
    }
  }

  @Test func `a replica updated by deltas equals the table after each transaction`() async throws {
    let folder = try TestFolder()
    var options = Database.Options()
    options.synchronous = .normalLosesLastCommitsOnPowerCut
    let databases = [
      try Database(path: folder.file(), options: options),
      try Database(path: folder.file(), options: options),
    ]
    try await databases[0].executeMultipleChanges(Self.schema)
    var items = Replica<Item, Int> { $0.id }
    var pairs = Replica<Pair, String> { "\($0.a) \($0.b)" }
    var itemDeltas = databases[0].deltas(of: Item.self, including: .current).makeAsyncIterator()
    var pairDeltas = databases[1].deltas(of: Pair.self, including: .current).makeAsyncIterator()
    #expect(items.apply(try #require(try await itemDeltas.next())))
    #expect(pairs.apply(try #require(try await pairDeltas.next())))
    var generator = SplitMix64(seed: 2024)
    for number in 1...Self.transactionCount {
      let writer = databases[Int.random(in: 0...1, using: &generator)]
      try Self.transaction(writer, number, &generator)
      guard items.apply(try #require(try await itemDeltas.next())),
        pairs.apply(try #require(try await pairDeltas.next()))
      else {
        Issue.record("the replica differs after transaction \(number)")
        return
      }
      let found = try await databases[0].read { connection in
        (
          try connection.objects(of: Item.self, orderedBy: .column("id")),
          try connection.objects(of: Pair.self, orderedBy: .column("a").then(.column("b")))
        )
      }
      guard items.rows.values.sorted(by: { $0.id < $1.id }) == found.0,
        pairs.rows.values.sorted(by: { ($0.a, $0.b) < ($1.a, $1.b) }) == found.1
      else {
        Issue.record("the replica differs after transaction \(number)")
        return
      }
    }
    #expect(items.rows.count > 3)
  }

  @Test func `replicas that start during concurrent writes miss nothing`() async throws {
    let folder = try TestFolder()
    var options = Database.Options()
    options.synchronous = .normalLosesLastCommitsOnPowerCut
    let databases = [
      try Database(path: folder.file(), options: options),
      try Database(path: folder.file(), options: options),
    ]
    try await databases[0].executeMultipleChanges(Self.schema)
    let last = 100_000
    let readers = (0..<6).map { reader in
      Task {
        try await Task.sleep(for: .milliseconds(reader * 15))
        var items = Replica<Item, Int> { $0.id }
        var isRight = true
        for try await changes in databases[reader % 2].deltas(of: Item.self, including: .current) {
          isRight = items.apply(changes) && isRight
          if items.rows[0]?.n == last { break }
        }
        return (isRight, items.rows.values.sorted { $0.id < $1.id })
      }
    }
    try await withThrowingTaskGroup { group in
      for writer in 0..<4 {
        group.addTask {
          var generator = SplitMix64(seed: UInt64(writer))
          for number in 0..<80 {
            try await Task.sleep(for: .microseconds(200))
            try Self.transaction(databases[writer % 2], writer * 100 + number, &generator)
          }
        }
      }
      try await group.waitForAll()
    }
    var generator = SplitMix64(seed: 7)
    try await Task.sleep(for: .milliseconds(150))
    try Self.transaction(databases[0], last, &generator)
    let found = try await databases[0].read {
      try $0.objects(of: Item.self, orderedBy: .column("id"))
    }
    for reader in readers {
      let (isRight, rows) = try await reader.value
      #expect(isRight)
      #expect(rows == found)
    }
  }

  @Test func `undoing all transactions restores the first state, redoing them the last`() throws {
    let database = try Database.memory()
    try database.executeMultipleChanges(Self.schema)
    func state() throws -> [[String]] {
      [try database.dump("item", order: "id"), try database.dump("pair", order: "a, b")]
    }
    var states = [try state()]
    var patches: [Patch] = []
    var generator = SplitMix64(seed: 77)
    for number in 1...200 {
      patches.append(
        try database.patch { _ in try Self.transaction(database, number, &generator) })
      states.append(try state())
    }
    for number in stride(from: 199, through: 0, by: -1) {
      try database.write { _ = try $0.applyExactly(patches[number].inverted) }
      #expect(try state() == states[number])
    }
    for number in 0..<200 {
      try database.write { _ = try $0.applyExactly(patches[number]) }
      #expect(try state() == states[number + 1])
    }
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `three copies that exchange patches converge except for reported conflicts`(
    seed: UInt64
  ) throws {
    let folder = try TestFolder()
    var generator = SplitMix64(seed: seed)
    let copies = try (0..<3).map { _ in
      let copy = try Database.memory()
      try copy.executeMultipleChanges(
        """
        CREATE TABLE item (id INTEGER PRIMARY KEY, n INTEGER NOT NULL, code TEXT UNIQUE, size REAL);
        CREATE TABLE pair (a TEXT, b INTEGER, note TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID;
        """)
      return copy
    }
    var reported: Set<String> = []
    var conflictCount = 0
    for round in 0..<60 {
      // Each copy writes one or two patches.
      var inboxes: [[[String]]] = [[[], [], []], [[], [], []], [[], [], []]]
      for (origin, copy) in copies.enumerated() {
        for part in 0..<Int.random(in: 1...2, using: &generator) {
          var random = generator
          let patch = try copy.patch { connection in
            for _ in 0..<3 {
              let key = Int.random(in: 1...400, using: &random)
              let other = Int.random(in: 1...400, using: &random)
              let sql: SQL =
                switch Int.random(in: 0..<7, using: &random) {
                case 0, 1: "INSERT INTO item VALUES (\(key), \(other), \("c\(other)"), 1)"
                case 2: "UPDATE item SET size = \(other) WHERE id = \(key)"
                case 3: "UPDATE item SET n = \(other) WHERE id BETWEEN \(key) AND \(key + 5)"
                case 4: "DELETE FROM item WHERE id = \(key)"
                case 5: "INSERT OR REPLACE INTO pair VALUES ('p', \(key), \("\(other)"))"
                default: "UPDATE OR IGNORE pair SET b = \(other) WHERE b = \(key)"
                }
              _ = try? connection.executeChange(sql)
            }
          }
          generator = random
          let file = folder.file("\(round)-\(origin)-\(part)")
          try patch.data.write(to: URL(fileURLWithPath: file))
          for target in 0..<3 where target != origin { inboxes[target][origin].append(file) }
        }
      }
      for target in 0..<3 {
        while let origin = (0..<3).filter({ !inboxes[target][$0].isEmpty })
          .randomElement(using: &generator)
        {
          let file = inboxes[target][origin].removeFirst()
          let patch = try Patch(data: Data(contentsOf: URL(fileURLWithPath: file)))
          try copies[target].apply(patch) { conflict in
            reported.insert("\(conflict.table) \(conflict.key)")
            conflictCount += 1
            return .omit
          }
        }
      }
      func rows(_ copy: Database, _ table: String, _ keys: Int) throws -> Set<String> {
        Set(
          try copy.executeQuery("SELECT * FROM \(identifier: table)").compactMap { row in
            let key = "\(table) \(Array(row.values.prefix(keys)))"
            return reported.contains(key) ? nil : "\(row.values)"
          })
      }
      for copy in copies.dropFirst() {
        #expect(try rows(copy, "item", 1) == rows(copies[0], "item", 1))
        #expect(try rows(copy, "pair", 2) == rows(copies[0], "pair", 2))
      }
    }
    #expect(conflictCount > 0)
    #expect(try copies[0].read { try $0.count(of: Item.self) } > 30)
  }
}

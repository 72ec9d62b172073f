import Foundation
import MagicData
import MagicTesting
import TestSupport
import Testing

@Suite(.store(.shelves)) struct StoreDifferenceTests {
  let base: MagicData
  let magic: MagicData

  init() throws {
    base = try MagicData(copying: .shelves)
    magic = try .current
  }

  private func volumes(_ store: MagicData) throws -> [Volume] {
    try store.fetch(Volume.all.ordered(by: .ascending(\.$id)))
  }

  /// The text of the first row that differs.
  private func firstRow() throws -> String {
    "\(try #require(try magic.difference(from: base).tables.first?.rows.first))"
  }

  @Test func `equal stores have no difference`() async throws {
    let difference = try blocking { try magic.difference(from: base) }
    #expect(difference.isEmpty)
    #expect("\(difference)" == "no difference")
    #expect(try await magic.difference(from: magic).isEmpty)
    #expect(try await magic.difference(from: base) == difference)
    #expect(try await magic.difference(from: .shelves) == difference)
    let (memory, files) = (
      try await MagicData(type: .memory), try await MagicData(type: .temporary)
    )
    #expect(try await memory.difference(from: files).isEmpty)
  }

  @Test func `changed, added and removed rows are listed with their columns`() throws {
    let volumes = try volumes(magic)
    volumes[0].rank = 10
    volumes[0].cover = nil
    volumes[1].title = "Persuasion, by the author of Northanger Abbey and of other novels"
    try magic.update(volumes)
    try magic.update(Volume("Lady Susan", rank: 4))
    try magic.remove(volumes[2])
    let difference = try magic.difference(from: base)
    #expect(
      "\(difference)" == """
        Shelf_volumes: 1 row differs
          ~ owner 1: targets "[1, 2, 3]" → "[1, 2]"
        Volume: 4 rows differ
          ~ 1: rank 1 → 10, cover png asset of 3 bytes (SHA-256 8f8cbb7d…) → NULL
          ~ 2: title "Persuasion" → "Persuasion, by the author of Northanger Abbey and of other novels"
          - 3: title "Sanditon", rank 3, cover png asset of 100000 bytes (SHA-256 2c4b1011…)
          + 4: title "Lady Susan", rank 4, cover NULL
        """)
    let table = try #require(difference.tables.last)
    #expect(table.name == "Volume")
    #expect(table.rows.map(\.kind) == [.changed, .changed, .removed, .added])
    #expect(table.rows.map(\.key) == ["1", "2", "3", "4"])
    #expect(
      table.rows[1].columns.map(\.value) == [
        "\"Persuasion, by the author of Northanger Abbey and of other novels\""
      ])
    #expect(table.count == 4 && difference.tableCount == 2)
  }

  @Test func `equal asset contents are equal although their ids differ`() throws {
    for store in [base, magic] {
      let volumes = try volumes(store)
      volumes[0].cover = nil
      volumes[1].cover = MagicAsset(value: Data("jpeg".utf8), pathExtension: "jpeg")
      try store.update(volumes)
      volumes[0].cover = MagicAsset(value: Data("new".utf8))
      try store.update(volumes[0])
    }
    #expect(try magic.difference(from: base).isEmpty)
    let id = try #require(
      try magic.database.rows("SELECT cover FROM Volume WHERE id = 2", as: AssetID.self).first)
    try magic.database.write { try magic.assets.replace(id, with: Array("x".utf8), in: $0) }
    let row = try #require(try magic.difference(from: base).tables.first?.rows.first)
    #expect("\(row)".hasPrefix("~ 2: cover jpeg asset of 4 bytes (SHA-256 "))
    #expect("\(row)".contains("→ jpeg asset of 1 bytes"))
  }

  @Test func `lists are compared in order, whatever the history of their positions`() throws {
    let (one, other) = (
      try magic.object(of: Shelf.self, primary: "Austen"),
      try base.object(of: Shelf.self, primary: "Austen")
    )
    for step in 0..<5 {
      one.volumes.swapAt(0, step % 3)
      try magic.update(one)
    }
    other.volumes = try one.volumes.map { wanted in
      try #require(other.volumes.first { $0.title == wanted.title })
    }
    try base.update(other)
    #expect(try magic.difference(from: base).isEmpty)
    one.volumes.reverse()
    try magic.update(one)
    #expect(try magic.difference(from: base).tables.map(\.name) == ["Shelf_volumes"])
    #expect(try magic.difference(from: base).tableCount == 1)
  }

  @Test func `the elements of a set are compared without an order`() throws {
    for (store, order) in [(base, [0, 1, 2]), (magic, [2, 1, 0])] {
      let shelf = try store.object(of: Shelf.self, primary: "Austen")
      let volumes = shelf.volumes
      for index in order {
        shelf.best.insert(volumes[index])
        try store.update(shelf)
      }
    }
    #expect(try magic.difference(from: base).isEmpty)
    let shelf = try magic.object(of: Shelf.self, primary: "Austen")
    shelf.best.remove(shelf.volumes[1])
    try magic.update(shelf)
    #expect(
      "\(try magic.difference(from: base))" == """
        Shelf_best: 1 row differs
          - owner 1, target 2
        """)
  }

  @Test func `differences of the schemas are listed`() throws {
    struct Setting: Record {
      var name: String
      var value: Int
    }
    try magic.database.executeMultipleChanges(
      """
      CREATE TABLE extra (
        a PRIMARY KEY, b);
      INSERT INTO extra VALUES ('x', 1.5), (x'00ff', NULL);
      CREATE INDEX extra_b ON extra (b);
      DROP TABLE setting
      """)
    try base.migrate([
      Migration("settings", .sql("")), Migration("old", .sql("CREATE VIEW seen AS SELECT 1")),
    ])
    #expect(
      "\(try magic.difference(from: base))" == """
        - table setting: CREATE TABLE setting (name TEXT PRIMARY KEY, value) WITHOUT ROWID
        - view seen: CREATE VIEW seen AS SELECT 1
        + index extra_b: CREATE INDEX extra_b ON extra (b)
        + table extra: CREATE TABLE extra ( a PRIMARY KEY, b)
        - migration old
        extra: 2 rows differ
          + "x": b 1.5
          + x'00ff': b NULL
        """)
  }

  @Test func `tables of any shape are compared`() throws {
    for store in [base, magic] {
      try store.database.executeMultipleChanges(
        """
        CREATE TABLE loose (a, b);
        CREATE TABLE pair (a, b, c, PRIMARY KEY (b, a)) WITHOUT ROWID;
        CREATE TABLE hidden (rowid, _rowid_, oid);
        CREATE TABLE single (a INTEGER PRIMARY KEY);
        CREATE TABLE computed (a INTEGER PRIMARY KEY, b, c AS (b * 2), d AS (b * 3) STORED);
        CREATE VIRTUAL TABLE search USING fts5(text);
        INSERT INTO loose VALUES (1, 'a'), (1, 'a'), (NULL, 2);
        INSERT INTO pair VALUES (1, 2, 3), (2, 1, 4);
        INSERT INTO hidden VALUES (1, 2, 3);
        INSERT INTO single VALUES (1), (2);
        INSERT INTO computed (a, b) VALUES (1, 1);
        INSERT INTO search VALUES ('one');
        """)
    }
    #expect(try magic.difference(from: base).isEmpty)
    try magic.database.executeMultipleChanges(
      """
      UPDATE loose SET b = x'0102030405060708090a0b0c0d0e0f1011' WHERE a IS NULL;
      UPDATE pair SET c = -0.5 WHERE a = 1;
      DELETE FROM single WHERE a = 2;
      UPDATE computed SET b = 2;
      INSERT INTO search VALUES ('two');
      """)
    #expect(
      "\(try magic.difference(from: base))" == """
        computed: 1 row differs
          ~ 1: b 1 → 2, c 2 → 4, d 3 → 6
        loose: 1 row differs
          ~ 3: b 2 → x'0102030405060708090a0b0c0d0e0f10…' (17 bytes)
        pair: 1 row differs
          ~ b 2, a 1: c 3 → -0.5
        single: 1 row differs
          - 2
        """)
  }

  @Test func `a difference is bounded, and counts everything`() throws {
    try magic.database.write { connection in
      let value = String(repeating: "é", count: 5_000)
      for number in 0..<1_000 {
        try connection.executeChange("INSERT INTO setting VALUES (\("name \(number)"), \(value))")
      }
      for number in 0..<60 {
        try connection.executeMultipleChanges(
          SQL(unchecked: "CREATE TABLE t\(number) (a); INSERT INTO t\(number) VALUES (1)"))
      }
    }
    let columns = (0..<100).map { "c\($0)" }.joined(separator: ", ")
    try magic.database.executeMultipleChanges(
      SQL(unchecked: "CREATE TABLE a (\(columns)); INSERT INTO a (c0) VALUES (1)"))
    let difference = try magic.difference(from: base, rowLimit: 3)
    let wide = try #require(difference.tables.first?.rows.first)
    #expect("\(wide)".hasPrefix("+ 1: c0 1, c1 NULL, "))
    #expect("\(wide)".hasSuffix(", c19 NULL, … and 80 more columns"))
    let setting = try #require(difference.tables.dropFirst().first)
    #expect(setting.count == 1_000 && setting.rows.count == 3)
    #expect(difference.tables.count == 50 && difference.tableCount == 62)
    #expect(difference.schema.count == 50 && difference.schemaCount == 61)
    let text = "\(difference)"
    #expect(text.contains("\n… and 11 more differences of the schemas\n"))
    #expect(text.contains("\n  … and 997 more rows\n"))
    #expect(text.hasSuffix("\n… and 12 more tables"))
    #expect(text.utf8.count < 12_000)
    #expect(try magic.difference(from: base, rowLimit: -1).tables.allSatisfy(\.rows.isEmpty))
  }

  @Test func `of long texts, the parts that differ are shown`() throws {
    let start = String(repeating: "abcdefghij", count: 20)
    for (store, end) in [(base, "x"), (magic, "y" + start)] {
      try store.database.executeChange("INSERT INTO setting VALUES ('text', \(start + end))")
    }
    #expect(
      try firstRow()
        == "~ \"text\": value \"…abcdefghijx\" → "
        + "\"…abcdefghijyabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghi…\"")
  }

  @Test func `values of different storage classes differ`() throws {
    for (store, value) in [(base, Value.integer(1)), (magic, Value.text("1"))] {
      try store.database.executeChange("INSERT INTO setting VALUES ('class', \(value))")
    }
    #expect(try firstRow() == "~ \"class\": value 1 → \"1\"")
  }

  @Test func `opposite comparisons can run concurrently`() async throws {
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<20 {
        let (left, right) = number % 2 == 0 ? (base, magic) : (magic, base)
        group.addTask { try await left.difference(from: right).isEmpty }
      }
      for try await isEmpty in group { #expect(isEmpty) }
    }
  }

  @Test func `a closed store can't be compared`() throws {
    try base.close()
    #expect(throws: MagicError.closed) { try magic.difference(from: base) }
    #expect(throws: MagicError.closed) { try base.difference(from: magic) }
  }

  @Test func `a comparison ends at its deadline`() throws {
    let error = try #require(throws: SQLiteError.self) {
      try magic.difference(from: base, deadline: .now - .seconds(1))
    }
    #expect(error.code == .interrupt)
  }
}

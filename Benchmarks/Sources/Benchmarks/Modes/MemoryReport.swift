import AllocationCount
import MagicData
import SQLiteCore
import SQLiteMapping

/// A report on the memory of fetched rows and saved objects: the peak compared with C for the same
/// rows, and the heap bytes of each row and object.
struct MemoryReport {
  let fixtures: Fixtures

  func run(rows: Int) throws {
    print("Peak increase of resident memory while rows are fetched")
    try compare(Fetch().engines, rows, [.c, .record, .object])
    print(
      "\nPeak increase of resident memory while a million rows are read one by one without keeping them"
    )
    try compare(Stream().engines, rows * 5, [.c, .record])
    print("\nHeap bytes per fetched row; texts of up to 15 bytes are stored inline")
    let store = try MagicData(type: .memory)
    try printFetchedBytes("1 property", rows, OneProperties.self, OneObject.self, store)
    try printFetchedBytes("8 properties", rows, EightProperties.self, EightObject.self, store)
    try printFetchedBytes("30 properties", rows, ThirtyProperties.self, ThirtyObject.self, store)
    try printSavedBytes(rows)
  }

  /// Prints the memory that a transaction needs for each saved object, without the object itself.
  private func printSavedBytes(_ rows: Int) throws {
    let items = try fixtures.fixture(rows: 10_000).items
    print(
      "\nHeap bytes that a transaction keeps for each saved object after the object is released")
    let (plain, graph) = (rows / items.count, rows / SavedGraph.objects(of: items.count))
    try printSavedBytes("8 properties", plain, items.count) { items.map { ItemObject.new($0) } }
    try printSavedBytes("save-graph", graph, SavedGraph.objects(of: items.count)) {
      SavedGraph.purchases(of: items)
    }
    print(
      "\nPeak increase of resident memory per object while one call saves all, without the objects")
    try printPeak("8 properties", plain, items.count) { items.map { ItemObject.new($0) } }
    try printPeak("save-graph", graph, SavedGraph.objects(of: items.count)) {
      SavedGraph.purchases(of: items)
    }
  }

  /// Saves several parts in one transaction. Each part is released before the next one is created.
  private func printSavedBytes<Object: MagicObject>(
    _ title: String, _ parts: Int, _ size: Int, _ part: () -> [Object]
  ) throws {
    let magic = try MagicData(settingsAt: try freshPath())
    var bytes = 0
    for count in [1, max(1, parts)] {
      // The first transaction is a warm-up that fills the caches of SQLite and of the C library.
      bytes = try magic.transaction {
        let before = allocation_bytes()
        for _ in 0..<count { _ = try magic.update(part()) }
        return allocation_bytes() - before
      }
    }
    print("  \(title): \(bytes / (max(1, parts) * size)) for \(max(1, parts) * size) objects")
  }

  /// Saves all parts in one call.
  private func printPeak<Object: MagicObject>(
    _ title: String, _ parts: Int, _ size: Int, _ part: () -> [Object]
  ) throws {
    let magic = try MagicData(settingsAt: try freshPath())
    _ = try magic.update(part())
    let objects = (0..<max(1, parts)).flatMap { _ in part() }
    let before = allocation_bytes()
    let (_, rise) = try PeakMemory.rise { _ = try magic.update(objects) }
    // The additional memory of the objects themselves after they are saved.
    let own = allocation_bytes() - before
    guard let rise else { throw Failure("this system does not report the peak of memory") }
    let count = max(1, parts) * size
    withExtendedLifetime(objects) {
      print(
        "  \(title): \((rise - own) / count) for \(count) objects; saved objects take \(own / count) more"
      )
    }
  }

  private func freshPath() throws -> String {
    let fixture = try fixtures.fixture(rows: 10_000)
    try fixture.removeFresh()
    return fixture.freshPath
  }

  /// Prints the memory peaks of the engines in a case, and their ratios to C.
  private func compare(
    _ engines: KeyValuePairs<Engine, Turn>, _ rows: Int, _ wanted: [Engine]
  ) throws {
    let fixture = try fixtures.fixture(rows: rows)
    var baseline: Double?
    for (engine, turn) in engines where wanted.contains(engine) {
      var warm = Trial(on: fixture)
      let expected = try turn(&warm)
      var trial = Trial(on: fixture, watching: .memory)
      guard try turn(&trial) == expected else {
        throw Failure("\(engine) returns different results in two runs")
      }
      guard let peak = trial.memory?.peakBytes else {
        throw Failure("this system does not report the peak of memory")
      }
      baseline = baseline ?? Double(peak)
      let ratio = fixed(Double(peak) / (baseline ?? 1), digits: 2)
      print(
        "  \(engine.rawValue): \(fixed(Double(peak) / 1_048_576, digits: 1)) MiB, \(ratio) times C")
    }
  }

  /// Prints the heap bytes of fetched rows, as records and as objects.
  private func printFetchedBytes<Value: Record, Object: MagicObject>(
    _ title: String, _ rows: Int, _ record: Value.Type, _ object: Object.Type, _ magic: MagicData
  ) throws {
    try magic.update(Object())
    let columns = try magic.database.read { try $0.columns(of: Object.tableName).map(\.name) }
    let values = columns.map { $0 == "id" ? "i" : "i * 7" }.joined(separator: ", ")
    try magic.database.write { connection in
      try connection.executeChange("DELETE FROM \(identifier: Object.tableName)")
      try connection.executeChange(
        """
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
        INSERT INTO \(identifier: Object.tableName) SELECT \(SQL(unchecked: values)) FROM n
        """)
    }
    let records = try bytes(rows) { try magic.database.read { try $0.objects(of: record) } }
    let objects = try bytes(rows) { try magic.objects(of: object) }
    let inline = MemoryLayout<Value>.stride
    print("  \(title): record \(records) (\(inline) of them in the struct), object \(objects)")
  }

  /// Returns the heap bytes per row that the result of `fetch` occupies.
  private func bytes<Row>(_ rows: Int, _ fetch: () throws -> [Row]) throws -> Int {
    _ = try fetch()
    let before = allocation_bytes()
    let kept = try fetch()
    let after = allocation_bytes()
    return withExtendedLifetime(kept) { (after - before) / max(1, rows) }
  }
}

private struct OneProperties: Record {
  static let tableName = "Of1"
  static let isReadOnly = true

  var id: Int
}

private struct OneObject: MagicObject {
  static let tableName = "Of1"

  @PrimaryMagicValue var id: Int

  init() {}
}

private struct EightProperties: Record {
  static let tableName = "Of8"
  static let isReadOnly = true

  var id: Int
  var p1: Double
  var p2: String
  var p3: Int64
  var p4: Double
  var p5: String
  var p6: Int64
  var p7: Double
}

private struct EightObject: MagicObject {
  static let tableName = "Of8"

  @PrimaryMagicValue var id: Int
  @MagicValue var p1: Double = 0
  @MagicValue var p2: String = ""
  @MagicValue var p3: Int64 = 0
  @MagicValue var p4: Double = 0
  @MagicValue var p5: String = ""
  @MagicValue var p6: Int64 = 0
  @MagicValue var p7: Double = 0

  init() {}
}

private struct ThirtyProperties: Record {
  static let tableName = "Of30"
  static let isReadOnly = true

  var id: Int
  var p1: Double
  var p2: String
  var p3: Int64
  var p4: Double
  var p5: String
  var p6: Int64
  var p7: Double
  var p8: String
  var p9: Int64
  var p10: Double
  var p11: String
  var p12: Int64
  var p13: Double
  var p14: String
  var p15: Int64
  var p16: Double
  var p17: String
  var p18: Int64
  var p19: Double
  var p20: String
  var p21: Int64
  var p22: Double
  var p23: String
  var p24: Int64
  var p25: Double
  var p26: String
  var p27: Int64
  var p28: Double
  var p29: String
}

private struct ThirtyObject: MagicObject {
  static let tableName = "Of30"

  @PrimaryMagicValue var id: Int
  @MagicValue var p1: Double = 0
  @MagicValue var p2: String = ""
  @MagicValue var p3: Int64 = 0
  @MagicValue var p4: Double = 0
  @MagicValue var p5: String = ""
  @MagicValue var p6: Int64 = 0
  @MagicValue var p7: Double = 0
  @MagicValue var p8: String = ""
  @MagicValue var p9: Int64 = 0
  @MagicValue var p10: Double = 0
  @MagicValue var p11: String = ""
  @MagicValue var p12: Int64 = 0
  @MagicValue var p13: Double = 0
  @MagicValue var p14: String = ""
  @MagicValue var p15: Int64 = 0
  @MagicValue var p16: Double = 0
  @MagicValue var p17: String = ""
  @MagicValue var p18: Int64 = 0
  @MagicValue var p19: Double = 0
  @MagicValue var p20: String = ""
  @MagicValue var p21: Int64 = 0
  @MagicValue var p22: Double = 0
  @MagicValue var p23: String = ""
  @MagicValue var p24: Int64 = 0
  @MagicValue var p25: Double = 0
  @MagicValue var p26: String = ""
  @MagicValue var p27: Int64 = 0
  @MagicValue var p28: Double = 0
  @MagicValue var p29: String = ""

  init() {}
}

import Foundation
import MagicData
import SQLitePortable
import Testing
import TestSupport

/// Tests extreme values of Swift, SQLite and the text formats at every entry point: a stored value
/// is read back identically, bit for bit, and an unstorable value throws.
@Suite struct HostileValueTests {
  struct Item: Record, Equatable {
    var id: String
    var real: Double
    var integer: Int64
    var text: String
    var bytes: [UInt8]
    var data: Data?
    var date: Date
    var nested: Nested

    struct Nested: Codable, Equatable {
      var real: Double
      var integer: Int64
      var texts: [String]
    }

    init(_ id: String) {
      self.id = id
      (real, integer, text, bytes, data) = (0, 0, "", [], nil)
      date = Date(timeIntervalSince1970: 0)
      nested = Nested(real: 0, integer: 0, texts: [])
    }

    /// Compares texts byte by byte, which is stricter than Swift's `==`.
    func isSame(as other: Item) -> Bool {
      self == other && Array(id.utf8) == Array(other.id.utf8)
        && Array(text.utf8) == Array(other.text.utf8)
        && nested.texts.map { Array($0.utf8) } == other.nested.texts.map { Array($0.utf8) }
    }
  }

  struct Thing: MagicObject {
    @PrimaryMagicValue var id: String
    @MagicValue var item: Item = Item("")
    @MagicValue var real: Double = 0
    @MagicValue var date: Date = Date(timeIntervalSince1970: 0)
    @MagicValue var others: [String: Thing] = [:]

    init() {}

    init(_ item: Item) {
      id = item.id
      real = item.real
      date = item.date
      self.item = item
      // JSON has no infinity and rejects it.
      if real.isInfinite { self.item.real = 0 }
    }
  }

  static func changed(_ id: String, _ change: (inout Item) -> Void) -> Item {
    var item = Item(id)
    change(&item)
    return item
  }

  static let storable: [Item] = {
    var items: [Item] = []
    let reals: [Double] = [
      .infinity, -.infinity, .greatestFiniteMagnitude, -.greatestFiniteMagnitude,
      .leastNonzeroMagnitude, .leastNormalMagnitude, 0.1, 1e21, 9_007_199_254_740_992,
      9_223_372_036_854_775_808, -9_223_372_036_854_775_808, .pi, .ulpOfOne,
    ]
    for (number, real) in reals.enumerated() {
      items.append(
        changed("real \(number)") {
          $0.real = real
          if real.isFinite { $0.nested.real = real }
        })
    }
    let integers: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max, 1 << 53, (1 << 53) + 1]
    for integer in integers {
      items.append(
        changed("integer \(integer)") { ($0.integer, $0.nested.integer) = (integer, integer) })
    }
    let texts: [String] = [
      "", "\0", "a\0b", "\0\0", "é", "e\u{301}", "\u{FEFF}a", "a\u{FFFD}", "\u{FFFF}", "\u{10FFFF}",
      "\r\n", "\u{2028}", "👨‍👩‍👧", "\u{1F1E9}\u{1F1EA}", " a ", "NULL", "nan", "1", "0x1",
      "\u{7f}\u{1}",
      String(repeating: "a", count: 100_000),
    ]
    for (number, text) in texts.enumerated() {
      items.append(
        changed("text \(number)") { ($0.text, $0.nested.texts) = (text, [text, text + text]) })
    }
    // SQLite treats these as different keys.
    for id in ["é", "e\u{301}", "a\0b", "a", "", " "] { items.append(Item(id)) }
    let blobs: [[UInt8]] = [[], [0], [0, 0], [255, 254], Array(0...255)]
    for bytes in blobs {
      items.append(
        changed("bytes \(bytes.count) \(bytes.first ?? 0)") {
          ($0.bytes, $0.data) = (bytes, Data(bytes))
        })
    }
    let times: [Double] = [
      -62_167_219_200, -62_135_596_800, -1, 0.123456789, 253_402_300_799,
    ]
    for seconds in times {
      items.append(changed("date \(seconds)") { $0.date = Date(timeIntervalSince1970: seconds) })
    }
    items.append(changed("past") { $0.date = .distantPast })
    items.append(changed("future") { $0.date = .distantFuture })
    return items
  }()

  static let rejected: [Item] = [
    changed("nan") { $0.real = .nan }, changed("nested nan") { $0.nested.real = .nan },
    changed("signaling nan") { $0.real = .signalingNaN },
    changed("date nan") { $0.date = Date(timeIntervalSince1970: .nan) },
    changed("date infinite") { $0.date = Date(timeIntervalSince1970: .infinity) },
    changed("date too early") { $0.date = Date(timeIntervalSince1970: -62_167_219_201) },
    changed("date too late") { $0.date = Date(timeIntervalSince1970: 253_402_300_800) },
    changed("date far off") { $0.date = Date(timeIntervalSince1970: 1e300) },
  ]

  @Test func `records store extreme values exactly or throw`() throws {
    let database = try Database.memory()
    try database.write { try $0.update(contentsOf: Self.storable) }
    for item in Self.storable {
      let found = try database.read { try $0.object(of: Item.self, ifPresent: item.id) }
      #expect(found?.isSame(as: item) == true, "\(item.id)")
    }
    #expect(try database.read { try $0.count(of: Item.self) } == Self.storable.count)
    for item in Self.rejected {
      #expect(throws: (any Error).self, "\(item.id)") { try database.write { try $0.update(item) } }
    }
    #expect(try database.read { try $0.count(of: Item.self) } == Self.storable.count)
    // SQLite stores minus zero as zero.
    let minusZero = Self.changed("minus zero") { $0.real = -0.0 }
    try database.write { try $0.update(minusZero) }
    let zero = try database.read { try $0.object(of: Item.self, ifPresent: "minus zero") }
    #expect(zero?.real.sign == .plus)
  }

  @Test func `objects store extreme values exactly or throw`() throws {
    let magic = try MagicData(type: .memory)
    try magic.update(Self.storable.map { Thing($0) })
    for item in Self.storable {
      let found = try magic.object(of: Thing.self, primary: item.id)
      #expect(found.item.isSame(as: Thing(item).item), "\(item.id)")
      #expect(found.real == item.real && found.date == item.date, "\(item.id)")
      #expect(Array(found.id.utf8) == Array(item.id.utf8))
    }
    for item in Self.rejected {
      #expect(throws: (any Error).self, "\(item.id)") { try magic.update(Thing(item)) }
    }
    #expect(try magic.count(of: Thing.self) == Self.storable.count)
  }

  @Test func `collections and dumps preserve extreme values`() throws {
    let folder = try TestFolder.inMemory()
    let database = try Database.memory()
    let store = CodableStore(database: database)
    let other = CodableStore(database: database, coder: JSONCoder())
    try store.insert(on: "spon", items: Self.storable)
    let finite = Self.storable.filter(\.real.isFinite)
    try other.insert(on: "json", items: finite)
    try database.write { try $0.update(contentsOf: Self.storable) }
    for file in [DataFile.spon(path: folder.file("spon")), .json(path: folder.file("json"))] {
      try database.dump(to: file)
      let copy = try Database.memory()
      try copy.restore(from: file)
      let items: [Item] = try CodableStore(database: copy).read(from: "spon")
      #expect(items.count == Self.storable.count)
      #expect(zip(items, Self.storable).allSatisfy { $0.isSame(as: $1) })
      let others: [Item] = try CodableStore(database: copy, coder: JSONCoder()).read(from: "json")
      #expect(others.count == finite.count)
      #expect(zip(others, finite).allSatisfy { $0.isSame(as: $1) })
      for item in Self.storable {
        let found = try copy.read { try $0.object(of: Item.self, ifPresent: item.id) }
        #expect(found?.isSame(as: item) == true, "\(item.id) in \(file.path)")
      }
    }
  }

  @Test func `integers that don't fit throw`() throws {
    struct Wide: Record {
      var id: Int
      var wide: UInt64
    }
    struct Narrow: Codable {
      var wide: Int8
    }
    let database = try Database.memory()
    try database.write { try $0.update(Wide(id: 1, wide: UInt64(Int64.max))) }
    #expect(throws: (any Error).self) {
      try database.write { try $0.update(Wide(id: 2, wide: UInt64(Int64.max) + 1)) }
    }
    #expect(try database.read { try $0.count(of: Wide.self) } == 1)
    #expect(throws: RowDecodingError.self) {
      try database.read { try $0.fetch(.sql("SELECT wide FROM Wide", as: Narrow.self)) }
    }
    // SQLite reads a literal that is too large as a real, which isn't an integer in Swift.
    #expect(throws: RowDecodingError.self) {
      try database.read {
        try $0.fetch(.sql("SELECT 1 AS id, 9223372036854775808 AS wide", as: Wide.self))
      }
    }
    #expect(throws: SQLiteError.self) {
      try database.executeQuery(
        "SELECT sum(wide) FROM (SELECT \(Int64.max) AS wide UNION SELECT 1)")
    }
  }

  @Test func `reading text that isn't UTF-8 throws everywhere`() throws {
    let magic = try MagicData(type: .memory)
    let database = magic.database
    try magic.update(Thing(Item("a")))
    try database.write { try $0.update(Item("a")) }
    for bytes in [
      [0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0x61, 0xc3],
    ]
      as [[UInt8]]
    {
      try database.executeChange("UPDATE Item SET text = CAST(\(bytes) AS TEXT)")
      #expect(throws: (any Error).self) { try database.read { try $0.objects(of: Item.self) } }
      #expect(throws: SQLiteError.self) {
        try database.rows("SELECT text FROM Item", as: String.self)
      }
      #expect(throws: SQLiteError.self) { try database.executeQuery("SELECT text FROM Item") }
      try database.executeChange("UPDATE Item SET text = '', nested = CAST(\(bytes) AS TEXT)")
      #expect(throws: (any Error).self) { try database.read { try $0.objects(of: Item.self) } }
      try database.executeChange("UPDATE Thing SET item = CAST(\(bytes) AS TEXT)")
      #expect(throws: (any Error).self) { try magic.object(of: Thing.self).map(\.item) }
    }
  }

  @Test func `two keys that are equal in Swift do no harm`() throws {
    let magic = try MagicData(type: .memory)
    let thing = Thing(Item("a"))
    thing.others = ["é": Thing(Item("b"))]
    try magic.update(thing)
    let database = magic.database
    let table = try #require(
      try database.read { try $0.existingTables() }.first { $0.contains("others") },
      "the table of the links is missing")
    try database.executeChange(
      """
      INSERT INTO \(identifier: table) (owner, key, target)
      SELECT owner, CAST(\(Array("e\u{301}".utf8)) AS TEXT), target FROM \(identifier: table)
      """)
    do {
      let found = try magic.object(of: Thing.self, primary: "a")
      #expect(found.others.count == 1)
      #expect(found.others["é"]?.id == "b")
    } catch is MagicError {
      // Throwing is allowed, too.
    }
  }
}

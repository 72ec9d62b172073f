import Foundation
import MagicData
import TestSupport
import Testing

@Suite struct ComingFromSwiftDataTests {
  let fixture: CoreDataFixture
  let magic: MagicData

  init() throws {
    fixture = try CoreDataFixture()
    magic = try MagicData(path: fixture.folder.path + "/new")
  }

  @Test func `all values and relations of a Core Data file are copied`() throws {
    try importTrips(from: fixture.store, into: magic)

    let paris = try magic.object(of: Trip.self, primary: CoreDataFixture.paris)
    #expect(paris.name == "Paris")
    #expect(paris.start == Date(timeIntervalSinceReferenceDate: 800_000_000.5))
    #expect(paris.budget == Decimal(string: "1200.1"))
    #expect(!paris.isArchived)
    #expect(paris.notes == ["Book the hotel", "Buy a map"])
    #expect(try paris.photo.get() == Data("a small photo".utf8))
    #expect(Set(paris.tags.map(\.name)) == ["family", "train"])
    #expect(Set(try paris.stops.get().map(\.place)) == ["Gare de Lyon", "Louvre"])

    let rome = try magic.object(of: Trip.self, primary: CoreDataFixture.rome)
    #expect(rome.start == Date(timeIntervalSinceReferenceDate: -86_400))
    #expect(rome.budget == nil)
    #expect(rome.isArchived)
    #expect(rome.notes == ["Learn Italian", "Learn Italian"])
    #expect(try rome.photo.get() == Data("a large photo".utf8))
    #expect(rome.tags.map(\.name) == ["train"])
    #expect(
      try rome.stops.get().map(\.arrival) == [Date(timeIntervalSinceReferenceDate: -86_400)])
    #expect(try magic.count(of: Tag.self) == 2)
    #expect(try magic.assets.verify().isEmpty)
  }

  @Test func `the delete rule of the model applies to copied objects`() throws {
    try importTrips(from: fixture.store, into: magic)
    try magic.remove(magic.object(of: Trip.self, primary: CoreDataFixture.paris))
    #expect(try magic.object(of: Stop.self).map(\.place) == ["Termini"])
  }

  @Test func `a second import throws and changes nothing`() throws {
    try importTrips(from: fixture.store, into: magic)
    #expect(throws: MagicError.self) { try importTrips(from: fixture.store, into: magic) }
    #expect(try magic.count(of: Trip.self) == 2)
    #expect(try magic.count(of: Stop.self) == 3)
    #expect(try magic.count(of: Tag.self) == 2)
  }

  @Test(arguments: [
    ("DROP TABLE ZSTOP", ["ZSTOP: missing table": 1]),
    ("ALTER TABLE ZTAG DROP COLUMN ZNAME", ["ZTAG.ZNAME: missing column": 1]),
    (
      "UPDATE ZSTOP SET ZARRIVAL = 1e12 WHERE Z_PK < 3; UPDATE ZTRIP SET ZSTART = -1e300",
      ["ZSTOP.ZARRIVAL: date out of range": 2, "ZTRIP.ZSTART: date out of range": 2]
    ),
    ("UPDATE ZSTOP SET ZARRIVAL = 'Monday'", ["ZSTOP.ZARRIVAL: not a number": 3]),
    ("UPDATE ZSTOP SET ZTRIP = 7 WHERE Z_PK > 1", ["ZSTOP.ZTRIP: no such row in ZTRIP": 2]),
    ("UPDATE ZSTOP SET ZTRIP = NULL WHERE Z_PK = 1", ["ZSTOP.ZTRIP: no value": 1]),
    (
      "DELETE FROM ZTAG WHERE Z_PK = 2; DELETE FROM ZTRIP WHERE Z_PK = 2",
      [
        "Z_2TRIPS.Z_2TAGS: no such row in ZTAG": 2, "Z_2TRIPS.Z_3TRIPS: no such row in ZTRIP": 1,
        "ZSTOP.ZTRIP: no such row in ZTRIP": 1,
      ]
    ),
    ("UPDATE ZTRIP SET ZISARCHIVED = 'yes'", ["ZTRIP.ZISARCHIVED: not an integer": 2]),
    ("UPDATE ZTAG SET ZNAME = x'00'", ["ZTAG.ZNAME: not a text": 2]),
    ("UPDATE ZTRIP SET ZCODE = 'E621'", ["ZTRIP.ZCODE: not a blob": 2]),
    ("UPDATE ZTRIP SET ZCODE = x'0001' WHERE Z_PK = 2", ["ZTRIP.ZCODE: not a UUID": 1]),
    ("ALTER TABLE ZTRIP DROP COLUMN ZBUDGET", ["ZTRIP.ZBUDGET: missing column": 1]),
    (
      "ALTER TABLE ZTRIP DROP COLUMN ZBUDGET; ALTER TABLE ZTRIP ADD COLUMN ZBUDGET MONEY",
      ["ZTRIP.ZBUDGET: unknown type MONEY": 1]
    ),
    (
      "UPDATE ZTRIP SET ZNOTES = x'62706c697374303000'",
      ["ZTRIP.ZNOTES: not an array of strings": 2]
    ),
    (
      "UPDATE ZTRIP SET ZPHOTO = CAST(x'02' || '../../secret' AS BLOB)",
      ["ZTRIP.ZPHOTO: missing file": 2]
    ),
    ("UPDATE ZTRIP SET ZPHOTO = x'07' WHERE Z_PK = 1", ["ZTRIP.ZPHOTO: unknown form": 1]),
  ])
  func `values that can't be read are counted, and nothing is copied`(
    change: String, problems: [String: Int]
  ) throws {
    try fixture.change(SQL(unchecked: change))
    let error = #expect(throws: ImportProblems.self) {
      try importTrips(from: fixture.store, into: magic)
    }
    #expect(error?.counts == problems)
    try expectEmptyStore()
  }

  @Test func `a value that only the record detects is named, and nothing is copied`() throws {
    try fixture.change("UPDATE ZTRIP SET ZNAME = CAST(x'FF' AS TEXT) WHERE Z_PK = 2")
    let error = #expect(throws: RowDecodingError.self) {
      try importTrips(from: fixture.store, into: magic)
    }
    #expect(error?.column == "ZNAME")
    try expectEmptyStore()
  }

  @Test func `an external file that disappears during the import rolls it back`() throws {
    let photo = Trip()
    photo.name = "x"
    photo.start = Date()
    photo.photo.copy(from: URL(filePath: fixture.folder.path + "/missing"))
    #expect(throws: (any Error).self) {
      try magic.transaction {
        let tag = Tag()
        tag.name = "x"
        try magic.update(tag)
        try magic.insert(photo)
      }
    }
    try expectEmptyStore()
  }

  @Test func `the calls that replace those of SwiftData work as documented`() throws {
    try importTrips(from: fixture.store, into: magic)
    let query = Trip.where(\.$budget > 100).ordered(by: .ascending(\.$start))
    #expect(try magic.fetch(query).map(\.name) == ["Paris"])
    #expect(try magic.fetch(query.count) == 1)
    #expect(try magic.fetch(query.values(\.$name, \.$start)).map(\.0) == ["Paris"])
    #expect(try magic.fetch(query.values(\.$code)) == [CoreDataFixture.paris])
    #expect(try magic.fetch(Trip.where((\Trip.$name).contains("a"))).count == 2)
    #expect(try magic.fetch(Trip.where(\.$budget > 100 && \.$start < Date())).count == 1)
    let latest = Trip.all.ordered(by: .descending(\.$start))
    #expect(try magic.fetch(latest).map(\.name) == ["Paris", "Roma"])
    #expect(try magic.fetch(latest.limit(1, offset: 1)).map(\.name) == ["Roma"])
    var names: [String] = []
    try magic.forEach(latest) { names.append($0.name) }
    #expect(names == ["Paris", "Roma"])
    let sections = try magic.fetch(Trip.all.aggregate(.count, by: \.$isArchived))
    #expect(sections.count == 2)
    #expect(try magic.removeAll(Trip.where(\.$isArchived == true)) == 1)
    #expect(try magic.count(of: Stop.self) == 2)
  }

  @Test func `a damaged property list is counted or read as other strings`() throws {
    let list = try PropertyListEncoder.binary.encode(["Book the hotel", "Buy a map"])
    for bit in 0..<(8 * list.count) {
      var damaged = list
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      var problems = ImportProblems()
      let strings = strings(from: damaged, &problems)
      #expect(strings.isEmpty || problems.counts.isEmpty)
    }
  }

  #if !canImport(ObjectiveC)
    @Test func `an archive is counted, because it can't be read safely on Linux`() throws {
      let archive = try NSKeyedArchiver.archivedData(
        withRootObject: NSArray(array: ["Buy a map"]), requiringSecureCoding: true)
      try Database(path: fixture.store.path).executeChange(
        "UPDATE ZTRIP SET ZNOTES = \([UInt8](archive)) WHERE Z_PK = 1")
      let error = #expect(throws: ImportProblems.self) {
        try importTrips(from: fixture.store, into: magic)
      }
      #expect(error?.counts == ["ZTRIP.ZNOTES: not an array of strings": 1])
      try expectEmptyStore()
    }
  #endif

  @Test func `the rows of a subclass have its number in Z_ENT`() throws {
    try fixture.change(
      """
      INSERT INTO Z_PRIMARYKEY VALUES (4, 'Cruise', 3, 1);
      INSERT INTO ZTRIP SELECT 3, 4, Z_OPT, ZISARCHIVED, ZSTART, ZBUDGET, 'Nile', ZCODE, ZNOTES, ZPHOTO
      FROM ZTRIP WHERE Z_PK = 1;
      """)
    let file = try Database(path: fixture.store.path, options: .readOnly)
    let cruises = try file.fetch(
      CoreDataTrip.where("Z_ENT = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Cruise')"))
    #expect(cruises.map(\.name) == ["Nile"])
  }

  @Test func `the store of Core Data stays unchanged`() throws {
    let before = try Data(contentsOf: fixture.store)
    try importTrips(from: fixture.store, into: magic)
    #expect(try Data(contentsOf: fixture.store) == before)
  }

  private func expectEmptyStore() throws {
    #expect(try magic.count(of: Trip.self) == 0)
    #expect(try magic.count(of: Stop.self) == 0)
    #expect(try magic.count(of: Tag.self) == 0)
    let files = fixture.folder.path + "/new/assets/files"
    #expect((try? FileManager.default.contentsOfDirectory(atPath: files)) ?? [] == [])
  }
}

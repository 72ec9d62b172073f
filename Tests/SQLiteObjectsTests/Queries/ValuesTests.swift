import Conformance
import Foundation
import MagicData
import Testing
import TestSupport

@Suite(.everyEngine) struct ValuesTests {
  let magic: MagicData

  init() throws { magic = try Music.filled() }

  @Test func `tuples of properties contain nil where a relation is missing`() async throws {
    let rows = try await magic.fetch(
      Music.Track.ordered(by: .ascending(\.$name)).values(
        \.$name, \.$album.$title, \.$album.$artist.$name))
    #expect(rows.map(\.0) == ["a1", "a2", "a3", "b1", "lone"])
    #expect(rows.map(\.1) == ["First", "First", "Second", "Live", nil])
    #expect(rows.map(\.2) == ["Ann", "Ann", "Ann", "Bob", nil])
    let same = try await magic.fetch(
      Music.Track.ordered(by: .ascending(\.$name)).values(
        \.$name, \.$album.$title, \.$album.$artist.$name))
    #expect(same.map(\.2) == rows.map(\.2))
    let some = try await magic.fetch(
      Music.Track.where(\.$album.$artist.$name == "Ann").ordered(by: .descending(\.$seconds)).limit(
        2, offset: 1
      ).values(\.$seconds, \.$rating))
    #expect(some.map(\.0) == [200, 100])
    #expect(some.map(\.1) == [nil, 5])
  }

  @Test func `distinct returns each combination once`() throws {
    let years = try magic.fetch(
      Music.Track.all.distinct().values(\.$album.$year, \.$album.$artist.$name))
    #expect(years.count == 4)
    #expect(
      try magic.fetch(Music.Album.ordered(by: .descending(\.$year)).distinct().values(\.$year))
        == [2010, 1999, nil])
  }

  private struct Line: Decodable, Equatable {
    struct Record: Decodable, Equatable {
      var title: String
      var year: Int?
    }

    var name: String
    var album: Record?
  }

  private struct Flat: Decodable, Equatable {
    enum CodingKeys: String, CodingKey {
      case name
      case artist = "album.artist.name"
    }

    var name: String
    var artist: String?
  }

  @Test func `values can be decoded as any Decodable type`() async throws {
    let lines = try await magic.fetch(
      Music.Track.where(\.$seconds <= 100).ordered(by: .ascending(\.$name)).values(
        \.$name, \.$album.$title, \.$album.$year, as: Line.self))
    #expect(
      lines == [Line(name: "a1", album: .init(title: "First", year: 1999)), Line(name: "lone")])
    let flat = try await magic.fetch(
      Music.Track.where(\.$seconds >= 400).values(\.$name, \.$album.$artist.$name, as: Flat.self))
    #expect(flat == [Flat(name: "b1", artist: "Bob")])
  }

  @Test func `forEach visits one row at a time, and an error ends the loop`() throws {
    var names: [String] = []
    try magic.forEach(Music.Track.all.values(\.$name, \.$album.$title)) { name, title in
      names.append("\(name) \(title ?? "-")")
    }
    #expect(names == ["a1 First", "a2 First", "a3 Second", "b1 Live", "lone -"])
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try magic.forEach(Music.Track.all.values(\.$name)) { _ in throw Stop() }
    }
  }

  @Test func `an async forEach visits the matching rows`() async throws {
    let (lines, add) = AsyncStream.makeStream(of: String.self)
    try await magic.forEach(Music.Track.where(\.$seconds > 200).values(\.$name)) { add.yield($0) }
    add.finish()
    var found: [String] = []
    for await name in lines { found.append(name) }
    #expect(found == ["a3", "b1"])
  }

  @Test func `raw SQL accepts columns and values anywhere`() throws {
    let (part, pattern) = (100, "a*")
    let filter = Filter<Music.Track>(
      sql: "\(\.$name) GLOB \(pattern) AND \(\.$seconds) % \(part) = \(0)")
    #expect(try magic.count(of: Music.Track.self, where: filter) == 3)
    #expect(
      try magic.fetch(Music.Track.where(filter && \.$rating == 5).values(\.$album.$artist.$name))
        == ["Ann"])
    let commented = Filter<Music.Track>(
      sql: "length(\(\.$album.$title)) = \(4) -- the end")
    #expect(try magic.fetch(Music.Track.where(commented).values(\.$name)) == ["b1"])
    // In a filter on a relation, the column belongs to the related objects.
    let albums = try magic.fetch(
      Music.Album.where(
        (\Music.Album.$tracks).contains(where: Filter(sql: "\(\.$seconds) > \(250)"))
      ).values(\.$title))
    #expect(albums == ["Second", "Live"])
    let list = ["a1", "lone"]
    #expect(
      try magic.fetch(Music.Track.where(Filter(sql: "\(\.$name) IN \(list)")).values(\.$seconds))
        == [100, 50])
    let hostile = "x'; DROP TABLE MusicTrack; --"
    #expect(
      try magic.count(of: Music.Track.self, where: Filter(sql: "\(\.$name) = \(hostile)")) == 0)
    let sums = Filter<Music.Album>(sql: "\((\Music.Album.$tracks).sum(\.$seconds)) = \(300)")
    #expect(try magic.fetch(Music.Album.where(sums).values(\.$title)) == ["First", "Second"])
  }

  @Test func `an unqualified column belongs to the object, whatever tables are joined`() throws {
    // Tracks and albums both have a column `id`, and albums have a column `title`.
    let rows = try magic.fetch(
      Music.Track.where(Filter(sql: "id IS NOT NULL AND seconds = 50")).values(
        \.$name, \.$album.$title))
    #expect(rows.map(\.0) == ["lone"])
  }

  @Test func `a store without tables has no values`() async throws {
    let fresh = try await MagicData.fresh()
    #expect(try await fresh.fetch(Music.Track.all.values(\.$name, \.$album.$title)).isEmpty)
    #expect(try await fresh.fetch(Music.Track.all.values(\.$name)).isEmpty)
  }

  private struct Wide: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var flag: Bool
    @MagicValue var small: Int8
    @OptionalMagicValue var middle: Int16?
    @MagicValue var real: Float
    @OptionalMagicValue var text: String?
    @MagicValue var date: Date
    @OptionalMagicValue var uuid: UUID?
    @MagicValue var list: [String]
    @OptionalMagicValue var number: Double?
    @MagicValue var data: Data

    init() {}

    init(_ number: Int, _ random: inout SplitMix64) {
      flag = .random(using: &random)
      small = .random(in: .min ... .max, using: &random)
      middle = Bool.random(using: &random) ? .random(in: .min ... .max, using: &random) : nil
      real = Float(number)
      text = Bool.random(using: &random) ? String(repeating: "é", count: number) : nil
      date = Date(timeIntervalSince1970: Double(number))
      uuid = Bool.random(using: &random) ? UUID() : nil
      list = (0..<number % 3).map { "\($0)" }
      self.number = Bool.random(using: &random) ? Double(number) : nil
      data = Data(count: number)
    }
  }

  @Test func `tuples of any types equal the values of the objects`() throws {
    var random = SplitMix64(seed: 7)
    let objects = (1...100).map { Wide($0, &random) }
    try magic.update(objects)
    let rows = try magic.fetch(
      Wide.all.values(
        \.$flag, \.$small, \.$text, \.$middle, \.$real, \.$date, \.$flag, \.$uuid, \.$list,
        \.$number, \.$data, \.$id))
    #expect(rows.count == 100)
    for (row, object) in zip(rows, objects) {
      #expect(row.0 == object.flag && row.1 == object.small && row.2 == object.text)
      #expect(row.3 == object.middle && row.4 == object.real && row.5 == object.date)
      #expect(row.6 == object.flag && row.7 == object.uuid && row.8 == object.list)
      #expect(row.9 == object.number && row.10 == object.data && row.11 == object.id)
    }
    let groups = try magic.fetch(
      Wide.all.aggregate(.count, .max(\.$date), .min(\.$small), by: \.$flag, \.$text, \.$small))
    #expect(groups.map(\.value.0).reduce(0, +) == 100)
    for group in groups {
      #expect(group.value.2 == group.key.2)
      let same = objects.filter {
        $0.flag == group.key.0 && $0.text == group.key.1 && $0.small == group.key.2
      }
      #expect(same.map(\.date).max() == group.value.1)
    }
  }

  @Test func `a value that can't be read throws, and values read before are released`() throws {
    try magic.database.executeChange("UPDATE MusicTrack SET seconds = 'x' WHERE name = 'b1'")
    #expect(throws: (any Error).self) {
      try magic.fetch(Music.Track.all.values(\.$name, \.$album.$title, \.$seconds))
    }
    #expect(throws: (any Error).self) { try magic.fetch(Music.Track.all.values(\.$seconds)) }
    #expect(try magic.fetch(Music.Track.where(\.$name == "a1").values(\.$seconds)) == [100])
  }
}

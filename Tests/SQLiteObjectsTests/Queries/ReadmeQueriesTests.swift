import Conformance
import Foundation
import MagicData
import Testing

// The code of the article on queries, block by block. `.ci/checks/readme` compares the texts.
@Suite(.everyEngine) struct ReadmeQueriesTests {
  struct Artist: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var name: String
    @ReverseMagicValue(\Album.$artist) var albums: AsyncReverseMagicSet<Album>

    init() {}
  }

  struct Album: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var title: String
    @MagicValue var year: Int
    @OptionalMagicValue var artist: Artist?
    @ReverseMagicValue(\Track.$album) var tracks: AsyncReverseMagicSet<Track>

    init() {}
  }

  struct Track: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var name: String
    @MagicValue var seconds: Int
    @MagicValue var price: Double
    @OptionalMagicValue var rating: Int?
    @OptionalMagicValue var album: Album?
    @MagicValue var tags: MagicalSet<Tag>

    init() {}
  }

  struct Tag: MagicObject {
    @PrimaryMagicValue var word: String

    init() {}
  }

  nonisolated struct Line: Decodable {
    struct Record: Decodable { var title: String }

    var name: String
    var album: Record?
  }

  let magic: MagicData

  /// Creates an artist with an album of four tracks and an artist without albums.
  init() throws {
    magic = try MagicData.fresh()
    let (ann, bob) = (Artist(), Artist())
    ann.name = "Ann"
    bob.name = "Bob"
    let album = Album()
    album.title = "On Stage 1"
    album.year = 2021
    album.artist = ann
    let loud = Tag()
    loud.word = "loud"
    try magic.update([ann, bob])
    try magic.update(
      (1...4).map { number in
        let track = Track()
        track.name = "live \(number)"
        track.seconds = number * 300
        track.price = Double(number) * 0.5
        track.rating = number == 4 ? nil : number
        track.album = album
        track.tags = [loud]
        return track
      })
  }

  @Test func `filters find objects`() throws {
    let long = try magic.objects(of: Track.self, where: \.$seconds > 600 && \.$rating != 1)
    let live = try magic.objects(
      of: Track.self, where: (\Track.$name).contains("live") || \.$album.$title == "On Stage",
      orderedBy: [.descending(\.$album.$year), .ascending(\.$name)], limit: 20)
    let few = try magic.count(
      of: Track.self, where: (\Track.$rating).isIn([4, 5]) && 60...90 ~= \.$seconds)
    #expect(long.map(\.name) == ["live 3", "live 4"])
    #expect(live.count == 4)
    #expect(few == 0)
  }

  @Test func `filters can test relations`() throws {
    let silent = try magic.objects(of: Artist.self, where: (\Artist.$albums).isEmpty)
    let recent = try magic.objects(
      of: Artist.self, where: (\Artist.$albums).contains { \.$year > 2020 })
    let loud = try magic.objects(
      of: Album.self,
      where: (\Album.$tracks).allSatisfy { (\Track.$tags).contains { \.$word == "loud" } })
    let rich = try magic.objects(
      of: Artist.self, where: (\Artist.$albums.$tracks).sum(\.$price) > 100,
      orderedBy: [.descending((\Artist.$albums.$tracks).count)])
    #expect(silent.map(\.name) == ["Bob"])
    #expect(recent.map(\.name) == ["Ann"])
    #expect(loud.count == 1)
    #expect(rich.isEmpty)
  }

  @Test func `values are fetched without objects`() throws {
    for (name, title, artist) in try magic.fetch(
      Track.where(\.$price < 1).values(\.$name, \.$album.$title, \.$album.$artist.$name))
    {
      print(name, title ?? "single", artist ?? "unknown")
    }
    let years = try magic.fetch(Album.ordered(by: .ascending(\.$year)).distinct().values(\.$year))
    let lines = try magic.fetch(Track.all.values(\.$name, \.$album.$title, as: Line.self))
    try magic.forEach(Track.all.values(\.$name, \.$seconds)) { name, seconds in
      print(name, seconds)
    }
    for (title, year, size) in try magic.fetch(
      Album.all.values(\.$title, \.$year, and: (\Album.$tracks).count))
    {
      print(title, year, size ?? 0)
    }
    #expect(years == [2021])
    #expect(lines.map(\.album?.title) == Array(repeating: "On Stage 1", count: 4))
  }

  @Test(.requires(.functions)) func `values are computed from objects and groups`() throws {
    let (number, total) = try magic.fetch(
      Track.where(\.$seconds > 60).aggregate(.count, .sum(\.$price)))
    let middle = try magic.fetch(Track.all.aggregate(.median(\.$seconds)))
    let groups = Track.all.aggregate(
      .count, .average(\.$seconds), by: \.$album.$artist.$name, \.$album.$year,
      having: .count > 3 && .sum(\.$price) > 1, orderedBy: [.descending(.count)], limit: 10)
    for (key, (count, average)) in try magic.fetch(groups) {
      print(key.0 ?? "unknown", key.1 ?? 0, count, average ?? 0)
    }
    let decades = try magic.fetch(
      Album.all.aggregate(.distinctCount(\.$artist.$name), by: \.$year / 10))
    let rated = try magic.fetch(
      Track.all.aggregate(
        .count, .count(where: \Track.$rating > 3), by: \.$album.$title, and: \Track.$seconds / 60))
    #expect(rated.count == 4)
    #expect(number == 4)
    #expect(total == 5)
    #expect(middle == 750)
    #expect(decades.map(\.key) == [202])
    #expect(decades.map(\.value) == [1])
  }

  @Test func `a filter can contain raw SQL`() throws {
    let pattern = "*[0-9]"
    let numbered = Filter<Track>(
      sql: "\(\.$name) GLOB \(pattern) OR \(\.$album.$title) GLOB \(pattern)")
    let found = try magic.objects(of: Track.self, where: numbered && \.$price > 0)
    #expect(found.count == 4)
  }
}

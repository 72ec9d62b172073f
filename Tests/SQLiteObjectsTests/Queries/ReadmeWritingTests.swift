import Conformance
import Foundation
import MagicData
import Testing

// The code of the article on queries, from “Pages” on, block by block. `.ci/checks/readme` compares
// the texts.
@Suite(.timeLimit(.minutes(40)), .everyEngine) struct ReadmeWritingTests {
  struct Album: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var year: Int

    init() { year = 0 }
  }

  struct Track: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var name: String
    @MagicValue var seconds: Int
    @MagicValue var price: Double
    @OptionalMagicValue var rating: Int?
    @OptionalMagicValue var album: Album?

    init() {}

    init(_ name: String, _ seconds: Int, _ price: Double, _ album: Album?) {
      self.name = name
      self.seconds = seconds
      self.price = price
      self.album = album
    }
  }

  struct Customer: MagicObject {
    static var traits: [PropertyTrait] { [.unique(\Self.$email)] }

    @PrimaryMagicValue var id: Int
    @MagicValue var email: String
    @MagicValue var name: String

    init() {}
  }

  struct Note: MagicObject {
    static var traits: [PropertyTrait] { [.searched(\Self.$title, \Self.$text)] }

    @PrimaryMagicValue var id: Int
    @MagicValue var title: String
    @MagicValue var text: String
    @OptionalMagicValue var track: Track?

    init() {}
  }

  let magic: MagicData

  init() throws {
    magic = try MagicData.fresh()
    let album = Album()
    album.year = 1969
    try magic.update(
      (0..<120).map { Track("track \($0 % 7)", $0 % 5 + 1, 1, $0 % 3 == 0 ? album : nil) })
  }

  @Test func `each page continues where the previous one ended`() throws {
    let order: [SortKey<Track>] = [.descending(\.$seconds), .ascending(\.$name)]
    let sold = Track.where(\.$price > 0).ordered(by: order)
    let first = try magic.fetch(sold.page(limit: 50))
    let second = try magic.fetch(sold.page(after: first.end, limit: 50))
    if let lastSeen = second.objects.last {
      let third = try magic.fetch(Track.ordered(by: order).page(after: lastSeen, limit: 50))
      print(third.objects.count, third.hasMore)
    }
    #expect(first.objects.count == 50 && first.hasMore)
    #expect(second.objects.count == 50 && second.hasMore)
    let all = try magic.objects(of: Track.self, orderedBy: order).map(\.id)
    #expect(first.objects.map(\.id) + second.objects.map(\.id) == Array(all.prefix(100)))
  }

  @Test func `many objects are updated or removed by one statement`() throws {
    let rated = try #require(try magic.objects(of: Track.self).first)
    rated.rating = 3
    rated.seconds = -1
    try magic.update(rated)
    let cheaper = try magic.updateAll(
      Track.where(\.$album.$year < 1970),
      set: [\.$price *= 0.8, \.$seconds += 1, .set(\.$rating, to: nil)])
    let removed = try magic.removeAll(Track.where(\.$seconds == 0))
    #expect((cheaper, removed) == (40, 1))
    #expect(try magic.fetch(Track.all.aggregate(.max(\.$rating))) == nil)
    #expect(try magic.count(of: Track.self, where: \.$price < 0.9) == 39)
  }

  @Test func `a save can match a customer by email`() throws {
    let customer = Customer()
    customer.email = "a@b.ch"
    customer.name = "Ann"
    try magic.update(customer)
    func save(_ customer: Customer) throws {
      try magic.update(customer, matching: [\.$email])
    }
    let other = Customer()
    other.email = "a@b.ch"
    other.name = "Anna"
    try save(other)
    #expect(other.id == customer.id)
    #expect(try magic.objects(of: Customer.self).map(\.name) == ["Anna"])
  }

  @Test func `a search finds notes by their words`() throws {
    let note = Note()
    note.title = "Trip"
    note.text = "Montreal lies at a river"
    note.track = try magic.objects(of: Track.self).first
    try magic.update(note)
    let pattern = SearchPattern.prefix("montréal riv")
    let search = Note.where(\.$track.$price > 0).limit(20)
      .search(pattern, marks: SearchMarks(start: "<b>", end: "</b>"))
    for result in try magic.fetch(search) {
      print(result.value.title, result.rank, result.snippet, result.highlights["text"] ?? "")
    }
    let notes = try magic.count(of: Note.self, where: .matching(pattern) && \.$track != nil)
    #expect(notes == 1)
  }

  @Test func `observed queries yield their first results immediately`() async throws {
    let magic = magic
    let pattern = SearchPattern.prefix("riv")
    for try await tracks in magic.observe(Track.where(\.$rating == 5).limit(10)) {
      print(tracks.map(\.name))
      break
    }
    for try await total in magic.observe(Track.where(\.$rating == nil).aggregate(.sum(\.$price))) {
      print(total)
      break
    }
    for try await rows in magic.observe(
      Track.ordered(by: .ascending(\.$name)).limit(10).values(\.$name, \.$album.$year))
    {
      print(rows.map(\.0))
      break
    }
    for try await albums in magic.observe(
      Track.all.aggregate(.count, .sum(\.$price), by: \.$album.$year, having: .count > 3))
    {
      print(albums.count)
      break
    }
    for try await found in magic.observe(Note.all.limit(20).search(pattern)) {
      print(found.map(\.snippet))
      break
    }
    let numbers = magic.observe { magic in
      [try magic.count(of: Track.self), try magic.count(of: Album.self)]
    }
    for try await number in numbers {
      print(number)
      break
    }
  }
}

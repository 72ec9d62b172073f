import Conformance
import Foundation
import MagicData
import Testing

@Suite(.everyEngine) struct GroupTests {
  let magic: MagicData

  init() throws { magic = try Music.filled() }

  @Test func `several aggregates are computed in one query`() async throws {
    let (count, total, longest) = try await magic.fetch(
      Music.Track.all.aggregate(.count, .sum(\.$price), .max(\.$seconds)))
    #expect(count == 5)
    #expect(total == 6.5)
    #expect(longest == 400)
    let (none, average) = try await magic.fetch(
      Music.Track.where(\.$seconds > 1_000).aggregate(.count, .average(\.$price)))
    #expect(none == 0)
    #expect(average == nil)
    let fresh = try await MagicData.fresh()
    let (empty, smallest) = try await fresh.fetch(Music.Track.all.aggregate(.count, .min(\.$name)))
    #expect(empty == 0)
    #expect(smallest == nil)
    #expect(try await fresh.fetch(Music.Track.all.aggregate(.count, by: \.$name)).isEmpty)
  }

  @Test(.requires(.functions)) func `a sum of reals is real, even of no rows or of infinities`()
    throws
  {
    let artist = Music.Artist("Dan")
    try magic.update(artist)
    let none = (\Music.Artist.$albums.$tracks).sum(\.$price)
    let length = (\Music.Artist.$name).count
    let half = (none + length) / (\Music.Artist.$name).prefix(2).count
    // With two integers, the quotient would have no fraction.
    #expect(try magic.fetch(Music.Artist.where(\.$name == "Dan").values(half)) == [1.5])
    #expect(try magic.fetch(Music.Track.where(\.$seconds > 1_000).aggregate(.sum(\.$price))) == 0)
    try magic.update([
      Music.Track("up", seconds: 1, price: .infinity),
      Music.Track("down", seconds: 2, price: -.infinity),
    ])
    #expect(try magic.fetch(Music.Track.all.aggregate(.sum(\.$price))).isNaN)
    #expect(
      try magic.fetch(Music.Track.where(\.$name == "up").aggregate(.sum(\.$price))) == .infinity)
    let fresh = try MagicData.fresh()
    #expect(try fresh.fetch(Music.Track.all.aggregate(.sum(\.$price))) == 0)
  }

  @Test func `groups can have several keys and values`() async throws {
    let groups = try await magic.fetch(
      Music.Track.all.aggregate(
        .count, .sum(\.$seconds), by: \.$album.$artist.$name, \.$album.$year))
    #expect(groups.map(\.key.0) == [nil, "Ann", "Ann", "Bob"])
    #expect(groups.map(\.key.1) == [nil, 1999, 2010, 2010])
    #expect(groups.map(\.value.0) == [1, 2, 1, 1])
    #expect(groups.map(\.value.1) == [50, 300, 300, 400])
    for (key, (count, sum)) in try await magic.fetch(
      Music.Track.where(\.$album.$title == "First").aggregate(
        .count, .sum(\.$seconds), by: \.$album.$title))
    {
      #expect(key == "First")
      #expect(count == 2)
      #expect(sum == 300)
    }
  }

  @Test func `groups can be filtered, ordered and limited`() async throws {
    let groups = try await magic.fetch(
      Music.Track.all.aggregate(
        .sum(\.$price), by: \.$album.$artist.$name, having: .count > 0,
        orderedBy: [.descending(.sum(\.$price))], limit: 2))
    #expect(groups.map(\.key) == ["Ann", nil])
    let many = try await magic.fetch(
      Music.Track.all.aggregate(
        .count, by: \.$album.$title, having: .count > 1 && .sum(\.$seconds) >= 300))
    #expect(many.map(\.key) == ["First"])
    let others = try await magic.fetch(
      Music.Track.all.aggregate(
        .count, by: \.$album.$title, having: !(.count > 1) || .average(\.$seconds) < 0,
        orderedBy: [.descending(\.$album.$title)], limit: 2, offset: 1))
    #expect(others.map(\.key) == ["Live", nil])
    let rated = try await magic.fetch(
      Music.Track.all.aggregate(
        .max(\.$rating), by: \.$album.$title, having: .max(\.$rating) != 5,
        orderedBy: [.ascending(.max(\.$rating))]))
    #expect(rated.map(\.value) == [nil, 3, 4])
  }

  @Test func `groups can be keyed by expressions`() async throws {
    let groups = try await magic.fetch(
      Music.Track.all.aggregate(
        .count, .min(\.$name), by: \.$seconds / 200, orderedBy: [.descending(\.$seconds / 200)]))
    #expect(groups.map(\.key) == [2, 1, 0])
    #expect(groups.map(\.value.0) == [1, 2, 2])
    #expect(groups.map(\.value.1) == ["b1", "a2", "a1"])
    let tagged = try await magic.fetch(
      Music.Track.all.aggregate(
        .count, by: (\Music.Track.$tags).count, MagicExpression(\.$album.$year)))
    #expect(tagged.map(\.key.0) == [0, 0, 1, 1, 2])
    #expect(tagged.map(\.key.1) == [nil, 1999, 1999, 2010, 2010])
  }

  @Test func `distinct and non-nil values can be counted`() throws {
    #expect(try magic.fetch(Music.Track.all.aggregate(.distinctCount(\.$album.$artist.$name))) == 2)
    #expect(
      try magic.fetch(Music.Track.all.aggregate(.distinctCount(\Music.Track.$seconds / 100))) == 5)
    #expect(try magic.fetch(Music.Track.all.aggregate(.count(\.$album.$title))) == 4)
    #expect(
      try magic.fetch(Music.Artist.all.aggregate(.count((\Music.Artist.$albums).max(\.$year)))) == 2
    )
  }

  @Test(.requires(.functions)) func `medians and percentiles are computed`() throws {
    #expect(try magic.fetch(Music.Track.all.aggregate(.median(\.$seconds))) == 200)
    #expect(
      try magic.fetch(Music.Track.where(\.$seconds > 50).aggregate(.median(\.$seconds))) == 250)
    #expect(try magic.fetch(Music.Track.all.aggregate(.percentile(\Music.Track.$seconds, 0))) == 50)
    #expect(
      try magic.fetch(Music.Track.all.aggregate(.percentile(\Music.Track.$seconds, 1))) == 400)
    #expect(
      try magic.fetch(Music.Track.where(\.$seconds == 50).aggregate(.median(\.$rating))) == nil)
    let groups = try magic.fetch(
      Music.Track.all.aggregate(.median(\.$seconds), by: \.$album.$artist.$name))
    #expect(groups.map(\.value) == [50, 200, 400])
    #expect(throws: SQLiteError.self) {
      try magic.fetch(Music.Track.all.aggregate(.percentile(\Music.Track.$seconds, 1.5)))
    }
  }
}

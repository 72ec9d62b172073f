import Conformance
import Foundation
import MagicData
import Testing

@Suite(.everyEngine) struct RelationFilterTests {
  let magic: MagicData

  init() throws { magic = try Music.filled() }

  private func artists(_ filter: Filter<Music.Artist>) throws -> String {
    try magic.fetch(Music.Artist.where(filter).ordered(by: .ascending(\.$name)).values(\.$name))
      .joined(separator: " ")
  }

  private func tracks(_ filter: Filter<Music.Track>) throws -> String {
    try magic.fetch(Music.Track.where(filter).ordered(by: .ascending(\.$name)).values(\.$name))
      .joined(separator: " ")
  }

  private func playlists(_ filter: Filter<Music.Playlist>) throws -> String {
    try magic.fetch(Music.Playlist.where(filter).ordered(by: .ascending(\.$name)).values(\.$name))
      .joined(separator: " ")
  }

  @Test func `a filter tests a reverse relation`() throws {
    #expect(try artists((\Music.Artist.$albums).isEmpty) == "Cem")
    #expect(try artists(!(\Music.Artist.$albums).isEmpty) == "Ann Bob")
    #expect(try artists((\Music.Artist.$albums).contains { \.$year == 2010 }) == "Ann Bob")
    #expect(try artists((\Music.Artist.$albums).contains { \.$year < 2000 }) == "Ann")
    #expect(try artists((\Music.Artist.$albums).allSatisfy { \.$year == 2010 }) == "Bob Cem")
    #expect(try artists((\Music.Artist.$albums).count > 1) == "Ann")
    #expect(try artists((\Music.Artist.$albums).count { \.$year == 2010 } == 1) == "Ann Bob")
    #expect(try artists((\Music.Artist.$albums).max(\.$year) > 2000) == "Ann Bob")
    #expect(try artists((\Music.Artist.$albums).min(\.$year) > 2000) == "Bob")
    #expect(try artists((\Music.Artist.$albums).average(\.$year) == 2004.5) == "Ann")
    #expect(try artists((\Music.Artist.$albums).sum(\.$year) == 0) == "Cem")
    #expect(try artists((\Music.Artist.$albums).sum(\.$year + 1) == 2011) == "Bob")
    #expect(
      try artists((\Music.Artist.$albums).sum(\.$year, where: \.$title == "First") == 1999) == "Ann"
    )
  }

  @Test func `a filter follows several relations`() throws {
    #expect(try artists((\Music.Artist.$albums.$tracks).count == 3) == "Ann")
    #expect(try artists((\Music.Artist.$albums.$tracks).isEmpty) == "Cem")
    #expect(try artists((\Music.Artist.$albums.$tracks).sum(\.$price) == 4.5) == "Ann")
    #expect(
      try artists((\Music.Artist.$albums.$tracks.$tags).contains { \.$word == "slow" }) == "Ann")
    #expect(
      try artists((\Music.Artist.$albums).contains { (\Music.Album.$tracks).count == 2 }) == "Ann")
    #expect(
      try artists((\Music.Artist.$albums).sum((\Music.Album.$tracks).max(\.$seconds)) == 500)
        == "Ann"
    )
    #expect(try tracks((\Music.Track.$album.$artist.$albums).count == 2) == "a1 a2 a3")
    #expect(try tracks((\Music.Track.$tags.$tracks.$album).count == 4) == "a3")
    #expect(
      try tracks((\Music.Track.$playlists.$tracks).contains { \.$name == "b1" }) == "a1 b1")
  }

  @Test func `owners are counted once, and targets once per link`() throws {
    #expect(try tracks((\Music.Track.$playlists).count == 1) == "a1 b1")
    #expect(
      try tracks((\Music.Track.$playlists).contains { (\Music.Playlist.$tracks).count == 3 })
        == "a1 b1")
    #expect(try playlists((\Music.Playlist.$tracks).sum(\.$seconds) == 600) == "mix")
    #expect(try playlists((\Music.Playlist.$tracks).count { \.$name == "a1" } == 2) == "mix")
    // A track in two playlists is reached through each of them.
    try magic.update(
      Music.Playlist("more", try magic.objects(of: Music.Track.self, where: \.$name == "a1")))
    #expect(try tracks((\Music.Track.$playlists).count == 2) == "a1")
    #expect(try tracks((\Music.Track.$playlists.$tracks).count == 4) == "a1")
  }

  @Test func `filters test sets, dictionaries and lazy collections`() throws {
    #expect(try playlists((\Music.Playlist.$guests).contains { \.$name == "Bob" }) == "mix")
    #expect(try playlists((\Music.Playlist.$guests).count == 2) == "mix")
    #expect(try playlists((\Music.Playlist.$guests.$albums).count == 3) == "mix")
    #expect(try playlists((\Music.Playlist.$roles).count { \.$name == "Ann" } == 2) == "mix")
    #expect(try playlists((\Music.Playlist.$roles).isEmpty) == "none")
    let ann = try #require(try magic.objects(of: Music.Artist.self, where: \.$name == "Ann").first)
    #expect(try playlists((\Music.Playlist.$guests).contains(ann)) == "mix")
    #expect(try playlists((\Music.Playlist.$tracks.$album.$artist).contains(ann)) == "mix")
    let album = try #require(try magic.objects(of: Music.Album.self, where: \.$year == 1999).first)
    #expect(try artists((\Music.Artist.$albums).contains(album)) == "Ann")
  }

  @Test func `objects are sorted by relations, whose values can also be fetched`() throws {
    let byTracks = try magic.objects(
      of: Music.Artist.self,
      orderedBy: [.descending((\Music.Artist.$albums.$tracks).count), .ascending(\.$name)])
    #expect(byTracks.map(\.name) == ["Ann", "Bob", "Cem"])
    let byYear = try magic.fetch(
      Music.Artist.ordered(
        by: .ascending((\Music.Artist.$albums).max(\.$year)), .descending(\.$name)
      ).values(\.$name))
    #expect(byYear == ["Cem", "Bob", "Ann"])
    let counts = try magic.fetch(
      Music.Artist.all.values(
        MagicExpression(\Music.Artist.$name), (\Music.Artist.$albums).count,
        (\Music.Artist.$albums).max(\.$year)))
    #expect(counts.map(\.0) == ["Ann", "Bob", "Cem"])
    #expect(counts.map(\.1) == [2, 1, 0])
    #expect(counts.map(\.2) == [2010, 2010, nil])
    #expect(try magic.fetch(Music.Artist.all.aggregate(.max((\Music.Artist.$albums).count))) == 2)
    #expect(
      try magic.fetch(
        Music.Track.where(\.$seconds > 50).aggregate(.sum((\Music.Track.$tags).count))) == 4)
  }

  @Test func `relations to a type that was never saved are empty`() async throws {
    let fresh = try await MagicData.fresh()
    try await fresh.update(Music.Artist("Ann"))
    let all: Filter<Music.Artist> =
      (\Music.Artist.$albums).isEmpty && (\Music.Artist.$albums).count == 0
      && (\Music.Artist.$albums).sum(\.$year) == 0
      && !(\Music.Artist.$albums.$tracks).contains { \.$seconds > 0 }
    #expect(try await fresh.count(of: Music.Artist.self, where: all) == 1)
    #expect(try await fresh.count(of: Music.Artist.self, where: all) == 1)
    #expect(
      try await fresh.fetch(Music.Artist.all.values((\Music.Artist.$albums).max(\.$year))) == [nil])
    try await fresh.update(Music.Album("First", year: 1, by: Music.Artist("Bob")))
    #expect(
      try await fresh.count(of: Music.Artist.self, where: (\Music.Artist.$albums).isEmpty) == 1)
  }

  @Test func `a collection can't be fetched as a value`() throws {
    #expect(throws: MagicError.self) { try magic.fetch(Music.Artist.all.values(\.$albums)) }
    #expect(throws: MagicError.self) { try magic.fetch(Music.Artist.all.values(\.$albums.$tracks)) }
    #expect(throws: MagicError.self) { try magic.fetch(Music.Playlist.all.values(\.$tracks)) }
  }

  @Test func `filters on relations work for removals, counts and lazy collections`() throws {
    let mix = try #require(try magic.objects(of: Music.Playlist.self).first)
    #expect(try magic.fetch(mix.guests.where((\Music.Artist.$albums).count == 2).count) == 1)
    let ann = try #require(try magic.objects(of: Music.Artist.self).first)
    #expect(
      try magic.fetch(ann.albums.where((\Music.Album.$tracks).count == 2)).map(\.title) == ["First"]
    )
    #expect(try magic.removeAll(Music.Album.where((\Music.Album.$tracks).isEmpty)) == 1)
  }

  /// The tables that a statement scans if it chooses between two plans.
  private static let either = [
    "MusicAlbum", "magicdata_3", "magicdata_1", "magicdata_4", "magicdata_1", "MusicArtist",
  ]

  /// Filters with the tables that they scan and the indexes that they use, as in `EXPLAIN QUERY
  /// PLAN`. A condition without an index either reads all related rows once and finds the artists
  /// by their keys, or reads the albums of each artist. The statement chooses by testing the first
  /// albums.
  private static let planned: [(Filter<Music.Artist>, scanned: [String], [String])] = [
    ((\Music.Artist.$albums).isEmpty, ["MusicArtist"], ["(artist=?)"]),
    (
      (\Music.Artist.$albums).contains { \.$year == 2010 }, Self.either,
      ["(rowid=?)", "(artist=?)"]
    ),
    (
      (\Music.Artist.$albums).allSatisfy { \.$title == "x" },
      ["MusicAlbum", "magicdata_3", "magicdata_1", "MusicArtist", "magicdata_4", "magicdata_1"]
        + ["MusicArtist"], ["(artist=?)"]
    ),
    ((\Music.Artist.$albums).count > 1, ["MusicArtist"], ["(artist=?)"]),
    ((\Music.Artist.$albums).sum(\.$year) > 1, ["magicdata_1"], ["(rowid=?)"]),
    ((\Music.Artist.$albums.$tracks).count > 1, ["MusicArtist"], ["(artist=?)", "(album=?)"]),
    (
      (\Music.Artist.$albums.$tracks.$tags).contains { \.$word == "x" },
      ["magicdata_3"], ["COVERING INDEX MusicTrack_tags", "(rowid=?)"]
    ),
    (
      (\Music.Artist.$albums.$tracks.$playlists).max(\.$name) == "x",
      ["magicdata_3"], ["COVERING INDEX MusicPlaylist_tracks", "(rowid=?)"]
    ),
  ]

  @Test(arguments: planned.indices)
  func `each filter becomes a subquery that uses the available indexes`(index: Int) throws {
    let (filter, scanned, indexes) = Self.planned[index]
    let condition = try filter.sql(in: magic)
    let sql: SQL = "SELECT 1 FROM MusicArtist WHERE \(condition)"
    let plan = try magic.database.read { try $0.explain(sql) }
    let text = plan.allSteps.map(\.detail).joined(separator: "; ")
    // The names of subqueries are in parentheses.
    #expect(plan.scannedTables.filter { !$0.hasPrefix("(") } == scanned, "\(text)")
    // A choice between two plans contains three subqueries.
    let subqueries = plan.allSteps.count { $0.detail.contains("SCALAR SUBQUERY") }
    #expect(subqueries <= (scanned.count > 2 ? 4 : 2), "\(text)")
    for index in indexes { #expect(text.contains(index), "\(text)") }
    #expect(!text.contains("AUTOMATIC"), "\(text)")
  }
}

import Conformance
import Foundation
import MagicData
import Testing
import TestSupport

/// A graph in memory that can be saved in a store.
private struct Graph {
  struct Artist {
    var name: String
    var albums: [Int] = []
  }
  struct Album {
    var title: String
    var year: Int?
    var artist: Int?
    var tracks: [Int] = []
  }
  struct Track {
    var name: String
    var seconds: Int
    var price: Double
    var rating: Int?
    var album: Int?
    var tags: [Int] = []
    /// The playlists that contain it, each once.
    var playlists: [Int] = []
  }
  struct Tag {
    var word: String
    var tracks: [Int] = []
  }
  struct Playlist {
    var name: String
    var tracks: [Int] = []
  }

  static let words = [
    "", "a", "A", "ab", "é", "e\u{301}", "a\0b", "%", "_", "'", "\"", "x'); DROP TABLE t; --",
    "\u{10ffff}", "日本", "?1", ":a", "\\",
  ]
  static let numbers = [
    0, 1, -1, 2, 3, 5, .max, .min, Int(Int32.max) + 1, 9_007_199_254_740_993,
  ]
  static let reals = [
    0, -0.0, 1, 0.5, -2.5, 0.1, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 1e300,
    9_007_199_254_740_992,
  ]

  var artists: [Artist] = []
  var albums: [Album] = []
  var tracks: [Track] = []
  var tags: [Tag] = []
  var playlists: [Playlist] = []

  init(_ random: inout SplitMix64) {
    func word(_ random: inout SplitMix64) -> String {
      Self.words.randomElement(using: &random) ?? ""
    }
    func some(_ count: Int, _ random: inout SplitMix64) -> Int? {
      count == 0 || Int.random(in: 0..<5, using: &random) == 0
        ? nil : Int.random(in: 0..<count, using: &random)
    }
    artists = (0..<Int.random(in: 0...6, using: &random)).map { _ in Artist(name: word(&random)) }
    for index in 0..<Int.random(in: 0...10, using: &random) {
      let artist = some(artists.count, &random)
      let year = Bool.random(using: &random) ? Int.random(in: 1990...1993, using: &random) : nil
      albums.append(Album(title: word(&random), year: year, artist: artist))
      if let artist { artists[artist].albums.append(index) }
    }
    tags = (0..<4).map { _ in Tag(word: word(&random)) }
    for index in 0..<Int.random(in: 0...25, using: &random) {
      let isEdge = Int.random(in: 0..<6, using: &random) == 0
      var track = Track(
        name: word(&random),
        seconds: isEdge
          ? Self.numbers.randomElement(using: &random) ?? 0 : .random(in: 0...5, using: &random),
        price: isEdge
          ? Self.reals.randomElement(using: &random) ?? 0
          : Double(Int.random(in: -4...4, using: &random)) / 2,
        rating: Bool.random(using: &random) ? .random(in: 0...3, using: &random) : nil,
        album: some(albums.count, &random))
      for tag in tags.indices where Int.random(in: 0..<3, using: &random) == 0 {
        track.tags.append(tag)
        tags[tag].tracks.append(index)
      }
      tracks.append(track)
      if let album = track.album { albums[album].tracks.append(index) }
    }
    for index in 0..<Int.random(in: 0...4, using: &random) {
      var playlist = Playlist(name: word(&random))
      for _ in 0..<Int.random(in: 0...6, using: &random) where !tracks.isEmpty {
        let track = Int.random(in: tracks.indices, using: &random)
        playlist.tracks.append(track)
        if tracks[track].playlists.last != index { tracks[track].playlists.append(index) }
      }
      playlists.append(playlist)
    }
  }

  /// Creates a store with the graph. The objects are in the order of the arrays.
  func saved() throws -> MagicData {
    let magic = try MagicData.fresh()
    let artists = artists.map { Music.Artist($0.name) }
    let albums = albums.map { album in
      Music.Album(album.title, year: album.year, by: album.artist.map { artists[$0] })
    }
    let tags = tags.map { Music.Tag($0.word) }
    let tracks = tracks.map { track in
      let made = Music.Track(
        track.name, seconds: track.seconds, price: track.price, rating: track.rating,
        on: track.album.map { albums[$0] })
      made.tags = MagicalSet(track.tags.map { tags[$0] })
      return made
    }
    try magic.update(artists)
    try magic.update(albums)
    try magic.update(tags)
    try magic.update(tracks)
    try magic.update(playlists.map { Music.Playlist($0.name, $0.tracks.map { tracks[$0] }) })
    return magic
  }
}

/// A filter of tracks, tags or artists, and the equivalent Swift predicate.
private struct Meaning<Object: MagicObject> {
  let filter: Filter<Object>
  let holds: (Graph, Int) -> Bool
}

/// A numeric expression and the equivalent Swift closure.
private struct Number<Object: MagicObject, Element: Codable & Comparable & MagicComparable> {
  let expression: MagicExpression<Object, Element>
  let value: (Graph, Int) -> Element?
}

private func sameBytes(_ left: String?, _ right: String?) -> Bool {
  left.map { Array($0.utf8) } == right.map { Array($0.utf8) }
}

private func precedes(_ left: String, _ right: String) -> Bool {
  left.utf8.lexicographicallyPrecedes(right.utf8)
}

extension Meaning {
  static func joined(
    _ depth: Int, _ random: inout SplitMix64, _ leaf: (inout SplitMix64) -> Meaning
  ) -> Meaning {
    guard depth > 0 else { return leaf(&random) }
    let left = joined(depth - 1, &random, leaf)
    switch Int.random(in: 0..<3, using: &random) {
    case 0: return Meaning(filter: !left.filter) { !left.holds($0, $1) }
    case 1:
      let right = joined(depth - 1, &random, leaf)
      return Meaning(filter: left.filter && right.filter) {
        left.holds($0, $1) && right.holds($0, $1)
      }
    default:
      let right = joined(depth - 1, &random, leaf)
      return Meaning(filter: left.filter || right.filter) {
        left.holds($0, $1) || right.holds($0, $1)
      }
    }
  }

  static func compared(_ number: Number<Object, Int>, _ random: inout SplitMix64) -> Meaning {
    let limit = Int.random(in: 0...3, using: &random)
    let value = number.value
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      return Meaning(filter: number.expression > limit) {
        value($0, $1).map { $0 > limit } ?? false
      }
    case 1:
      return Meaning(filter: number.expression <= limit) {
        value($0, $1).map { $0 <= limit } ?? false
      }
    case 2: return Meaning(filter: number.expression == limit) { value($0, $1) == limit }
    default: return Meaning(filter: number.expression != limit) { value($0, $1) != limit }
    }
  }
}

/// Returns a random filter of tracks.
private func track(_ depth: Int, _ random: inout SplitMix64) -> Meaning<Music.Track> {
  .joined(Int.random(in: 0...2, using: &random), &random) { random in
    let word = Graph.words.randomElement(using: &random) ?? ""
    let edge = Graph.numbers.randomElement(using: &random) ?? 0
    let real = Graph.reals.randomElement(using: &random) ?? 0
    switch Int.random(in: 0..<(depth > 0 ? 20 : 14), using: &random) {
    case 0: return Meaning(filter: \.$name == word) { sameBytes($0.tracks[$1].name, word) }
    case 1: return Meaning(filter: \.$name < word) { precedes($0.tracks[$1].name, word) }
    case 2: return Meaning(filter: \.$seconds == edge) { $0.tracks[$1].seconds == edge }
    case 3: return Meaning(filter: \.$seconds > edge) { $0.tracks[$1].seconds > edge }
    case 4: return Meaning(filter: \.$price <= real) { $0.tracks[$1].price <= real }
    case 5: return Meaning(filter: \.$price == real) { $0.tracks[$1].price == real }
    case 6: return Meaning(filter: \.$rating == nil) { $0.tracks[$1].rating == nil }
    case 7: return Meaning(filter: \.$rating != 2) { $0.tracks[$1].rating != 2 }
    case 8:
      return Meaning(filter: (\Music.Track.$name).contains(word)) {
        let (text, part) = (Array($0.tracks[$1].name.utf8), Array(word.utf8))
        return part.isEmpty || text.indices.contains { text[$0...].starts(with: part) }
      }
    case 9:
      return Meaning(filter: (\Music.Track.$name).hasPrefix(word)) {
        $0.tracks[$1].name.utf8.starts(with: word.utf8)
      }
    case 10:
      return Meaning(filter: \.$album.$title == word) { graph, index in
        sameBytes(graph.tracks[index].album.map { graph.albums[$0].title }, word)
      }
    case 11:
      return Meaning(filter: \.$album.$artist.$name != word) { graph, index in
        let artist = graph.tracks[index].album.flatMap { graph.albums[$0].artist }
        return !sameBytes(artist.map { graph.artists[$0].name }, word)
      }
    case 12: return .compared(trackNumber(&random), &random)
    case 13:
      return Meaning(filter: Filter(sql: "\(\.$album.$title) IS \(word)")) { graph, index in
        sameBytes(graph.tracks[index].album.map { graph.albums[$0].title }, word)
      }
    case 14:
      let inner = tag(depth - 1, &random)
      return Meaning(filter: (\Music.Track.$tags).contains { inner.filter }) { graph, index in
        graph.tracks[index].tags.contains { inner.holds(graph, $0) }
      }
    case 15:
      let inner = tag(depth - 1, &random)
      return Meaning(filter: (\Music.Track.$tags).allSatisfy { inner.filter }) { graph, index in
        graph.tracks[index].tags.allSatisfy { inner.holds(graph, $0) }
      }
    case 16:
      let inner = track(depth - 1, &random)
      return Meaning(filter: (\Music.Track.$tags.$tracks).contains { inner.filter }) {
        graph, index in
        graph.tracks[index].tags.contains { tag in
          graph.tags[tag].tracks.contains { inner.holds(graph, $0) }
        }
      }
    case 17:
      let inner = track(depth - 1, &random)
      return Meaning(filter: (\Music.Track.$album.$tracks).allSatisfy { inner.filter }) {
        graph, index in
        graph.tracks[index].album.map {
          graph.albums[$0].tracks.allSatisfy { inner.holds(graph, $0) }
        }
          ?? true
      }
    case 18:
      return Meaning(filter: (\Music.Track.$playlists).isEmpty) { $0.tracks[$1].playlists.isEmpty }
    default:
      let inner = track(depth - 1, &random)
      return Meaning(filter: (\Music.Track.$playlists.$tracks).contains { inner.filter }) {
        graph, index in
        graph.tracks[index].playlists.contains { playlist in
          graph.playlists[playlist].tracks.contains { inner.holds(graph, $0) }
        }
      }
    }
  }
}

/// Returns a random expression of tracks with small values.
private func trackNumber(_ random: inout SplitMix64) -> Number<Music.Track, Int> {
  switch Int.random(in: 0..<7, using: &random) {
  case 0:
    return Number(expression: (\Music.Track.$tags).count) { $0.tracks[$1].tags.count }
  case 1:
    return Number(expression: (\Music.Track.$playlists).count) { $0.tracks[$1].playlists.count }
  case 2:
    return Number(expression: (\Music.Track.$playlists.$tracks).count) { graph, index in
      graph.tracks[index].playlists.map { graph.playlists[$0].tracks.count }.reduce(0, +)
    }
  case 3:
    return Number(expression: (\Music.Track.$tags.$tracks).max(\.$rating)) { graph, index in
      graph.tracks[index].tags.flatMap { graph.tags[$0].tracks }
        .compactMap { graph.tracks[$0].rating }.max()
    }
  case 4:
    let word = Graph.words.randomElement(using: &random) ?? ""
    return Number(expression: (\Music.Track.$album.$tracks).count { \.$name == word }) {
      graph, index in
      graph.tracks[index].album.map { album in
        graph.albums[album].tracks.count { sameBytes(graph.tracks[$0].name, word) }
      } ?? 0
    }
  case 5:
    return Number(expression: \Music.Track.$rating * 2 - 1) {
      $0.tracks[$1].rating.map { $0 * 2 - 1 }
    }
  default:
    return Number(
      expression: (\Music.Track.$playlists).sum((\Music.Playlist.$tracks).sum(\.$rating))
    ) { graph, index in
      graph.tracks[index].playlists.flatMap { graph.playlists[$0].tracks }
        .compactMap { graph.tracks[$0].rating }.reduce(0, +)
    }
  }
}

/// Returns a random filter of tags.
private func tag(_ depth: Int, _ random: inout SplitMix64) -> Meaning<Music.Tag> {
  let word = Graph.words.randomElement(using: &random) ?? ""
  if depth > 0, Bool.random(using: &random) {
    let inner = track(depth - 1, &random)
    return Meaning(filter: (\Music.Tag.$tracks).contains { inner.filter }) { graph, index in
      graph.tags[index].tracks.contains { inner.holds(graph, $0) }
    }
  }
  let limit = Int.random(in: 0...8, using: &random)
  return Bool.random(using: &random)
    ? Meaning(filter: \.$word != word) { !sameBytes($0.tags[$1].word, word) }
    : Meaning(filter: (\Music.Tag.$tracks).count > limit) { $0.tags[$1].tracks.count > limit }
}

/// Returns a random filter of artists.
private func artist(_ depth: Int, _ random: inout SplitMix64) -> Meaning<Music.Artist> {
  .joined(Int.random(in: 0...2, using: &random), &random) { random in
    let year = Int.random(in: 1990...1993, using: &random)
    switch Int.random(in: 0..<6, using: &random) {
    case 0:
      return Meaning(filter: (\Music.Artist.$albums).isEmpty) { $0.artists[$1].albums.isEmpty }
    case 1:
      return Meaning(filter: (\Music.Artist.$albums).contains { \.$year == year }) { graph, index in
        graph.artists[index].albums.contains { graph.albums[$0].year == year }
      }
    case 2:
      return Meaning(filter: (\Music.Artist.$albums).min(\.$year) == year) { graph, index in
        graph.artists[index].albums.compactMap { graph.albums[$0].year }.min() == year
      }
    case 3:
      return .compared(
        Number(expression: (\Music.Artist.$albums.$tracks.$tags).count) { graph, index in
          graph.artists[index].albums.flatMap { graph.albums[$0].tracks }
            .map { graph.tracks[$0].tags.count }.reduce(0, +)
        }, &random)
    case 4:
      return .compared(
        Number(expression: (\Music.Artist.$albums).max((\Music.Album.$tracks).count)) {
          graph, index in
          graph.artists[index].albums.map { graph.albums[$0].tracks.count }.max()
        }, &random)
    default:
      let inner = track(depth, &random)
      return Meaning(filter: (\Music.Artist.$albums.$tracks).allSatisfy { inner.filter }) {
        graph, index in
        graph.artists[index].albums.flatMap { graph.albums[$0].tracks }
          .allSatisfy { inner.holds(graph, $0) }
      }
    }
  }
}

@Suite(.everyEngine, .requires(.functions)) struct RandomQueryTests {
  @Test(arguments: 0..<10)
  func `random queries return the same as closures in memory`(part: Int) throws {
    var random = SplitMix64(seed: 20_261_122 + UInt64(part))
    for round in 0..<4 {
      let graph = Graph(&random)
      let magic = try graph.saved()
      for number in 0..<30 {
        let meaning = track(2, &random)
        let expected = graph.tracks.indices.filter { meaning.holds(graph, $0) }
        let sql = try meaning.filter.sql(in: magic).text
        let found = try magic.objects(of: Music.Track.self, where: meaning.filter).map(\.name)
        try #require(
          zip(found, expected).allSatisfy { sameBytes($0, graph.tracks[$1].name) }
            && found.count == expected.count, "\(part) \(round) \(number): \(sql)")
        try compareValues(graph, magic, meaning, expected, &random)
      }
      for number in 0..<20 {
        let meaning = artist(1, &random)
        let expected = graph.artists.indices.filter { meaning.holds(graph, $0) }
        let sql = try meaning.filter.sql(in: magic).text
        let count = try magic.count(of: Music.Artist.self, where: meaning.filter)
        try #require(count == expected.count, "\(part) \(round) \(number): \(sql)")
      }
    }
  }

  /// Compares joined values, their order and the groups of the matching objects.
  private func compareValues(
    _ graph: Graph, _ magic: MagicData, _ meaning: Meaning<Music.Track>, _ found: [Int],
    _ random: inout SplitMix64
  ) throws {
    let number = trackNumber(&random)
    let rows = try magic.fetch(
      Music.Track.where(meaning.filter).ordered(by: .descending(number.expression)).values(
        \.$name, \.$album.$title, \.$album.$artist.$name, \.$price))
    // Swift's sort is stable. So is the query's order, because the row's key breaks ties.
    let sorted = found.map { ($0, number.value(graph, $0)) }.sorted { left, right in
      (left.1 ?? .min) > (right.1 ?? .min)
    }
    try #require(rows.count == sorted.count)
    for (row, (index, _)) in zip(rows, sorted) {
      let track = graph.tracks[index]
      let album = track.album.map { graph.albums[$0] }
      #expect(sameBytes(row.0, track.name))
      #expect(sameBytes(row.1, album?.title))
      #expect(sameBytes(row.2, album?.artist.map { graph.artists[$0].name }))
      #expect(row.3 == track.price)
    }
    let groups = try magic.fetch(
      Music.Track.where(meaning.filter).aggregate(
        .count, .max(\.$rating), by: number.expression, having: .count > 1))
    let expected = Dictionary(grouping: found) { number.value(graph, $0) }
      .filter { $0.value.count > 1 }
      .sorted { ($0.key ?? .min) < ($1.key ?? .min) }
    #expect(groups.map(\.key) == expected.map(\.key))
    #expect(groups.map(\.value.0) == expected.map(\.value.count))
    #expect(
      groups.map(\.value.1)
        == expected.map { $0.value.compactMap { graph.tracks[$0].rating }.max() })
  }
}

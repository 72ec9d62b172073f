import Foundation
import MagicData

// The objects, and the values of their properties. The module is isolated to the main actor by default. Objects,
// assets, keys, custom column values and enumerations with raw values aren't, because their protocols don't allow it.
// Only types that just conform to `Codable` have to be declared `nonisolated`.

nonisolated struct Place: Codable, Hashable {
  var latitude = 0.0
  var longitude = 0.0
}

nonisolated enum Release: Codable, Equatable {
  case single
  case album(discs: Int)
  case live(at: Place, year: Int)
}

enum Genre: String, Codable { case jazz, rock, folk }

enum Quality: Int, Codable, MagicComparable { case draft, good, best }

/// The international code of a recording.
struct RecordingCode: MagicPrimaryValue {
  static var fresh: RecordingCode? { nil }

  var text: String

  init(_ text: String) { self.text = text }

  init(from decoder: any Decoder) throws {
    text = try decoder.singleValueContainer().decode(String.self)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

/// The text of a song, stored in an asset with one line per verse.
struct Lyrics: AssetConvertible, Equatable {
  var verses: [String]

  init(_ verses: [String]) { self.verses = verses }

  init(assetData: Data) throws {
    verses = try String(assetData: assetData).components(separatedBy: "\n")
  }

  var assetData: Data { verses.joined(separator: "\n").assetData }
}

/// A drawing of a song's volume, stored in an asset as JSON.
struct Waveform: MagicalCodable, Equatable {
  var samples: [Int]
}

struct Label: MagicObject {
  @PrimaryMagicValue var name: String
  @ReverseMagicValue(\Album.$label) var albums: AsyncReverseMagicSet<Album>

  init() {}

  init(_ name: String) { self.name = name }
}

struct Artist: MagicObject {
  static var traits: [PropertyTrait] { [.unique(\Self.$name), .searched(\Self.$name)] }

  @PrimaryMagicValue var id: UUID
  @MagicValue var name: String
  @MagicValue var home: Place
  @MagicValue var genres: [Genre] = []
  @OptionalMagicValue var born: Date?
  @ReverseMagicValue(\Album.$artist) var albums: AsyncReverseMagicSet<Album>

  init() {}

  init(_ name: String, from home: Place = Place(), genres: [Genre] = []) {
    self.name = name
    self.home = home
    self.genres = genres
  }
}

struct Album: MagicObject {
  static var traits: [PropertyTrait] { [.onDelete(\Self.$artist, .cascade)] }

  @PrimaryMagicValue var id: Int
  @MagicValue var title: String
  @MagicValue var artist: Artist
  @OptionalMagicValue var label: Label?
  @MagicValue var release: Release = .single
  @MagicValue var quality: Quality = .good
  @MagicValue var tracks: [Track] = []
  @MagicValue var cover: MagicAsset<Data> = MagicAsset()

  init() {}

  init(_ title: String, by artist: Artist, tracks: [Track] = []) {
    self.title = title
    self.artist = artist
    self.tracks = tracks
  }
}

struct Track: MagicObject {
  @PrimaryMagicValue var code: RecordingCode
  @MagicValue var name: String
  @MagicValue var seconds: Int
  @OptionalMagicValue var start: Place?
  @MagicValue var lyrics: MagicAsset<Lyrics> = MagicAsset()
  @MagicValue var waveform: AsyncMagical<MagicAsset<Waveform>> = AsyncMagical(value: MagicAsset())
  @ReverseMagicValue(\Playlist.$tracks) var playlists: AsyncReverseMagicSet<Playlist>

  init() {}

  init(_ code: String, _ name: String, seconds: Int) {
    self.code = RecordingCode(code)
    self.name = name
    self.seconds = seconds
  }
}

struct Playlist: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @MagicValue var tracks: AsyncMagical<[Track]> = AsyncMagical(value: [])
  @MagicValue var favorites: MagicalSet<Track> = []
  @MagicValue var moods: [String: Track] = [:]

  init() {}

  init(_ name: String) { self.name = name }
}

/// An object that is a class. It isn't `Sendable`.
final class Concert: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var venue: Place
  @MagicValue var artists: MagicalSet<Artist> = []

  init() {}

  convenience init(at venue: Place, _ artists: MagicalSet<Artist>) {
    self.init()
    self.venue = venue
    self.artists = artists
  }
}

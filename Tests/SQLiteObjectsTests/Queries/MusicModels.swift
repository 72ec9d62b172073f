import Conformance
import Foundation
import MagicData

/// A music shop with references, reverse relations, arrays, sets, dictionaries and lazy
/// collections.
enum Music {
  struct Artist: MagicObject {
    static let tableName = "MusicArtist"

    @PrimaryMagicValue var id: Int
    @MagicValue var name: String
    @ReverseMagicValue(\Album.$artist) var albums: AsyncReverseMagicSet<Album>

    init() {}

    init(_ name: String) { self.name = name }
  }

  struct Album: MagicObject {
    static let tableName = "MusicAlbum"

    @PrimaryMagicValue var id: Int
    @MagicValue var title: String
    @OptionalMagicValue var year: Int?
    @OptionalMagicValue var artist: Artist?
    @ReverseMagicValue(\Track.$album) var tracks: AsyncReverseMagicSet<Track>

    init() {}

    init(_ title: String, year: Int? = nil, by artist: Artist? = nil) {
      self.title = title
      self.year = year
      self.artist = artist
    }
  }

  struct Track: MagicObject {
    static let tableName = "MusicTrack"

    @PrimaryMagicValue var id: UUID
    @MagicValue var name: String
    @MagicValue var seconds: Int
    @MagicValue var price: Double
    @OptionalMagicValue var rating: Int?
    @OptionalMagicValue var album: Album?
    @MagicValue var tags: MagicalSet<Tag>
    @ReverseMagicValue(\Playlist.$tracks) var playlists: AsyncReverseMagicSet<Playlist>

    init() {}

    init(
      _ name: String, seconds: Int, price: Double = 1, rating: Int? = nil, on album: Album? = nil
    ) {
      self.name = name
      self.seconds = seconds
      self.price = price
      self.rating = rating
      self.album = album
      tags = []
    }
  }

  struct Tag: MagicObject {
    static let tableName = "MusicTag"

    @PrimaryMagicValue var id: Int
    @MagicValue var word: String
    @ReverseMagicValue(\Track.$tags) var tracks: AsyncReverseMagicSet<Track>

    init() {}

    init(_ word: String) { self.word = word }
  }

  struct Playlist: MagicObject {
    static let tableName = "MusicPlaylist"

    @PrimaryMagicValue var id: Int
    @MagicValue var name: String
    @MagicValue var tracks: [Track]
    @MagicValue var guests: AsyncMagical<MagicalSet<Artist>>
    @MagicValue var roles: [String: Artist]

    init() {}

    init(_ name: String, _ tracks: [Track] = []) {
      self.name = name
      self.tracks = tracks
      guests = AsyncMagical(value: [])
      roles = [:]
    }
  }

  /// Creates a store with two artists with albums and one without, an album without an artist, and
  /// a track without an album.
  static func filled() throws -> MagicData {
    let magic = try MagicData.fresh()
    let (ann, bob, cem) = (Artist("Ann"), Artist("Bob"), Artist("Cem"))
    let first = Album("First", year: 1999, by: ann)
    let second = Album("Second", year: 2010, by: ann)
    let live = Album("Live", year: 2010, by: bob)
    let empty = Album("Empty")
    let tracks = [
      Track("a1", seconds: 100, price: 1, rating: 5, on: first),
      Track("a2", seconds: 200, price: 2, on: first),
      Track("a3", seconds: 300, price: 1.5, rating: 3, on: second),
      Track("b1", seconds: 400, price: 1, rating: 4, on: live),
      Track("lone", seconds: 50),
    ]
    let (slow, loud) = (Tag("slow"), Tag("loud"))
    tracks[0].tags = [slow]
    tracks[2].tags = [slow, loud]
    tracks[3].tags = [loud]
    let mix = Playlist("mix", [tracks[0], tracks[3], tracks[0]])
    mix.guests = AsyncMagical(value: [ann, bob])
    mix.roles = ["lead": ann, "bass": ann, "drums": bob]
    let none = Playlist("none")
    try magic.update([ann, bob, cem])
    try magic.update([first, second, live, empty])
    try magic.update(tracks)
    try magic.update([mix, none])
    return magic
  }
}

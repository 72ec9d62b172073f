import Foundation
import MagicData

// The programs of the guide "Coming from SQLiteData", line by line.

struct Artist: MagicObject {
  @PrimaryMagicValue var id: UUID
  @MagicValue var name: String
  @ReverseMagicValue(\Album.$artist) var albums: AsyncReverseMagicSet<Album>

  init() {}
}

struct Album: MagicObject {
  static var traits: [PropertyTrait] { [.onDelete(\Self.$artist, .cascade)] }

  @PrimaryMagicValue var id: Int
  @MagicValue var title: String
  @OptionalMagicValue var released: Date?
  @MagicValue var price: Decimal
  @MagicValue var genres: [String]
  @MagicValue var artist: Artist

  init() {}
}

struct Playlist: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @MagicValue var albums: [Album] = []

  init() {}
}

struct AlbumRow: Record, Equatable {
  static let tableName = "album"
  static let primaryKeyType = PrimaryKeyType.autoIncrement
  static var strategies: MappingStrategies {
    var strategies = MappingStrategies()
    strategies.uuids = .blob  // GRDB's default
    return strategies
  }

  var id: Int?
  var title: String
  var released: Date?
  var price: Decimal
  var genres: [String]
  var artistId: UUID
}

struct ArtistRow: Record {
  static let tableName = "artist"
  static let isReadOnly = true
  static var strategies: MappingStrategies {
    var strategies = MappingStrategies()
    strategies.uuids = .blob  // GRDB's default
    return strategies
  }

  var id: UUID
  var name: String
}

struct PlaylistRow: Record {
  static let tableName = "playlist"
  static let isReadOnly = true

  var id: Int
  var name: String
}

/// Counts the values that `importLibrary` can't read.
func libraryProblems(_ connection: Connection) throws -> ImportProblems {
  let checks: [(table: String, problem: String, condition: SQL)] = [
    ("artist", "id isn't a UUID", "typeof(id) <> 'blob' OR length(id) <> 16"),
    ("artist", "name isn't a text", "typeof(name) <> 'text'"),
    ("album", "title isn't a text", "typeof(title) <> 'text'"),
    ("album", "price isn't a decimal", "typeof(price) <> 'text'"),
    ("album", "genres isn't JSON", "typeof(genres) <> 'text' OR NOT json_valid(genres)"),
    (
      "album", "released isn't a date from 0000 to 9999",
      """
      released IS NOT NULL
      AND (datetime(released) IS NULL OR released NOT GLOB '[0-9][0-9][0-9][0-9]-*')
      """
    ),
    ("playlist", "name isn't a text", "typeof(name) <> 'text'"),
    ("playlistAlbum", "position isn't an integer", "typeof(position) <> 'integer'"),
  ]
  var problems = ImportProblems()
  for (table, problem, condition) in checks {
    guard try connection.tableExists(table) else {
      problems.counts["\(table): missing table"] = 1
      continue
    }
    let count = try connection.rows(
      "SELECT count(*) FROM \(identifier: table) WHERE \(condition)", as: Int.self)[0]
    problems.add("\(table): \(problem)", count)
  }
  guard problems.counts.isEmpty else { return problems }
  for (table, parent, count) in try connection.rows(
    #"SELECT "table", parent, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2"#,
    as: String.self, String.self, Int.self)
  {
    problems.add("\(table): no such row in \(parent)", count)
  }
  return problems
}

/// Copies all artists, albums and playlists. If a value can't be read, throws and copies nothing.
func importLibrary(from path: String, into magic: MagicData) throws {
  let file = try Database(path: path, options: .readOnly)
  let (artists, albums, playlists) = try file.read { connection in
    let problems = try libraryProblems(connection)
    guard problems.counts.isEmpty else { throw problems }

    var artists: [UUID: Artist] = [:]
    for row in try connection.objects(of: ArtistRow.self) {
      let artist = Artist()
      artist.id = row.id
      artist.name = row.name
      artists[row.id] = artist
    }
    var albums: [Int: Album] = [:]
    for row in try connection.fetch(AlbumRow.ordered(by: .column("id"))) {
      guard let id = row.id, let artist = artists[row.artistId] else { continue }
      let album = Album()
      album.id = id
      album.title = row.title
      album.released = row.released
      album.price = row.price
      album.genres = row.genres
      album.artist = artist
      albums[id] = album
    }
    var playlists: [Int: Playlist] = [:]
    for row in try connection.objects(of: PlaylistRow.self) {
      let playlist = Playlist()
      playlist.id = row.id
      playlist.name = row.name
      playlists[row.id] = playlist
    }
    for (playlist, album) in try connection.rows(
      "SELECT playlistId, albumId FROM playlistAlbum ORDER BY playlistId, position",
      as: Int.self, Int.self)
    {
      if let album = albums[album] { playlists[playlist]?.albums.append(album) }
    }
    return (Array(artists.values), Array(albums.values), Array(playlists.values))
  }
  try magic.transaction {
    try magic.insert(artists)
    try magic.update(albums)
    try magic.update(playlists)
  }
}

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

struct ArtistRecord: Record, Equatable {
  static let tableName = "artists"
  static let primaryKeyType = PrimaryKeyType.uuid
  static var strategies: MappingStrategies {
    var strategies = MappingStrategies()
    strategies.uuids = .lowercaseText  // SQLiteData's default
    return strategies
  }

  var id: UUID?
  var name: String
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

/// Counts the values that `importLibrary` can't read. `uuids` is the form of the artists' keys.
func libraryProblems(
  _ connection: Connection, uuids: UUIDStrategy = ArtistRow.strategies.uuids
) throws -> ImportProblems {
  let noUUID: SQL =
    switch uuids {
    case .blob: "typeof(id) <> 'blob' OR length(id) <> 16"
    case .text: "typeof(id) <> 'text' OR length(id) <> 36 OR id GLOB '*[^-0-9A-F]*'"
    case .lowercaseText: "typeof(id) <> 'text' OR length(id) <> 36 OR id GLOB '*[^-0-9a-f]*'"
    }
  let noDecimal: SQL =
    "typeof(price) <> 'text' OR price GLOB '*[^-.0-9]*' OR price NOT GLOB '*[0-9]*'"
  let noTexts: SQL = """
    typeof(genres) <> 'text' OR CASE WHEN NOT json_valid(genres) THEN 1 ELSE
    json_type(genres) <> 'array' OR EXISTS (SELECT 1 FROM json_each(genres) WHERE type <> 'text') END
    """
  // SQLite's functions accept days up to 31 in each month. '+0 days' corrects such a date.
  let noDate: SQL = """
    released IS NOT NULL AND (datetime(released) IS NULL
    OR date(substr(released, 1, 10), '+0 days') IS NOT substr(released, 1, 10))
    """
  let checks: [(table: String, column: String, problem: String, condition: SQL)] = [
    ("artist", "id", "isn't a UUID", noUUID),
    ("artist", "name", "isn't a text", "typeof(name) <> 'text'"),
    ("album", "id", "isn't an integer", "typeof(id) <> 'integer'"),
    ("album", "title", "isn't a text", "typeof(title) <> 'text'"),
    ("album", "price", "isn't a decimal", noDecimal),
    ("album", "genres", "isn't an array of texts", noTexts),
    ("album", "released", "isn't a date from 0000 to 9999", noDate),
    ("album", "artistId", "has no value", "artistId IS NULL"),
    ("playlist", "id", "isn't an integer", "typeof(id) <> 'integer'"),
    ("playlist", "name", "isn't a text", "typeof(name) <> 'text'"),
    ("playlistAlbum", "playlistId", "has no value", "playlistId IS NULL"),
    ("playlistAlbum", "albumId", "has no value", "albumId IS NULL"),
    ("playlistAlbum", "position", "isn't an integer", "typeof(position) <> 'integer'"),
  ]
  var problems = ImportProblems()
  for (table, column, problem, condition) in checks {
    let columns = try connection.rows(
      "SELECT name FROM pragma_table_info(\(table))", as: String.self)
    guard !columns.isEmpty else {
      problems.counts["\(table): missing table"] = 1
      continue
    }
    guard columns.contains(column) else {
      problems.add("\(table): missing column \(column)")
      continue
    }
    let count = try connection.rows(
      "SELECT count(*) FROM \(identifier: table) WHERE \(condition)", as: Int.self)[0]
    problems.add("\(table): \(column) \(problem)", count)
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

import Foundation
import GRDB

/// A database that GRDB creates from its own record types and migrations. Its content is the fixture
/// `Tests/GuidesTests/GRDB.sql`.
enum GRDBLibrary {
  struct Artist: Codable, FetchableRecord, PersistableRecord {
    var id: UUID
    var name: String
  }

  struct Album: Codable, FetchableRecord, MutablePersistableRecord {
    var id: Int64?
    var title: String
    var released: Date?
    var price: Decimal
    var genres: [String]
    var artistId: UUID

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
  }

  struct Playlist: Codable, FetchableRecord, MutablePersistableRecord {
    var id: Int64?
    var name: String

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
  }

  struct PlaylistAlbum: Codable, FetchableRecord, PersistableRecord {
    var playlistId: Int64
    var albumId: Int64
    var position: Int
  }

  static func create(_ path: String) throws {
    let queue = try DatabaseQueue(path: path)
    var migrator = DatabaseMigrator()
    migrator.registerMigration("library") { db in
      try db.create(table: "artist") { table in
        table.primaryKey("id", .blob)
        table.column("name", .text).notNull()
      }
      try db.create(table: "album") { table in
        table.autoIncrementedPrimaryKey("id")
        table.column("title", .text).notNull()
        table.column("released", .datetime)
        table.column("price", .text).notNull()
        table.column("genres", .jsonText).notNull()
        table.belongsTo("artist", onDelete: .cascade).notNull()
      }
      try db.create(table: "playlist") { table in
        table.autoIncrementedPrimaryKey("id")
        table.column("name", .text).notNull()
      }
      try db.create(table: "playlistAlbum") { table in
        table.belongsTo("playlist", onDelete: .cascade).notNull()
        table.belongsTo("album", onDelete: .cascade).notNull()
        table.column("position", .integer).notNull()
        table.primaryKey(["playlistId", "position"])
      }
    }
    try migrator.migrate(queue)
    try queue.write { db in
      let nina = Artist(
        id: UUID(
          uuid: (
            0xE6, 0x21, 0xE1, 0xF8, 0xC3, 0x6C, 0x49, 0x5A, 0x93, 0xFC, 0x0C, 0x24, 0x7A, 0x3E,
            0x6E, 0x5F
          )), name: "Nina Simone")
      let bill = Artist(
        id: UUID(
          uuid: (
            0x0A, 0x8B, 0x8E, 0x0C, 0x6F, 0x7B, 0x4B, 0x8E, 0x9C, 0x0D, 0x2D, 0x1F, 0x3B, 0x5A,
            0x7C, 0x99
          )), name: "Bill Evans")
      try nina.insert(db)
      try bill.insert(db)
      var albums = [
        Album(
          title: "Pastel Blues", released: Date(timeIntervalSince1970: -133_920_000),
          price: Decimal(125) / 10, genres: ["jazz", "blues"], artistId: nina.id),
        Album(
          title: "Waltz for Debby", released: Date(timeIntervalSince1970: -248_499_000 + 0.25),
          price: Decimal(999) / 100, genres: ["jazz"], artistId: bill.id),
        Album(title: "Explorations", price: 10, genres: [], artistId: bill.id),
      ]
      for index in albums.indices { try albums[index].insert(db) }
      var playlist = Playlist(name: "Evening")
      try playlist.insert(db)
      for (position, album) in [2, 0, 2].enumerated() {
        try PlaylistAlbum(
          playlistId: playlist.id ?? 0, albumId: albums[album].id ?? 0, position: position
        )
        .insert(db)
      }
    }
    try queue.close()
  }

  /// Returns SQL that creates the same schema and rows.
  static func script(_ path: String) throws -> String {
    let queue = try DatabaseQueue(path: path)
    return try queue.read { db in
      var lines = try String.fetchAll(
        db,
        sql: """
          SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid
          """)
      for table in ["grdb_migrations", "artist", "album", "playlist", "playlistAlbum"] {
        let columns = try db.columns(in: table).map { "quote(\"\($0.name)\")" }
        lines += try String.fetchAll(
          db,
          sql: """
            SELECT 'INSERT INTO \(table) VALUES(' || \(columns.joined(separator: " || ',' || ")) || ')'
            FROM \(table) ORDER BY rowid
            """)
      }
      return lines.map { $0 + ";\n" }.joined()
    }
  }
}

extension GRDBLibrary {
  /// Reads an album with GRDB.
  static func album(_ id: Int64, in path: String) throws -> Album {
    let queue = try DatabaseQueue(path: path)
    return try queue.read { db in try Album.find(db, key: id) }
  }
}

/// Changes the film that ``readFilms`` returns, with GRDB.
func changeFilm(_ path: String) throws {
  let queue = try DatabaseQueue(path: path)
  try queue.write { db in
    var studio = StudioRow(id: UUID(), name: "Prana")
    try studio.insert(db)
    var film = try FilmRow.find(db, key: 1)
    film.title = "Nosferatu"
    film.studio = studio.z_index ?? 0
    film.poster = nil
    try film.update(db)
  }
  try queue.close()
}

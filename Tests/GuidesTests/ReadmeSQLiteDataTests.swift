import Foundation
import MagicData
import TestSupport
import Testing

/// Tests the guide for databases of GRDB and SQLiteData.
///
/// `GRDB.sql` is the content of a file that GRDB 7.10.0 has created. The program `Guides` in
/// `Benchmarks` writes it, and checks that GRDB still creates the same.
@Suite struct ReadmeSQLiteDataTests {
  let folder: TestFolder
  let path: String
  let magic: MagicData

  static let nina = UUID(
    uuid: (
      0xE6, 0x21, 0xE1, 0xF8, 0xC3, 0x6C, 0x49, 0x5A, 0x93, 0xFC, 0x0C, 0x24, 0x7A, 0x3E, 0x6E, 0x5F
    ))
  static let bill = UUID(
    uuid: (
      0x0A, 0x8B, 0x8E, 0x0C, 0x6F, 0x7B, 0x4B, 0x8E, 0x9C, 0x0D, 0x2D, 0x1F, 0x3B, 0x5A, 0x7C, 0x99
    ))

  init() throws {
    folder = try TestFolder()
    path = folder.file("library.sqlite")
    let source = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "GRDB.sql")
    try Database(path: path).executeMultipleChanges(
      SQL(unchecked: String(contentsOf: source, encoding: .utf8)))
    magic = try MagicData(path: folder.file("new"))
  }

  // MARK: - Copying into objects

  @Test func `rows become objects, and foreign keys become relations`() throws {
    try importLibrary(from: path, into: magic)

    let album = try magic.object(of: Album.self, primary: 2)
    #expect(album.title == "Waltz for Debby")
    #expect(album.artist.id == Self.bill)
    #expect(album.artist.name == "Bill Evans")
    #expect(album.price == Decimal(string: "9.99"))
    #expect(album.genres == ["jazz"])
    #expect(album.released == Date(timeIntervalSince1970: -248_499_000 + 0.25))
    #expect(try magic.object(of: Album.self, primary: 3).released == nil)

    let bill = try magic.object(of: Artist.self, primary: Self.bill)
    #expect(Set(try bill.albums.get().map(\.id)) == [2, 3])
    let playlist = try magic.object(of: Playlist.self, primary: 1)
    #expect(playlist.albums.map(\.id) == [3, 1, 3])

    try magic.remove(bill)
    #expect(try magic.object(of: Album.self).map(\.id) == [1])
  }

  @Test(arguments: [
    ("DROP TABLE playlist", ["playlist: missing table": 1]),
    (
      "UPDATE album SET released = '12026-01-01 00:00:00.000'; UPDATE album SET released = 'soon' WHERE id = 3",
      ["album: released isn't a date from 0000 to 9999": 3]
    ),
    (
      "UPDATE album SET artistId = x'00' WHERE id < 3; INSERT INTO playlistAlbum VALUES (7, 7, 7)",
      [
        "album: no such row in artist": 2, "playlistAlbum: no such row in playlist": 1,
        "playlistAlbum: no such row in album": 1,
      ]
    ),
    ("UPDATE album SET genres = '[jazz'", ["album: genres isn't an array of texts": 3]),
    (
      #"UPDATE album SET genres = '{"a":1}'; UPDATE album SET genres = '[1]' WHERE id = 1"#,
      ["album: genres isn't an array of texts": 3]
    ),
    ("UPDATE album SET price = x'39' WHERE id = 1", ["album: price isn't a decimal": 1]),
    ("UPDATE album SET price = 'twelve'", ["album: price isn't a decimal": 3]),
    (
      "UPDATE album SET released = '1995-02-30 00:00:00.000' WHERE id = 1",
      ["album: released isn't a date from 0000 to 9999": 1]
    ),
    (
      "ALTER TABLE album RENAME COLUMN price TO cost; ALTER TABLE artist DROP COLUMN name",
      ["album: missing column price": 1, "artist: missing column name": 1]
    ),
    (
      "UPDATE artist SET id = hex(id)",
      ["artist: id isn't a UUID": 2]
    ),
  ])
  func `values that can't be read are counted, and nothing is copied`(
    change: String, problems: [String: Int]
  ) throws {
    var options = Database.Options()
    options.foreignKeys = false
    try Database(path: path, options: options).executeMultipleChanges(
      SQL(unchecked: change))
    let error = #expect(throws: ImportProblems.self) {
      try importLibrary(from: path, into: magic)
    }
    #expect(error?.counts == problems)
    #expect(try magic.count(of: Artist.self) == 0)
    #expect(try magic.count(of: Album.self) == 0)
  }

  @Test func `the check accepts the form in which SQLiteData stores UUIDs`() throws {
    var options = Database.Options()
    options.foreignKeys = false
    let database = try Database(path: path, options: options)
    for (table, column) in [("artist", "id"), ("album", "artistId")] {
      let hex: SQL = "hex(\(identifier: column))"
      try database.executeChange(
        """
        UPDATE \(identifier: table) SET \(identifier: column) = lower(substr(\(hex), 1, 8) || '-'
        || substr(\(hex), 9, 4) || '-' || substr(\(hex), 13, 4) || '-' || substr(\(hex), 17, 4)
        || '-' || substr(\(hex), 21))
        """)
    }
    let found = try database.read { connection in
      try UUIDStrategy.allCases.map { try libraryProblems(connection, uuids: $0).counts }
    }
    let problems = ["artist: id isn't a UUID": 2]
    #expect(UUIDStrategy.allCases == [.text, .lowercaseText, .blob])
    #expect(found == [problems, [:], problems])
  }

  @Test func `a value that only the record detects is named, and nothing is copied`() throws {
    try Database(path: path).executeChange("UPDATE album SET price = '1.2.3' WHERE id = 2")
    let error = #expect(throws: RowDecodingError.self) {
      try importLibrary(from: path, into: magic)
    }
    #expect(error?.column == "price")
    #expect(try magic.count(of: Artist.self) == 0)
  }

  // MARK: - Adopting the tables

  @Test func `a record type reads and writes the table that GRDB created`() throws {
    let database = try Database(path: path)
    let albums = try database.fetch(AlbumRow.ordered(by: .column("id")))
    let schema = try Self.schema(of: database)
    #expect(albums.map(\.title) == ["Pastel Blues", "Waltz for Debby", "Explorations"])
    #expect(albums[0].genres == ["jazz", "blues"])
    #expect(albums[1].artistId == Self.bill)

    let saved = try database.write { connection in
      try connection.update(
        AlbumRow(
          title: "Moon Beams", released: Date(timeIntervalSinceReferenceDate: 0.5),
          price: 11, genres: ["jazz"], artistId: Self.bill))
    }
    #expect(saved.id == 4)
    let row = try database.rows(
      "SELECT released, price, genres, typeof(artistId) FROM album WHERE id = 4",
      as: String.self, String.self, String.self, String.self)[0]
    #expect(row == ("2001-01-01 00:00:00.5", "11", #"["jazz"]"#, "blob"))
    #expect(try database.read { try $0.check(of: AlbumRow.self) }.isEmpty)
    #expect(try Self.schema(of: database).filter { !$0.contains("magicdata_meta") } == schema)
  }

  /// The tables that SQLiteData's documentation recommends.
  private func makeSQLiteDataFile() throws -> String {
    let path = folder.file("sqlitedata.sqlite")
    let database = try Database(path: path, options: Self.withUUIDs)
    try database.executeMultipleChanges(
      """
      CREATE TABLE "artists"(
        "id" TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()),
        "name" TEXT NOT NULL
      ) STRICT;
      CREATE TABLE "albums"(
        "id" TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()),
        "title" TEXT NOT NULL,
        "released" TEXT,
        "genres" TEXT NOT NULL,
        "artistID" TEXT NOT NULL REFERENCES "artists"("id") ON DELETE CASCADE
      ) STRICT;
      INSERT INTO artists VALUES ('0a8b8e0c-6f7b-4b8e-9c0d-2d1f3b5a7c99', 'Bill Evans');
      INSERT INTO albums VALUES ('e621e1f8-c36c-495a-93fc-0c247a3e6e5f', 'Explorations',
        '1961-03-01 00:00:00.000', '["jazz"]', '0a8b8e0c-6f7b-4b8e-9c0d-2d1f3b5a7c99');
      """)
    return path
  }

  private static var withUUIDs: Database.Options {
    var options = Database.Options()
    options.prepareConnection = { connection in
      try connection.addFunction("uuid", isUsableInSchema: true) { UUID().uuidString.lowercased() }
    }
    return options
  }

  private struct UppercaseArtist: Record {
    static let tableName = "artists"
    var id: UUID
    var name: String
  }

  private struct AlbumRecord: Record {
    static let tableName = "albums"
    var id: UUID
    var title: String
    var released: Date?
    var genres: [String]
    var artistID: UUID
  }

  @Test func `a record type reads and writes the table that SQLiteData created`() throws {
    let database = try Database(path: makeSQLiteDataFile(), options: Self.withUUIDs)
    try database.write { connection in
      var bill = try connection.object(of: ArtistRecord.self, primary: Self.bill)
      bill.name = "Bill"
      try connection.update(bill)
      try connection.update(ArtistRecord(name: "Nina Simone"))
    }
    let rows = try database.rows(
      "SELECT id, name FROM artists ORDER BY name", as: String.self, String.self)
    #expect(rows.map(\.1) == ["Bill", "Nina Simone"])
    #expect(rows[0].0 == Self.bill.uuidString.lowercased())
    #expect(rows[1].0 == rows[1].0.lowercased())
    // The albums still reference the artist.
    #expect(try database.rows("PRAGMA foreign_key_check", as: String.self).isEmpty)
  }

  @Test func `lowercase UUIDs of SQLiteData are read, but a lookup needs the migration`() throws {
    let database = try Database(path: makeSQLiteDataFile(), options: Self.withUUIDs)
    let albums = try database.fetch(AlbumRecord.all)
    #expect(albums.map(\.artistID) == [Self.bill])
    #expect(albums[0].released == Date(timeIntervalSince1970: -278_899_200))
    #expect(albums[0].genres == ["jazz"])
    #expect(
      try database.read { try $0.object(of: UppercaseArtist.self, ifPresent: Self.bill) } == nil)

    try database.migrate([
      Migration(
        "uppercase UUIDs", .sql("UPDATE artists SET id = upper(id)"),
        .sql("UPDATE albums SET id = upper(id), artistID = upper(artistID)"))
    ])
    let bill = try database.read { try $0.object(of: UppercaseArtist.self, primary: Self.bill) }
    #expect(bill.name == "Bill Evans")
    try database.write { connection in
      try connection.update(
        AlbumRecord(
          id: UUID(), title: "Moon Beams", released: nil, genres: [], artistID: Self.bill))
    }
    #expect(
      try database.rows(
        "SELECT count(*) FROM albums JOIN artists ON artists.id = artistID", as: Int.self)
        == [2])
  }

  @Test func `without the function that a default calls, inserting into its table throws`() throws {
    let database = try Database(path: makeSQLiteDataFile())
    let error = #expect(throws: SQLiteError.self) {
      try database.write { try $0.update(UppercaseArtist(id: UUID(), name: "x")) }
    }
    #expect(error?.message.contains("uuid") == true)
    #expect(try database.fetch(UppercaseArtist.all).count == 1)
  }

  private static func schema(of database: Database) throws -> [String] {
    try database.rows(
      "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name", as: String.self)
  }
}

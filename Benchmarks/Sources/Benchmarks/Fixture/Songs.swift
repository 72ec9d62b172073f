import Foundation
import MagicData

struct BandObject: MagicObject {
  static let tableName = "Band"

  @PrimaryMagicValue var id: Int
  @MagicValue var name: String

  init() { name = "" }
}

struct DiscObject: MagicObject {
  static let tableName = "Disc"

  @PrimaryMagicValue var id: Int
  @MagicValue var title: String
  @OptionalMagicValue var band: BandObject?

  init() { title = "" }
}

struct SongObject: MagicObject {
  static let tableName = "Song"

  @PrimaryMagicValue var id: Int
  @MagicValue var title: String
  @MagicValue var seconds: Int
  @MagicValue var genre: Int
  @OptionalMagicValue var disc: DiscObject?

  init() { (title, seconds, genre) = ("", 0, 0) }
}

/// A database of songs, created when a case first uses it: ten songs on each disc and ten discs of
/// each band. The fixture's first item determines the names of the first song and band.
struct Songs {
  let path: String
  let count: Int

  init(_ fixture: Fixture) throws {
    path =
      URL(filePath: fixture.path).deletingLastPathComponent().appending(path: "songs.sqlite").path
    count = Self.count(in: fixture)
    if FileManager.default.fileExists(atPath: path) { return }
    let magic = try MagicData(settingsAt: path)
    // Saving an object creates the tables of its type and of the related types.
    try magic.update(SongObject())
    try magic.removeAll(SongObject.all)
    let (count, first) = (count, fixture.items[0])
    let (discs, bands) = ((count + 9) / 10, (count + 99) / 100)
    try magic.database.write { connection in
      for sql in [
        "\(Self.numbers(bands)) INSERT INTO Band (id, name) SELECT i, printf('The band number %d', i) FROM n",
        "UPDATE Band SET name = \(first.name) WHERE id = 1",
        "\(Self.numbers(discs)) INSERT INTO Disc (id, title, band) SELECT i, printf('The disc number %d', i), (i + 9) / 10 FROM n",
        "\(Self.numbers(count)) INSERT INTO Song (id, title, seconds, genre, disc) SELECT i, printf('The song number %d', i), i * 7919 % 1009, i * 31 % 2003, (i + 9) / 10 FROM n",
        "UPDATE Song SET title = \(first.name), seconds = \(first.quantity & 1_023) WHERE id = 1",
      ] as [SQL] { try connection.executeChange(sql) }
    }
    try magic.database.close()
  }

  static func count(in fixture: Fixture) -> Int { max(100, fixture.items.count / 4) }

  /// Queries that read every page of the tables into the connection's cache.
  static let warm = [
    "SELECT sum(length(title) + seconds + disc) FROM Song", "SELECT sum(length(title)) FROM Disc",
    "SELECT sum(length(name)) FROM Band",
  ]

  private static func numbers(_ count: Int) -> SQL {
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))"
  }
}

extension MagicData {
  /// Opens the store of songs and reads it into the cache.
  convenience init(warm songs: Songs) throws {
    try self.init(settingsAt: songs.path)
    for sql in Songs.warm { _ = try database.executeQuery(SQL(unchecked: sql)) }
  }
}

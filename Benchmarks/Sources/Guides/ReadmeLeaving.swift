import Foundation
import GRDB

// GRDB's record types in the article "Leaving", line by line. They describe the tables that MagicData creates for
// the types in the article.

struct FilmRow: Codable, FetchableRecord, MutablePersistableRecord {
  static let databaseTableName = "Film"
  static let maker = belongsTo(
    StudioRow.self, key: "maker", using: ForeignKey(["studio"], to: ["z_index"]))
  static let castLinks = hasMany(CastLink.self, using: ForeignKey(["owner"], to: ["id"]))
  static let cast = hasMany(
    PersonRow.self, through: castLinks.order(Column("position")), using: CastLink.person,
    key: "cast")

  static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
    .uppercaseString
  }

  var id: Int64?
  var title: String
  var code: String
  var year: Int
  var price: Decimal
  var released: Date?
  var genres: [String]
  var studio: Int64
  var sequel: Int64?
  var poster: String?

  mutating func didInsert(_ inserted: InsertionSuccess) {
    id = inserted.rowID
  }
}

struct StudioRow: Codable, FetchableRecord, MutablePersistableRecord {
  static let databaseTableName = "Studio"

  static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
    .uppercaseString
  }

  var z_index: Int64?
  var id: UUID
  var name: String

  mutating func didInsert(_ inserted: InsertionSuccess) {
    z_index = inserted.rowID
  }
}

struct PersonRow: Codable, FetchableRecord, MutablePersistableRecord {
  static let databaseTableName = "Person"

  var z_index: Int64?
  var name: String

  mutating func didInsert(_ inserted: InsertionSuccess) {
    z_index = inserted.rowID
  }
}

struct CastLink: Codable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "Film_cast"
  static let person = belongsTo(PersonRow.self, using: ForeignKey(["target"], to: ["z_index"]))

  var owner: Int64
  var position: Int64
  var target: Int64
}

/// A film with its studio and its cast, which GRDB loads with one more query.
struct FilmInfo: Decodable, FetchableRecord {
  var film: FilmRow
  var maker: StudioRow
  var cast: [PersonRow]
}

func readFilms(_ path: String) throws -> [FilmInfo] {
  let queue = try DatabaseQueue(path: path)
  return try queue.read { db in
    try FilmRow
      .including(required: FilmRow.maker)
      .including(all: FilmRow.cast)
      .order(Column("title"))
      .asRequest(of: FilmInfo.self)
      .fetchAll(db)
  }
}

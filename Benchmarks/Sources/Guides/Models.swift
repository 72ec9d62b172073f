import Foundation
import MagicData

// The types of the article "Leaving", as in Tests/GuidesTests/ReadmeLeavingTests.swift.

struct Film: MagicObject {
  static var traits: [PropertyTrait] {
    [
      .indexed(\Self.$year), .unique(\Self.$code), .searched(\Self.$title),
      .onDelete(\Self.$studio, .cascade),
    ]
  }

  @PrimaryMagicValue var id: Int
  @MagicValue var title: String
  @MagicValue var code: String
  @MagicValue var year: Int
  @MagicValue var price: Decimal = 0
  @OptionalMagicValue var released: Date?
  @MagicValue var genres: [String] = []
  @MagicValue var studio: Studio
  @OptionalMagicValue var sequel: Film?
  @MagicValue var cast: [Person] = []
  @MagicValue var crew: MagicalSet<Person> = []
  @MagicValue var roles: [String: Person] = [:]
  @MagicValue var poster: MagicAsset<Data> = MagicAsset()

  init() {}
}

struct Studio: MagicObject {
  @PrimaryMagicValue var id: UUID
  @MagicValue var name: String

  init() {}
}

struct Person: MagicObject {
  @MagicValue var name: String

  init() {}
}

/// A record for the table `album` of ``GRDBLibrary``, as in the article "Coming from SQLiteData".
struct AlbumRow: Record {
  static let tableName = "album"
  static let primaryKeyType = PrimaryKeyType.autoIncrement
  static var strategies: MappingStrategies {
    var strategies = MappingStrategies()
    strategies.uuids = .blob
    return strategies
  }

  var id: Int?
  var title: String
  var released: Date?
  var price: Decimal
  var genres: [String]
  var artistId: UUID
}

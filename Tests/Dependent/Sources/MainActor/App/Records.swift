import Foundation
import MagicData

/// A tempo in beats per minute, stored as an integer.
struct Tempo: ColumnValue, Bindable, Hashable {
  var beats: Int

  init(beats: Int) { self.beats = beats }

  init(databaseValue: Value) throws(SQLiteError) { beats = try Int(databaseValue: databaseValue) }

  var databaseValue: Value { .integer(Int64(beats)) }
}

struct Play: Record, Equatable {
  static let primaryKeyType = PrimaryKeyType.autoIncrement
  static let traits: [PropertyTrait] = [.indexed("code")]

  var id: Int?
  var code: String
  var at: Date
  var place: Place?
  var genre = Genre.rock
  var quality = Quality.good
  var release = Release.single
}

struct Setting: Record, Equatable {
  static let primaryKey = "name"

  var name: String
  var value: String
}

struct Rating: Record, Equatable {
  static let primaryKeys = ["listener", "code"]

  var listener: Int
  var code: String
  var stars: Int
}

/// A nested type that is isolated to the main actor, which the compiler accepts in a record.
struct Corner: Codable {
  var x = 0
  var names: [String] = []
}

struct Room: Record {
  static let primaryKeyType = PrimaryKeyType.autoIncrement

  var id: Int?
  var corner = Corner()
  var other: Corner?
  var corners: [Corner] = []
}

/// A record that is a class. It isn't `Sendable`.
final class Session: Record {
  static let primaryKeyType = PrimaryKeyType.autoIncrement

  var id: Int?
  var plays = 0
}

/// A row of an SQL query.
nonisolated struct PlayCount: Decodable, Equatable {
  var code: String
  var plays: Int
}

/// A row of a query for objects.
nonisolated struct AlbumLine: Decodable, Equatable {
  var title: String
  var artist: Name

  nonisolated struct Name: Decodable, Equatable { var name: String }
}

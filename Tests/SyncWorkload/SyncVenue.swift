package import MagicData
import SQLiteCore

/// A record that the migrations of the workload change. Its table and columns depend on the number
/// of migrations that a program knows.
package enum SyncVenue {
  private struct First: Record {
    static let tableName = "Venue"
    static let prototype: First? = First(id: "", name: "", size: 0)
    var id: String
    var name: String
    var size: Int
  }

  private struct Second: Record {
    static let tableName = "Venue"
    static let prototype: Second? = Second(id: "", title: "", size: 0)
    var id: String
    var title: String
    var size: Int
    var country: String?
  }

  private struct Third: Record {
    static let tableName = "Place"
    static let prototype: Third? = Third(id: "", title: "", size: 0)
    var id: String
    var title: String
    var size: Int
    var country: String?
  }

  package static let migrations = [
    Migration(
      "titles", .renameColumn("name", to: "title", in: "Venue"),
      .addColumn(ColumnDefinition("country", .text, isOptional: true), in: "Venue")),
    Migration(
      "places", .renameTable("Venue", to: "Place"), .sql("UPDATE Place SET size = size * 10")),
  ]

  /// Returns the type of a program with a number of migrations.
  package static func type(_ level: Int) -> any Record.Type {
    [First.self, Second.self, Third.self][level]
  }

  /// Inserts, changes or deletes a row.
  ///
  /// - Parameters:
  ///   - level: The number of migrations that the program knows.
  ///   - number: A random number.
  ///   - text: A unique text.
  ///   - connection: The connection.
  static func change(
    _ level: Int, _ number: Int, _ text: String, _ connection: Connection
  ) throws {
    let table: SQL = "\(identifier: level < 2 ? "Venue" : "Place")"
    let name: SQL = "\(identifier: level < 1 ? "name" : "title")"
    let id = "venue \(number % 5)"
    switch number / 5 % 6 {
    case 0: try connection.executeChange("DELETE FROM \(table) WHERE id = \(id)")
    case 1: try connection.executeChange("UPDATE \(table) SET size = \(number) WHERE id = \(id)")
    case 2 where level > 0:
      try connection.executeChange("UPDATE \(table) SET country = \(text) WHERE id = \(id)")
    default:
      try connection.executeChange(
        """
        INSERT INTO \(table) (id, \(name), size) VALUES (\(id), \(text), \(number))
        ON CONFLICT (id) DO UPDATE SET \(name) = excluded.\(name)
        """)
    }
  }
}

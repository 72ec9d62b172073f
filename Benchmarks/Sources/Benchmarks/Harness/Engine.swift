/// Who does the work, by its name in the table and the JSON.
enum Engine: String {
  /// SQLite's C functions called from Swift by hand: the limit.
  case c
  /// GRDB's statements and row cursors, by column position.
  case grdbStatement = "grdb-statement"
  /// GRDB with a record type written by hand.
  case grdbRecord = "grdb-record"
  /// GRDB with a record type that Codable derives.
  case grdbCodable = "grdb-codable"
}

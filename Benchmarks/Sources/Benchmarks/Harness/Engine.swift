/// An engine that does the work, by its name in the table and the JSON.
enum Engine: String, CaseIterable, Codable {
  /// SQLite's C functions called from Swift by hand: the limit.
  case c
  /// MagicData's statements, bound and read by position.
  case statement
  /// MagicData's one-line calls, which bind by interpolation and read typed columns.
  case rows
  /// MagicData's plain Codable values.
  case record
  /// MagicData's objects: property wrappers over shared values.
  case object
  /// GRDB's statements and row cursors, by column position.
  case grdbStatement = "grdb-statement"
  /// GRDB with a record type written by hand.
  case grdbRecord = "grdb-record"
  /// GRDB with a record type that Codable derives.
  case grdbCodable = "grdb-codable"
}

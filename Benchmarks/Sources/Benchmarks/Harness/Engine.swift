/// An engine that performs the operations of a case. The raw value is its name in the table and the
/// JSON.
enum Engine: String, CaseIterable, Codable {
  /// SQLite's C functions, called directly from Swift: the baseline.
  case c
  /// MagicData's prepared statements, bound and read by position.
  case statement
  /// MagicData's one-line calls with SQL interpolation and typed columns.
  case rows
  /// MagicData's records, which are plain Codable values.
  case record
  /// MagicData's objects, whose property wrappers share their values.
  case object
  /// GRDB's statements and row cursors, read by position.
  case grdbStatement = "grdb-statement"
  /// GRDB with a hand-written record type.
  case grdbRecord = "grdb-record"
  /// GRDB with a record type that derives its conformance from Codable.
  case grdbCodable = "grdb-codable"
}

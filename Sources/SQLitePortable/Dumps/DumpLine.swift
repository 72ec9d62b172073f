import SQLiteCore

/// A line of a dump.
enum DumpLine: Equatable {
  /// What all of the database is: first of all.
  case database(DumpHeader)
  /// A table, whose rows follow, or what comes behind all rows: an index, a view, a trigger, a virtual
  /// table.
  case object(DumpObject)
  /// The values of a row.
  case row([Value])
  /// The highest row id that a table with AUTOINCREMENT has given.
  case sequence(table: String, value: Int64)
  /// The end, how many rows there were, and how many other lines between the first and this one.
  case end(rows: Int64, others: Int64)
}

/// What all of a database is.
struct DumpHeader: Equatable {
  static let currentFormat: Int64 = 1

  var format = Self.currentFormat
  var encoding = "UTF-8"
  var userVersion: Int64 = 0
  var applicationID: Int64 = 0
}

/// A thing of the schema.
struct DumpObject: Equatable {
  enum Kind: String {
    case table, index, view, trigger
    case virtualTable
    /// SQLite's statistics: a table that only SQLite itself makes.
    case statistics
  }

  let kind: Kind
  let name: String
  let sql: String
  /// The columns of the rows that follow.
  var columns: [String] = []
}

/// A language for the lines.
protocol DumpFormat: Sendable {
  /// Writes a line without its end.
  func text(of line: DumpLine) -> [UInt8]
  /// Reads a line without its end.
  ///
  /// - Throws: Any error that says what is wrong.
  func line(_ text: [UInt8]) throws -> DumpLine
}

/// What is wrong with a line.
struct DumpLineError: Error, CustomStringConvertible {
  let description: String
}

/// A file that contains a database: a SQLite database file, or human-readable text.
///
///     try DataFile.sqlite(path: "app.sqlite3").copy(to: .spon(path: "app.spon"))
///
/// The text formats are lossless. They contain the schema with its indexes, views, triggers and
/// virtual tables, each value in its storage class and with all bits, rowids, and AUTOINCREMENT
/// counters. Each row and each object of the schema is one line. See <doc:DumpFormat>.
public enum DataFile: Hashable, Sendable {
  /// A SQLite database file.
  case sqlite(path: String)
  /// A text file with lines of SPON.
  case spon(path: String)
  /// A text file with lines of JSON (<https://jsonlines.org>).
  case json(path: String)

  /// The path of the file.
  public var path: String {
    switch self {
    case .sqlite(let path), .spon(let path), .json(let path): path
    }
  }

  var format: (any DumpFormat)? {
    switch self {
    case .sqlite: nil
    case .spon: SPONLines()
    case .json: JSONLines()
    }
  }
}

/// The progress of a dump, a restore or a copy.
public struct DumpProgress: Hashable, Sendable {
  /// The name of the table to which the copied rows belong. Empty if a database is copied page by
  /// page.
  public var table = ""
  /// The number of copied rows of all tables. Zero if a database is copied page by page.
  public var rows = 0
  /// The number of bytes of text, or of database pages, that have been written or read. Zero while
  /// a database of a cluster is filled.
  public var bytes = 0
  /// The total number of bytes to read, or nil while text is written or a database of a cluster is
  /// filled.
  public var totalBytes: Int?
}

/// An error that is thrown if a dump is invalid, or if a database contains a value or an object
/// that can't be dumped or restored.
public enum DumpError: Error, Hashable, CustomStringConvertible {
  /// A line is invalid. The values are its number, starting at 1, and the reason.
  case line(Int, String)
  /// The file ends before the last line of the dump. The value is the path of the file.
  case truncated(String)
  /// A row of a table can't be copied, for example because a text isn't valid UTF-8. The values of
  /// the case are the name of the table and the reason.
  case value(table: String, reason: String)
  /// An object of the schema can't be created from its SQL. The values are its name and the reason.
  case schema(name: String, reason: String)

  /// A message with the line, table or object and the reason.
  public var description: String {
    switch self {
    case .line(let number, let reason): "line \(number): \(reason)"
    case .truncated(let path): "\(path): the file is truncated: its last line is missing"
    case .value(let table, let reason):
      "a value in the table “\(table)” cannot be written: \(reason)"
    case .schema(let name, let reason): "“\(name)” cannot be created: \(reason)"
    }
  }
}

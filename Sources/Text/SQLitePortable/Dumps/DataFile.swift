/// A file that holds a database: SQLite's own, or a text that people read.
///
///     try DataFile.sqlite(path: "app.sqlite3").copy(to: .spon(path: "app.spon"))
///
/// The texts hold all that the database says: the schema with its indexes, views, triggers and virtual
/// tables, each value in its own storage class and to the last bit, row ids and counters. They are made
/// of lines, one for each row. See <doc:DumpFormat>.
public enum DataFile: Hashable, Sendable {
  /// A database file of SQLite.
  case sqlite(path: String)
  /// Lines of SPON.
  case spon(path: String)
  /// Lines of JSON (<https://jsonlines.org>).
  case json(path: String)

  /// Where the file is.
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

/// How far a database has been written as text, or made of it.
public struct DumpProgress: Hashable, Sendable {
  /// The table whose rows are being copied; empty between two databases, which are copied by pages.
  public var table = ""
  /// How many rows have been copied, of all tables; 0 between two databases.
  public var rows = 0
  /// How many bytes of text, or of pages, have been written or read.
  public var bytes = 0
  /// How many bytes there are to be read; nil while text is written.
  public var totalBytes: Int?
}

/// A text that is no database, or a database that cannot be text.
public enum DumpError: Error, Hashable, CustomStringConvertible {
  /// A line cannot be read: its number, from 1, and why.
  case line(Int, String)
  /// The file ends before its last line.
  case truncated(String)
  /// A table holds what no text can say.
  case value(table: String, reason: String)
  /// A statement of the schema does not work here.
  case schema(name: String, reason: String)

  /// The error and its line, table or name.
  public var description: String {
    switch self {
    case .line(let number, let reason): "line \(number): \(reason)"
    case .truncated(let path): "\(path): the file ends before its last line"
    case .value(let table, let reason): "a value in the table “\(table)” has no text: \(reason)"
    case .schema(let name, let reason): "“\(name)” cannot be made: \(reason)"
    }
  }
}

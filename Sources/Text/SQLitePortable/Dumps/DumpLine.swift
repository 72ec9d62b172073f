import SQLiteCore

/// A line of a dump.
enum DumpLine: Equatable {
  /// The settings of the database, in the first line.
  case database(DumpHeader)
  /// A table, followed by its rows, or an object after all rows: an index, view, trigger or virtual
  /// table.
  case object(DumpObject)
  /// A row, with its values in the order of the table's columns.
  case row([Value])
  /// The largest rowid that a table with AUTOINCREMENT has assigned.
  case sequence(table: String, value: Int64)
  /// The last line, with the number of rows and of other lines between the first line and this one.
  case end(rows: Int64, others: Int64)
}

/// The settings of a database, in the first line of its dump.
struct DumpHeader: Equatable {
  static let currentFormat: Int64 = 1

  var format = Self.currentFormat
  var encoding = "UTF-8"
  var userVersion: Int64 = 0
  var applicationID: Int64 = 0
}

/// An object of the schema in a dump, such as a table or an index.
struct DumpObject: Equatable {
  enum Kind: String {
    case table, index, view, trigger
    case virtualTable
    /// The statistics of ANALYZE, in a table that only SQLite can create.
    case statistics

    /// Whether the rows of the object follow in a dump. The rows of a virtual table are in its
    /// shadow tables instead.
    var hasRows: Bool { self == .table || self == .statistics }

    /// The type of the object in `sqlite_schema`.
    var type: String { hasRows || self == .virtualTable ? "table" : rawValue }
  }

  let kind: Kind
  let name: String
  var sql: String
  /// The names of the columns in the rows that follow. Empty if no rows follow.
  var columns: [String] = []
}

/// A text format for the lines of a dump.
protocol DumpFormat: Sendable {
  /// Returns the text of a line, without the line break.
  func text(of line: DumpLine) -> [UInt8]
  /// Parses the text of a line, without the line break.
  ///
  /// - Throws: An error that describes what is invalid.
  func line(_ text: [UInt8]) throws -> DumpLine
}

/// An error that is thrown if a line of a dump is invalid.
struct DumpLineError: Error, CustomStringConvertible {
  let description: String
}

/// The named fields of a line that isn't a row.
///
/// Both the SPON and the JSON format write such a line as an object that contains the kind of the
/// line and these fields.
struct DumpFields {
  enum Field {
    case value(Value)
    case values([Value])
  }

  var kind: String
  var fields: [(name: String, value: Field)]

  init(_ kind: String, _ fields: [(name: String, value: Field)]) {
    self.kind = kind
    self.fields = fields
  }

  /// Creates the fields of a line, or returns nil for a row.
  init?(_ line: DumpLine) {
    switch line {
    case .row: return nil
    case .database(let header):
      self.init(
        "database",
        [
          ("format", .value(.integer(header.format))), ("encoding", .value(.text(header.encoding))),
          ("userVersion", .value(.integer(header.userVersion))),
          ("applicationID", .value(.integer(header.applicationID))),
        ])
    case .object(let object):
      self.init(
        object.kind.rawValue,
        [("name", .value(.text(object.name))), ("sql", .value(.text(object.sql)))])
      if object.kind.hasRows {
        fields.append(("columns", .values(object.columns.map { .text($0) })))
      }
    case .sequence(let table, let value):
      self.init("sequence", [("table", .value(.text(table))), ("value", .value(.integer(value)))])
    case .end(let rows, let others):
      self.init("end", [("rows", .value(.integer(rows))), ("others", .value(.integer(others)))])
    }
  }

  /// Returns the line that the fields represent.
  ///
  /// - Throws: ``DumpLineError`` if the kind is unknown, or if a field is missing or has another
  ///   type.
  func line() throws -> DumpLine {
    if kind == "database" {
      return .database(
        DumpHeader(
          format: try integer("format"), encoding: try text("encoding"),
          userVersion: try integer("userVersion"), applicationID: try integer("applicationID")))
    }
    if kind == "sequence" {
      return .sequence(table: try text("table"), value: try integer("value"))
    }
    if kind == "end" { return .end(rows: try integer("rows"), others: try integer("others")) }
    guard let kind = DumpObject.Kind(rawValue: kind) else {
      throw DumpLineError(description: "“\(kind)” is not a kind of object in a database")
    }
    var object = DumpObject(kind: kind, name: try text("name"), sql: try text("sql"))
    if kind.hasRows { object.columns = try texts("columns") }
    return .object(object)
  }

  private func field(_ name: String) throws -> Field {
    guard let field = fields.first(where: { $0.name == name }) else {
      throw DumpLineError(description: "the \(kind) has no “\(name)”")
    }
    return field.value
  }

  private func text(_ name: String) throws -> String {
    guard case .value(.text(let text)) = try field(name) else { throw wrong(name, "text") }
    return text
  }

  private func integer(_ name: String) throws -> Int64 {
    guard case .value(.integer(let integer)) = try field(name) else {
      throw wrong(name, "an integer")
    }
    return integer
  }

  private func texts(_ name: String) throws -> [String] {
    guard case .values(let values) = try field(name) else { throw wrong(name, "a list of texts") }
    return try values.map { value in
      guard case .text(let text) = value else { throw wrong(name, "a list of texts") }
      return text
    }
  }

  private func wrong(_ name: String, _ expected: String) -> DumpLineError {
    DumpLineError(description: "“\(name)” of the \(kind) is not \(expected)")
  }
}

import CSQLite

/// The abilities of the libsqlite3 that runs, which may be another one than the program was built with.
public enum Capabilities {
  /// SQLite's version, such as `3.40.1` (`sqlite3_libversion`).
  public static var version: String {
    unsafe sqlite3_libversion().map { unsafe String(cString: $0) } ?? ""
  }

  /// SQLite's version as a number, such as 3040001 (`sqlite3_libversion_number`).
  public static var versionNumber: Int { Int(sqlite3_libversion_number()) }

  /// The options that SQLite was compiled with, without `SQLITE_` (`sqlite3_compileoption_get`).
  public static var compileOptions: [String] {
    var options: [String] = []
    while let option = unsafe sqlite3_compileoption_get(Int32(options.count)) {
      options.append(unsafe String(cString: option))
    }
    return options
  }

  /// Returns whether SQLite was compiled with an option (`sqlite3_compileoption_used`).
  ///
  /// - Parameter option: The option, with or without `SQLITE_`.
  public static func has(_ option: String) -> Bool {
    unsafe sqlite3_compileoption_used(option) != 0
  }

  /// Whether several threads may use SQLite (`sqlite3_threadsafe`).
  public static var isThreadSafe: Bool { sqlite3_threadsafe() != 0 }

  /// Whether changes can be seen row by row, with their values.
  public static var hasPreupdateHook: Bool { csqlite_has_preupdate() != 0 }

  /// Whether a database can be turned into bytes and back.
  public static var hasSerialize: Bool { csqlite_has_serialize() != 0 }

  /// Whether there is full-text search of the fifth kind.
  public static var hasFTS5: Bool { has("ENABLE_FTS5") }

  /// Whether there are R*Tree tables.
  public static var hasRTree: Bool { has("ENABLE_RTREE") }

  /// Whether the sessions extension is there.
  public static var hasSessions: Bool { has("ENABLE_SESSION") && hasPreupdateHook }

  /// Whether there are mathematical functions such as `sin`.
  public static var hasMathFunctions: Bool { has("ENABLE_MATH_FUNCTIONS") }

  /// Whether `RETURNING` is understood (3.35).
  public static var hasReturning: Bool { versionNumber >= 3_035_000 }

  /// Whether tables can be `STRICT` (3.37).
  public static var hasStrictTables: Bool { versionNumber >= 3_037_000 }

  /// Whether JSON can be stored in binary form (3.45).
  public static var hasBinaryJSON: Bool { versionNumber >= 3_045_000 }
}

/// A limit of one connection (<https://www.sqlite.org/limits.html>).
public struct ConnectionLimit: RawRepresentable, Hashable, Sendable {
  /// SQLite's number of the limit.
  public let rawValue: Int32

  /// Wraps SQLite's number.
  ///
  /// - Parameter rawValue: A `SQLITE_LIMIT_…`.
  public init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  /// The size of a text, a blob or a row in bytes.
  public static let length = ConnectionLimit(rawValue: SQLITE_LIMIT_LENGTH)
  /// The size of SQL in bytes.
  public static let sqlLength = ConnectionLimit(rawValue: SQLITE_LIMIT_SQL_LENGTH)
  /// The columns of a table, a result or an index.
  public static let columns = ConnectionLimit(rawValue: SQLITE_LIMIT_COLUMN)
  /// The depth of an expression.
  public static let expressionDepth = ConnectionLimit(rawValue: SQLITE_LIMIT_EXPR_DEPTH)
  /// The parts of a compound SELECT.
  public static let compoundSelect = ConnectionLimit(rawValue: SQLITE_LIMIT_COMPOUND_SELECT)
  /// The instructions of a compiled statement.
  public static let instructions = ConnectionLimit(rawValue: SQLITE_LIMIT_VDBE_OP)
  /// The arguments of a function.
  public static let functionArguments = ConnectionLimit(rawValue: SQLITE_LIMIT_FUNCTION_ARG)
  /// The attached databases.
  public static let attachedDatabases = ConnectionLimit(rawValue: SQLITE_LIMIT_ATTACHED)
  /// The size of a LIKE or GLOB pattern in bytes.
  public static let patternLength = ConnectionLimit(rawValue: SQLITE_LIMIT_LIKE_PATTERN_LENGTH)
  /// The highest number of a parameter.
  public static let variables = ConnectionLimit(rawValue: SQLITE_LIMIT_VARIABLE_NUMBER)
  /// The depth of triggers.
  public static let triggerDepth = ConnectionLimit(rawValue: SQLITE_LIMIT_TRIGGER_DEPTH)
  /// The threads that help one statement.
  public static let workerThreads = ConnectionLimit(rawValue: SQLITE_LIMIT_WORKER_THREADS)
}

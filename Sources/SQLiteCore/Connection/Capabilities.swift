import CSQLite

/// The version and compile-time options of the SQLite library that is loaded at run time. That
/// library may differ from the one with which the program was built.
public enum Capabilities {
  /// The version of SQLite, such as `3.40.1` (`sqlite3_libversion`).
  public static var version: String {
    unsafe sqlite3_libversion().map { unsafe String(cString: $0) } ?? ""
  }

  /// The version of SQLite as a number, such as 3040001 for 3.40.1 (`sqlite3_libversion_number`).
  public static var versionNumber: Int { Int(sqlite3_libversion_number()) }

  /// The options with which SQLite was compiled, without the prefix `SQLITE_`
  /// (`sqlite3_compileoption_get`).
  public static var compileOptions: [String] {
    var options: [String] = []
    while let option = unsafe sqlite3_compileoption_get(Int32(options.count)) {
      options.append(unsafe String(cString: option))
    }
    return options
  }

  /// Returns whether SQLite was compiled with an option (`sqlite3_compileoption_used`).
  ///
  /// - Parameter option: The name of the option, with or without the prefix `SQLITE_`.
  public static func has(_ option: String) -> Bool {
    unsafe sqlite3_compileoption_used(option) != 0
  }

  /// A Boolean value that indicates whether SQLite can be used from several threads
  /// (`sqlite3_threadsafe`).
  public static var isThreadSafe: Bool { sqlite3_threadsafe() != 0 }

  /// A Boolean value that indicates whether SQLite has the preupdate hook, which reports changed
  /// rows with their values.
  public static var hasPreupdateHook: Bool { csqlite_has_preupdate() != 0 }

  /// A Boolean value that indicates whether SQLite can convert a database to bytes and back
  /// (`sqlite3_serialize`).
  public static var hasSerialize: Bool { csqlite_has_serialize() != 0 }

  /// A Boolean value that indicates whether SQLite can load extensions from shared libraries
  /// (`sqlite3_load_extension`). The SQLite of Apple's systems can't.
  public static var hasLoadableExtensions: Bool { csqlite_has_load_extension() != 0 }

  /// A Boolean value that indicates whether SQLite can encrypt databases (`sqlite3_key_v2`).
  /// SQLCipher can; the package's trait `SQLCipher` links it.
  public static var hasEncryption: Bool { csqlite_has_key() != 0 }

  /// A Boolean value that indicates whether SQLite has the full-text search extension FTS5.
  public static var hasFTS5: Bool { has("ENABLE_FTS5") }

  /// A Boolean value that indicates whether SQLite has R*Tree tables.
  public static var hasRTree: Bool { has("ENABLE_RTREE") }

  /// A Boolean value that indicates whether SQLite has the session extension, and also the
  /// preupdate hook that the extension needs.
  public static var hasSessions: Bool { has("ENABLE_SESSION") && hasPreupdateHook }

  /// A Boolean value that indicates whether SQLite has mathematical functions such as `sin`.
  public static var hasMathFunctions: Bool { has("ENABLE_MATH_FUNCTIONS") }

  /// A Boolean value that indicates whether SQLite supports `RETURNING` (version 3.35 or later).
  public static var hasReturning: Bool { versionNumber >= 3_035_000 }

  /// A Boolean value that indicates whether SQLite supports `STRICT` tables (version 3.37 or
  /// later).
  public static var hasStrictTables: Bool { versionNumber >= 3_037_000 }

  /// A Boolean value that indicates whether SQLite supports JSONB, its binary form of JSON (version
  /// 3.45 or later).
  public static var hasBinaryJSON: Bool { versionNumber >= 3_045_000 }
}

/// A limit of a connection (<https://www.sqlite.org/limits.html>).
///
/// Set limits in ``Database/Options/limits``, or with ``Connection/setLimit(_:to:)`` for one
/// connection.
public struct ConnectionLimit: RawRepresentable, Hashable, Sendable {
  /// The number that SQLite uses for the limit, such as 0 for `SQLITE_LIMIT_LENGTH`.
  public let rawValue: Int32

  /// Creates a limit from the number that SQLite uses for it.
  ///
  /// - Parameter rawValue: The value of a `SQLITE_LIMIT_…` constant.
  public init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  /// The maximum size of a text, a blob or a row, in bytes.
  public static let length = ConnectionLimit(rawValue: SQLITE_LIMIT_LENGTH)
  /// The maximum size of an SQL statement, in bytes.
  public static let sqlLength = ConnectionLimit(rawValue: SQLITE_LIMIT_SQL_LENGTH)
  /// The maximum number of columns in a table, a result or an index.
  public static let columns = ConnectionLimit(rawValue: SQLITE_LIMIT_COLUMN)
  /// The maximum depth of an expression.
  public static let expressionDepth = ConnectionLimit(rawValue: SQLITE_LIMIT_EXPR_DEPTH)
  /// The maximum number of SELECTs that one statement combines with UNION, INTERSECT or EXCEPT.
  public static let compoundSelect = ConnectionLimit(rawValue: SQLITE_LIMIT_COMPOUND_SELECT)
  /// The maximum number of instructions in a compiled statement.
  public static let instructions = ConnectionLimit(rawValue: SQLITE_LIMIT_VDBE_OP)
  /// The maximum number of arguments of a function.
  public static let functionArguments = ConnectionLimit(rawValue: SQLITE_LIMIT_FUNCTION_ARG)
  /// The maximum number of attached databases.
  public static let attachedDatabases = ConnectionLimit(rawValue: SQLITE_LIMIT_ATTACHED)
  /// The maximum size of a LIKE or GLOB pattern, in bytes.
  public static let patternLength = ConnectionLimit(rawValue: SQLITE_LIMIT_LIKE_PATTERN_LENGTH)
  /// The highest number that a parameter can have, such as 7 in `?7`.
  public static let variables = ConnectionLimit(rawValue: SQLITE_LIMIT_VARIABLE_NUMBER)
  /// The maximum depth of recursive triggers.
  public static let triggerDepth = ConnectionLimit(rawValue: SQLITE_LIMIT_TRIGGER_DEPTH)
  /// The maximum number of auxiliary threads that one statement can use.
  public static let workerThreads = ConnectionLimit(rawValue: SQLITE_LIMIT_WORKER_THREADS)

  /// The error of a limit that is set to a negative value.
  static var negativeValueError: SQLiteError {
    SQLiteError(.range, "a limit must not be negative")
  }
}

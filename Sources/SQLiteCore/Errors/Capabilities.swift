import CSQLite

/// What the libsqlite3 that runs can do. It may be another one than the program was built with.
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

  /// Says whether SQLite was compiled with an option (`sqlite3_compileoption_used`).
  ///
  /// - Parameter option: The option, with or without `SQLITE_`.
  public static func has(_ option: String) -> Bool {
    unsafe sqlite3_compileoption_used(option) != 0
  }

  /// Says whether several threads may use SQLite (`sqlite3_threadsafe`).
  public static var isThreadSafe: Bool { sqlite3_threadsafe() != 0 }

  /// Says whether changes can be seen row by row, with their values.
  public static var hasPreupdateHook: Bool { csqlite_has_preupdate() != 0 }

  /// Says whether a database can be turned into bytes and back.
  public static var hasSerialize: Bool { csqlite_has_serialize() != 0 }

  /// Says whether there is full-text search of the fifth kind.
  public static var hasFTS5: Bool { has("ENABLE_FTS5") }

  /// Says whether there are R*Tree tables.
  public static var hasRTree: Bool { has("ENABLE_RTREE") }

  /// Says whether the sessions extension is there.
  public static var hasSessions: Bool { has("ENABLE_SESSION") && hasPreupdateHook }

  /// Says whether there are mathematical functions such as `sin`.
  public static var hasMathFunctions: Bool { has("ENABLE_MATH_FUNCTIONS") }

  /// Says whether `RETURNING` is understood (3.35).
  public static var hasReturning: Bool { versionNumber >= 3_035_000 }

  /// Says whether tables can be `STRICT` (3.37).
  public static var hasStrictTables: Bool { versionNumber >= 3_037_000 }

  /// Says whether JSON can be stored in binary form (3.45).
  public static var hasBinaryJSON: Bool { versionNumber >= 3_045_000 }
}

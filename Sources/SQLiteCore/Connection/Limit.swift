import CSQLite

/// A limit of one connection (<https://www.sqlite.org/limits.html>).
public struct Limit: RawRepresentable, Hashable, Sendable {
  /// SQLite's number of the limit.
  public let rawValue: Int32

  /// Wraps SQLite's number.
  ///
  /// - Parameter rawValue: A `SQLITE_LIMIT_…`.
  public init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  /// The size of a text, a blob or a row in bytes.
  public static let length = Limit(rawValue: SQLITE_LIMIT_LENGTH)
  /// The size of SQL in bytes.
  public static let sqlLength = Limit(rawValue: SQLITE_LIMIT_SQL_LENGTH)
  /// The columns of a table, a result or an index.
  public static let columns = Limit(rawValue: SQLITE_LIMIT_COLUMN)
  /// The depth of an expression.
  public static let expressionDepth = Limit(rawValue: SQLITE_LIMIT_EXPR_DEPTH)
  /// The parts of a compound SELECT.
  public static let compoundSelect = Limit(rawValue: SQLITE_LIMIT_COMPOUND_SELECT)
  /// The instructions of a compiled statement.
  public static let instructions = Limit(rawValue: SQLITE_LIMIT_VDBE_OP)
  /// The arguments of a function.
  public static let functionArguments = Limit(rawValue: SQLITE_LIMIT_FUNCTION_ARG)
  /// The attached databases.
  public static let attachedDatabases = Limit(rawValue: SQLITE_LIMIT_ATTACHED)
  /// The size of a LIKE or GLOB pattern in bytes.
  public static let patternLength = Limit(rawValue: SQLITE_LIMIT_LIKE_PATTERN_LENGTH)
  /// The highest number of a parameter.
  public static let variables = Limit(rawValue: SQLITE_LIMIT_VARIABLE_NUMBER)
  /// The depth of triggers.
  public static let triggerDepth = Limit(rawValue: SQLITE_LIMIT_TRIGGER_DEPTH)
  /// The threads that help one statement.
  public static let workerThreads = Limit(rawValue: SQLITE_LIMIT_WORKER_THREADS)
}

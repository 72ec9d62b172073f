/// The parts of SQLite's grammar that differ between its versions and builds.
///
///     let grammar = SQLGrammar(version: 3_046_001, options: ["ENABLE_UPDATE_DELETE_LIMIT"])
///
/// `SQLGrammar()` is the grammar of SQLite 3.40 with LIMIT for UPDATE and DELETE, as in Debian's
/// build.
public struct SQLGrammar: Hashable, Sendable {
  /// A Boolean value that indicates whether CROSS, FULL, INNER, LEFT, NATURAL, OUTER and RIGHT can
  /// be function names. True from SQLite 3.42 on.
  public var joinWordsNameFunctions = false
  /// A Boolean value that indicates whether calls can contain ORDER BY, as in `f(x ORDER BY y)`.
  /// True from SQLite 3.44 on.
  public var orderByInCalls = false
  /// A Boolean value that indicates whether numbers can contain underscores, as in `1_000`. Letters
  /// after a hexadecimal number are then an error. True from SQLite 3.46 on.
  public var digitSeparators = false
  /// A Boolean value that indicates whether the message of RAISE can be any expression. True from
  /// SQLite 3.47 on.
  public var raiseTakesExpression = false
  /// A Boolean value that indicates whether ALTER TABLE supports `ADD CHECK`, `DROP CONSTRAINT` and
  /// `ALTER COLUMN`. True from SQLite 3.53 on.
  public var alterConstraints = false
  /// A Boolean value that indicates whether statements in a trigger can use a schema name and an
  /// alias for the table that they change. True from SQLite 3.53 on.
  public var qualifiedTablesInTriggers = false
  /// A Boolean value that indicates whether UPDATE and DELETE support ORDER BY and LIMIT. True for
  /// builds with ENABLE_UPDATE_DELETE_LIMIT.
  public var limitsChanges = true
  /// A Boolean value that indicates whether calls support `WITHIN GROUP (ORDER BY …)`. True from
  /// SQLite 3.47 on for builds with ENABLE_ORDERED_SET_AGGREGATES.
  public var withinGroup = false
  /// A Boolean value that indicates whether SQL can contain comments. From SQLite 3.49 on,
  /// SQLITE_DBCONFIG_ENABLE_COMMENTS can turn them off. The parser doesn't use this property and
  /// always accepts comments.
  public var comments = true
  /// The largest number that a numbered parameter such as `?5` can have. By default, it is 32,766,
  /// as in SQLite.
  public var maximumParameterNumber = 32_766
  /// A Boolean value that indicates whether the parser accepts COLLATE, ASC and DESC in column
  /// lists, which SQLite allows only when it reads a stored schema.
  public var readsStoredSchema = false

  /// Creates the grammar of SQLite 3.40 with LIMIT for UPDATE and DELETE.
  public init() {}

  /// Creates the grammar of a version and build of SQLite.
  ///
  /// - Parameters:
  ///   - version: The version number that `sqlite3_libversion_number` returns, such as 3040001.
  ///   - options: The compile-time options that `sqlite3_compileoption_get` returns, without the
  ///     prefix `SQLITE_`.
  public init(version: Int, options: some Sequence<String>) {
    joinWordsNameFunctions = version >= 3_042_000
    orderByInCalls = version >= 3_044_000
    digitSeparators = version >= 3_046_000
    raiseTakesExpression = version >= 3_047_000
    alterConstraints = version >= 3_053_000
    qualifiedTablesInTriggers = version >= 3_053_000
    limitsChanges = false
    for option in options {
      if option == "ENABLE_UPDATE_DELETE_LIMIT" { limitsChanges = true }
      if option == "ENABLE_ORDERED_SET_AGGREGATES" { withinGroup = version >= 3_047_000 }
      if option.hasPrefix("MAX_VARIABLE_NUMBER="),
        let number = Int(option.dropFirst("MAX_VARIABLE_NUMBER=".count))
      {
        maximumParameterNumber = number
      }
    }
  }
}

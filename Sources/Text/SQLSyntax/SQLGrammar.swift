/// The parts of SQLite's grammar that differ between its versions and builds.
///
///     let grammar = SQLGrammar(version: 3_046_001, options: ["ENABLE_UPDATE_DELETE_LIMIT"])
///
/// The plain `SQLGrammar()` is that of SQLite 3.40 with LIMIT for UPDATE and DELETE, as Debian
/// builds it.
public struct SQLGrammar: Hashable, Sendable {
  /// CROSS, FULL, INNER, LEFT, NATURAL, OUTER and RIGHT may name functions. From 3.42 on.
  public var joinWordsNameFunctions = false
  /// `f(x ORDER BY y)`. From 3.44 on.
  public var orderByInCalls = false
  /// `1_000`, and letters behind a hexadecimal number are an error. From 3.46 on.
  public var digitSeparators = false
  /// `RAISE(ABORT, expression)`. From 3.47 on.
  public var raiseTakesExpression = false
  /// `ALTER TABLE … ADD CHECK`, `DROP CONSTRAINT`, `ALTER COLUMN`. From 3.53 on.
  public var alterConstraints = false
  /// Schemas and aliases of the tables that a trigger changes. From 3.53 on.
  public var qualifiedTablesInTriggers = false
  /// ORDER BY and LIMIT of UPDATE and DELETE: ENABLE_UPDATE_DELETE_LIMIT.
  public var limitsChanges = true
  /// `WITHIN GROUP (ORDER BY …)`: ENABLE_ORDERED_SET_AGGREGATES, from 3.47 on.
  public var withinGroup = false
  /// Comments. Off by SQLITE_DBCONFIG_ENABLE_COMMENTS, from 3.49 on.
  public var comments = true
  /// The greatest number of a placeholder such as `?5`.
  public var maximumParameterNumber = 32_766
  /// COLLATE, ASC and DESC in lists of plain names, as SQLite takes them from a stored schema.
  public var readsStoredSchema = false

  /// Makes the grammar of SQLite 3.40.
  public init() {}

  /// Makes the grammar of a version of SQLite.
  ///
  /// - Parameters:
  ///   - version: The number that `sqlite3_libversion_number` returns, such as 3040001.
  ///   - options: The options that `sqlite3_compileoption_get` returns, without `SQLITE_`.
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

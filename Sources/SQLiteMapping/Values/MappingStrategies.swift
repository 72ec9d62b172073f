import ExactText
import SQLiteCore

/// How values that SQLite has no storage class for are stored in columns.
///
/// The defaults are exact and readable. A type names others in ``Record/strategies``:
///
///     static var strategies: MappingStrategies {
///       var strategies = MappingStrategies()
///       strategies.dates = .millisecondsSince1970
///       return strategies
///     }
///
/// Changing a strategy of a type whose table has rows changes nothing in those rows: transform them
/// in a migration.
public struct MappingStrategies: Sendable {
  /// How dates are stored.
  public var dates = DateStrategy.text
  /// How `Data` is stored.
  public var data = DataStrategy.blob
  /// How UUIDs are stored.
  public var uuids = UUIDStrategy.text
  /// How durations are stored.
  public var durations = DurationStrategy.text
  /// How properties are named as columns.
  public var keys = KeyStrategy.useDefaultKeys
  /// How values made of several values are stored.
  public var nested = NestedStrategy.text

  /// The defaults.
  public init() {}
}

/// How a property's name becomes a column's name.
///
/// Two properties may get one name (`aB` and `a_b`), which the caller must refuse. There is no way
/// back from a column to a property and none is needed: names are made once for each type.
public enum KeyStrategy: Hashable, Sendable {
  /// The property's own name.
  case useDefaultKeys
  /// Lowercase words joined by underscores: `someURLValue` becomes `some_url_value`.
  ///
  /// A word starts at an uppercase letter that follows anything but an uppercase letter or an
  /// underscore, and at the last uppercase letter of a run if a lowercase letter follows it. Digits
  /// belong to the word before them. Underscores already there stay as they are, and so do names
  /// without an uppercase letter. Letters are lowered by Unicode's rules, in no language.
  ///
  /// | property | column |
  /// |---|---|
  /// | `firstName` | `first_name` |
  /// | `URLValue` | `url_value` |
  /// | `valueURL` | `value_url` |
  /// | `utf8Text` | `utf8_text` |
  /// | `_ID` | `_id` |
  /// | `aBTest` | `a_b_test` |
  case convertToSnakeCase

  /// Returns the column's name for the property `key`.
  ///
  /// - Complexity: O(*n*) in the length of the name.
  package func column(for key: String) -> String {
    switch self {
    case .useDefaultKeys: key
    case .convertToSnakeCase: SnakeCase.snakeCase(of: key)
    }
  }
}

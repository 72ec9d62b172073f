import ExactText
import SQLiteCore

/// The forms in which a record type stores values that have no storage class in SQLite, and the
/// names of its columns.
///
/// The default strategies are exact and human-readable. To use others, declare
/// ``Record/strategies``:
///
///     static var strategies: MappingStrategies {
///       var strategies = MappingStrategies()
///       strategies.dates = .millisecondsSince1970
///       return strategies
///     }
///
/// If you change a strategy of a type, existing rows are not converted. Convert them in a
/// migration.
public struct MappingStrategies: Sendable {
  /// The form in which dates are stored. The default is ``DateStrategy/text``.
  public var dates = DateStrategy.text
  /// The form in which `Data` is stored. The default is ``DataStrategy/blob``.
  public var data = DataStrategy.blob
  /// The form in which UUIDs are stored. The default is ``UUIDStrategy/text``.
  public var uuids = UUIDStrategy.text
  /// The form in which durations are stored. The default is ``DurationStrategy/text``.
  public var durations = DurationStrategy.text
  /// The conversion of property names to column names. By default, a column has the name of its
  /// property.
  public var keys = KeyStrategy.useDefaultKeys
  /// The form in which values with several parts, such as structures and arrays, are stored. The
  /// default is ``NestedStrategy/text``.
  public var nested = NestedStrategy.text

  /// Creates the default strategies, which you can then change one by one.
  public init() {}
}

/// The conversion of property names to column names.
///
/// If two properties of a type have the same column name, such as `aB` and `a_b` with
/// ``convertToSnakeCase``, writing a value of the type throws.
public enum KeyStrategy: Hashable, Sendable {
  /// The name of the property, unchanged.
  case useDefaultKeys
  /// Lowercase words joined by underscores: `someURLValue` becomes `some_url_value`.
  ///
  /// A word starts at an uppercase letter that follows anything except an uppercase letter or an
  /// underscore, and at the last uppercase letter of a run if a lowercase letter follows it. Digits
  /// belong to the preceding word. Existing underscores don't change, and neither do names without
  /// uppercase letters. Letters are lowercased by Unicode's rules, independently of the locale.
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

  /// Returns the name of the column for the property `key`.
  ///
  /// - Complexity: O(*n*) in the length of the name.
  package func column(for key: String) -> String {
    switch self {
    case .useDefaultKeys: key
    case .convertToSnakeCase: SnakeCase.snakeCase(of: key)
    }
  }
}

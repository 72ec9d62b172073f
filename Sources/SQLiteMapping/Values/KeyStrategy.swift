import ExactText

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

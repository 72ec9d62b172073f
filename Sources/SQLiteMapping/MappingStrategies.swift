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

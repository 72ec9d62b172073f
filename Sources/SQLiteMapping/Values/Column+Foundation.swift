public import Essentials
public import SQLiteCore

// Values in the default form of their type, as `Row/get(_:as:)` reads them, which throws the reason of a
// failure. Each reading returns nil for NULL and for what is not in that form.
extension Column {
  /// The date in UTC text such as `2024-02-29 23:59:59.5`, or nil.
  public func asDate() -> Date? { try? Date(databaseValue: value) }

  /// The UUID in text of either case, or nil.
  public func asUUID() -> UUID? { try? UUID(databaseValue: value) }

  /// The bytes of a blob, or nil.
  public func asData() -> Data? { try? Data(databaseValue: value) }

  /// The number in decimal text, or nil.
  public func asDecimal() -> Decimal? { try? Decimal(databaseValue: value) }

  /// The URL in text, or nil.
  public func asURL() -> URL? { try? URL(databaseValue: value) }
}

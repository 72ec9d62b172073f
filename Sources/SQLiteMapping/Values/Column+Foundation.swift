public import Essentials
public import SQLiteCore

// These methods read the default form of a type, like `Row/get(_:as:)`. They return nil for NULL
// and for any other form, where `get` throws an error with the reason.
extension Column {
  /// Returns the date that is stored as text such as `2024-02-29 23:59:59.5`. Text without a zone
  /// is in UTC. The result is nil for any other value.
  public func asDate() -> Date? { try? Date(databaseValue: value) }

  /// Returns the UUID that is stored as text, in uppercase or lowercase, or nil for any other
  /// value.
  public func asUUID() -> UUID? { try? UUID(databaseValue: value) }

  /// Returns the bytes of a blob, or nil for any other value.
  public func asData() -> Data? { try? Data(databaseValue: value) }

  /// Returns the number that is stored as decimal text or as an INTEGER. The result is nil for any
  /// other value, or if `Decimal` cannot represent the number exactly.
  public func asDecimal() -> Decimal? { try? Decimal(databaseValue: value) }

  /// Returns the URL that is stored as text. The result is nil for any other value, or if `URL`
  /// would change the text, for example to escape a space.
  public func asURL() -> URL? { try? URL(databaseValue: value) }
}

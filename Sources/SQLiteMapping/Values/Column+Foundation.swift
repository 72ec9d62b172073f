#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
public import SQLiteCore

// Each reading returns nil for NULL and for what cannot be read that way without loss.
extension Column {
  /// The date, or nil if none is stored.
  ///
  /// - Parameter strategy: How dates are stored.
  public func asDate(_ strategy: DateStrategy = .text) -> Date? {
    try? strategy.date(from: value)
  }

  /// The data, or nil if none is stored.
  ///
  /// - Parameter strategy: How data is stored.
  public func asData(_ strategy: DataStrategy = .blob) -> Data? {
    try? strategy.data(from: value)
  }

  /// The UUID, or nil if none is stored.
  ///
  /// - Parameter strategy: How UUIDs are stored.
  public func asUUID(_ strategy: UUIDStrategy = .text) -> UUID? {
    try? strategy.uuid(from: value)
  }

  /// The duration, or nil if none is stored.
  ///
  /// - Parameter strategy: How durations are stored.
  public func asDuration(_ strategy: DurationStrategy = .text) -> Duration? {
    try? strategy.duration(from: value)
  }

  /// The decimal number, or nil if none is stored.
  public func asDecimal() -> Decimal? { try? DecimalText.decimal(from: value) }

  /// The URL, or nil if none is stored.
  public func asURL() -> URL? { try? URLText.url(from: value) }
}

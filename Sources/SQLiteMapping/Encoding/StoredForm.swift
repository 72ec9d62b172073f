import Essentials
import SQLiteCore

extension MappingStrategies {
  /// What a column stores for a value that is of one of Foundation's types, or of bytes; nil for
  /// values of other types.
  ///
  /// - Throws: ``SQLiteError`` if the value cannot be stored exactly.
  func storedForm<Source>(of value: Source) throws(SQLiteError) -> Value? {
    let type = Source.self
    // Each cast is from the type to itself, which the comparison before it has just proved.
    if type == Date.self {
      return try dates.value(for: unsafe unsafeBitCast(value, to: Date.self))
    } else if type == Data.self {
      return data.value(for: unsafe unsafeBitCast(value, to: Data.self))
    } else if type == UUID.self {
      return uuids.value(for: unsafe unsafeBitCast(value, to: UUID.self))
    } else if type == Decimal.self {
      return try DecimalText.value(for: unsafe unsafeBitCast(value, to: Decimal.self))
    } else if type == URL.self {
      return try URLText.value(for: unsafe unsafeBitCast(value, to: URL.self))
    } else if type == Duration.self {
      return try durations.value(for: unsafe unsafeBitCast(value, to: Duration.self))
    } else if type == [UInt8].self {
      return .blob(unsafe unsafeBitCast(value, to: [UInt8].self))
    }
    return nil
  }

  /// What a column of `type` prefers to store; nil for types that must be asked otherwise.
  func columnType(of type: Any.Type) -> ColumnType? {
    if Self.integers.contains(ObjectIdentifier(type)) { return .integer }
    if type == Double.self || type == Float.self { return .real }
    if type == String.self || type == Decimal.self || type == URL.self { return .text }
    if type == [UInt8].self { return .blob }
    if type == Date.self { return dates.columnType }
    if type == Data.self { return data == .blob ? .blob : .text }
    if type == UUID.self { return uuids == .blob ? .blob : .text }
    if type == Duration.self {
      switch durations {
      case .text: return .text
      case .seconds: return .real
      case .nanoseconds: return .integer
      }
    }
    return nil
  }

  private static let integers: Set<ObjectIdentifier> = [
    ObjectIdentifier(Bool.self), ObjectIdentifier(Int.self), ObjectIdentifier(Int8.self),
    ObjectIdentifier(Int16.self), ObjectIdentifier(Int32.self), ObjectIdentifier(Int64.self),
    ObjectIdentifier(UInt.self), ObjectIdentifier(UInt8.self), ObjectIdentifier(UInt16.self),
    ObjectIdentifier(UInt32.self), ObjectIdentifier(UInt64.self),
  ]
}

extension DateStrategy {
  fileprivate var columnType: ColumnType {
    switch self {
    case .text: .text
    case .secondsSinceReferenceDate, .secondsSince1970, .julianDay: .real
    case .wholeSecondsSince1970, .millisecondsSince1970, .microsecondsSince1970: .integer
    }
  }
}

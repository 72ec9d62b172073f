import SQLiteCore

/// Whether a number that was calculated fits a property.
struct NumberFit: Sendable {
  let name: String
  let range: ClosedRange<Int64>

  /// The value, which is an error for a number that does not fit. The error is one of SQLite's, which names neither.
  func checked(_ value: SQL) -> SQL {
    "CASE WHEN \(condition(value)) THEN \(value) ELSE abs(ifnull(length(\(value)), 0) * 0 - \(Int64.max) - 1) END"
  }

  /// The words of SQLite for it.
  static let failure = "integer overflow"

  /// Whether a value is nil or an integer that fits.
  func condition(_ value: SQL) -> SQL {
    "(\(value)) IS NULL OR typeof(\(value)) = 'integer' AND (\(value)) BETWEEN \(range.lowerBound) AND \(range.upperBound)"
  }

  /// The error for a value that does not fit.
  func error(_ value: Value) -> SQLiteError {
    let found =
      switch value {
      case .integer(let number): "\(number)"
      case .real(let number): "\(number)"
      default: value.storageClass
      }
    return SQLiteError(
      .range,
      "the calculated number \(found) does not fit “\(name)”, which is from \(range.lowerBound) to \(range.upperBound)"
    )
  }
}

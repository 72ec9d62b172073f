import SQLiteCore

/// A check of whether a calculated number fits an integer property.
struct NumberFit: Sendable {
  let name: String
  let range: ClosedRange<Int64>

  /// Returns SQL that yields the value, or fails with the message ``failure`` if the value doesn't
  /// fit. SQLite's message names neither the property nor the range, so callers replace it with
  /// ``error``.
  func checked(_ value: SQL) -> SQL {
    "CASE WHEN \(condition(value)) THEN \(value) ELSE abs(ifnull(length(\(value)), 0) * 0 - \(Int64.max) - 1) END"
  }

  /// The message of the error with which SQLite rejects a number that doesn't fit.
  static let failure = "integer overflow"

  /// Returns SQL that tests whether the value is NULL or an integer that fits.
  func condition(_ value: SQL) -> SQL {
    "(\(value)) IS NULL OR typeof(\(value)) = 'integer' AND (\(value)) BETWEEN \(range.lowerBound) AND \(range.upperBound)"
  }

  /// The error to throw for a calculated number that doesn't fit the property.
  var error: SQLiteError {
    SQLiteError(
      .range,
      "the calculated number does not fit “\(name)”, whose range is \(range.lowerBound) to "
        + "\(range.upperBound)"
    )
  }
}

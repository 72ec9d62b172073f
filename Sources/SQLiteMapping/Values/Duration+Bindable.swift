public import SQLiteCore

// A duration that is bound or read on its own has the default form. A property has the form of its
// type's strategies.

extension Duration: Bindable, ColumnValue {
  /// The duration as exact text of decimal seconds, such as `-1.5`, like ``DurationStrategy/text``.
  ///
  /// - Throws: Nothing, because every duration can be represented as text.
  public var databaseValue: Value {
    get throws(SQLiteError) { try DurationStrategy.text.value(for: self) }
  }

  /// Creates a duration from text of decimal seconds, the form of ``DurationStrategy/text``.
  ///
  /// - Parameter databaseValue: The content of a column.
  /// - Throws: `SQLiteError` with `mismatch` if the value is not such a text, and with `range` if
  ///   `Duration` cannot represent it exactly.
  public init(databaseValue: Value) throws(SQLiteError) {
    self = try DurationStrategy.text.duration(from: databaseValue)
  }
}

extension Duration: ScalarValue {
  static func columnType(_ forms: ScalarForms) -> ColumnType {
    switch forms.durations {
    case .text: .text
    case .seconds: .real
    case .nanoseconds: .integer
    }
  }

  static func collation(_ forms: ScalarForms) -> String? {
    forms.durations == .text ? DecimalOrder.collation : nil
  }

  func stored(_ forms: ScalarForms) throws(SQLiteError) -> Value {
    try forms.durations.value(for: self)
  }

  static func value(
    of stored: Value, _ forms: ScalarForms
  ) throws(SQLiteError) -> Duration {
    try forms.durations.duration(from: stored)
  }
}

public import SQLiteCore

// Bound and read: by itself in the default form, and as a property in the form of the type's strategies.

extension Duration: Bindable, ColumnValue {
  /// Exact text of decimal seconds, `-1.5`: ``DurationStrategy/text``.
  public var databaseValue: Value {
    get throws(SQLiteError) { try DurationStrategy.text.value(for: self) }
  }

  /// Makes a duration from text of decimal seconds: ``DurationStrategy/text``.
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

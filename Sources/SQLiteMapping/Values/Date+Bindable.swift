public import Essentials
import ExactText
public import SQLiteCore

// A date that is bound or read on its own has the default form. A property has the form of its
// type's strategies.

extension Date: Bindable, ColumnValue {
  /// The date as UTC text with the digits that an exact round trip needs, like
  /// ``DateStrategy/text``.
  ///
  /// - Throws: `SQLiteError` with `range` if the date is not in the years 0000 to 9999, or if it is
  ///   closer than 1e-280 seconds to 2001-01-01 00:00:00 but not equal to it.
  public var databaseValue: Value {
    get throws(SQLiteError) { try DateStrategy.text.value(for: self) }
  }

  /// Creates a date from text such as `2024-02-29 23:59:59.5`, the form of ``DateStrategy/text``.
  ///
  /// The time is optional, and so is a zone such as `Z` or `+01:00`. Text without a zone is in UTC.
  ///
  /// - Parameter databaseValue: The content of a column.
  /// - Throws: `SQLiteError` with `mismatch` if the value is not such a text, and with `range` if
  ///   the date is not in the years 0000 to 9999.
  public init(databaseValue: Value) throws(SQLiteError) {
    self = try DateStrategy.text.date(from: databaseValue)
  }
}

extension Date: ScalarValue {
  static func columnType(_ forms: ScalarForms) -> ColumnType {
    switch forms.dates {
    case .text: .text
    case .secondsSinceReferenceDate, .secondsSince1970, .julianDay: .real
    case .wholeSecondsSince1970, .millisecondsSince1970, .microsecondsSince1970: .integer
    }
  }

  func stored(_ forms: ScalarForms) throws(SQLiteError) -> Value {
    try forms.dates.value(for: self)
  }

  static func value(of stored: Value, _ forms: ScalarForms) throws(SQLiteError) -> Date {
    try forms.dates.date(from: stored)
  }

  func bind(
    to handle: StatementHandle, at parameter: Int32, _ forms: ScalarForms
  ) throws(SQLiteError) {
    guard case .text = forms.dates else { return try handle.bind(stored(forms), at: parameter) }
    try handle.bind(textUpTo: DateText.length(of: self), at: parameter) {
      output throws(SQLiteError) in try DateText.append(self, to: &output)
    }
  }

  static func read(
    from handle: StatementHandle, at column: Int32, _ forms: ScalarForms
  ) -> Date? {
    guard case .text = forms.dates else { return nil }
    var date: Date?
    handle.withBytes(at: column, ofText: true) { date = try? DateText.date(from: $0) }
    return date
  }
}

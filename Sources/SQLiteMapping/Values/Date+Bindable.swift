public import Essentials
import ExactText
public import SQLiteCore

// Bound and read: by itself in the default form, and as a property in the form of the type's strategies.

extension Date: Bindable, ColumnValue {
  /// UTC text with as many digits as an exact round trip needs: ``DateStrategy/text``.
  public var databaseValue: Value {
    get throws(SQLiteError) { try DateStrategy.text.value(for: self) }
  }

  /// Makes a date from text such as `2024-02-29 23:59:59.5`: ``DateStrategy/text``.
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
    handle.lendBytes(at: column, ofText: true) { date = try? DateText.date(from: $0) }
    return date
  }
}

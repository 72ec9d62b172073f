public import Essentials
public import SQLiteCore

extension URL: Bindable, ColumnValue {
  /// The text of the absolute string; a URL relative to a base is refused.
  public var databaseValue: Value {
    get throws(SQLiteError) { try URLText.value(for: self) }
  }

  /// Makes a URL from text.
  public init(databaseValue: Value) throws(SQLiteError) {
    self = try URLText.url(from: databaseValue)
  }
}

extension URL: ScalarValue {
  static func columnType(_ forms: ScalarForms) -> ColumnType { .text }
  func stored(_ forms: ScalarForms) throws(SQLiteError) -> Value { try URLText.value(for: self) }

  static func value(of stored: Value, _ forms: ScalarForms) throws(SQLiteError) -> URL {
    try URLText.url(from: stored)
  }
}

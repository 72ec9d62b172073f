public import Essentials
public import SQLiteCore

extension Decimal: Bindable, ColumnValue {
  /// The number as exact text in plain decimal notation, such as `-12.5`.
  ///
  /// The text sorts numerically only with the collation `magicdata_decimal`, which the library adds
  /// to each connection. SQLite's arithmetic converts the text to an inexact REAL.
  ///
  /// - Throws: `SQLiteError` with `mismatch` for a NaN.
  public var databaseValue: Value {
    get throws(SQLiteError) { try DecimalText.value(for: self) }
  }

  /// Creates a decimal from text in plain decimal notation, or from an INTEGER.
  ///
  /// - Parameter databaseValue: The content of a column.
  /// - Throws: `SQLiteError` with `mismatch` if the value is neither such a text nor an INTEGER,
  ///   and with `range` if `Decimal` cannot represent the number exactly.
  public init(databaseValue: Value) throws(SQLiteError) {
    self = try DecimalText.decimal(from: databaseValue)
  }
}

extension Decimal: ScalarValue {
  static func columnType(_ forms: ScalarForms) -> ColumnType { .text }
  static func collation(_ forms: ScalarForms) -> String? { DecimalOrder.collation }
}

public import Essentials
public import SQLiteCore

extension Decimal: Bindable, ColumnValue {
  /// Exact text in plain decimal notation, `-12.5`; a NaN is refused.
  ///
  /// Text does not sort as numbers do, and SQLite's arithmetic would make an inexact REAL of it.
  public var databaseValue: Value {
    get throws(SQLiteError) { try DecimalText.value(for: self) }
  }

  /// Makes a decimal from text in plain decimal notation, or from an INTEGER.
  public init(databaseValue: Value) throws(SQLiteError) {
    self = try DecimalText.decimal(from: databaseValue)
  }
}

extension Decimal: ScalarValue {
  static func columnType(_ forms: ScalarForms) -> ColumnType { .text }
  static func collation(_ forms: ScalarForms) -> String? { DecimalOrder.collation }
}

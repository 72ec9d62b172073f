public import Essentials
public import SQLiteCore

// A UUID that is bound or read on its own has the default form. A property has the form of its
// type's strategies.

extension UUID: Bindable, ColumnValue {
  /// The UUID as uppercase text, like ``UUIDStrategy/text``.
  public var databaseValue: Value { UUIDStrategy.text.value(for: self) }

  /// Creates a UUID from text in uppercase or lowercase, the form of ``UUIDStrategy/text``.
  ///
  /// - Parameter databaseValue: The content of a column.
  /// - Throws: `SQLiteError` with `mismatch` if the value is not such a text.
  public init(databaseValue: Value) throws(SQLiteError) {
    self = try UUIDStrategy.text.uuid(from: databaseValue)
  }
}

extension UUID: ScalarValue {
  static func columnType(_ forms: ScalarForms) -> ColumnType {
    forms.uuids == .blob ? .blob : .text
  }

  func stored(_ forms: ScalarForms) -> Value { forms.uuids.value(for: self) }

  static func value(of stored: Value, _ forms: ScalarForms) throws(SQLiteError) -> UUID {
    try forms.uuids.uuid(from: stored)
  }
}

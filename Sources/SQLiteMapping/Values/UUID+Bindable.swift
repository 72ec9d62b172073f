public import Essentials
public import SQLiteCore

// Bound and read: by itself in the default form, and as a property in the form of the type's strategies.

extension UUID: Bindable, ColumnValue {
  /// Uppercase text: ``UUIDStrategy/text``.
  public var databaseValue: Value { UUIDStrategy.text.value(for: self) }

  /// Makes a UUID from text of either case: ``UUIDStrategy/text``.
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

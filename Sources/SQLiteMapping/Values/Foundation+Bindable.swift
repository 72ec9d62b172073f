public import Essentials
public import SQLiteCore

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

extension Data: Bindable, ColumnValue {
  /// The bytes: ``DataStrategy/blob``.
  public var databaseValue: Value { DataStrategy.blob.value(for: self) }

  /// Binds the bytes: ``DataStrategy/blob``.
  public func bind(to statement: inout Statement, at parameter: Int) throws(SQLiteError) {
    try statement.bind(bytes, at: parameter)
  }

  /// Makes data from a BLOB: ``DataStrategy/blob``.
  public init(databaseValue: Value) throws(SQLiteError) {
    self = try DataStrategy.blob.data(from: databaseValue)
  }

  /// Reads a BLOB: ``DataStrategy/blob``.
  public static func read(
    from statement: borrowing Statement, at column: Int
  ) throws(SQLiteError) -> Data {
    var data = Data()
    try unsafe statement.withExactBytes(at: column, expected: Data.self) { bytes in
      data = unsafe Data(bytes)
    }
    return data
  }
}

extension UUID: Bindable, ColumnValue {
  /// Uppercase text: ``UUIDStrategy/text``.
  public var databaseValue: Value { UUIDStrategy.text.value(for: self) }

  /// Makes a UUID from text of either case: ``UUIDStrategy/text``.
  public init(databaseValue: Value) throws(SQLiteError) {
    self = try UUIDStrategy.text.uuid(from: databaseValue)
  }
}

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

// Values in the default form of their type, as `Row/get(_:as:)` reads them, which throws the reason of a
// failure. Each reading returns nil for NULL and for what is not in that form.
extension Column {
  /// The date in UTC text such as `2024-02-29 23:59:59.5`, or nil.
  public func asDate() -> Date? { try? Date(databaseValue: value) }

  /// The UUID in text of either case, or nil.
  public func asUUID() -> UUID? { try? UUID(databaseValue: value) }

  /// The bytes of a blob, or nil.
  public func asData() -> Data? { try? Data(databaseValue: value) }

  /// The number in decimal text, or nil.
  public func asDecimal() -> Decimal? { try? Decimal(databaseValue: value) }

  /// The URL in text, or nil.
  public func asURL() -> URL? { try? URL(databaseValue: value) }
}

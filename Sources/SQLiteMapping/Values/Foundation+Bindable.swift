public import Essentials
import ExactText
public import SQLiteCore

// How values of Foundation's types are bound and read: by themselves, in the default form of their type, and as
// properties, in the form of the type's strategies.

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

extension Data: ScalarValue {
  static var kind: ScalarKind { .data }

  static func columnType(_ forms: ScalarForms) -> ColumnType {
    forms.data == .blob ? .blob : .text
  }

  func stored(_ forms: ScalarForms) -> Value { forms.data.value(for: self) }

  static func value(of stored: Value, _ forms: ScalarForms) throws(SQLiteError) -> Data {
    try forms.data.data(from: stored)
  }

  func bind(
    to handle: StatementHandle, at parameter: Int32, _ forms: ScalarForms
  ) throws(SQLiteError) {
    if forms.data == .blob {
      try handle.bind(bytes: bytes, at: parameter)
    } else {
      try handle.bind(stored(forms), at: parameter)
    }
  }

  @inline(__always) static func read(
    from handle: StatementHandle, at column: Int32, _ forms: ScalarForms
  ) -> Data? { forms.data == .blob ? handle.data(at: column, ofText: false) : nil }
}

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

  func bind(
    to handle: StatementHandle, at parameter: Int32, _ forms: ScalarForms
  ) throws(SQLiteError) {
    guard forms.uuids == .text else { return try handle.bind(stored(forms), at: parameter) }
    try handle.bind(textUpTo: UUID.textLength, at: parameter) { append(to: &$0) }
  }

  static func read(
    from handle: StatementHandle, at column: Int32, _ forms: ScalarForms
  ) -> UUID? {
    guard forms.uuids == .text else { return nil }
    var uuid: UUID?
    handle.lendBytes(at: column, ofText: true) { uuid = UUID(utf8: Span<UInt8>(_bytes: $0)) }
    return uuid
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

extension Decimal: ScalarValue {
  static func columnType(_ forms: ScalarForms) -> ColumnType { .text }
  static func collation(_ forms: ScalarForms) -> String? { DecimalOrder.collation }

  func stored(_ forms: ScalarForms) throws(SQLiteError) -> Value {
    try DecimalText.value(for: self)
  }

  static func value(of stored: Value, _ forms: ScalarForms) throws(SQLiteError) -> Decimal {
    try DecimalText.decimal(from: stored)
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

extension URL: ScalarValue {
  static func columnType(_ forms: ScalarForms) -> ColumnType { .text }
  func stored(_ forms: ScalarForms) throws(SQLiteError) -> Value { try URLText.value(for: self) }

  static func value(of stored: Value, _ forms: ScalarForms) throws(SQLiteError) -> URL {
    try URLText.url(from: stored)
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

extension StatementHandle {
  /// A copy of the bytes of a blob or of a text; nil if a column stores something else.
  package func data(at column: Int32, ofText isText: Bool) -> Data? {
    var data: Data?
    lendBytes(at: column, ofText: isText) { bytes in
      data = unsafe bytes.withUnsafeBytes { buffer in
        guard let start = buffer.baseAddress else { return Data() }
        return unsafe Data(bytes: start, count: buffer.count)
      }
    }
    return data
  }
}

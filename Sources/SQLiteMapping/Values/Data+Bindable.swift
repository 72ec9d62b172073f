public import Essentials
public import SQLiteCore

// Data that is bound or read on its own has the default form. A property has the form of its type's
// strategies.

extension Data: Bindable, ColumnValue {
  /// The bytes as a BLOB, like ``DataStrategy/blob``.
  public var databaseValue: Value { DataStrategy.blob.value(for: self) }

  /// Binds the bytes as a BLOB, like ``DataStrategy/blob``.
  ///
  /// - Parameters:
  ///   - statement: The statement with the parameter.
  ///   - parameter: The parameter's number, from 1.
  /// - Throws: `SQLiteError` if the parameter does not exist, or if the statement must be reset
  ///   first.
  public func bind(to statement: inout Statement, at parameter: Int) throws(SQLiteError) {
    try statement.bind(bytes, at: parameter)
  }

  /// Creates data from a BLOB, the form of ``DataStrategy/blob``.
  ///
  /// - Parameter databaseValue: The content of a column.
  /// - Throws: `SQLiteError` with `mismatch` if the value is not a BLOB.
  public init(databaseValue: Value) throws(SQLiteError) {
    self = try DataStrategy.blob.data(from: databaseValue)
  }

  /// Reads the bytes of a BLOB, the form of ``DataStrategy/blob``.
  ///
  /// - Parameters:
  ///   - statement: A statement that is positioned on a row.
  ///   - column: The column's index, from 0.
  /// - Returns: A copy of the bytes.
  /// - Throws: `SQLiteError` with `mismatch` if the column doesn't contain a BLOB.
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
  ) -> Data? { forms.data == .blob ? blob(in: handle, at: column) : nil }
}

extension Data {
  /// Returns a copy of the bytes of a BLOB, or nil if the column contains another storage class.
  package static func blob(in handle: StatementHandle, at column: Int32) -> Data? {
    guard let bytes = unsafe handle.blob(at: column) else { return nil }
    guard let start = bytes.baseAddress else { return Data() }
    return unsafe Data(bytes: start, count: bytes.count)
  }
}

public import Essentials
public import SQLiteCore

// Bound and read: by itself in the default form, and as a property in the form of the type's strategies.

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
  ) -> Data? { forms.data == .blob ? blob(in: handle, at: column) : nil }
}

extension Data {
  /// A copy of the bytes of a BLOB; nil if the column stores something else.
  package static func blob(in handle: StatementHandle, at column: Int32) -> Data? {
    guard let bytes = unsafe handle.blob(at: column) else { return nil }
    guard let start = bytes.baseAddress else { return Data() }
    return unsafe Data(bytes: start, count: bytes.count)
  }
}

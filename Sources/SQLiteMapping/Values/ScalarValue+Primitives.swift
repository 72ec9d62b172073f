import SQLiteCore

// How the primitive types of Codable (integers, Bool, Double, Float and String), byte arrays and
// optionals are stored.

extension ScalarValue where Self: FixedWidthInteger {
  static func columnType(_ forms: ScalarForms) -> ColumnType { .integer }

  @inline(__always) func bind(
    to handle: StatementHandle, at parameter: Int32, _ forms: ScalarForms
  ) throws(SQLiteError) {
    guard let exact = Int64(exactly: self) else {
      _ = try databaseValue
      return
    }
    try handle.bind(exact, at: parameter)
  }

  @inline(__always) static func read(
    from handle: StatementHandle, at column: Int32, _ forms: ScalarForms
  ) -> Self? {
    guard let integer = handle.integer(at: column) else { return nil }
    return Self(exactly: integer)
  }
}

extension Int: ScalarValue {
  static var kind: ScalarKind { .integer }
}
extension Int64: ScalarValue {
  static var kind: ScalarKind { .integer }
}
extension Int8: ScalarValue {}
extension Int16: ScalarValue {}
extension Int32: ScalarValue {}
extension UInt: ScalarValue {}
extension UInt8: ScalarValue {}
extension UInt16: ScalarValue {}
extension UInt32: ScalarValue {}
extension UInt64: ScalarValue {}

extension Bool: ScalarValue {
  static var kind: ScalarKind { .boolean }
  static func columnType(_ forms: ScalarForms) -> ColumnType { .integer }

  @inline(__always) func bind(
    to handle: StatementHandle, at parameter: Int32, _ forms: ScalarForms
  ) throws(SQLiteError) {
    try handle.bind(self ? 1 : 0 as Int64, at: parameter)
  }

  @inline(__always) static func read(
    from handle: StatementHandle, at column: Int32, _ forms: ScalarForms
  ) -> Bool? {
    guard let integer = handle.integer(at: column) else { return nil }
    return Bool(stored: integer)
  }
}

extension Double: ScalarValue {
  static var kind: ScalarKind { .real }
  static func columnType(_ forms: ScalarForms) -> ColumnType { .real }

  @inline(__always) func bind(
    to handle: StatementHandle, at parameter: Int32, _ forms: ScalarForms
  ) throws(SQLiteError) {
    try handle.bind(self, at: parameter)
  }

  @inline(__always) static func read(
    from handle: StatementHandle, at column: Int32, _ forms: ScalarForms
  ) -> Double? { handle.real(at: column) }
}

extension Float: ScalarValue {
  static func columnType(_ forms: ScalarForms) -> ColumnType { .real }

  @inline(__always) static func read(
    from handle: StatementHandle, at column: Int32, _ forms: ScalarForms
  ) -> Float? {
    guard let real = handle.real(at: column) else { return nil }
    return Float(exactly: real)
  }
}

extension String: ScalarValue {
  static var kind: ScalarKind { .text }
  static func columnType(_ forms: ScalarForms) -> ColumnType { .text }

  @inline(__always) func bind(
    to handle: StatementHandle, at parameter: Int32, _ forms: ScalarForms
  ) throws(SQLiteError) {
    try handle.bind(self, at: parameter)
  }

  @inline(__always) static func read(
    from handle: StatementHandle, at column: Int32, _ forms: ScalarForms
  ) -> String? { handle.text(at: column) }
}

extension [UInt8]: ScalarValue {
  static func columnType(_ forms: ScalarForms) -> ColumnType { .blob }
}

extension Optional: ScalarValue where Wrapped: ScalarValue {
  static var kind: ScalarKind { Wrapped.kind }
  static var isOptional: Bool { true }
  var isNil: Bool { self == nil }

  static func columnType(_ forms: ScalarForms) -> ColumnType { Wrapped.columnType(forms) }
  static func collation(_ forms: ScalarForms) -> String? { Wrapped.collation(forms) }

  func stored(_ forms: ScalarForms) throws(SQLiteError) -> Value {
    guard let self else { return .null }
    return try self.stored(forms)
  }

  static func value(
    of stored: Value, _ forms: ScalarForms
  ) throws(SQLiteError) -> Wrapped? {
    stored.isNull ? nil : try Wrapped.value(of: stored, forms)
  }

  func bind(
    to handle: StatementHandle, at parameter: Int32, _ forms: ScalarForms
  ) throws(SQLiteError) {
    guard let self else { return try handle.bindNull(at: parameter) }
    try self.bind(to: handle, at: parameter, forms)
  }

  static func read(
    from handle: StatementHandle, at column: Int32, _ forms: ScalarForms
  ) -> Wrapped?? {
    if let value = Wrapped.read(from: handle, at: column, forms) { return .some(value) }
    return handle.isNull(at: column) ? .some(nil) : nil
  }
}

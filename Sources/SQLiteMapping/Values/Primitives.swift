import SQLiteCore

// How the primitive types of Codable are stored: integers, Bool, Double, Float and String; and bytes and optionals.

/// Returns an error of a number that a type cannot hold, which does not contain the number.
private func excess(_ type: Any.Type) -> SQLiteError {
  SQLiteError(.range, "the stored number does not fit \(type) exactly")
}

extension ScalarValue where Self: FixedWidthInteger {
  static func columnType(_ forms: ScalarForms) -> ColumnType { .integer }

  func stored(_ forms: ScalarForms) throws(SQLiteError) -> Value {
    guard let exact = Int64(exactly: self) else {
      throw SQLiteError(.range, "the number does not fit SQLite's 64-bit integer")
    }
    return .integer(exact)
  }

  static func value(of stored: Value, _ forms: ScalarForms) throws(SQLiteError) -> Self {
    guard case .integer(let integer) = stored else { throw stored.mismatch(expected: Self.self) }
    guard let exact = Self(exactly: integer) else { throw excess(Self.self) }
    return exact
  }

  @inline(__always) func bind(
    to handle: StatementHandle, at parameter: Int32, _ forms: ScalarForms
  ) throws(SQLiteError) {
    guard let exact = Int64(exactly: self) else {
      _ = try stored(forms)
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
  func stored(_ forms: ScalarForms) -> Value { .integer(self ? 1 : 0) }

  static func value(of stored: Value, _ forms: ScalarForms) throws(SQLiteError) -> Bool {
    guard case .integer(let integer) = stored else { throw stored.mismatch(expected: Bool.self) }
    guard let value = Bool(stored: integer) else {
      throw SQLiteError(.range, "the stored integer is neither 0 nor 1, so not a Bool")
    }
    return value
  }

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
  func stored(_ forms: ScalarForms) throws(SQLiteError) -> Value { try databaseValue }

  static func value(of stored: Value, _ forms: ScalarForms) throws(SQLiteError) -> Double {
    // A column without REAL affinity stores what was bound as an integer.
    try stored.real(for: Double.self)
  }

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
  func stored(_ forms: ScalarForms) throws(SQLiteError) -> Value { try databaseValue }

  static func value(of stored: Value, _ forms: ScalarForms) throws(SQLiteError) -> Float {
    guard let exact = Float(exactly: try Double.value(of: stored, forms)) else {
      throw excess(Float.self)
    }
    return exact
  }

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
  func stored(_ forms: ScalarForms) -> Value { .text(self) }

  static func value(of stored: Value, _ forms: ScalarForms) throws(SQLiteError) -> String {
    try String(databaseValue: stored)
  }

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
  func stored(_ forms: ScalarForms) -> Value { .blob(self) }

  static func value(of stored: Value, _ forms: ScalarForms) throws(SQLiteError) -> [UInt8] {
    try [UInt8](databaseValue: stored)
  }
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

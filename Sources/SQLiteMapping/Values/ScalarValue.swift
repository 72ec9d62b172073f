package import SQLiteCore

/// A type whose values fill one column in a form that this library knows: SQLite's own storage classes,
/// integers of all widths, and Foundation's values.
///
/// The rules of how such a type is stored stand here, once: records, direct records, objects and keys use them.
protocol ScalarValue: SendableMetatype {
  /// How a property of the type may be read and bound by callers that open-code it.
  static var kind: ScalarKind { get }

  /// Returns the type of a column of such values.
  static func columnType(_ forms: ScalarForms) -> ColumnType

  /// Returns the collation by which the stored values sort as the values do; nil if SQLite's own order does, or
  /// if there is none.
  static func collation(_ forms: ScalarForms) -> String?

  /// Returns the stored form.
  ///
  /// - Throws: ``SQLiteError`` if SQLite cannot hold the value exactly.
  func stored(_ forms: ScalarForms) throws(SQLiteError) -> Value

  /// Returns the value of a stored form. Errors do not contain what is stored.
  ///
  /// - Throws: ``SQLiteError`` if something else is stored.
  static func value(of stored: Value, _ forms: ScalarForms) throws(SQLiteError) -> Self

  /// Binds the stored form.
  ///
  /// - Throws: ``SQLiteError`` if SQLite cannot hold the value exactly.
  func bind(
    to handle: StatementHandle, at parameter: Int32, _ forms: ScalarForms
  ) throws(SQLiteError)

  /// Reads a column that holds the usual storage class of the type; nil if it holds something else, which
  /// ``value(of:_:)`` converts or refuses.
  static func read(
    from handle: StatementHandle, at column: Int32, _ forms: ScalarForms
  ) -> Self?

  /// Whether the value is NULL.
  var isNil: Bool { get }

  /// Reads a column as `Result`, which must be this type. An optional of a type that is known at run time only
  /// would cost its metadata at each call (benchmark `fetch`).
  @unsafe static func read<Result>(
    as type: Result.Type, from handle: StatementHandle, at column: Int32, _ forms: ScalarForms
  ) throws(SQLiteError) -> Result

  /// Binds a value of `Source`, which must be this type, unless it is NULL. Returns whether it is not.
  @unsafe static func bind<Source>(
    _ source: Source, to handle: StatementHandle, at parameter: Int32, _ forms: ScalarForms
  ) throws(SQLiteError) -> Bool
}

/// The types that callers may read and bind by code of their own, for speed, and all others.
package enum ScalarKind: UInt8, Sendable {
  /// `String`, as TEXT.
  case text
  /// `Int` and `Int64`, as INTEGER.
  case integer
  /// `Double`, as REAL.
  case real
  /// `Bool`, as INTEGER 0 or 1.
  case boolean
  /// `Data`, as BLOB.
  case data
  case other
}

extension ScalarKind {
  /// Returns the stored form in a column that holds the usual storage class of the kind; nil if it holds
  /// something else, which ``ScalarValue/value(of:_:)`` converts or refuses, and for blobs.
  package func form(in row: StatementHandle, at column: Int32) -> Value? {
    switch self {
    case .text: return row.text(at: column).map { .text($0) }
    case .integer: return row.integer(at: column).map { .integer($0) }
    case .real: return row.real(at: column).map { .real($0) }
    case .boolean:
      guard let integer = row.integer(at: column), Bool(stored: integer) != nil else { return nil }
      return .integer(integer)
    case .data, .other: return nil
    }
  }
}

/// The strategies of a type that decide how its scalars are stored.
struct ScalarForms: Hashable, Sendable {
  let dates: DateStrategy
  let data: DataStrategy
  let uuids: UUIDStrategy
  let durations: DurationStrategy
}

extension MappingStrategies {
  var scalars: ScalarForms {
    ScalarForms(dates: dates, data: data, uuids: uuids, durations: durations)
  }
}

extension ScalarValue {
  static var kind: ScalarKind { .other }
  static func collation(_ forms: ScalarForms) -> String? { nil }
  var isNil: Bool { false }

  func bind(
    to handle: StatementHandle, at parameter: Int32, _ forms: ScalarForms
  ) throws(SQLiteError) {
    try handle.bind(stored(forms), at: parameter)
  }

  static func read(
    from handle: StatementHandle, at column: Int32, _ forms: ScalarForms
  ) -> Self? { nil }

  @unsafe @inline(__always) static func read<Result>(
    as type: Result.Type, from handle: StatementHandle, at column: Int32, _ forms: ScalarForms
  ) throws(SQLiteError) -> Result {
    if let value = read(from: handle, at: column, forms) {
      return unsafe unsafeBitCast(value, to: type)
    }
    return unsafe unsafeBitCast(try value(of: handle.value(at: column), forms), to: type)
  }

  @unsafe @inline(__always) static func bind<Source>(
    _ source: Source, to handle: StatementHandle, at parameter: Int32, _ forms: ScalarForms
  ) throws(SQLiteError) -> Bool {
    let value = unsafe unsafeBitCast(source, to: Self.self)
    if value.isNil { return false }
    try value.bind(to: handle, at: parameter, forms)
    return true
  }

  /// Reads a column into a property that lies at `place`; false if it holds something else.
  @unsafe static func read(
    into place: UnsafeMutableRawPointer, from handle: StatementHandle, at column: Int32,
    _ forms: ScalarForms
  ) -> Bool {
    let place = unsafe place.assumingMemoryBound(to: Self.self)
    do throws(SQLiteError) {
      unsafe place.pointee = try read(as: Self.self, from: handle, at: column, forms)
      return true
    } catch {
      // The type's own code will say what is wrong.
      return false
    }
  }

  /// Binds a property that lies at `place`. Returns nil if it cannot be bound, or else whether it is not NULL.
  @unsafe static func bind(
    _ place: UnsafeRawPointer, to handle: StatementHandle, at parameter: Int32, _ forms: ScalarForms
  ) -> Bool? {
    let value = unsafe place.assumingMemoryBound(to: Self.self)
    do throws(SQLiteError) {
      if unsafe try bind(value.pointee, to: handle, at: parameter, forms) { return true }
      try handle.bindNull(at: parameter)
      return false
    } catch {
      return nil
    }
  }
}

extension StatementHandle {
  /// Binds text of at most `capacity` bytes, which `write` makes, without a string of it.
  func bind(
    textUpTo capacity: Int, at parameter: Int32,
    _ write: (inout OutputSpan<UInt8>) throws(SQLiteError) -> Void
  ) throws(SQLiteError) {
    let result = unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) {
      buffer -> Result<Void, SQLiteError> in
      var output = unsafe OutputSpan(buffer: buffer, initializedCount: 0)
      do throws(SQLiteError) {
        try write(&output)
        return unsafe .success(try bind(bytes: output.span.bytes, asText: true, at: parameter))
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }
}

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
    switch stored {
    case .real(let real): return real
    // A column without REAL affinity stores what was bound as an integer.
    case .integer(let integer):
      guard let exact = Double(exactly: integer) else { throw excess(Double.self) }
      return exact
    default: throw stored.mismatch(expected: Double.self)
    }
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

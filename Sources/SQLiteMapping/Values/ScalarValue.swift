package import SQLiteCore

/// A type whose values are stored in one column in a form that this library defines, such as
/// `String`, `[UInt8]`, the number types, `Bool` and Foundation's `Date`, or an optional of them.
///
/// Records, objects and keys share these conversions.
protocol ScalarValue: Bindable, ColumnValue, SendableMetatype {
  /// The kind of the type. Callers use it to select the inlined code for common types.
  static var kind: ScalarKind { get }

  /// Returns the type of a column that stores values of this type.
  static func columnType(_ forms: ScalarForms) -> ColumnType

  /// Returns the collation that sorts the stored values in the order of the original values. The
  /// result is nil if SQLite sorts them in this order without a collation, or if no collation can.
  static func collation(_ forms: ScalarForms) -> String?

  /// Returns the stored form of the value.
  ///
  /// - Throws: ``SQLiteError`` if SQLite cannot store the value exactly.
  func stored(_ forms: ScalarForms) throws(SQLiteError) -> Value

  /// Returns the value that a stored form represents. Error messages don't contain the stored
  /// content.
  ///
  /// - Throws: ``SQLiteError`` if the stored form doesn't represent a value of this type.
  static func value(of stored: Value, _ forms: ScalarForms) throws(SQLiteError) -> Self

  /// Binds the stored form of the value to a parameter.
  ///
  /// - Throws: ``SQLiteError`` if SQLite cannot store the value exactly.
  func bind(
    to handle: StatementHandle, at parameter: Int32, _ forms: ScalarForms
  ) throws(SQLiteError)

  /// Returns the value in a column, or nil if the column doesn't contain a value of the type in its
  /// usual storage class. The caller then uses ``value(of:_:)``, which converts the value or
  /// throws.
  static func read(
    from handle: StatementHandle, at column: Int32, _ forms: ScalarForms
  ) -> Self?

  /// Whether the type is an optional. Its nil is stored as NULL.
  static var isOptional: Bool { get }

  /// Whether the value is nil.
  var isNil: Bool { get }

  /// Reads a column as `Result`, which must be this type.
  ///
  /// Returning `Self?` and casting it to `Result` would cost a metadata lookup per call, because
  /// the caller knows the type only at run time (benchmark `fetch`).
  @unsafe static func read<Result>(
    as type: Result.Type, from handle: StatementHandle, at column: Int32, _ forms: ScalarForms
  ) throws(SQLiteError) -> Result

  /// Binds a value of `Source`, which must be this type, and returns true. For nil, binds nothing
  /// and returns false.
  @unsafe static func bind<Source>(
    _ source: Source, to handle: StatementHandle, at parameter: Int32, _ forms: ScalarForms
  ) throws(SQLiteError) -> Bool
}

/// The kinds of scalar types. Types that callers read or bind with inlined code for speed have
/// their own kinds.
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
  /// Returns the stored form in a column, or nil if the column doesn't contain a value of this kind
  /// in its usual storage class. The caller then uses ``ScalarValue/value(of:_:)``, which converts
  /// the value or throws.
  ///
  /// Always returns nil for ``data`` and ``other``.
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

/// The strategies of a type that determine how its scalars are stored.
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
  static var isOptional: Bool { false }
  var isNil: Bool { false }
  func stored(_ forms: ScalarForms) throws(SQLiteError) -> Value { try databaseValue }
  static func value(of stored: Value, _ forms: ScalarForms) throws(SQLiteError) -> Self {
    try Self(databaseValue: stored)
  }

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
}

extension StatementHandle {
  /// Binds the text that `write` produces, of at most `capacity` bytes, without creating a
  /// `String`.
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

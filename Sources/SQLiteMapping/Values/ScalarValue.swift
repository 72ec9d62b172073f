package import SQLiteCore

/// A type whose values fill one column in a form that this library knows: SQLite's own storage classes,
/// integers of all widths, and Foundation's values.
///
/// The rules of how such a type is stored stand here, once: records, objects and keys use them.
protocol ScalarValue: Bindable, ColumnValue, SendableMetatype {
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

  /// Whether the type has a nil, which is NULL.
  static var isOptional: Bool { get }

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

/// A type that can be read from a column of a row.
///
/// A read is exact or throws: NULL is read only by optionals, text only by texts, and an integer
/// that does not fit is an error, never a default.
public protocol ColumnValue {
  /// Makes the value from what SQLite stores.
  ///
  /// - Parameter databaseValue: The content of a column.
  /// - Throws: ``SQLiteError`` with ``ResultCode/mismatch`` that names what was expected and found.
  init(databaseValue: Value) throws(SQLiteError)

  /// Reads the value from the row that `statement` stands on.
  ///
  /// The default reads a ``Value`` first. Implement it only to save that step.
  ///
  /// - Parameters:
  ///   - statement: A statement that stands on a row.
  ///   - column: The column's index, from 0.
  /// - Throws: ``SQLiteError`` with ``ResultCode/mismatch``.
  static func read(from statement: borrowing Statement, at column: Int) throws(SQLiteError) -> Self
}

extension ColumnValue {
  /// Reads a ``Value`` and makes the value from it.
  public static func read(
    from statement: borrowing Statement, at column: Int
  ) throws(SQLiteError) -> Self {
    try Self(databaseValue: statement.value(at: column))
  }
}

extension Value {
  /// An error that says what was expected and what was found, without the content.
  public func mismatch(expected type: Any.Type) -> SQLiteError {
    SQLiteError(.mismatch, "expected \(type), found \(storageClass)")
  }
}

extension Value: ColumnValue {
  /// Makes a copy.
  public init(databaseValue: Value) {
    self = databaseValue
  }
}

extension FixedWidthInteger where Self: ColumnValue {
  /// Makes the integer from an INTEGER that fits.
  public init(databaseValue: Value) throws(SQLiteError) {
    guard case .integer(let integer) = databaseValue else {
      throw databaseValue.mismatch(expected: Self.self)
    }
    guard let exact = Self(exactly: integer) else {
      throw SQLiteError(.range, "the stored integer does not fit \(Self.self)")
    }
    self = exact
  }

  /// Reads an INTEGER that fits.
  @inline(__always) @inlinable  // Benchmark `fetch`.
  public static func read(
    from statement: borrowing Statement, at column: Int
  ) throws(SQLiteError) -> Self {
    let integer = try statement.exactInteger(at: column, as: Self.self)
    guard let exact = Self(exactly: integer) else {
      throw statement.excess(integer, at: column, of: Self.self)
    }
    return exact
  }
}

extension Int: ColumnValue {}
extension Int8: ColumnValue {}
extension Int16: ColumnValue {}
extension Int32: ColumnValue {}
extension Int64: ColumnValue {}
extension UInt: ColumnValue {}
extension UInt8: ColumnValue {}
extension UInt16: ColumnValue {}
extension UInt32: ColumnValue {}
extension UInt64: ColumnValue {}

extension Bool: ColumnValue {
  /// The Boolean that an integer stores: 0 or 1, and nil for any other.
  @inline(__always) @inlinable  // Benchmark `fetch`.
  package init?(stored integer: Int64) {
    guard integer == 0 || integer == 1 else { return nil }
    self = integer == 1
  }

  /// Makes a Boolean from INTEGER 0 or 1.
  public init(databaseValue: Value) throws(SQLiteError) {
    guard case .integer(let integer) = databaseValue else {
      throw databaseValue.mismatch(expected: Bool.self)
    }
    guard let value = Bool(stored: integer) else {
      throw SQLiteError(.range, "the stored integer is neither 0 nor 1, so not a Bool")
    }
    self = value
  }

  /// Reads INTEGER 0 or 1.
  @inline(__always) @inlinable  // Benchmark `fetch`.
  public static func read(
    from statement: borrowing Statement, at column: Int
  ) throws(SQLiteError) -> Bool {
    let integer = try statement.exactInteger(at: column, as: Bool.self)
    return integer == 0 ? false : integer == 1 ? true : try Bool(databaseValue: .integer(integer))
  }
}

extension Double: ColumnValue {
  /// Makes a real from a REAL, or from an INTEGER that a Double holds exactly.
  public init(databaseValue: Value) throws(SQLiteError) {
    switch databaseValue {
    case .real(let real): self = real
    case .integer(let integer):
      guard let exact = Double(exactly: integer) else {
        throw SQLiteError(.range, "the stored integer does not fit Double exactly")
      }
      self = exact
    default: throw databaseValue.mismatch(expected: Double.self)
    }
  }

  /// Reads a REAL, or an INTEGER that a Double holds exactly.
  @inline(__always) @inlinable  // Benchmark `fetch`.
  public static func read(
    from statement: borrowing Statement, at column: Int
  ) throws(SQLiteError) -> Double {
    try statement.exactReal(at: column)
  }
}

extension Float: ColumnValue {
  /// Makes a real from one that a Float holds exactly.
  public init(databaseValue: Value) throws(SQLiteError) {
    let real = try Double(databaseValue: databaseValue)
    guard let exact = Float(exactly: real) else {
      throw SQLiteError(.range, "the stored real does not fit Float exactly")
    }
    self = exact
  }
}

extension String: ColumnValue {
  /// Makes a string from TEXT.
  public init(databaseValue: Value) throws(SQLiteError) {
    guard case .text(let text) = databaseValue else {
      throw databaseValue.mismatch(expected: String.self)
    }
    self = text
  }

  /// Reads TEXT.
  @inline(__always) @inlinable  // Benchmark `fetch`.
  public static func read(
    from statement: borrowing Statement, at column: Int
  ) throws(SQLiteError) -> String {
    try statement.exactText(at: column)
  }
}

extension [UInt8]: ColumnValue {
  /// Makes the bytes of a BLOB.
  public init(databaseValue: Value) throws(SQLiteError) {
    guard case .blob(let bytes) = databaseValue else {
      throw databaseValue.mismatch(expected: [UInt8].self)
    }
    self = bytes
  }

  /// Reads a BLOB.
  @inline(__always) @inlinable  // Benchmark `fetch`.
  public static func read(
    from statement: borrowing Statement, at column: Int
  ) throws(SQLiteError) -> [UInt8] {
    try statement.exactBytes(at: column)
  }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
  /// Makes nil from NULL.
  public init(databaseValue: Value) throws(SQLiteError) {
    self = databaseValue.isNull ? nil : try Wrapped(databaseValue: databaseValue)
  }

  /// Reads NULL as nil.
  @inline(__always) @inlinable  // Benchmark `fetch`.
  public static func read(
    from statement: borrowing Statement, at column: Int
  ) throws(SQLiteError) -> Wrapped? {
    statement.isNull(at: column) ? nil : try Wrapped.read(from: statement, at: column)
  }
}

extension RawRepresentable where Self: ColumnValue, RawValue: ColumnValue {
  /// Makes the value with the stored raw value.
  public init(databaseValue: Value) throws(SQLiteError) {
    guard let value = Self(rawValue: try RawValue(databaseValue: databaseValue)) else {
      throw SQLiteError(.mismatch, "no \(Self.self) has the stored raw value")
    }
    self = value
  }
}

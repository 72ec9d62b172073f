/// A type that can be read from a column of a row.
///
/// A read is exact or throws. A ``Value`` accepts any content. Of the other types, only optionals
/// accept NULL, only text types accept text, and an integer type throws if the stored integer does
/// not fit.
public protocol ColumnValue: SendableMetatype {
  /// Creates an instance from a stored value.
  ///
  /// - Parameter databaseValue: The content of a column.
  /// - Throws: ``SQLiteError`` with ``ResultCode/mismatch`` or ``ResultCode/range`` if the type
  ///   can't represent the stored value.
  init(databaseValue: Value) throws(SQLiteError)

  /// Reads an instance from a column of the current row.
  ///
  /// The default implementation reads a ``Value`` first. Implement this method only to avoid that
  /// step.
  ///
  /// - Parameters:
  ///   - statement: A statement that is at a row.
  ///   - column: The column's index, from 0.
  /// - Throws: ``SQLiteError`` with ``ResultCode/mismatch`` or ``ResultCode/range`` if the type
  ///   can't represent the stored value.
  static func read(from statement: borrowing Statement, at column: Int) throws(SQLiteError) -> Self
}

extension ColumnValue {
  /// Reads a column as a ``Value`` and creates an instance from it.
  ///
  /// - Parameters:
  ///   - statement: A statement that is at a row.
  ///   - column: The column's index, from 0.
  /// - Throws: ``SQLiteError`` if the type can't represent the stored value, or if a text is not
  ///   valid UTF-8.
  public static func read(
    from statement: borrowing Statement, at column: Int
  ) throws(SQLiteError) -> Self {
    try Self(databaseValue: statement.value(at: column))
  }
}

extension Value {
  /// Returns an error that states the expected type and the storage class of this value. It does
  /// not contain the value itself, which may be private.
  ///
  /// - Parameter type: The type that was requested.
  public func mismatch(expected type: Any.Type) -> SQLiteError {
    SQLiteError(.mismatch, "expected \(type), found \(storageClass)")
  }
}

extension Value: ColumnValue {
  /// Creates a copy of a stored value.
  ///
  /// - Parameter databaseValue: The content of a column.
  public init(databaseValue: Value) {
    self = databaseValue
  }
}

extension FixedWidthInteger where Self: ColumnValue {
  /// Creates an integer from an INTEGER.
  ///
  /// - Parameter databaseValue: The content of a column.
  /// - Throws: ``SQLiteError`` if the value has another storage class, or if the integer does not
  ///   fit the type.
  public init(databaseValue: Value) throws(SQLiteError) {
    guard case .integer(let integer) = databaseValue else {
      throw databaseValue.mismatch(expected: Self.self)
    }
    guard let exact = Self(exactly: integer) else {
      throw SQLiteError(.range, "the stored integer does not fit \(Self.self)")
    }
    self = exact
  }

  /// Reads an INTEGER from a column.
  ///
  /// - Parameters:
  ///   - statement: A statement that is at a row.
  ///   - column: The column's index, from 0.
  /// - Throws: ``SQLiteError`` if the column has another storage class, or if the integer does not
  ///   fit the type.
  @inline(__always) @inlinable  // Benchmark `fetch`.
  public static func read(
    from statement: borrowing Statement, at column: Int
  ) throws(SQLiteError) -> Self {
    let integer = try statement.exactInteger(at: column, as: Self.self)
    guard let exact = Self(exactly: integer) else {
      throw statement.rangeError(integer, at: column, of: Self.self)
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
  /// Creates the Boolean that an integer stores. Returns nil if the integer is neither 0 nor 1.
  @inline(__always) @inlinable  // Benchmark `fetch`.
  package init?(stored integer: Int64) {
    guard integer == 0 || integer == 1 else { return nil }
    self = integer == 1
  }

  /// Creates a Boolean from the INTEGER 0 or 1.
  ///
  /// - Parameter databaseValue: The content of a column.
  /// - Throws: ``SQLiteError`` for any other value.
  public init(databaseValue: Value) throws(SQLiteError) {
    guard case .integer(let integer) = databaseValue else {
      throw databaseValue.mismatch(expected: Bool.self)
    }
    guard let value = Bool(stored: integer) else {
      throw SQLiteError(.range, "the stored integer is neither 0 nor 1, so it is not a Bool")
    }
    self = value
  }

  /// Reads the INTEGER 0 or 1 from a column.
  ///
  /// - Parameters:
  ///   - statement: A statement that is at a row.
  ///   - column: The column's index, from 0.
  /// - Throws: ``SQLiteError`` for any other value.
  @inline(__always) @inlinable  // Benchmark `fetch`.
  public static func read(
    from statement: borrowing Statement, at column: Int
  ) throws(SQLiteError) -> Bool {
    let integer = try statement.exactInteger(at: column, as: Bool.self)
    return integer == 0 ? false : integer == 1 ? true : try Bool(databaseValue: .integer(integer))
  }
}

extension Double: ColumnValue {
  /// Creates a `Double` from a REAL, or from an INTEGER that it can represent exactly.
  ///
  /// - Parameter databaseValue: The content of a column.
  /// - Throws: ``SQLiteError`` for any other value.
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

  /// Reads a REAL from a column, or an INTEGER that a `Double` can represent exactly.
  ///
  /// - Parameters:
  ///   - statement: A statement that is at a row.
  ///   - column: The column's index, from 0.
  /// - Throws: ``SQLiteError`` for any other value.
  @inline(__always) @inlinable  // Benchmark `fetch`.
  public static func read(
    from statement: borrowing Statement, at column: Int
  ) throws(SQLiteError) -> Double {
    try statement.exactReal(at: column)
  }
}

extension Float: ColumnValue {
  /// Creates a `Float` from a number that it can represent exactly.
  ///
  /// - Parameter databaseValue: The content of a column.
  /// - Throws: ``SQLiteError`` for any other value.
  public init(databaseValue: Value) throws(SQLiteError) {
    let real = try Double(databaseValue: databaseValue)
    guard let exact = Float(exactly: real) else {
      throw SQLiteError(.range, "the stored real does not fit Float exactly")
    }
    self = exact
  }
}

extension String: ColumnValue {
  /// Creates a string from TEXT.
  ///
  /// - Parameter databaseValue: The content of a column.
  /// - Throws: ``SQLiteError`` if the value has another storage class.
  public init(databaseValue: Value) throws(SQLiteError) {
    guard case .text(let text) = databaseValue else {
      throw databaseValue.mismatch(expected: String.self)
    }
    self = text
  }

  /// Reads TEXT from a column.
  ///
  /// - Parameters:
  ///   - statement: A statement that is at a row.
  ///   - column: The column's index, from 0.
  /// - Throws: ``SQLiteError`` if the column has another storage class, or if the text is not valid
  ///   UTF-8.
  @inline(__always) @inlinable  // Benchmark `fetch`.
  public static func read(
    from statement: borrowing Statement, at column: Int
  ) throws(SQLiteError) -> String {
    try statement.exactText(at: column)
  }
}

extension [UInt8]: ColumnValue {
  /// Creates an array from the bytes of a BLOB.
  ///
  /// - Parameter databaseValue: The content of a column.
  /// - Throws: ``SQLiteError`` if the value has another storage class.
  public init(databaseValue: Value) throws(SQLiteError) {
    guard case .blob(let bytes) = databaseValue else {
      throw databaseValue.mismatch(expected: [UInt8].self)
    }
    self = bytes
  }

  /// Reads the bytes of a BLOB from a column.
  ///
  /// - Parameters:
  ///   - statement: A statement that is at a row.
  ///   - column: The column's index, from 0.
  /// - Throws: ``SQLiteError`` if the column has another storage class.
  @inline(__always) @inlinable  // Benchmark `fetch`.
  public static func read(
    from statement: borrowing Statement, at column: Int
  ) throws(SQLiteError) -> [UInt8] {
    try statement.exactBytes(at: column)
  }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
  /// Creates nil from NULL, and otherwise a wrapped value.
  ///
  /// - Parameter databaseValue: The content of a column.
  /// - Throws: ``SQLiteError`` if the value isn't NULL and the wrapped type can't represent it.
  public init(databaseValue: Value) throws(SQLiteError) {
    self = databaseValue.isNull ? nil : try Wrapped(databaseValue: databaseValue)
  }

  /// Reads NULL from a column as nil, and any other value as the wrapped type.
  ///
  /// - Parameters:
  ///   - statement: A statement that is at a row.
  ///   - column: The column's index, from 0.
  /// - Throws: ``SQLiteError`` if the value isn't NULL and the wrapped type can't represent it.
  @inline(__always) @inlinable  // Benchmark `fetch`.
  public static func read(
    from statement: borrowing Statement, at column: Int
  ) throws(SQLiteError) -> Wrapped? {
    statement.isNull(at: column) ? nil : try Wrapped.read(from: statement, at: column)
  }
}

extension RawRepresentable where Self: ColumnValue, RawValue: ColumnValue {
  /// Creates the value that has the stored raw value.
  ///
  /// - Parameter databaseValue: The content of a column.
  /// - Throws: ``SQLiteError`` if the type has no such raw value, or if the stored value can't be
  ///   read as a raw value.
  public init(databaseValue: Value) throws(SQLiteError) {
    guard let value = Self(rawValue: try RawValue(databaseValue: databaseValue)) else {
      throw SQLiteError(.mismatch, "the stored value is not a raw value of \(Self.self)")
    }
    self = value
  }
}

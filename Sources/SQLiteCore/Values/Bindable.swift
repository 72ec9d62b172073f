/// A type whose values can be bound to a parameter of a statement.
///
/// To conform your own type, return the value that SQLite stores for it:
///
///     extension Celsius: Bindable {
///       public var databaseValue: Value { get throws(SQLiteError) { .real(degrees) } }
///     }
public protocol Bindable: SendableMetatype {
  /// The value that SQLite stores for this instance.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/mismatch`` or ``ResultCode/range`` if SQLite can't
  ///   store the value exactly.
  var databaseValue: Value { get throws(SQLiteError) }

  /// Binds this value to a parameter of a statement.
  ///
  /// The default implementation binds ``databaseValue``. Implement this method only to avoid
  /// creating a ``Value``.
  ///
  /// - Parameters:
  ///   - statement: A statement that isn't at a row.
  ///   - parameter: The parameter's number, from 1.
  /// - Throws: ``SQLiteError`` if SQLite can't store the value exactly, if the parameter does not
  ///   exist, or if the statement must be reset first.
  func bind(to statement: inout Statement, at parameter: Int) throws(SQLiteError)
}

extension Bindable {
  /// Binds the ``databaseValue`` to a parameter of a statement.
  ///
  /// - Parameters:
  ///   - statement: The statement with the parameter.
  ///   - parameter: The parameter's number, from 1.
  /// - Throws: ``SQLiteError`` if SQLite can't store the value exactly, if the parameter does not
  ///   exist, or if the statement must be reset first.
  public func bind(to statement: inout Statement, at parameter: Int) throws(SQLiteError) {
    try statement.bind(databaseValue, at: parameter)
  }
}

extension Value: Bindable {
  /// The value itself.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/mismatch`` if the value is NaN, which SQLite can't
  ///   store.
  public var databaseValue: Value {
    get throws(SQLiteError) {
      if case .real(let real) = self { return try real.databaseValue }
      return self
    }
  }
}

extension FixedWidthInteger where Self: Bindable {
  /// The integer as a database value.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/range`` if it does not fit a signed 64-bit
  ///   integer.
  @inlinable  // Benchmarks `point` and `insert`.
  public var databaseValue: Value {
    get throws(SQLiteError) { .integer(try storedInteger) }
  }

  /// Binds the integer to a parameter of a statement.
  ///
  /// - Parameters:
  ///   - statement: The statement with the parameter.
  ///   - parameter: The parameter's number, from 1.
  /// - Throws: ``SQLiteError`` with ``ResultCode/range`` if the integer does not fit a signed
  ///   64-bit integer or if the parameter does not exist, or with ``ResultCode/misuse`` if the
  ///   statement must be reset first.
  @inline(__always) @inlinable  // Benchmark `insert`.
  public func bind(to statement: inout Statement, at parameter: Int) throws(SQLiteError) {
    try statement.bind(storedInteger, at: parameter)
  }

  @inline(__always) @inlinable var storedInteger: Int64 {
    get throws(SQLiteError) {
      guard let integer = Int64(exactly: self) else { throw rangeError }
      return integer
    }
  }

  @usableFromInline var rangeError: SQLiteError {
    SQLiteError(.range, "the \(Self.self) does not fit SQLite's 64-bit integer")
  }
}

extension Int: Bindable {}
extension Int8: Bindable {}
extension Int16: Bindable {}
extension Int32: Bindable {}
extension Int64: Bindable {}
extension UInt: Bindable {}
extension UInt8: Bindable {}
extension UInt16: Bindable {}
extension UInt32: Bindable {}
extension UInt64: Bindable {}

extension Bool: Bindable {
  /// The integer 1 for true, and 0 for false.
  @inlinable  // Benchmark `insert`.
  public var databaseValue: Value { .integer(self ? 1 : 0) }

  /// Binds 1 for true, and 0 for false, to a parameter of a statement.
  ///
  /// - Parameters:
  ///   - statement: The statement with the parameter.
  ///   - parameter: The parameter's number, from 1.
  /// - Throws: ``SQLiteError`` if the parameter does not exist, or if the statement must be reset
  ///   first.
  @inline(__always) @inlinable  // Benchmark `insert`.
  public func bind(to statement: inout Statement, at parameter: Int) throws(SQLiteError) {
    try statement.bind(self ? 1 : 0 as Int64, at: parameter)
  }
}

extension Double: Bindable {
  /// The real as a database value. Infinities are stored unchanged. SQLite stores -0.0 as 0.0.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/mismatch`` if it is NaN, which SQLite would
  ///   convert to NULL.
  @inlinable  // Benchmark `insert`.
  public var databaseValue: Value {
    get throws(SQLiteError) {
      guard !isNaN else { throw Self.nanError }
      return .real(self)
    }
  }

  @usableFromInline static var nanError: SQLiteError {
    SQLiteError(.mismatch, "NaN cannot be stored, because SQLite would convert it to NULL")
  }

  /// Binds the real to a parameter of a statement.
  ///
  /// - Parameters:
  ///   - statement: The statement with the parameter.
  ///   - parameter: The parameter's number, from 1.
  /// - Throws: ``SQLiteError`` if the real is NaN, if the parameter does not exist, or if the
  ///   statement must be reset first.
  @inline(__always) @inlinable  // Benchmark `insert`.
  public func bind(to statement: inout Statement, at parameter: Int) throws(SQLiteError) {
    try statement.bind(self, at: parameter)
  }
}

extension Float: Bindable {
  /// The number as a double-precision real.
  ///
  /// - Throws: ``SQLiteError`` if it is NaN.
  public var databaseValue: Value { get throws(SQLiteError) { try Double(self).databaseValue } }
}

extension String: Bindable {
  /// The text as a database value, including embedded NULs.
  @inlinable  // Benchmark `insert`.
  public var databaseValue: Value { .text(self) }

  /// Binds the text to a parameter of a statement, including embedded NULs.
  ///
  /// - Parameters:
  ///   - statement: The statement with the parameter.
  ///   - parameter: The parameter's number, from 1.
  /// - Throws: ``SQLiteError`` if the parameter does not exist, or if the statement must be reset
  ///   first.
  @inline(__always) @inlinable  // Benchmark `insert`.
  public func bind(to statement: inout Statement, at parameter: Int) throws(SQLiteError) {
    try statement.bind(self, at: parameter)
  }
}

extension Substring: Bindable {
  /// The text as a database value, including embedded NULs.
  public var databaseValue: Value { .text(String(self)) }
}

extension [UInt8]: Bindable {
  /// The bytes as a blob. An empty array is an empty blob, not NULL.
  @inlinable  // Benchmark `insert`.
  public var databaseValue: Value { .blob(self) }

  /// Binds the bytes to a parameter of a statement as a blob. An empty array is an empty blob, not
  /// NULL.
  ///
  /// - Parameters:
  ///   - statement: The statement with the parameter.
  ///   - parameter: The parameter's number, from 1.
  /// - Throws: ``SQLiteError`` if the parameter does not exist, or if the statement must be reset
  ///   first.
  @inline(__always) @inlinable  // Benchmark `insert`.
  public func bind(to statement: inout Statement, at parameter: Int) throws(SQLiteError) {
    try statement.bind(self, at: parameter)
  }
}

extension Optional: Bindable where Wrapped: Bindable {
  /// The database value of the wrapped value, or NULL for nil.
  @inlinable  // Benchmark `insert`.
  public var databaseValue: Value {
    get throws(SQLiteError) {
      guard let wrapped = self else { return .null }
      return try wrapped.databaseValue
    }
  }

  /// Binds the wrapped value to a parameter of a statement, or NULL for nil.
  ///
  /// - Parameters:
  ///   - statement: The statement with the parameter.
  ///   - parameter: The parameter's number, from 1.
  /// - Throws: ``SQLiteError`` if SQLite can't store the wrapped value exactly, if the parameter
  ///   does not exist, or if the statement must be reset first.
  @inline(__always) @inlinable  // Benchmark `insert`.
  public func bind(to statement: inout Statement, at parameter: Int) throws(SQLiteError) {
    guard let wrapped = self else { return try statement.bindNull(at: parameter) }
    try wrapped.bind(to: &statement, at: parameter)
  }
}

extension RawRepresentable where Self: Bindable, RawValue: Bindable {
  /// The raw value as a database value.
  ///
  /// - Throws: ``SQLiteError`` if SQLite can't store the raw value exactly.
  public var databaseValue: Value { get throws(SQLiteError) { try rawValue.databaseValue } }

  /// Binds the raw value to a parameter of a statement.
  ///
  /// - Parameters:
  ///   - statement: The statement with the parameter.
  ///   - parameter: The parameter's number, from 1.
  /// - Throws: ``SQLiteError`` if SQLite can't store the raw value exactly, if the parameter does
  ///   not exist, or if the statement must be reset first.
  @inline(__always) @inlinable  // Benchmark `insert`.
  public func bind(to statement: inout Statement, at parameter: Int) throws(SQLiteError) {
    try rawValue.bind(to: &statement, at: parameter)
  }
}

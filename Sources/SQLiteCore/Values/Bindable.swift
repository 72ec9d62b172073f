/// A type whose values can be bound to a parameter of a statement.
///
/// Conform your own types by the form in which SQLite stores them:
///
///     extension Celsius: Bindable {
///       public var databaseValue: Value { get throws(SQLiteError) { .real(degrees) } }
///     }
public protocol Bindable {
  /// The form in which SQLite stores this value.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/mismatch`` or ``ResultCode/range`` if SQLite cannot
  ///   hold the value exactly.
  var databaseValue: Value { get throws(SQLiteError) }

  /// Binds the value to a parameter.
  ///
  /// The default binds the ``databaseValue``. Implement it only to save that step.
  ///
  /// - Parameters:
  ///   - statement: A statement that does not stand on a row.
  ///   - parameter: The parameter's number, from 1.
  /// - Throws: ``SQLiteError``.
  func bind(to statement: inout Statement, at parameter: Int) throws(SQLiteError)
}

extension Bindable {
  /// Binds the ``databaseValue``.
  public func bind(to statement: inout Statement, at parameter: Int) throws(SQLiteError) {
    try statement.bind(databaseValue, at: parameter)
  }
}

extension Value: Bindable {
  /// The value itself; a NaN is refused.
  public var databaseValue: Value {
    get throws(SQLiteError) {
      if case .real(let real) = self { return try real.databaseValue }
      return self
    }
  }
}

extension FixedWidthInteger where Self: Bindable {
  /// The integer.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/range`` if it does not fit 64 bits with a sign.
  @inlinable  // Benchmarks `point` and `insert`.
  public var databaseValue: Value {
    get throws(SQLiteError) { .integer(try storedInteger) }
  }

  /// Binds the integer.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/range`` if it does not fit 64 bits with a sign.
  @inline(__always) @inlinable  // Benchmark `insert`.
  public func bind(to statement: inout Statement, at parameter: Int) throws(SQLiteError) {
    try statement.bind(storedInteger, at: parameter)
  }

  @inline(__always) @inlinable var storedInteger: Int64 {
    get throws(SQLiteError) {
      guard let integer = Int64(exactly: self) else { throw excess }
      return integer
    }
  }

  @usableFromInline var excess: SQLiteError {
    SQLiteError(.range, "\(Self.self) \(self) does not fit SQLite's 64-bit integer")
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
  /// 1 for true and 0 for false.
  @inlinable  // Benchmark `insert`.
  public var databaseValue: Value { .integer(self ? 1 : 0) }

  /// Binds 1 for true and 0 for false.
  @inline(__always) @inlinable  // Benchmark `insert`.
  public func bind(to statement: inout Statement, at parameter: Int) throws(SQLiteError) {
    try statement.bind(self ? 1 : 0 as Int64, at: parameter)
  }
}

extension Double: Bindable {
  /// The real.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/mismatch`` for a NaN, which SQLite would turn into
  ///   NULL. Infinities are stored as they are. SQLite stores -0.0 as 0.0.
  @inlinable  // Benchmark `insert`.
  public var databaseValue: Value {
    get throws(SQLiteError) {
      guard !isNaN else { throw Self.refusalOfNaN }
      return .real(self)
    }
  }

  @usableFromInline static var refusalOfNaN: SQLiteError {
    SQLiteError(.mismatch, "NaN cannot be stored: SQLite would turn it into NULL")
  }

  /// Binds the real; a NaN is refused.
  @inline(__always) @inlinable  // Benchmark `insert`.
  public func bind(to statement: inout Statement, at parameter: Int) throws(SQLiteError) {
    try statement.bind(self, at: parameter)
  }
}

extension Float: Bindable {
  /// The real, widened; a NaN is refused.
  public var databaseValue: Value { get throws(SQLiteError) { try Double(self).databaseValue } }
}

extension String: Bindable {
  /// The text, embedded NULs included.
  @inlinable  // Benchmark `insert`.
  public var databaseValue: Value { .text(self) }

  /// Binds the text, embedded NULs included.
  @inline(__always) @inlinable  // Benchmark `insert`.
  public func bind(to statement: inout Statement, at parameter: Int) throws(SQLiteError) {
    try statement.bind(self, at: parameter)
  }
}

extension Substring: Bindable {
  /// The text, embedded NULs included.
  public var databaseValue: Value { .text(String(self)) }
}

extension [UInt8]: Bindable {
  /// The bytes; an empty array is an empty blob and not NULL.
  @inlinable  // Benchmark `insert`.
  public var databaseValue: Value { .blob(self) }

  /// Binds the bytes; an empty array is an empty blob and not NULL.
  @inline(__always) @inlinable  // Benchmark `insert`.
  public func bind(to statement: inout Statement, at parameter: Int) throws(SQLiteError) {
    try statement.bind(self, at: parameter)
  }
}

extension Optional: Bindable where Wrapped: Bindable {
  /// NULL for nil.
  @inlinable  // Benchmark `insert`.
  public var databaseValue: Value {
    get throws(SQLiteError) {
      guard let wrapped = self else { return .null }
      return try wrapped.databaseValue
    }
  }

  /// Binds NULL for nil.
  @inline(__always) @inlinable  // Benchmark `insert`.
  public func bind(to statement: inout Statement, at parameter: Int) throws(SQLiteError) {
    guard let wrapped = self else { return try statement.bindNull(at: parameter) }
    try wrapped.bind(to: &statement, at: parameter)
  }
}

extension RawRepresentable where Self: Bindable, RawValue: Bindable {
  /// The stored form of the raw value.
  public var databaseValue: Value { get throws(SQLiteError) { try rawValue.databaseValue } }

  /// Binds the raw value.
  @inline(__always) @inlinable  // Benchmark `insert`.
  public func bind(to statement: inout Statement, at parameter: Int) throws(SQLiteError) {
    try rawValue.bind(to: &statement, at: parameter)
  }
}

// For the binding of texts and bytes, see StatementHandle+Binding.swift.

extension Connection {
  /// Binds the values of a literal, starting with parameter 1.
  ///
  /// - Parameters:
  ///   - pieces: The parts of the literal.
  ///   - skipsLongBlob: Whether to skip the first long blob, which the caller then binds without
  ///     copying it.
  /// - Returns: The index in `pieces` of the skipped blob, or nil if none was skipped.
  @discardableResult
  func bind(
    _ pieces: [SQL.Piece], to statement: inout Statement, skipsLongBlob: Bool = false
  ) throws(SQLiteError) -> Int? {
    try statement.checkCount(pieces.count)
    var borrowed: Int?
    for index in pieces.indices {
      switch pieces[index].parameter {
      // A case for each type, because binding a `Value` retains and releases its content (benchmark
      // `insert`).
      case .value(.text(let text)): try statement.bind(text, at: index + 1)
      case .value(.blob(let bytes)):
        if skipsLongBlob, borrowed == nil, StatementHandle.isLong(bytes.count) {
          borrowed = index
        } else {
          try statement.bind(bytes, at: index + 1)
        }
      case .value(.integer(let integer)): try statement.bind(integer, at: index + 1)
      case .value(.real(let real)): try statement.bind(real, at: index + 1)
      case .value(.null): try statement.bindNull(at: index + 1)
      case .list(let values): try statement.bind(list: values, at: index + 1)
      }
    }
    return borrowed
  }

  /// Returns a statement with values bound to its parameters.
  ///
  /// Each `i?` in `sql` is replaced by a text argument as a quoted identifier.
  ///
  /// - Parameters:
  ///   - sql: A single statement without interpolated values.
  ///   - arguments: One value for each parameter, in order; nil is NULL.
  /// - Throws: ``SQLiteError`` if the statement doesn't compile or SQLite can't store a value, with
  ///   ``ResultCode/range`` if the number of arguments is wrong, with ``ResultCode/mismatch`` if
  ///   the argument for an `i?` isn't text, or with ``ResultCode/misuse`` if `sql` also contains
  ///   interpolated values.
  public func statement(
    _ sql: SQL, withArgs arguments: [(any Bindable)?]
  ) throws(SQLiteError) -> Statement {
    try boundStatement(sql.withArgs(arguments))
  }

  /// Returns a statement with values bound to its named parameters.
  ///
  /// - Parameters:
  ///   - sql: A single statement with parameters such as `:name`, `@name` or `$name`.
  ///   - arguments: A value for each name, with or without its prefix; nil is NULL.
  /// - Throws: ``SQLiteError`` if the statement doesn't compile or SQLite can't store a value, with
  ///   ``ResultCode/range`` if a name doesn't exist or is bound twice, or if a parameter has no
  ///   value, or with ``ResultCode/misuse`` if `sql` also contains interpolated values.
  public func statement(
    _ sql: SQL, withArgs arguments: [String: (any Bindable)?]
  ) throws(SQLiteError) -> Statement {
    try sql.checkHasNoValues()
    var statement = Statement(try checkOut(sql.text), of: self)
    var bound = Set<Int>()
    for (name, value) in arguments {
      let index = try statement.parameter(named: name)
      guard bound.insert(index).inserted else {
        throw SQLiteError(.range, "the parameter \(name) is bound twice", sql: sql.text)
      }
      try statement.bind(value?.databaseValue ?? .null, at: index)
    }
    try statement.checkHasValues(bound)
    return statement
  }

  /// Returns a statement with the interpolated values of `sql` bound. Throws ``ResultCode/range``
  /// if a parameter has no value.
  @usableFromInline package func boundStatement(_ sql: SQL) throws(SQLiteError) -> Statement {
    let statement = try statement(sql)
    if sql.pieces.isEmpty { try statement.checkCount(0) }
    return statement
  }
}

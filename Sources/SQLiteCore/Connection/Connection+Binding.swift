// The text and bytes of a value are bound in StatementHandle+Binding.swift.

extension Connection {
  /// Binds the values of a literal, from parameter 1 on.
  ///
  /// - Parameter lends: Whether the first long blob is left out, so that SQLite can be lent it.
  /// - Returns: The index of that blob, if there is one.
  @discardableResult
  func bind(
    _ pieces: [SQL.Piece], to statement: inout Statement, lends: Bool = false
  ) throws(SQLiteError) -> Int? {
    try statement.checkCount(pieces.count)
    var lent: Int?
    for index in pieces.indices {
      switch pieces[index].parameter {
      // By type, since binding a `Value` retains and releases its content (benchmark `insert`).
      case .value(.text(let text)): try statement.bind(text, at: index + 1)
      case .value(.blob(let bytes)):
        if lends, lent == nil, StatementHandle.isLong(bytes.count) {
          lent = index
        } else {
          try statement.bind(bytes, at: index + 1)
        }
      case .value(.integer(let integer)): try statement.bind(integer, at: index + 1)
      case .value(.real(let real)): try statement.bind(real, at: index + 1)
      case .value(.null): try statement.bindNull(at: index + 1)
      case .list(let values): try statement.bind(list: values, at: index + 1)
      }
    }
    return lent
  }

  /// Returns a statement with values bound to its parameters.
  ///
  /// - Parameters:
  ///   - sql: A single statement; each `i?` takes a text as an identifier.
  ///   - arguments: One value for each parameter, in order; nil is NULL.
  /// - Throws: ``SQLiteError``.
  public func statement(
    _ sql: SQL, withArgs arguments: [(any Bindable)?]
  ) throws(SQLiteError) -> Statement {
    try boundStatement(sql.withArgs(arguments))
  }

  /// Returns a statement with values bound to its named parameters.
  ///
  /// - Parameters:
  ///   - sql: A single statement.
  ///   - arguments: A value for each name, with or without its prefix; nil is NULL.
  /// - Throws: ``SQLiteError``.
  public func statement(
    _ sql: SQL, withArgs arguments: [String: (any Bindable)?]
  ) throws(SQLiteError) -> Statement {
    try sql.checkHasNoValues()
    var statement = Statement(try checkOut(sql.text), of: self)
    var bound = Set<Int>()
    for (name, value) in arguments {
      let index = try statement.parameter(named: name)
      guard bound.insert(index).inserted else {
        throw SQLiteError(.range, "the parameter \(name) has two values", sql: sql.text)
      }
      try statement.bind(value?.databaseValue ?? .null, at: index)
    }
    try statement.checkHasValues(bound)
    return statement
  }

  /// A statement all of whose parameters have values.
  @usableFromInline package func boundStatement(_ sql: SQL) throws(SQLiteError) -> Statement {
    let statement = try statement(sql)
    if sql.pieces.isEmpty { try statement.checkCount(0) }
    return statement
  }
}

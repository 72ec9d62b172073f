// Swift 6.3.1 does not unroll parameter packs: the generic `rows(_:as:)` calls a generic function
// for each column of each row. This takes 97 more instructions per column (callgrind: 1,956 instead
// of 1,666 for a row of three columns, including those of SQLite). The overloads in this file are
// compiled for concrete types in the calling module. They are not compiled here, because
// unspecialized copies would be 30 KB of unused machine code. A query with one column returns plain
// values, because `==` does not accept one-element tuples.
extension RowSource {
  /// Returns the values of a query with one column, in the order of its rows.
  ///
  /// This is a faster overload of the generic ``rows(_:as:)``.
  ///
  /// `sql` must be a single statement with one column.
  ///
  /// - Throws: The errors of the generic ``rows(_:as:)``.
  @_alwaysEmitIntoClient  // Benchmark `fetch`.
  public func rows<A: ColumnValue>(
    _ sql: SQL, as _: A.Type
  ) throws(Failure) -> [A] {
    try rows(sql, columns: 1) { row, column throws(SQLiteError) in try row.next(&column) }
  }

  /// Returns all rows of a query with two columns as tuples.
  ///
  /// This is a faster overload of the generic `rows(_:as:)`.
  ///
  /// `sql` must be a single statement with two columns.
  ///
  /// - Throws: The errors of the generic `rows(_:as:)`.
  @_alwaysEmitIntoClient  // Benchmark `fetch`.
  public func rows<A: ColumnValue, B: ColumnValue>(
    _ sql: SQL, as _: A.Type, _: B.Type
  ) throws(Failure) -> [(A, B)] {
    try rows(sql, columns: 2) { row, column throws(SQLiteError) in
      (try row.next(&column), try row.next(&column))
    }
  }

  /// Returns all rows of a query with three columns as tuples.
  ///
  /// This is a faster overload of the generic `rows(_:as:)`.
  ///
  /// `sql` must be a single statement with three columns.
  ///
  /// - Throws: The errors of the generic `rows(_:as:)`.
  @_alwaysEmitIntoClient  // Benchmark `fetch`.
  public func rows<A: ColumnValue, B: ColumnValue, C: ColumnValue>(
    _ sql: SQL, as _: A.Type, _: B.Type, _: C.Type
  ) throws(Failure) -> [(A, B, C)] {
    try rows(sql, columns: 3) { row, column throws(SQLiteError) in
      (try row.next(&column), try row.next(&column), try row.next(&column))
    }
  }

  /// Returns all rows of a query with four columns as tuples.
  ///
  /// This is a faster overload of the generic `rows(_:as:)`.
  ///
  /// `sql` must be a single statement with four columns.
  ///
  /// - Throws: The errors of the generic `rows(_:as:)`.
  @_alwaysEmitIntoClient  // Benchmark `fetch`.
  public func rows<A: ColumnValue, B: ColumnValue, C: ColumnValue, D: ColumnValue>(
    _ sql: SQL, as _: A.Type, _: B.Type, _: C.Type, _: D.Type
  ) throws(Failure) -> [(A, B, C, D)] {
    try rows(sql, columns: 4) { row, column throws(SQLiteError) in
      (try row.next(&column), try row.next(&column), try row.next(&column), try row.next(&column))
    }
  }

  /// Returns all rows of a query with five columns as tuples.
  ///
  /// This is a faster overload of the generic `rows(_:as:)`.
  ///
  /// `sql` must be a single statement with five columns.
  ///
  /// - Throws: The errors of the generic `rows(_:as:)`.
  @_alwaysEmitIntoClient  // Benchmark `fetch`.
  public func rows<A: ColumnValue, B: ColumnValue, C: ColumnValue, D: ColumnValue, E: ColumnValue>(
    _ sql: SQL, as _: A.Type, _: B.Type, _: C.Type, _: D.Type, _: E.Type
  ) throws(Failure) -> [(A, B, C, D, E)] {
    try rows(sql, columns: 5) { row, column throws(SQLiteError) in
      (
        try row.next(&column), try row.next(&column), try row.next(&column), try row.next(&column),
        try row.next(&column)
      )
    }
  }

  /// Returns all rows of a query with six columns as tuples.
  ///
  /// This is a faster overload of the generic `rows(_:as:)`.
  ///
  /// `sql` must be a single statement with six columns.
  ///
  /// - Throws: The errors of the generic `rows(_:as:)`.
  @_alwaysEmitIntoClient  // Benchmark `fetch`.
  public func rows<
    A: ColumnValue, B: ColumnValue, C: ColumnValue, D: ColumnValue, E: ColumnValue, F: ColumnValue
  >(
    _ sql: SQL, as _: A.Type, _: B.Type, _: C.Type, _: D.Type, _: E.Type, _: F.Type
  ) throws(Failure) -> [(A, B, C, D, E, F)] {
    try rows(sql, columns: 6) { row, column throws(SQLiteError) in
      (
        try row.next(&column), try row.next(&column), try row.next(&column), try row.next(&column),
        try row.next(&column), try row.next(&column)
      )
    }
  }

  /// Returns all rows of a query with seven columns as tuples.
  ///
  /// This is a faster overload of the generic `rows(_:as:)`.
  ///
  /// `sql` must be a single statement with seven columns.
  ///
  /// - Throws: The errors of the generic `rows(_:as:)`.
  @_alwaysEmitIntoClient  // Benchmark `fetch`.
  public func rows<
    A: ColumnValue, B: ColumnValue, C: ColumnValue, D: ColumnValue, E: ColumnValue, F: ColumnValue,
    G: ColumnValue
  >(
    _ sql: SQL, as _: A.Type, _: B.Type, _: C.Type, _: D.Type, _: E.Type, _: F.Type, _: G.Type
  ) throws(Failure) -> [(A, B, C, D, E, F, G)] {
    try rows(sql, columns: 7) { row, column throws(SQLiteError) in
      (
        try row.next(&column), try row.next(&column), try row.next(&column), try row.next(&column),
        try row.next(&column), try row.next(&column), try row.next(&column)
      )
    }
  }

  /// Returns all rows of a query with eight columns as tuples.
  ///
  /// This is a faster overload of the generic `rows(_:as:)`.
  ///
  /// `sql` must be a single statement with eight columns.
  ///
  /// - Throws: The errors of the generic `rows(_:as:)`.
  @_alwaysEmitIntoClient  // Benchmark `fetch`.
  public func rows<
    A: ColumnValue, B: ColumnValue, C: ColumnValue, D: ColumnValue, E: ColumnValue, F: ColumnValue,
    G: ColumnValue, H: ColumnValue
  >(
    _ sql: SQL, as _: A.Type, _: B.Type, _: C.Type, _: D.Type, _: E.Type, _: F.Type, _: G.Type,
    _: H.Type
  ) throws(Failure) -> [(A, B, C, D, E, F, G, H)] {
    try rows(sql, columns: 8) { row, column throws(SQLiteError) in
      (
        try row.next(&column), try row.next(&column), try row.next(&column), try row.next(&column),
        try row.next(&column), try row.next(&column), try row.next(&column), try row.next(&column)
      )
    }
  }
}

extension Connection {
  /// Returns the value in the first row of a query with one column; nil if the query returns no
  /// rows.
  ///
  /// This is a faster overload of the generic ``firstRow(_:as:)``.
  ///
  /// `sql` must be a single statement with one column.
  ///
  /// - Throws: The errors of the generic ``firstRow(_:as:)``.
  @_alwaysEmitIntoClient  // Benchmark `point`.
  public func firstRow<A: ColumnValue>(
    _ sql: SQL, as _: A.Type
  ) throws(SQLiteError) -> A? {
    try firstRow(sql, columns: 1) { row, column throws(SQLiteError) in try row.next(&column) }
  }

  /// Returns the first row of a query with two columns as a tuple; nil if the query returns no
  /// rows.
  ///
  /// This is a faster overload of the generic `firstRow(_:as:)`.
  ///
  /// `sql` must be a single statement with two columns.
  ///
  /// - Throws: The errors of the generic `firstRow(_:as:)`.
  @_alwaysEmitIntoClient  // Benchmark `point`.
  public func firstRow<A: ColumnValue, B: ColumnValue>(
    _ sql: SQL, as _: A.Type, _: B.Type
  ) throws(SQLiteError) -> (A, B)? {
    try firstRow(sql, columns: 2) { row, column throws(SQLiteError) in
      (try row.next(&column), try row.next(&column))
    }
  }

  /// Returns the first row of a query with three columns as a tuple; nil if the query returns no
  /// rows.
  ///
  /// This is a faster overload of the generic `firstRow(_:as:)`.
  ///
  /// `sql` must be a single statement with three columns.
  ///
  /// - Throws: The errors of the generic `firstRow(_:as:)`.
  @_alwaysEmitIntoClient  // Benchmark `point`.
  public func firstRow<A: ColumnValue, B: ColumnValue, C: ColumnValue>(
    _ sql: SQL, as _: A.Type, _: B.Type, _: C.Type
  ) throws(SQLiteError) -> (A, B, C)? {
    try firstRow(sql, columns: 3) { row, column throws(SQLiteError) in
      (try row.next(&column), try row.next(&column), try row.next(&column))
    }
  }

  /// Returns the first row of a query with four columns as a tuple; nil if the query returns no
  /// rows.
  ///
  /// This is a faster overload of the generic `firstRow(_:as:)`.
  ///
  /// `sql` must be a single statement with four columns.
  ///
  /// - Throws: The errors of the generic `firstRow(_:as:)`.
  @_alwaysEmitIntoClient  // Benchmark `point`.
  public func firstRow<A: ColumnValue, B: ColumnValue, C: ColumnValue, D: ColumnValue>(
    _ sql: SQL, as _: A.Type, _: B.Type, _: C.Type, _: D.Type
  ) throws(SQLiteError) -> (A, B, C, D)? {
    try firstRow(sql, columns: 4) { row, column throws(SQLiteError) in
      (try row.next(&column), try row.next(&column), try row.next(&column), try row.next(&column))
    }
  }

  /// Returns the first row of a query with five columns as a tuple; nil if the query returns no
  /// rows.
  ///
  /// This is a faster overload of the generic `firstRow(_:as:)`.
  ///
  /// `sql` must be a single statement with five columns.
  ///
  /// - Throws: The errors of the generic `firstRow(_:as:)`.
  @_alwaysEmitIntoClient  // Benchmark `point`.
  public func firstRow<
    A: ColumnValue, B: ColumnValue, C: ColumnValue, D: ColumnValue, E: ColumnValue
  >(
    _ sql: SQL, as _: A.Type, _: B.Type, _: C.Type, _: D.Type, _: E.Type
  ) throws(SQLiteError) -> (A, B, C, D, E)? {
    try firstRow(sql, columns: 5) { row, column throws(SQLiteError) in
      (
        try row.next(&column), try row.next(&column), try row.next(&column), try row.next(&column),
        try row.next(&column)
      )
    }
  }

  /// Returns the first row of a query with six columns as a tuple; nil if the query returns no
  /// rows.
  ///
  /// This is a faster overload of the generic `firstRow(_:as:)`.
  ///
  /// `sql` must be a single statement with six columns.
  ///
  /// - Throws: The errors of the generic `firstRow(_:as:)`.
  @_alwaysEmitIntoClient  // Benchmark `point`.
  public func firstRow<
    A: ColumnValue, B: ColumnValue, C: ColumnValue, D: ColumnValue, E: ColumnValue, F: ColumnValue
  >(
    _ sql: SQL, as _: A.Type, _: B.Type, _: C.Type, _: D.Type, _: E.Type, _: F.Type
  ) throws(SQLiteError) -> (A, B, C, D, E, F)? {
    try firstRow(sql, columns: 6) { row, column throws(SQLiteError) in
      (
        try row.next(&column), try row.next(&column), try row.next(&column), try row.next(&column),
        try row.next(&column), try row.next(&column)
      )
    }
  }

  /// Returns the first row of a query with seven columns as a tuple; nil if the query returns no
  /// rows.
  ///
  /// This is a faster overload of the generic `firstRow(_:as:)`.
  ///
  /// `sql` must be a single statement with seven columns.
  ///
  /// - Throws: The errors of the generic `firstRow(_:as:)`.
  @_alwaysEmitIntoClient  // Benchmark `point`.
  public func firstRow<
    A: ColumnValue, B: ColumnValue, C: ColumnValue, D: ColumnValue, E: ColumnValue, F: ColumnValue,
    G: ColumnValue
  >(
    _ sql: SQL, as _: A.Type, _: B.Type, _: C.Type, _: D.Type, _: E.Type, _: F.Type, _: G.Type
  ) throws(SQLiteError) -> (A, B, C, D, E, F, G)? {
    try firstRow(sql, columns: 7) { row, column throws(SQLiteError) in
      (
        try row.next(&column), try row.next(&column), try row.next(&column), try row.next(&column),
        try row.next(&column), try row.next(&column), try row.next(&column)
      )
    }
  }

  /// Returns the first row of a query with eight columns as a tuple; nil if the query returns no
  /// rows.
  ///
  /// This is a faster overload of the generic `firstRow(_:as:)`.
  ///
  /// `sql` must be a single statement with eight columns.
  ///
  /// - Throws: The errors of the generic `firstRow(_:as:)`.
  @_alwaysEmitIntoClient  // Benchmark `point`.
  public func firstRow<
    A: ColumnValue, B: ColumnValue, C: ColumnValue, D: ColumnValue, E: ColumnValue, F: ColumnValue,
    G: ColumnValue, H: ColumnValue
  >(
    _ sql: SQL, as _: A.Type, _: B.Type, _: C.Type, _: D.Type, _: E.Type, _: F.Type, _: G.Type,
    _: H.Type
  ) throws(SQLiteError) -> (A, B, C, D, E, F, G, H)? {
    try firstRow(sql, columns: 8) { row, column throws(SQLiteError) in
      (
        try row.next(&column), try row.next(&column), try row.next(&column), try row.next(&column),
        try row.next(&column), try row.next(&column), try row.next(&column), try row.next(&column)
      )
    }
  }
}

// Swift 6.3.1 does not unroll packs: `rows(_:as:)` for any number of types calls a generic function for
// each column of each row, which takes 97 instructions more for each (callgrind: 1,956 and not 1,666 for a
// row of three columns, with all of SQLite's). These forms are compiled for their types, in the module that
// calls them and not here: a copy for any types would be 30 KB of machine code that nobody calls. One column
// gives its own type, not a tuple of one, which `==` does not take.
extension RowSource {
  /// As ``rows(_:as:)`` of any number of columns, for one.
  @_alwaysEmitIntoClient  // Benchmark `fetch`.
  public func rows<A: ColumnValue>(
    _ sql: SQL, as _: A.Type
  ) throws(Failure) -> [A] {
    try rows(sql, columns: 1) { row, column throws(SQLiteError) in try row.next(&column) }
  }

  /// As `rows(_:as:)` of any number of columns, for two.
  @_alwaysEmitIntoClient  // Benchmark `fetch`.
  public func rows<A: ColumnValue, B: ColumnValue>(
    _ sql: SQL, as _: A.Type, _: B.Type
  ) throws(Failure) -> [(A, B)] {
    try rows(sql, columns: 2) { row, column throws(SQLiteError) in
      (try row.next(&column), try row.next(&column))
    }
  }

  /// As `rows(_:as:)` of any number of columns, for three.
  @_alwaysEmitIntoClient  // Benchmark `fetch`.
  public func rows<A: ColumnValue, B: ColumnValue, C: ColumnValue>(
    _ sql: SQL, as _: A.Type, _: B.Type, _: C.Type
  ) throws(Failure) -> [(A, B, C)] {
    try rows(sql, columns: 3) { row, column throws(SQLiteError) in
      (try row.next(&column), try row.next(&column), try row.next(&column))
    }
  }

  /// As `rows(_:as:)` of any number of columns, for four.
  @_alwaysEmitIntoClient  // Benchmark `fetch`.
  public func rows<A: ColumnValue, B: ColumnValue, C: ColumnValue, D: ColumnValue>(
    _ sql: SQL, as _: A.Type, _: B.Type, _: C.Type, _: D.Type
  ) throws(Failure) -> [(A, B, C, D)] {
    try rows(sql, columns: 4) { row, column throws(SQLiteError) in
      (try row.next(&column), try row.next(&column), try row.next(&column), try row.next(&column))
    }
  }

  /// As `rows(_:as:)` of any number of columns, for five.
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

  /// As `rows(_:as:)` of any number of columns, for six.
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

  /// As `rows(_:as:)` of any number of columns, for seven.
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

  /// As `rows(_:as:)` of any number of columns, for eight.
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
  /// As ``firstRow(_:as:)`` of any number of columns, for one.
  @_alwaysEmitIntoClient  // Benchmark `point`.
  public func firstRow<A: ColumnValue>(
    _ sql: SQL, as _: A.Type
  ) throws(SQLiteError) -> A? {
    try firstRow(sql, columns: 1) { row, column throws(SQLiteError) in try row.next(&column) }
  }

  /// As `firstRow(_:as:)` of any number of columns, for two.
  @_alwaysEmitIntoClient  // Benchmark `point`.
  public func firstRow<A: ColumnValue, B: ColumnValue>(
    _ sql: SQL, as _: A.Type, _: B.Type
  ) throws(SQLiteError) -> (A, B)? {
    try firstRow(sql, columns: 2) { row, column throws(SQLiteError) in
      (try row.next(&column), try row.next(&column))
    }
  }

  /// As `firstRow(_:as:)` of any number of columns, for three.
  @_alwaysEmitIntoClient  // Benchmark `point`.
  public func firstRow<A: ColumnValue, B: ColumnValue, C: ColumnValue>(
    _ sql: SQL, as _: A.Type, _: B.Type, _: C.Type
  ) throws(SQLiteError) -> (A, B, C)? {
    try firstRow(sql, columns: 3) { row, column throws(SQLiteError) in
      (try row.next(&column), try row.next(&column), try row.next(&column))
    }
  }

  /// As `firstRow(_:as:)` of any number of columns, for four.
  @_alwaysEmitIntoClient  // Benchmark `point`.
  public func firstRow<A: ColumnValue, B: ColumnValue, C: ColumnValue, D: ColumnValue>(
    _ sql: SQL, as _: A.Type, _: B.Type, _: C.Type, _: D.Type
  ) throws(SQLiteError) -> (A, B, C, D)? {
    try firstRow(sql, columns: 4) { row, column throws(SQLiteError) in
      (try row.next(&column), try row.next(&column), try row.next(&column), try row.next(&column))
    }
  }

  /// As `firstRow(_:as:)` of any number of columns, for five.
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

  /// As `firstRow(_:as:)` of any number of columns, for six.
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

  /// As `firstRow(_:as:)` of any number of columns, for seven.
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

  /// As `firstRow(_:as:)` of any number of columns, for eight.
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

// The tables that a result depends on, so that only their commits let it be looked at anew.
extension Connection {
  /// A moment in the use of this connection.
  package struct Moment {
    fileprivate let mark: StatementCache.Mark
  }

  /// The present moment.
  package var now: Moment { Moment(mark: cache.mark) }

  /// Returns the tables of the main database that statements since a moment have read, in lower case: what
  /// they brought cannot change as long as these tables do not, nor the schema.
  ///
  /// The virtual tables among them are left out.
  ///
  /// - Returns: Nil if it is not known: too many statements ran.
  /// - Throws: ``SQLiteError``.
  package func tablesRead(since moment: Moment) throws(SQLiteError) -> Set<String>? {
    guard let texts = cache.texts(since: moment.mark) else { return nil }
    var tables: Set<String> = []
    try withoutAuthorizer { () throws(SQLiteError) in
      var roots: Set<Int64> = []
      for text in texts {
        // Each table and each index is opened by its first page, whatever the values.
        var program = try statement(SQL(unchecked: "EXPLAIN \(text)"))
        if program.parameterCount > 0 { try program.bindNull(at: 1) }
        while try program.step() {
          guard try program.text(at: 1) == "OpenRead", program.integer(at: 4) == 0 else { continue }
          roots.insert(program.integer(at: 3))
        }
      }
      let names = try rows(
        "SELECT DISTINCT tbl_name FROM sqlite_schema WHERE rootpage IN \(Array(roots))",
        as: String.self)
      tables = Set(names.map(asciiLowercased))
    }
    return tables
  }
}

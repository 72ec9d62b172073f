// Determines the tables that a result depends on. Only commits that change them require a new
// fetch.
extension Connection {
  /// A point in time in the use of this connection.
  package struct Moment {
    fileprivate let mark: StatementCache.Mark
  }

  /// The current point in time, for a later call of ``tablesRead(since:)``.
  package var now: Moment { Moment(mark: cache.mark) }

  /// Returns the lowercased names of the main database's tables that statements have read since
  /// `moment`. The results of these statements can't change unless these tables or the schema
  /// change.
  ///
  /// For a virtual table, these are the tables in which its module stores the content.
  ///
  /// - Returns: The tables, or nil if they are unknown because too many statements ran.
  /// - Throws: ``SQLiteError`` if a statement can't be explained, for example because a table is
  ///   missing.
  package func tablesRead(since moment: Moment) throws(SQLiteError) -> Set<String>? {
    guard let texts = cache.texts(since: moment.mark) else { return nil }
    var tables: Set<String> = []
    try withoutAuthorizer { () throws(SQLiteError) in
      var roots: Set<Int64> = []
      var textsOfModules: [String] = []
      for text in texts {
        // The program opens each table and index by its root page, whatever the bound values are.
        var program = try statement(SQL(unchecked: "EXPLAIN \(text)"))
        if program.parameterCount > 0 { try program.bindNull(at: 1) }
        var usesModule = false
        while try program.step() {
          switch try program.text(at: 1) {
          case "OpenRead" where program.integer(at: 4) == 0: roots.insert(program.integer(at: 3))
          case "VOpen": usesModule = true
          default: break
          }
        }
        if usesModule { textsOfModules.append(asciiLowercased(text)) }
      }
      let names = try rows(
        "SELECT DISTINCT tbl_name FROM sqlite_schema WHERE rootpage IN \(Array(roots))",
        as: String.self)
      tables = Set(names.map(asciiLowercased)).union(try tablesOfModules(in: textsOfModules))
    }
    return tables
  }

  /// Returns the names of the tables that store the content of the virtual tables that `texts`
  /// mention. The name of each begins with the name of its virtual table and an underscore.
  ///
  /// - Parameter texts: The lowercased SQL of the statements.
  private func tablesOfModules(in texts: [String]) throws(SQLiteError) -> [String] {
    guard !texts.isEmpty else { return [] }
    let tables = try rows(
      "SELECT name, rootpage = 0 FROM sqlite_schema WHERE type = 'table'", as: String.self,
      Bool.self
    ).map { (name: asciiLowercased($0.0), isVirtual: $0.1) }
    let named = tables.filter { table in
      table.isVirtual && texts.contains { $0.contains(table.name) }
    }
    return tables.map(\.name).filter { name in
      named.contains { name.hasPrefix("\($0.name)_") }
    }
  }
}

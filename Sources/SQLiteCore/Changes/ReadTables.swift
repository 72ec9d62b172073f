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
  /// For a virtual table these are the tables that its module keeps its content in.
  ///
  /// - Returns: Nil if it is not known: too many statements ran.
  /// - Throws: ``SQLiteError``.
  package func tablesRead(since moment: Moment) throws(SQLiteError) -> Set<String>? {
    guard let texts = cache.texts(since: moment.mark) else { return nil }
    var tables: Set<String> = []
    try withoutAuthorizer { () throws(SQLiteError) in
      var roots: Set<Int64> = []
      var textsOfModules: [String] = []
      for text in texts {
        // Each table and each index is opened by its first page, whatever the values.
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

  /// The tables in which modules keep the content of virtual tables that texts in lower case name. Their names
  /// begin with that of the virtual table and an underscore.
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

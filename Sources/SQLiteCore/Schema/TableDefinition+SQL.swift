extension TableDefinition {
  /// Returns the statement that makes the table.
  ///
  /// - Parameters:
  ///   - ifNotExists: Whether a table of that name may be there already.
  ///   - isStrict: Whether values of another type than the column's are refused.
  package func createSQL(
    ifNotExists: Bool = true, isStrict: Bool = false
  ) throws(SQLiteError) -> SQL {
    var parts: [SQL] = []
    var columns = columns
    var keys: [String] = []
    switch key {
    case .autoIncrement(let name):
      parts.append("\(identifier: name) INTEGER PRIMARY KEY AUTOINCREMENT")
    case .rowID(let name): parts.append("\(identifier: name) INTEGER PRIMARY KEY")
    case .columns(let names), .withoutRowID(let names): keys = names
    case .declared: keys = columns.filter(\.isPrimaryKey).map(\.name)
    }
    // An integer becomes the rowid only if it is declared the key by itself.
    if case .declared = key, keys.count == 1 {
      keys = []
    } else {
      for index in columns.indices { columns[index].isPrimaryKey = false }
    }
    for column in columns { parts.append(try column.sql) }
    if !keys.isEmpty { parts.append("PRIMARY KEY (\(SQL(identifiers: keys)))") }
    var options: [SQL] = []
    if case .withoutRowID = key { options.append("WITHOUT ROWID") }
    if isStrict { options.append("STRICT") }
    let condition: SQL = ifNotExists ? "IF NOT EXISTS " : ""
    let body = SQL(joining: parts, separator: ", ")
    return
      "CREATE TABLE \(condition)\(identifier: name) (\(body)) \(SQL(joining: options, separator: ", "))"
  }
}

extension ColumnDefinition {
  /// The column as CREATE TABLE and ALTER TABLE spell it.
  package var sql: SQL {
    get throws(SQLiteError) {
      var sql: SQL = "\(identifier: name) \(SQL(unchecked: type.rawValue))"
      if isPrimaryKey { sql.append(" PRIMARY KEY") }
      if !isOptional, !(isPrimaryKey && type == .integer) { sql.append(" NOT NULL") }
      if let defaultValue {
        sql.append(" DEFAULT \(SQL(unchecked: try SQL.escapeValue(defaultValue)))")
      }
      if isUnique { sql.append(" UNIQUE") }
      if let reference {
        sql.append(
          " REFERENCES \(identifier: reference.table) (\(identifier: reference.column)) ON DELETE \(SQL(unchecked: reference.onDelete.rawValue)) DEFERRABLE INITIALLY DEFERRED"
        )
      }
      return sql
    }
  }
}

extension SQL {
  /// Quoted names with commas between.
  package init(identifiers names: some Sequence<String>) {
    self.init(joining: names.map { "\(identifier: $0)" }, separator: ", ")
  }
}

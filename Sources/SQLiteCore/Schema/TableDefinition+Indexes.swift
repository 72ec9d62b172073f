extension TableDefinition {
  /// The indexes that the table needs, those of UNIQUE columns among them, each once: of two with the
  /// same columns the unique one.
  package var neededIndexes: [IndexDefinition] {
    var needed: [IndexDefinition] = []
    let unique = columns.filter(\.isUnique).map { IndexDefinition([$0.name], isUnique: true) }
    for index in unique + indexes {
      guard let known = needed.firstIndex(where: { $0.hasColumns(index.columns) }) else {
        needed.append(index)
        continue
      }
      if index.isUnique { needed[known].isUnique = true }
    }
    return needed
  }
}

extension IndexDefinition {
  /// The name that the index of a table gets, another one for each table and each list of columns.
  package func name(on table: String) -> String {
    func escaped(_ name: String) -> String {
      String(name.flatMap { "\\(),".contains($0) ? ["\\", $0] : [$0] })
    }
    return "\(escaped(table))(\(columns.map(escaped).joined(separator: ",")))"
  }

  /// Says whether an index that is there does what this one asks for, whatever its name is.
  package func isFulfilled(by found: TableIndex) -> Bool {
    !found.isPartial && (found.isUnique || !isUnique)
      && hasColumns(found.columns.map { $0 ?? "" })
  }

  func hasColumns(_ names: [String]) -> Bool {
    columns.map(asciiLowercased) == names.map(asciiLowercased)
  }
}

extension Connection {
  /// The indexes that a table lacks.
  package func missingIndexes(of table: TableDefinition) throws(SQLiteError) -> [IndexDefinition] {
    let needed = table.neededIndexes
    guard !needed.isEmpty else { return [] }
    let existing = try existingIndexes(of: table.name)
    return needed.filter { index in !existing.contains { index.isFulfilled(by: $0) } }
  }

  /// Makes an index that a table lacks, by a name that is free.
  package func make(_ index: IndexDefinition, on table: String) throws(SQLiteError) {
    let name = try freeName(index.name(on: table))
    let unique: SQL = index.isUnique ? "UNIQUE " : ""
    try executeChange(
      "CREATE \(unique)INDEX \(identifier: name) ON \(identifier: table) (\(SQL(identifiers: index.columns)))"
    )
  }

  /// A name, with a number if it is taken: it says nothing, since an index is found by its columns.
  private func freeName(_ name: String) throws(SQLiteError) -> String {
    let names = try rows("SELECT name FROM sqlite_schema", as: String.self)
    let taken = Set(names.map(asciiLowercased))
    guard taken.contains(asciiLowercased(name)) else { return name }
    var number = 2
    while taken.contains(asciiLowercased("\(name) \(number)")) { number += 1 }
    return "\(name) \(number)"
  }
}

public import SQLiteCore

extension Connection {
  /// Returns the differences between the table of a type and the table that the type requires.
  ///
  ///     for difference in try connection.check(of: City.self) { print(difference) }
  ///
  /// A `Codable` type cannot list its properties. If this connection has already written a value of
  /// the type, the properties are those of its values. Otherwise they come from the type's
  /// ``Record/prototype``, from a made-up value, or from the first row of the table.
  ///
  /// - Parameter type: The type of the records.
  /// - Returns: The differences. Empty if the table matches the type.
  /// - Throws: `SQLiteError` if a statement fails, or with `ResultCode.misuse` if the properties
  ///   cannot be determined; ``RowDecodingError`` if they can be determined only from the first
  ///   row, which cannot be decoded; ``SchemaError`` if rows are equal in properties that the type
  ///   declares as unique.
  public func check(of type: (some Record).Type) throws -> [SchemaDifference] {
    let plan = try plan(of: type)
    if plan.hasUnknownProperties {
      let example: any Record
      do {
        example = try Placeholder.example(of: type)
      } catch {
        guard let value = try object(of: type) else { throw error }
        example = value
      }
      try plan.learn(example)
    }
    let search = try SearchTable(plan.table)?.difference(self)
    return try differences(from: plan.definition()) + [search].compactMap(\.self)
  }

  /// Returns the differences between a table in the database and its definition. If the table is
  /// missing, this is the only difference.
  package func differences(from table: TableDefinition) throws -> [SchemaDifference] {
    let existing = try columns(of: table.name)
    guard !existing.isEmpty else {
      return [
        SchemaDifference(
          kind: .missingTable, column: nil, description: "there is no table “\(table.name)”")
      ]
    }
    var differences: [SchemaDifference] = []
    func add(_ kind: SchemaDifference.Kind, _ column: String, _ words: String) {
      differences.append(
        SchemaDifference(kind: kind, column: column, description: "“\(column)” \(words)"))
    }
    let wanted = table.allColumns
    for column in wanted {
      guard let found = existing.first(where: { isSameName($0.name, column.name) }) else {
        add(.missingColumn, column.name, "\(column.type.rawValue) is missing")
        continue
      }
      let affinity = Affinity(declared: found.declaredType)
      if !affinity.keeps(column.type), !(column.isDateText && affinity == .numeric) {
        add(
          .type, column.name,
          "is declared \(found.declaredType), whose affinity converts values of type "
            + "\(column.type.rawValue)")
      }
      if column.isOptional, found.isNotNull {
        add(.notNull, column.name, "is NOT NULL, but its property is optional")
      }
      if !column.isOptional, !found.isNotNull {
        if let rows = try rowsWithoutValue(column.name, of: table.name) {
          add(.nulls, column.name, "is NULL in \(rows), but its property is not optional")
        } else if column.reference != nil {
          add(.nullable, column.name, "allows NULL, but its property is not optional")
        }
      }
    }
    for column in existing where !wanted.contains(where: { isSameName($0.name, column.name) }) {
      let isRequired =
        column.isNotNull && column.defaultSQL == nil && column.kind == .ordinary
        && column.primaryKeyPosition == 0
      add(
        isRequired ? .extraColumnWithoutDefault : .extraColumn, column.name,
        isRequired
          ? "belongs to no property, but new rows need a value for it"
          : "belongs to no property")
    }
    differences += try keyDifferences(table, existing)
    let growth = try growth(of: table)
    differences += growth.indexes.map(\.missingIndexDifference)
    for column in growth.deleteRules {
      add(
        .deleteRule, column.name,
        "does not have the delete rule \(column.reference?.onDelete.rawValue ?? "none")")
    }
    return differences
  }

  private func keyDifferences(
    _ table: TableDefinition, _ existing: [SchemaColumn]
  ) throws -> [SchemaDifference] {
    let wanted = table.keyColumns
    let found = existing.filter { $0.primaryKeyPosition > 0 }.map(\.name)
    guard !wanted.isEmpty, Set(wanted.map(asciiLowercased)) != Set(found.map(asciiLowercased))
    else {
      return []
    }
    // In a table that another program created, a unique index is sufficient.
    let isUnique = try existingIndexes(of: table.name).contains { index in
      index.isUnique && !index.isPartial
        && Set(index.columns.map { asciiLowercased($0 ?? "") }) == Set(wanted.map(asciiLowercased))
    }
    if isUnique { return [] }
    return [
      SchemaDifference(
        kind: .primaryKey, column: nil,
        description: "the primary key is (\(found.joined(separator: ", "))) and should be "
          + "(\(wanted.joined(separator: ", ")))")
    ]
  }

}

extension Connection {
  /// Returns a description of the rows with NULL in a column, or nil if there are none. It contains
  /// their number and, if the primary key is an integer and therefore not private, the keys of the
  /// first rows.
  package func rowsWithoutValue(_ column: String, of table: String) throws -> String? {
    let condition: SQL = "FROM \(identifier: table) WHERE \(identifier: column) IS NULL"
    let count = try firstRow("SELECT count(*) \(condition)", as: Int.self) ?? 0
    guard count > 0 else { return nil }
    let words = count == 1 ? "1 row" : "\(count) rows"
    let keys = try columns(of: table).filter { $0.primaryKeyPosition > 0 }.map(\.name)
    guard keys.count == 1 else { return words }
    let values = try rows("SELECT \(identifier: keys[0]) \(condition) LIMIT 10", as: Value.self)
    let names = values.compactMap { if case .integer(let key) = $0 { "\(key)" } else { nil } }
    guard names.count == values.count else { return words }
    return
      "\(words) (\(keys[0]) \(names.joined(separator: ", "))\(count > names.count ? ", …" : ""))"
  }
}

extension IndexDefinition {
  /// The schema difference that reports this index as missing.
  fileprivate var missingIndexDifference: SchemaDifference {
    SchemaDifference(
      kind: .missingIndex, column: columns.first,
      description: (isUnique ? "a unique index on (" : "an index on (")
        + "\(columns.joined(separator: ", "))) is missing")
  }
}

extension TableDefinition {
  /// The columns of the table, preceded by the rowid column if the key declares one.
  fileprivate var allColumns: [ColumnDefinition] {
    switch key {
    // SQLite allows only integers in it, and doesn't report it as NOT NULL.
    case .autoIncrement(let name), .rowID(let name):
      [ColumnDefinition(name, .integer, isOptional: true)] + columns
    case .columns, .withoutRowID, .declared: columns
    }
  }

  /// The names of the key columns.
  fileprivate var keyColumns: [String] {
    switch key {
    case .autoIncrement(let name), .rowID(let name): [name]
    case .columns(let names), .withoutRowID(let names): names
    case .declared: columns.filter(\.isPrimaryKey).map(\.name)
    }
  }
}

/// The conversion that SQLite applies to the values of a column, determined by the column's
/// declared type (<https://www.sqlite.org/datatype3.html#determination_of_column_affinity>).
enum Affinity {
  case integer
  case text
  case blob
  case real
  case numeric

  /// Creates the affinity of a declared type, by SQLite's rules in their order.
  init(declared type: String) {
    let type = asciiLowercased(type)
    if type.contains("int") {
      self = .integer
    } else if type.contains("char") || type.contains("clob") || type.contains("text") {
      self = .text
    } else if type.contains("blob") || type.isEmpty {
      self = .blob
    } else if type.contains("real") || type.contains("floa") || type.contains("doub") {
      self = .real
    } else {
      self = .numeric
    }
  }

  /// Returns whether a column with this affinity stores values of a type without changing them.
  func keeps(_ type: ColumnType) -> Bool {
    // Blobs are never converted, and a column without affinity converts nothing.
    if self == .blob || type == .blob || type == .any { return true }
    switch Affinity(declared: type.rawValue) {
    case .text: return self == .text
    case .integer: return self == .integer || self == .numeric
    // A whole real may be returned as an integer, which is read as the same real.
    case .real: return self == .real || self == .numeric || self == .integer
    case .numeric: return self == .numeric || self == .integer
    case .blob: return true
    }
  }
}

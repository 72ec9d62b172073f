public import SQLiteCore

extension Connection {
  /// Tells in what the table of a type differs from what the type asks for.
  ///
  ///     for difference in try connection.check(of: City.self) { print(difference) }
  ///
  /// A `Codable` type cannot be asked for its properties. They are known once a value was written on
  /// this connection, or from the type's ``Record/prototype``, or from the first row of the table.
  ///
  /// - Parameter type: The type.
  /// - Returns: The differences, none if the table is as it should be.
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if the properties are not known.
  public func check(of type: (some Record).Type) throws -> [SchemaDifference] {
    let plan = try plan(of: type)
    if plan.columns.isEmpty {
      guard let value = try type.prototype ?? object(of: type) else {
        throw SQLiteError(
          .misuse, "\(type) has no prototype, and “\(plan.table)” has no row to learn it from")
      }
      try plan.learn(value)
    }
    return try differences(from: plan.definition())
  }

  /// Tells in what a table differs from its definition.
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
      if !Affinity(declared: found.declaredType).keeps(column.type) {
        add(
          .type, column.name,
          "is declared \(found.declaredType), which changes what a \(column.type.rawValue) stores")
      }
      if column.isOptional, found.isNotNull { add(.notNull, column.name, "refuses NULL") }
      if !column.isOptional, !found.isNotNull, try hasNulls(column.name, of: table.name) {
        add(.nulls, column.name, "holds NULL in some rows, and its property is not optional")
      }
    }
    for column in existing where !wanted.contains(where: { isSameName($0.name, column.name) }) {
      let isRequired =
        column.isNotNull && column.defaultSQL == nil && column.kind == .ordinary
        && column.primaryKeyPosition == 0
      add(
        isRequired ? .extraColumnWithoutDefault : .extraColumn, column.name,
        isRequired
          ? "belongs to no property, and new rows would have to fill it"
          : "belongs to no property")
    }
    differences += try keyDifferences(table, existing)
    differences += try missingIndexes(table)
    for column in try DeleteRuleChange(table, self).columns {
      add(
        .deleteRule, column.name,
        "has another delete rule than \(column.reference?.onDelete.rawValue ?? "none")")
    }
    return differences
  }

  private func keyDifferences(
    _ table: TableDefinition, _ existing: [TableColumn]
  ) throws -> [SchemaDifference] {
    let wanted = table.keyColumns
    let found = existing.filter { $0.primaryKeyPosition > 0 }.map(\.name)
    guard !wanted.isEmpty, Set(wanted.map(asciiLowercased)) != Set(found.map(asciiLowercased))
    else {
      return []
    }
    // In a table of others a unique index serves as well.
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

  private func missingIndexes(_ table: TableDefinition) throws -> [SchemaDifference] {
    let existing = try existingIndexes(of: table.name)
    let wanted =
      table.indexes
      + table.columns.filter(\.isUnique).map { IndexDefinition([$0.name], isUnique: true) }
    return wanted.filter { index in
      !existing.contains { found in
        found.columns.map { asciiLowercased($0 ?? "") } == index.columns.map(asciiLowercased)
          && (found.isUnique || !index.isUnique)
      }
    }.map { index in
      SchemaDifference(
        kind: .missingIndex, column: index.columns.first,
        description: "an index on (\(index.columns.joined(separator: ", "))) is missing")
    }
  }

  private func hasNulls(_ column: String, of table: String) throws -> Bool {
    try firstRow(
      "SELECT 1 FROM \(identifier: table) WHERE \(identifier: column) IS NULL LIMIT 1") != nil
  }

  private func isSameName(_ one: String, _ other: String) -> Bool {
    asciiLowercased(one) == asciiLowercased(other)
  }
}

extension TableDefinition {
  /// The columns, that of the rowid among them.
  fileprivate var allColumns: [ColumnDefinition] {
    switch key {
    // SQLite lets nothing but integers in, and reports no NOT NULL.
    case .autoIncrement(let name), .rowID(let name):
      [ColumnDefinition(name, .integer, isOptional: true)] + columns
    case .columns, .withoutRowID, .declared: columns
    }
  }

  /// The names of the columns of the key.
  fileprivate var keyColumns: [String] {
    switch key {
    case .autoIncrement(let name), .rowID(let name): [name]
    case .columns(let names), .withoutRowID(let names): names
    case .declared: columns.filter(\.isPrimaryKey).map(\.name)
    }
  }
}

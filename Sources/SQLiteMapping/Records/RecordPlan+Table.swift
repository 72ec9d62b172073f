import Essentials
import SQLiteCore

extension RecordPlan {
  /// The table as the type asks for it, as far as its values have shown.
  func definition() throws(SQLiteError) -> TableDefinition {
    var columns = columns
    var indexes: [IndexDefinition] = []
    for trait in type.traits {
      let names = try trait.properties.map { property throws(SQLiteError) in
        try position(of: property)
      }.map { columns[$0].name }
      switch trait.kind {
      case .unique:
        if names.count == 1, !isKey(names[0]) {
          columns[try position(of: trait.properties[0])].isUnique = true
        } else {
          indexes.append(IndexDefinition(names, isUnique: true))
        }
      case .indexed: indexes.append(IndexDefinition(names))
      case .defaultValue(let value):
        columns[try position(of: trait.properties[0])].defaultValue =
          try strategies.storedForm(ofAny: value)
      case .searched: break
      case .references(let reference, _):
        columns[try position(of: trait.properties[0])].reference = reference
        indexes.append(IndexDefinition(names))
      case .onDelete:
        throw SQLiteError(
          .misuse,
          "\(type) declares a delete rule of “\(trait.properties[0])”, which is no relation")
      }
    }
    // Before the rowid leaves the columns: positions are those of the properties.
    for index in columns.indices where isKey(columns[index].name) {
      columns[index].isOptional = false
    }
    let key = try key(among: &columns, &indexes)
    return TableDefinition(table, key: key, columns: columns, indexes: indexes)
  }

  /// What is unique by the type's traits.
  var uniqueIndexes: [IndexDefinition] {
    type.traits.compactMap { trait in
      guard case .unique = trait.kind else { return nil }
      return IndexDefinition(
        trait.properties.map { strategies.keys.column(for: $0) }, isUnique: true)
    }
  }

  /// The types that the properties refer to.
  var targets: [any Record.Type] {
    type.traits.compactMap { if case .references(_, let target) = $0.kind { target } else { nil } }
  }

  /// Says whether full-text search looks into a property.
  func isSearched() -> Bool {
    type.traits.contains { if case .searched = $0.kind { true } else { false } }
  }

  /// The columns that full-text search looks into.
  func searchedColumns() throws(SQLiteError) -> [String] {
    var names: [String] = []
    for trait in type.traits {
      guard case .searched = trait.kind else { continue }
      for property in trait.properties { names.append(columns[try position(of: property)].name) }
    }
    return names
  }

  private func key(
    among columns: inout [ColumnDefinition], _ indexes: inout [IndexDefinition]
  ) throws(SQLiteError) -> TableDefinition.Key {
    let isInteger = columns.first { isSame($0.name, keys[0]) }?.type == .integer
    switch type.primaryKeyType {
    case .unique, .uuid:
      guard try !searchedColumns().isEmpty, !(isInteger && keys.count == 1) else {
        return .columns(keys)
      }
      // Full-text search needs a rowid that stays.
      indexes.append(IndexDefinition(keys, isUnique: true))
      return .rowID("magicdata_row")
    case .autoIncrement, .computedInt:
      guard isInteger else {
        throw SQLiteError(.misuse, "the key “\(keys[0])” of \(type) counts up, but is no integer")
      }
      columns.removeAll { isSame($0.name, keys[0]) }
      return type.primaryKeyType == .autoIncrement ? .autoIncrement(keys[0]) : .rowID(keys[0])
    }
  }

  /// A new key for a type whose keys are UUIDs.
  func newUUID() -> Value { strategies.uuids.value(for: UUID()) }

  /// The place of a property's column.
  private func position(of property: String) throws(SQLiteError) -> Int {
    let name = strategies.keys.column(for: property)
    guard let position = columns.firstIndex(where: { isSame($0.name, name) }) else {
      throw SQLiteError(
        .misuse, "\(type) declares a trait of “\(property)”, which it does not have")
    }
    return position
  }
}

extension MappingStrategies {
  /// What a column of this type stores for a value that can be bound.
  func storedForm(ofAny value: any Bindable) throws(SQLiteError) -> Value {
    func open(_ value: some Bindable) throws(SQLiteError) -> Value {
      if let stored = try storedForm(of: value) { return stored }
      return try value.databaseValue
    }
    return try open(value)
  }
}

package import SQLiteCore

/// The table of a record or object type: its key, its columns, its indexes, and all SQL of the
/// type.
///
/// The properties of a record type are known only after the first value, so ``properties`` may be
/// empty at first. SQL that needs only the table and its key is available from the start.
package struct TablePlan: Sendable {
  /// The source of the keys of rows.
  package enum Key: Hashable, Sendable {
    /// The database generates no keys. The caller, or for new UUIDs the library, provides the
    /// values of these columns.
    case given([String])
    /// SQLite auto-increments the rowid and never reuses a number. The associated value is the name
    /// of the key's property, or of a column that belongs to no property.
    case autoIncremented(String)
    /// The key is one greater than the greatest rowid in the table. The associated value is the
    /// name of the key's property.
    case computed(String)
  }

  /// The kinds of types that have a plan. They support different traits.
  package enum Kind: Sendable {
    case records
    case objects
  }

  /// A property with its traits and, if it has one, its column.
  package struct Property: Sendable {
    /// The property's name in Swift.
    package let name: String
    /// The column, or nil for a property that is stored in another table, or not at all.
    package var column: ColumnDefinition?
    /// Whether the property is a relation to other rows.
    package let isRelation: Bool
    /// The delete rule that a trait declares, which applies when the referenced row is deleted. Nil
    /// without such a trait.
    package fileprivate(set) var deleteRule: DeleteRule?

    /// Creates a property without traits.
    package init(_ name: String, _ column: ColumnDefinition?, isRelation: Bool = false) {
      self.name = name
      self.column = column
      self.isRelation = isRelation
    }
  }

  /// The name of the table.
  package let name: String
  package let key: Key
  package let kind: Kind
  package let strategies: MappingStrategies
  package private(set) var properties: [Property] = []
  /// The indexes that the traits declare.
  package private(set) var indexes: [IndexDefinition] = []
  /// The names of the columns in the full-text index.
  package private(set) var searchedColumns: [String] = []
  /// The record types that the properties reference.
  package private(set) var targets: [any Record.Type] = []

  /// Creates a plan of a table with a known key and without properties.
  package init(
    _ name: String, key: Key, kind: Kind, strategies: MappingStrategies = MappingStrategies()
  ) {
    self.name = name
    self.key = key
    self.kind = kind
    self.strategies = strategies
  }

  /// The names of the key columns.
  package var keys: [String] {
    switch key {
    case .given(let names): names
    case .autoIncremented(let name), .computed(let name): [name]
    }
  }

  /// Returns whether a column belongs to the key.
  package func isKey(_ column: String) -> Bool { keys.contains { isSameName($0, column) } }

  /// The columns of the properties, in order. Properties without a column are omitted.
  package var columns: [ColumnDefinition] { properties.compactMap(\.column) }

  /// Returns the index in ``properties`` of the property that is stored in a column, or nil if no
  /// property is.
  package func index(ofColumn name: String) -> Int? {
    properties.firstIndex { $0.column.map { isSameName($0.name, name) } ?? false }
  }

  /// Sets the properties and applies the traits of the type to them.
  ///
  /// - Parameters:
  ///   - properties: The properties in order.
  ///   - traits: The traits of the type.
  ///   - makeError: Creates the error for a trait that the type cannot have, from a reason in
  ///     English that refers to the type as “it”.
  /// - Throws: An error that `makeError` creates, or ``SQLiteError`` if a default cannot be stored.
  package mutating func setProperties(
    _ properties: [Property], _ traits: [PropertyTrait], makeError: (_ reason: String) -> any Error
  ) throws {
    self.properties = properties
    indexes = []
    searchedColumns = []
    targets = []
    for trait in traits { try apply(trait, makeError) }
  }

  private dynamic mutating func apply(
    _ trait: PropertyTrait, _ makeError: (_ reason: String) -> any Error
  ) throws {
    func refused(_ reason: String) -> any Error {
      makeError("“\(trait.properties.joined(separator: ", "))” \(reason)")
    }
    let slots = try trait.properties.map { name in
      let column = strategies.keys.column(for: name)
      guard
        let slot = properties.firstIndex(where: { $0.name == name }) ?? index(ofColumn: column)
      else { throw makeError("a trait names “\(name)”, which is not one of its properties") }
      return slot
    }
    let names = slots.compactMap { properties[$0].column?.name }
    if case .onDelete(let rule) = trait.kind {
      for slot in slots {
        if let reason = refusal(of: rule, properties[slot]) { throw refused(reason) }
        properties[slot].deleteRule = rule
      }
      return
    }
    guard names.count == slots.count else {
      throw refused("cannot have an index or a default: it has no column")
    }
    if case .searched = trait.kind,
      let name = names.first(where: { name in
        ["rank", "rowid", Self.searchTableName(of: self.name)].contains { isSameName($0, name) }
      })
    {
      throw refused("cannot be searched: FTS5 reserves the column name “\(name)”")
    }
    switch (trait.kind, kind) {
    case (.unique, _): indexes.append(IndexDefinition(names, isUnique: true))
    case (.indexed, _):
      var index = IndexDefinition(names)
      for column in slots.compactMap({ properties[$0].column }) {
        index.collations[column.name] = column.collation
      }
      indexes.append(index)
    case (.defaultValue(let value), _):
      let stored = try strategies.stored(bindable: value)
      for slot in slots { properties[slot].column?.defaultValue = stored }
    case (.searched, .records): search(names)
    case (.searched, .objects):
      guard slots.allSatisfy({ properties[$0].column?.type == .text }) else {
        throw refused("cannot be searched: it is not stored as text")
      }
      search(names)
    case (.references(let reference, let target), .records):
      for slot in slots { properties[slot].column?.reference = reference }
      targets.append(target)
    case (.references, .objects):
      throw refused(
        "cannot be a reference by key; declare it as a property of the referenced object's type")
    case (.onDelete, _): break
    }
  }

  /// Returns the name of the full-text index of a table.
  package static func searchTableName(of table: String) -> String { "\(table)_search" }

  /// Adds columns to the full-text index. Several traits may name the same column.
  private mutating func search(_ names: [String]) {
    for name in names where !searchedColumns.contains(name) { searchedColumns.append(name) }
  }

  /// Returns the reason why a property cannot have a delete rule, or nil if it can.
  private func refusal(of rule: DeleteRule, _ property: Property) -> String? {
    guard property.isRelation else { return "cannot have a delete rule: it is not a relation" }
    switch rule {
    case .cascade where property.column == nil:
      return "cannot cascade: for a collection, only the links are deleted"
    case .nullify where property.column?.isOptional == false:
      return "cannot become nil: it is not optional"
    case .cascade, .nullify, .restrict: return nil
    }
  }

  /// Returns the table that the type requires, as far as its properties are known.
  ///
  /// - Parameter reference: Returns the foreign key of the property at an index of ``properties``,
  ///   or nil to use the one that a trait declares. Types that reference each other know their
  ///   foreign keys only after all of them have plans.
  // Dynamic, because the compiler would specialize it for each closure.
  package dynamic func definition(
    reference: (_ property: Int) throws -> ColumnDefinition.Reference?
  ) rethrows -> TableDefinition {
    var columns: [ColumnDefinition] = []
    var indexes = indexes
    for (index, property) in properties.enumerated() {
      guard var column = property.column else { continue }
      if let reference = try reference(index) { column.reference = reference }
      if column.reference != nil { indexes.append(IndexDefinition([column.name])) }
      if isKey(column.name) { column.isOptional = false }
      columns.append(column)
    }
    switch key {
    case .autoIncremented(let name):
      columns.removeAll { isSameName($0.name, name) }
      return TableDefinition(
        self.name, key: .autoIncrement(name), columns: columns, indexes: indexes)
    case .computed(let name):
      columns.removeAll { isSameName($0.name, name) }
      return TableDefinition(self.name, key: .rowID(name), columns: columns, indexes: indexes)
    case .given(let names):
      let isRowID =
        names.count == 1
        && columns.contains { isSameName($0.name, names[0]) && $0.type == .integer }
      guard !searchedColumns.isEmpty, !isRowID else {
        return TableDefinition(name, key: .columns(names), columns: columns, indexes: indexes)
      }
      // Full-text search needs a stable rowid.
      indexes.append(IndexDefinition(names, isUnique: true))
      return TableDefinition(
        name, key: .rowID("magicdata_row"), columns: columns, indexes: indexes)
    }
  }

  /// Returns the table that the type requires, with no foreign keys except those of its traits.
  package func definition() -> TableDefinition { definition { _ in nil } }
}

/// Returns whether two names are the same in SQLite, which ignores the case of ASCII letters.
@inline(never)
package func isSameName(_ one: String, _ other: String) -> Bool {
  one == other || asciiLowercased(one) == asciiLowercased(other)
}

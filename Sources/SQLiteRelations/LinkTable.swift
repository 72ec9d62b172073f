package import SQLiteCore

/// A link table, which stores a to-many relation between the rows of two tables.
///
/// Each row is a link. Foreign keys to both ends ensure that no link outlives its owner or target.
/// The table has no rowids and is indexed in both directions.
package struct LinkTable: Hashable, Sendable {
  /// The arrangement of the links of one owner.
  package enum Arrangement: Hashable, Sendable {
    /// Ordered links. A target may occur several times.
    case list
    /// Unordered links. Each target occurs once.
    case set
    /// Links with keys. Each key has one target.
    case dictionary
  }

  /// The name of the table.
  package let name: String
  /// The arrangement of the links of one owner.
  package let arrangement: Arrangement
  /// The table and the key column of the rows that own links.
  package let owner: Relation.End
  /// The table and the key column of the rows that links reference.
  package let target: Relation.End
  /// Whether a target cannot be deleted while links to it exist.
  package let restrictsTargetDeletion: Bool

  /// Creates the description of a link table.
  ///
  /// - Parameters:
  ///   - name: The name of the table.
  ///   - arrangement: The arrangement of the links of one owner.
  ///   - owner: The table and the key column of the rows that own links.
  ///   - target: The table and the key column of the rows that links reference.
  ///   - restrictsTargetDeletion: Whether a target cannot be deleted while links to it exist.
  package init(
    _ name: String, _ arrangement: Arrangement, from owner: Relation.End,
    to target: Relation.End, restrictsTargetDeletion: Bool = false
  ) {
    self.name = name
    self.arrangement = arrangement
    self.owner = owner
    self.target = target
    self.restrictsTargetDeletion = restrictsTargetDeletion
  }
}

extension LinkTable {
  /// The name of the column that identifies a link among those of its owner, or nil for a set,
  /// where the target identifies the link.
  var place: String? {
    switch arrangement {
    case .list: "position"
    case .dictionary: "key"
    case .set: nil
    }
  }

  /// Returns the value that orders a link among the links of its owner: its position (list), key
  /// (dictionary) or target (set).
  package func order(of link: StoredLink) -> Value {
    place == nil ? .integer(link.target) : link.place
  }

  /// The definition of the table that stores the links.
  package var definition: TableDefinition {
    func end(_ name: String, _ end: Relation.End, _ rule: DeleteRule) -> ColumnDefinition {
      ColumnDefinition(
        name, .integer,
        reference: .init(table: end.table, column: end.key, onDelete: rule))
    }
    var columns = [end("owner", owner, .cascade)]
    switch arrangement {
    case .list: columns.append(ColumnDefinition("position", .integer))
    case .dictionary: columns.append(ColumnDefinition("key", .blob))
    case .set: break
    }
    columns.append(end("target", target, restrictsTargetDeletion ? .restrict : .cascade))
    return TableDefinition(
      name, key: .withoutRowID(["owner", place ?? "target"]), columns: columns,
      indexes: [IndexDefinition(["target", "owner"])])
  }
}

extension LinkTable {
  /// The relation from owners to targets.
  ///
  /// - Throws: ``SQLiteError`` if a name cannot be quoted.
  package var relation: Relation {
    get throws(SQLiteError) {
      try Relation(
        rowsOf: name, "owner", "target", place: place, from: owner, to: target)
    }
  }
}

extension Connection {
  /// Fetches the links of many owners with one query. The result is ordered by owner. The links of
  /// each owner are in the order of their positions (list), keys (dictionary) or targets (set).
  ///
  /// - Complexity: O(*n* log *m*) for *n* fetched links in a table of *m*.
  package func links(_ table: LinkTable, of owners: [Int64]) throws -> [StoredLink] {
    guard !owners.isEmpty else { return [] }
    var links: [StoredLink] = []
    try forEachRow(table.relation.query(fromEach: owners, hasPlaces: true)) { row in
      links.append(
        StoredLink(
          owner: row.integer(at: 0), place: try row.value(at: 2), target: row.integer(at: 1)))
    }
    return links
  }

  /// Replaces the set of an owner with `targets`.
  ///
  /// - Parameters:
  ///   - table: A link table of sets.
  ///   - owner: The key of the owner.
  ///   - targets: The keys of the targets.
  /// - Throws: `SQLiteError` if a statement fails.
  /// - Complexity: O(*n*) reads for *n* stored links, and one write per link that differs.
  package func setSet(
    _ table: LinkTable, of owner: Int64, to targets: Set<Int64>
  ) throws(SQLiteError) {
    let stored: [Int64] = try rows(
      "SELECT target FROM \(identifier: table.name) WHERE owner = \(owner)", as: Int64.self)
    try changeSet(table, of: owner, from: Set(stored), to: targets)
  }

  /// Applies the difference between two sets to the set of an owner. Concurrent changes of other
  /// elements survive.
  ///
  /// - Parameters:
  ///   - table: A link table of sets.
  ///   - owner: The key of the owner.
  ///   - base: The keys of the targets before the change.
  ///   - targets: The keys of the targets after the change.
  /// - Throws: `SQLiteError` if a statement fails.
  /// - Complexity: One write per element that differs. The stored set is not read.
  package func changeSet(
    _ table: LinkTable, of owner: Int64, from base: Set<Int64>, to targets: Set<Int64>
  ) throws(SQLiteError) {
    try removeLinks(table, of: owner, to: Array(base.subtracting(targets)))
    let added = targets.subtracting(base)
    guard !added.isEmpty else { return }
    var insert = try statement(
      "INSERT INTO \(identifier: table.name) (owner, target) VALUES (?, ?) ON CONFLICT DO NOTHING")
    // Inserting in the order of the table is faster than in random order.
    for target in added.sorted() { try insert.run(owner, target) }
  }

  /// Replaces the dictionary of an owner with `targets`.
  ///
  /// - Parameters:
  ///   - table: A link table of dictionaries.
  ///   - owner: The key of the owner.
  ///   - targets: The keys of the targets, by the keys of the dictionary.
  /// - Throws: `SQLiteError` if a statement fails.
  /// - Complexity: O(*n*) reads for *n* stored links, and one write per link that differs.
  package func setDictionary(
    _ table: LinkTable, of owner: Int64, to targets: [Value: Int64]
  ) throws(SQLiteError) {
    let present = try rows(
      "SELECT key, target FROM \(identifier: table.name) WHERE owner = \(owner)",
      as: Value.self, Int64.self)
    let stored = Dictionary(present.map { ($0, $1) }, uniquingKeysWith: { $1 })
    try changeDictionary(table, of: owner, from: stored, to: targets)
  }

  /// Applies the difference between two dictionaries to the dictionary of an owner. Concurrent
  /// changes of other keys survive.
  ///
  /// - Parameters:
  ///   - table: A link table of dictionaries.
  ///   - owner: The key of the owner.
  ///   - base: The keys of the targets before the change, by the keys of the dictionary.
  ///   - targets: The keys of the targets after the change.
  /// - Throws: `SQLiteError` if a statement fails.
  /// - Complexity: One write per key that differs. The stored dictionary is not read.
  package func changeDictionary(
    _ table: LinkTable, of owner: Int64, from base: [Value: Int64], to targets: [Value: Int64]
  ) throws(SQLiteError) {
    let removed = base.keys.filter { targets[$0] == nil }
    if !removed.isEmpty {
      try executeChange(
        "DELETE FROM \(identifier: table.name) WHERE owner = \(owner) AND key IN \(removed)")
    }
    let added = targets.filter { base[$0.key] != $0.value }
    guard !added.isEmpty else { return }
    var insert = try statement(
      "INSERT INTO \(identifier: table.name) (owner, key, target) VALUES (?, ?, ?) ON CONFLICT (owner, key) DO UPDATE SET target = excluded.target"
    )
    for (key, target) in added { try insert.run(owner, key, target) }
  }

  /// Deletes all links of an owner to some targets.
  ///
  /// - Parameters:
  ///   - table: The link table.
  ///   - owner: The key of the owner.
  ///   - targets: The keys of the targets.
  /// - Throws: `SQLiteError` if the statement fails.
  package func removeLinks(
    _ table: LinkTable, of owner: Int64, to targets: [Int64]
  ) throws(SQLiteError) {
    guard !targets.isEmpty else { return }
    try executeChange(
      "DELETE FROM \(identifier: table.name) WHERE owner = \(owner) AND target IN \(targets)")
  }

  /// Deletes all links of an owner.
  ///
  /// - Parameters:
  ///   - table: The link table.
  ///   - owner: The key of the owner.
  /// - Throws: `SQLiteError` if the statement fails.
  package func removeLinks(_ table: LinkTable, of owner: Int64) throws(SQLiteError) {
    try executeChange("DELETE FROM \(identifier: table.name) WHERE owner = \(owner)")
  }
}

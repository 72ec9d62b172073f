package import SQLiteCore

/// A table of links between the rows of two tables: a to-many relation as SQL has it.
///
/// Each row is a link, with foreign keys to both ends, so that no link outlives either. The table has
/// no rowids, and is indexed from both ends.
package struct LinkTable: Hashable, Sendable {
  /// The arrangement of the links of one owner.
  package enum Arrangement: Hashable, Sendable {
    /// In order; a target may occur several times.
    case list
    /// Without order; each target once.
    case set
    /// By keys, each of which has one target.
    case dictionary
  }

  /// The table's name.
  package let name: String
  /// The arrangement of the links of one owner.
  package let arrangement: Arrangement
  /// The rows that the links lead from.
  package let owner: Relation.End
  /// The rows that the links lead to.
  package let target: Relation.End
  /// Whether a target cannot be deleted as long as there are links to it.
  package let keepsTargets: Bool

  /// Describes links.
  ///
  /// - Parameters:
  ///   - name: The table's name.
  ///   - arrangement: The arrangement of the links of one owner.
  ///   - owner: The rows that the links lead from.
  ///   - target: The rows that the links lead to.
  ///   - keepsTargets: Whether a target cannot be deleted as long as there are links to it.
  package init(
    _ name: String, _ arrangement: Arrangement, from owner: Relation.End,
    to target: Relation.End, keepsTargets: Bool = false
  ) {
    self.name = name
    self.arrangement = arrangement
    self.owner = owner
    self.target = target
    self.keepsTargets = keepsTargets
  }
}

extension LinkTable {
  /// The column that tells apart the links of one owner, if it is not the target itself.
  var place: String? {
    switch arrangement {
    case .list: "position"
    case .dictionary: "key"
    case .set: nil
    }
  }

  /// The value by which a link is ordered among those of its owner.
  package func order(of link: StoredLink) -> Value {
    place == nil ? .integer(link.target) : link.place
  }

  /// The table that stores the links.
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
    columns.append(end("target", target, keepsTargets ? .restrict : .cascade))
    return TableDefinition(
      name, key: .withoutRowID(["owner", place ?? "target"]), columns: columns,
      indexes: [IndexDefinition(["target", "owner"])])
  }
}

extension LinkTable {
  /// The owners' relation to what their links lead to.
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
  /// Reads the links of many owners in one query: owner by owner, each one's in its order.
  ///
  /// - Complexity: O(*n* log *m*) for *n* links found among *m*.
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

  /// Replaces an owner's set by `targets`.
  ///
  /// - Parameters:
  ///   - table: Links in a set.
  ///   - owner: The key of the owner.
  ///   - targets: The keys of the targets.
  /// - Throws: `SQLiteError`.
  /// - Complexity: O(*n*) reads; as many writes as links differ.
  package func setSet(
    _ table: LinkTable, of owner: Int64, to targets: Set<Int64>
  ) throws(SQLiteError) {
    let stored: [Int64] = try rows(
      "SELECT target FROM \(identifier: table.name) WHERE owner = \(owner)", as: Int64.self)
    try changeSet(table, of: owner, from: Set(stored), to: targets)
  }

  /// Changes an owner's set as another set was changed, whatever others have done to it meanwhile.
  ///
  /// - Parameters:
  ///   - table: Links in a set.
  ///   - owner: The key of the owner.
  ///   - base: The keys of the targets before the change.
  ///   - targets: The keys of the targets after it.
  /// - Throws: `SQLiteError`.
  /// - Complexity: As many writes as `base` and `targets` differ; the set is not read.
  package func changeSet(
    _ table: LinkTable, of owner: Int64, from base: Set<Int64>, to targets: Set<Int64>
  ) throws(SQLiteError) {
    try removeLinks(table, of: owner, to: Array(base.subtracting(targets)))
    let coming = targets.subtracting(base)
    guard !coming.isEmpty else { return }
    var insert = try statement(
      "INSERT INTO \(identifier: table.name) (owner, target) VALUES (?, ?) ON CONFLICT DO NOTHING")
    // In the order of the table, which is faster than at random.
    for target in coming.sorted() { try insert.run(owner, target) }
  }

  /// Replaces an owner's dictionary by `targets`.
  ///
  /// - Parameters:
  ///   - table: Links in a dictionary.
  ///   - owner: The key of the owner.
  ///   - targets: The keys of the targets by the keys of the dictionary.
  /// - Throws: `SQLiteError`.
  /// - Complexity: O(*n*) reads; as many writes as links differ.
  package func setDictionary(
    _ table: LinkTable, of owner: Int64, to targets: [Value: Int64]
  ) throws(SQLiteError) {
    let present = try rows(
      "SELECT key, target FROM \(identifier: table.name) WHERE owner = \(owner)",
      as: Value.self, Int64.self)
    let stored = Dictionary(present.map { ($0, $1) }, uniquingKeysWith: { $1 })
    try changeDictionary(table, of: owner, from: stored, to: targets)
  }

  /// Changes an owner's dictionary as another one was changed, key by key, whatever others have done to
  /// other keys meanwhile.
  ///
  /// - Parameters:
  ///   - table: Links in a dictionary.
  ///   - owner: The key of the owner.
  ///   - base: The keys of the targets by the keys of the dictionary before the change.
  ///   - targets: The same after it.
  /// - Throws: `SQLiteError`.
  /// - Complexity: As many writes as `base` and `targets` differ; the dictionary is not read.
  package func changeDictionary(
    _ table: LinkTable, of owner: Int64, from base: [Value: Int64], to targets: [Value: Int64]
  ) throws(SQLiteError) {
    let leaving = base.keys.filter { targets[$0] == nil }
    if !leaving.isEmpty {
      try executeChange(
        "DELETE FROM \(identifier: table.name) WHERE owner = \(owner) AND key IN \(leaving)")
    }
    let coming = targets.filter { base[$0.key] != $0.value }
    guard !coming.isEmpty else { return }
    var insert = try statement(
      "INSERT INTO \(identifier: table.name) (owner, key, target) VALUES (?, ?, ?) ON CONFLICT (owner, key) DO UPDATE SET target = excluded.target"
    )
    for (key, target) in coming { try insert.run(owner, key, target) }
  }

  /// Removes the links of an owner to some targets, however often it has them.
  ///
  /// - Parameters:
  ///   - table: The links.
  ///   - owner: The key of the owner.
  ///   - targets: The keys of the targets.
  /// - Throws: `SQLiteError`.
  package func removeLinks(
    _ table: LinkTable, of owner: Int64, to targets: [Int64]
  ) throws(SQLiteError) {
    guard !targets.isEmpty else { return }
    try executeChange(
      "DELETE FROM \(identifier: table.name) WHERE owner = \(owner) AND target IN \(targets)")
  }

  /// Removes all links of an owner.
  ///
  /// - Parameters:
  ///   - table: The links.
  ///   - owner: The key of the owner.
  /// - Throws: `SQLiteError`.
  package func removeLinks(_ table: LinkTable, of owner: Int64) throws(SQLiteError) {
    try executeChange("DELETE FROM \(identifier: table.name) WHERE owner = \(owner)")
  }
}

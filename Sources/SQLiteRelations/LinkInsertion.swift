package import SQLiteCore

/// A prepared INSERT for the links of owners that have no links yet.
package final class LinkInsertion {
  private let arrangement: LinkTable.Arrangement
  private var statement: Statement

  /// Creates the insertion for a link table, and prepares its statement.
  package init(_ table: LinkTable, _ connection: Connection) throws(SQLiteError) {
    arrangement = table.arrangement
    let place: SQL =
      switch table.arrangement {
      case .list: "position"
      case .set: ""
      case .dictionary: "key"
      }
    statement = try connection.statement(
      table.arrangement == .set
        ? "INSERT INTO \(identifier: table.name) (owner, target) VALUES (?, ?) ON CONFLICT DO NOTHING"
        : "INSERT INTO \(identifier: table.name) (owner, \(place), target) VALUES (?, ?, ?)")
  }

  /// Inserts the links of an owner.
  ///
  /// - Parameters:
  ///   - targets: The keys of the targets. For a list, they are in its order. For a set, duplicates
  ///     are ignored.
  ///   - keys: The keys of a dictionary, without duplicates. Unused for a list or a set.
  ///   - owner: The key of the owner.
  /// - Throws: ``SQLiteError`` if a statement fails, for example because a list or a dictionary of
  ///   the owner already has links.
  package func insert(
    _ targets: ArraySlice<Int64>, keys: ArraySlice<Value>, of owner: Int64
  ) throws(SQLiteError) {
    switch arrangement {
    case .list:
      var position: Int64 = 0
      for target in targets {
        try statement.run(owner, position, target)
        position += ListChange.step
      }
    case .set:
      // Inserting in the order of the table is faster than in random order.
      for target in targets.sorted() { try statement.run(owner, target) }
    case .dictionary:
      for (key, target) in zip(keys, targets) { try statement.run(owner, key, target) }
    }
  }
}

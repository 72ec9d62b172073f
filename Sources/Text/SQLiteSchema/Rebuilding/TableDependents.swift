import SQLSyntax
import SQLiteCore

/// The objects and data that belong to a table in addition to its rows, and are dropped with it.
struct TableDependents {
  /// The indexes, in the order in which they were created.
  fileprivate let indexes: [TableRebuild.SchemaObject]
  /// The triggers, in the order in which they were created. Those created later run first.
  fileprivate let triggers: [TableRebuild.SchemaObject]
  /// The temporary triggers, in the order in which they were created.
  fileprivate let temporaryTriggers: [TableRebuild.SchemaObject]
  /// The largest key that AUTOINCREMENT has assigned, or nil if it has assigned none.
  fileprivate let sequence: Int64?
  /// The statistics of ANALYZE, each with the name of its index, or nil for those of the table
  /// itself.
  fileprivate let statistics: [(index: String?, text: String)]
  /// All indexes of the table, including those that constraints have created.
  fileprivate let allIndexes: Set<TableIndex>

  init(of table: String, _ connection: Connection) throws {
    func objects(_ kind: String, of schema: String) throws -> [TableRebuild.SchemaObject] {
      try connection.rows(
        """
        SELECT name, sql FROM \(identifier: schema).sqlite_schema
        WHERE type = \(kind) AND tbl_name = \(table) COLLATE NOCASE AND sql IS NOT NULL ORDER BY rowid
        """, as: String.self, String.self
      ).map { TableRebuild.SchemaObject(kind: kind, name: $0.0, sql: $0.1) }
    }
    indexes = try objects("index", of: "main")
    triggers = try objects("trigger", of: "main")
    temporaryTriggers = try objects("trigger", of: "temp")
    allIndexes = Set(try connection.existingIndexes(of: table))
    let counts = try connection.tableExists("sqlite_sequence")
    sequence =
      counts
      ? try connection.firstRow(
        "SELECT seq FROM main.sqlite_sequence WHERE name = \(table)", as: Int64.self) : nil
    let isAnalyzed = try connection.tableExists("sqlite_stat1")
    statistics =
      isAnalyzed
      ? try connection.rows(
        "SELECT idx, stat FROM main.sqlite_stat1 WHERE tbl = \(table) COLLATE NOCASE",
        as: String?.self, String.self
      ).map { (index: $0.0, text: $0.1) } : []
  }
}

extension TableRebuild {
  /// Drops the indexes, triggers and statistics of the table.
  func drop(_ dependents: TableDependents) throws {
    for index in dependents.indexes {
      try connection.executeChange("DROP INDEX main.\(identifier: index.name)")
    }
    for trigger in dependents.triggers {
      try connection.executeChange("DROP TRIGGER main.\(identifier: trigger.name)")
    }
    for trigger in dependents.temporaryTriggers {
      try connection.executeChange("DROP TRIGGER temp.\(identifier: trigger.name)")
    }
    for statistics in ["sqlite_stat1", "sqlite_stat3", "sqlite_stat4"]
    where try connection.tableExists(statistics) {
      try connection.executeChange(
        "DELETE FROM main.\(identifier: statistics) WHERE tbl = \(name) COLLATE NOCASE")
    }
  }

  /// Creates the triggers, statistics and indexes of the old table again for the new one, except
  /// the indexes in ``droppedIndexes``. Sets the AUTOINCREMENT counter of the new table.
  func restore(_ dependents: TableDependents) throws {
    try restoreSequence(dependents.sequence)
    for index in dependents.indexes where !droppedIndexes.contains(index.name) {
      do throws(SQLiteError) {
        try connection.executeChange(SQL(unchecked: index.sql))
      } catch {
        guard [.error, .constraint].contains(error.code.primary) else { throw error }
        throw refuse("the index “\(index.name)” would fail: \(error.message)")
      }
    }
    for trigger in dependents.triggers {
      do throws(SQLiteError) {
        try connection.executeChange(SQL(unchecked: trigger.sql))
      } catch {
        guard error.code.primary == .error else { throw error }
        throw refuse("the trigger “\(trigger.name)” would fail: \(error.message)")
      }
    }
    for trigger in dependents.temporaryTriggers {
      // SQLite stores the text without TEMP.
      let start = "CREATE TRIGGER "
      guard trigger.sql.hasPrefix(start) else {
        throw refuse("a temporary trigger cannot be parsed")
      }
      try connection.executeChange(
        SQL(unchecked: "CREATE TEMP TRIGGER \(trigger.sql.dropFirst(start.count))"))
    }
    // Statistics remain valid for an index with the same name and columns.
    let same = dependents.allIndexes.intersection(try connection.existingIndexes(of: name))
    for statistic in dependents.statistics
    where statistic.index == nil || same.contains(where: { $0.name == statistic.index }) {
      try connection.executeChange(
        "INSERT INTO main.sqlite_stat1 (tbl, idx, stat) VALUES (\(name), \(statistic.index), \(statistic.text))"
      )
    }
  }

  /// Sets the AUTOINCREMENT counter of the new table to the largest key that was ever assigned in
  /// the old one.
  private func restoreSequence(_ greatest: Int64?) throws {
    guard try connection.tableExists("sqlite_sequence") else { return }
    try connection.executeChange(
      "DELETE FROM main.sqlite_sequence WHERE name IN (\(name), \(scratch))")
    let counts = text.definition.columns.contains { column in
      column.constraints.contains {
        if case .primaryKey(_, _, isAutoincrement: true) = $0.kind { true } else { false }
      }
    }
    guard let greatest, counts || hasAutoincrementConstraint else { return }
    try connection.executeChange(
      "INSERT INTO main.sqlite_sequence (name, seq) VALUES (\(name), \(greatest))")
  }

  private var hasAutoincrementConstraint: Bool {
    text.definition.constraints.contains {
      if case .primaryKey(_, isAutoincrement: true, _) = $0.kind { true } else { false }
    }
  }
}

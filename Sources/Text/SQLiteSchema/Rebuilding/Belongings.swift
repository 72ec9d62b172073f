import SQLSyntax
import SQLiteCore

/// What belongs to a table besides its rows, and is dropped with it.
struct Belongings {
  /// The texts of its indexes, in the order in which they were made.
  fileprivate let indexes: [TableRebuild.SchemaObject]
  /// The texts of its triggers, likewise: those that were made later run first.
  fileprivate let triggers: [TableRebuild.SchemaObject]
  /// The texts of its temporary triggers, likewise.
  fileprivate let temporaryTriggers: [TableRebuild.SchemaObject]
  /// The greatest key that AUTOINCREMENT has given.
  fileprivate let sequence: Int64?
  /// What ANALYZE has found, for its indexes by their names.
  fileprivate let statistics: [(index: String?, text: String)]
  /// Its indexes, those of constraints among them.
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
  /// Drops what the table has besides its rows.
  func drop(_ belongings: Belongings) throws {
    for index in belongings.indexes {
      try connection.executeChange("DROP INDEX main.\(identifier: index.name)")
    }
    for trigger in belongings.triggers {
      try connection.executeChange("DROP TRIGGER main.\(identifier: trigger.name)")
    }
    for trigger in belongings.temporaryTriggers {
      try connection.executeChange("DROP TRIGGER temp.\(identifier: trigger.name)")
    }
    for statistics in ["sqlite_stat1", "sqlite_stat3", "sqlite_stat4"]
    where try connection.tableExists(statistics) {
      try connection.executeChange(
        "DELETE FROM main.\(identifier: statistics) WHERE tbl = \(name) COLLATE NOCASE")
    }
  }

  /// Makes anew what was dropped with the old table.
  func restore(_ belongings: Belongings) throws {
    try restoreSequence(belongings.sequence)
    for index in belongings.indexes where !droppedIndexes.contains(index.name) {
      do throws(SQLiteError) {
        try connection.executeChange(SQL(unchecked: index.sql))
      } catch {
        guard [.error, .constraint].contains(error.code.primary) else { throw error }
        throw refuse("the index “\(index.name)” would fail: \(error.message)")
      }
    }
    for trigger in belongings.triggers {
      do throws(SQLiteError) {
        try connection.executeChange(SQL(unchecked: trigger.sql))
      } catch {
        guard error.code.primary == .error else { throw error }
        throw refuse("the trigger “\(trigger.name)” would fail: \(error.message)")
      }
    }
    for trigger in belongings.temporaryTriggers {
      // SQLite keeps the text without TEMP.
      let start = "CREATE TRIGGER "
      guard trigger.sql.hasPrefix(start) else {
        throw refuse("a temporary trigger is not understood")
      }
      try connection.executeChange(
        SQL(unchecked: "CREATE TEMP TRIGGER \(trigger.sql.dropFirst(start.count))"))
    }
    // What was counted of an index is true of one by that name with the same columns.
    let same = belongings.allIndexes.intersection(try connection.existingIndexes(of: name))
    for statistic in belongings.statistics
    where statistic.index == nil || same.contains(where: { $0.name == statistic.index }) {
      try connection.executeChange(
        "INSERT INTO main.sqlite_stat1 (tbl, idx, stat) VALUES (\(name), \(statistic.index), \(statistic.text))"
      )
    }
  }

  /// Lets AUTOINCREMENT go on behind the greatest key that it ever gave.
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

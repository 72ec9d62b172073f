import MagicHistory
import SQLiteAssets
import SQLiteCore
import SQLiteHistory
import SQLiteMapping

/// The rows of the synced tables.
struct SyncContent {
  let connection: Connection
  let tables: SyncedTables

  init(_ connection: Connection, _ tables: SyncedTables) {
    self.connection = connection
    self.tables = tables
  }

  func syncedTables() throws -> [SyncTable] {
    let schema = SyncSchema(connection, tables)
    // Tables of full-text indexes aren't synced: each device has its own index.
    let ordinary = try connection.rows(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name",
      as: String.self)
    return try ordinary.filter(tables.contains).compactMap { try schema.table($0) }
  }

  func isEmpty() throws -> Bool {
    try syncedTables().allSatisfy { table in
      try connection.firstRow(
        "SELECT 1 FROM main.\(identifier: table.name) WHERE \(try condition(table)) LIMIT 1") == nil
    }
  }

  /// Returns the condition of the rows of a table that are synced. If only some types are synced,
  /// these are the assets that their rows contain.
  private func condition(_ table: SyncTable) throws -> SQL {
    guard tables.names != nil, asciiLowercased(table.name) == "magicdata_asset" else { return "1" }
    let columns = try syncedTables().filter { $0.name != table.name }.flatMap { other in
      other.columns.map { column -> SQL in
        "SELECT \(identifier: column) FROM main.\(identifier: other.name)"
      }
    }
    guard !columns.isEmpty else { return "0" }
    return "id IN (\(SQL(joining: columns, separator: " UNION ALL ")))"
  }

  /// Calls `body` with the synced assets whose contents are in files.
  func forEachAsset(_ body: (AssetFile) throws -> Void) throws {
    guard let table = try SyncSchema(connection, tables).table("magicdata_asset") else { return }
    var statement = try connection.statement(
      """
      SELECT id, sha256, size, file FROM main.magicdata_asset
      WHERE content IS NULL AND \(try condition(table))
      """)
    while try statement.step() {
      guard let id = AssetID(try statement.text(at: 0)),
        let sha256 = AssetDigest(bytes: statement.blob(at: 1)),
        let size = Int(exactly: statement.integer(at: 2)), size >= 0,
        let name = AssetFileName(try statement.text(at: 3))
      else { continue }
      try body(AssetFile(id: id, sha256: sha256, size: size, name: name))
    }
  }

  /// Returns the digests of the assets whose contents this store or its sync may need.
  func neededAssets() throws -> Set<String> {
    var needed = Set(
      try connection.rows(
        "SELECT sha256 FROM main.magicdata_asset WHERE content IS NULL", as: [UInt8].self
      ).compactMap { AssetDigest(bytes: $0)?.description })
    try SyncLog.forEachGroup(atMost: 1 << 20, connection) { records in
      for record in records {
        for content in [record.rows, record.effect].compactMap(\.self) {
          needed.formUnion(try Patch(content: content).allAssets.map(\.sha256.description))
        }
      }
    }
    for conflict in try SyncConflict.all(connection) {
      for case .blob(let bytes) in [conflict.lost, conflict.kept, conflict.row].flatMap(\.values) {
        if let digest = AssetDigest(bytes: bytes) { needed.insert(digest.description) }
      }
    }
    return needed
  }

  /// Calls `body` with patches that insert all rows, in the order of their keys.
  ///
  /// - Parameters:
  ///   - limit: The size in bytes after which a patch ends.
  ///   - body: The closure to call.
  func forEachPatch(atMost limit: Int, _ body: (Patch) throws -> Void) throws {
    for table in try syncedTables() {
      let positions = table.columns.map { column -> UInt8 in
        UInt8(clamping: (table.keys.firstIndex(of: column) ?? -1) + 1)
      }
      let none = [Value?](repeating: nil, count: table.columns.count)
      var rows: [Patch.Row] = []
      var size = 0
      func flush() throws {
        guard !rows.isEmpty else { return }
        try body(
          Patch(tables: [
            Patch.Table(
              name: table.name, keyPositions: positions, columns: table.columns, rows: rows)
          ]))
        (rows, size) = ([], 0)
      }
      var statement = try connection.statement(
        """
        SELECT \(SQL(identifiers: table.columns)) FROM main.\(identifier: table.name)
        WHERE \(try condition(table)) ORDER BY \(SQL(identifiers: table.keys))
        """)
      while try statement.step() {
        let values: [Value?] = try table.columns.indices.map { try statement.value(at: $0) }
        let row = Patch.Row(.insert, isIndirect: false, old: none, new: values)
        size += row.byteCount
        rows.append(row)
        if size >= limit { try flush() }
      }
      try flush()
    }
  }

  /// Deletes all rows, without triggers and the actions of foreign keys.
  ///
  /// - Returns: The files of the deleted assets.
  func deleteAll() throws -> Set<String> {
    var files: Set<String> = []
    // Delete the assets first, because the other rows determine which ones are synced.
    let all = try syncedTables()
    for table in all.filter({ asciiLowercased($0.name) == "magicdata_asset" })
      + all.filter({ asciiLowercased($0.name) != "magicdata_asset" })
    {
      let condition = try condition(table)
      if asciiLowercased(table.name) == "magicdata_asset" {
        files.formUnion(
          try connection.rows(
            "SELECT file FROM main.magicdata_asset WHERE content IS NULL AND \(condition)",
            as: String.self))
      }
      try SearchTable(of: table.name, connection)?.removeFromIndex(where: "1", connection)
      try connection.executeChange(
        "DELETE FROM main.\(identifier: table.name) WHERE \(condition)")
    }
    return files
  }

  /// Applies the delete rules of tables that aren't synced to their references to missing rows.
  func settleLocalReferences() throws {
    for name in try connection.existingTables()
    where !tables.contains(name) && HistoryRecording.holds(name) {
      for key in try connection.foreignKeys(of: name) where tables.contains(key.referencedTable) {
        let parent = try SyncSchema(connection, tables).table(key.referencedTable)
        let columns = key.referencedColumns.isEmpty ? parent?.keys ?? [] : key.referencedColumns
        let isPresent = SQL(
          joining: zip(columns, key.columns).map { column, reference -> SQL in
            "p.\(identifier: column) = main.\(identifier: name).\(identifier: reference)"
          }, separator: " AND ")
        let isSet = SQL(
          joining: key.columns.map { column -> SQL in "\(identifier: column) IS NOT NULL" },
          separator: " AND ")
        let dangling: SQL = """
          \(isSet) AND NOT EXISTS (
            SELECT 1 FROM main.\(identifier: key.referencedTable) AS p WHERE \(isPresent))
          """
        if key.onDelete.uppercased() == "CASCADE" {
          try connection.executeChange("DELETE FROM main.\(identifier: name) WHERE \(dangling)")
        } else {
          let nulls = SQL(
            joining: key.columns.map { column -> SQL in "\(identifier: column) = NULL" },
            separator: ", ")
          try connection.executeChange(
            "UPDATE main.\(identifier: name) SET \(nulls) WHERE \(dangling)")
        }
      }
    }
  }
}

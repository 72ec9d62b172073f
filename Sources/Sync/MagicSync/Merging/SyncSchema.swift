import MagicHistory
import SQLiteCore
import SQLiteHistory

/// The tables that a store exchanges with other devices.
struct SyncedTables: Sendable {
  /// The lowercased names of the tables, or nil for all tables of the store.
  let names: Set<String>?
  /// The natural keys of objects whose rows are identified by another number: the names of their
  /// columns by the lowercased names of the tables.
  let naturalKeys: [String: String]

  func contains(_ table: String) -> Bool {
    let name = asciiLowercased(table)
    return HistoryRecording.holds(name)
      && (names.map { $0.contains(name) || name == "magicdata_asset" } ?? true)
  }

  /// Returns the part of recorded changes that other devices get.
  ///
  /// If only some types are synced, the rows of an asset are included if a synced row of the same
  /// changes contains its id, or if they don't insert it.
  func patch(of rows: RecordedRows, _ connection: Connection) throws -> Patch {
    let patch = try wholeAssets(
      Patch(rows.netRows { !$0.isShadow && contains($0.table) }), connection)
    guard names != nil, patch.tables.contains(where: { $0.name == "magicdata_asset" }) else {
      return patch
    }
    var used: Set<Value> = []
    for table in patch.tables where table.name != "magicdata_asset" {
      for row in table.rows {
        used.formUnion(row.new.compactMap(\.self))
      }
    }
    return Patch(
      tables: patch.tables.map { table in
        guard table.name == "magicdata_asset" else { return table }
        return Patch.Table(
          name: table.name, keyPositions: table.keyPositions, columns: table.columns,
          rows: table.rows.filter { row in
            row.kind != .insert || table.key(of: row).values.first.map(used.contains) ?? false
          })
      })
  }
}

extension SyncedTables {
  /// Returns a patch whose updates of asset rows contain all columns, because these belong
  /// together: two assets of the same size may have different contents.
  private func wholeAssets(_ patch: Patch, _ connection: Connection) throws -> Patch {
    func isUpdated(_ table: Patch.Table) -> Bool {
      asciiLowercased(table.name) == "magicdata_asset"
        && table.rows.contains { $0.kind == .update }
    }
    guard patch.tables.contains(where: isUpdated) else { return patch }
    let (rows, schema) = (SyncRows(connection), SyncSchema(connection, self))
    return Patch(
      tables: try patch.tables.map { table in
        guard isUpdated(table), let names = table.columns, let known = try schema.table(table.name)
        else { return table }
        return Patch.Table(
          name: table.name, keyPositions: table.keyPositions, columns: names,
          rows: try table.rows.map { row in
            guard row.kind == .update,
              let current = try rows.current(known, table.key(of: row).values)
            else { return row }
            let (old, new) = row.values
            return Patch.Row(
              .update, isIndirect: row.isIndirect,
              old: names.indices.map { old[$0] ?? current[names[$0]] },
              new: names.indices.map { index in
                table.keyPositions[index] > 0 ? nil : new[index] ?? current[names[index]]
              })
          })
      })
  }
}

/// What the merging of rows needs to know about a table.
struct SyncTable {
  let name: String
  /// The names of the stored columns.
  let columns: [String]
  let keys: [String]
  let notNull: Set<String>
  let foreignKeys: [ForeignKey]
  /// The columns of each unique index whose rows can be found by their values.
  let uniqueIndexes: [[String]]
  /// Whether the rows are the links of lists, which are ordered by their positions.
  let isList: Bool
  /// The column that identifies an object for the user while another one is the primary key.
  let naturalKey: String?
  /// Whether the rows describe the contents of assets.
  var isAsset: Bool { asciiLowercased(name) == "magicdata_asset" }
}

/// The schema of a store, read when it is first needed.
final class SyncSchema {
  private let connection: Connection
  private let tables: SyncedTables
  private var known: [String: SyncTable] = [:]
  /// The default values that were queried, by the names of tables and columns.
  private var defaults: [String: [String: Value]] = [:]
  /// The SQL of the triggers that delete assets, by the lowercased names of the tables.
  private var assetColumns: [String: Set<String>]?
  private var references: [String: [(table: SyncTable, key: ForeignKey)]]?

  init(_ connection: Connection, _ tables: SyncedTables) {
    self.connection = connection
    self.tables = tables
  }

  /// Returns a table, or nil if it doesn't exist or has no primary key.
  func table(_ name: String) throws -> SyncTable? {
    let lowercased = asciiLowercased(name)
    if let table = known[lowercased] { return table }
    let columns = try connection.columns(of: name)
    let stored = columns.filter { $0.kind == .ordinary }
    let keys = stored.filter { $0.primaryKeyPosition > 0 }
      .sorted { $0.primaryKeyPosition < $1.primaryKeyPosition }.map(\.name)
    guard !keys.isEmpty else { return nil }
    let indexes = try connection.existingIndexes(of: name).filter { index in
      index.isUnique && !index.isPartial && !index.columns.contains(nil)
        && Set(index.columns.compactMap(\.self)) != Set(keys)
    }
    let table = SyncTable(
      name: name, columns: stored.map(\.name), keys: keys,
      notNull: Set(stored.filter { $0.isNotNull || $0.primaryKeyPosition > 0 }.map(\.name)),
      foreignKeys: try connection.foreignKeys(of: name),
      uniqueIndexes: indexes.map { $0.columns.compactMap(\.self) },
      isList: keys == ["owner", "position"]
        && stored.map(\.name) == ["owner", "position", "target"],
      naturalKey: tables.naturalKeys[lowercased] ?? Self.naturalKey(keys, indexes))
    known[lowercased] = table
    return table
  }

  /// Returns the natural key of a table that objects were stored in, without knowing their type: the
  /// primary property has the only UNIQUE constraint, and `z_index` is the primary key.
  private static func naturalKey(_ keys: [String], _ indexes: [TableIndex]) -> String? {
    guard keys == ["z_index"] else { return nil }
    let unique = indexes.filter { !$0.isExplicit && $0.columns.count == 1 }
    return unique.count == 1 ? unique[0].columns[0] : nil
  }

  /// Returns the value that a column has in rows that were inserted without it: its default or, if
  /// it has none, NULL or the zero of its type.
  func defaultValue(of column: String, in table: SyncTable) throws -> Value {
    if let value = defaults[table.name]?[column] { return value }
    guard
      let known = try connection.columns(of: table.name).first(where: { $0.name == column })
    else { return .null }
    var value: Value?
    // Other defaults depend on the time or the device.
    if let sql = known.defaultSQL, !sql.contains("("), !sql.uppercased().hasPrefix("CURRENT_") {
      value = try? connection.firstRow("SELECT \(SQL(unchecked: sql))", as: Value.self)
    }
    if value == nil || value == .null, known.isNotNull {
      let type = known.declaredType.uppercased()
      value =
        if type.contains("INT") || type == "NUMERIC" || type == "BOOLEAN" {
          .integer(0)
        } else if type.contains("TEXT") || type.contains("CHAR") || type.contains("CLOB") {
          .text("")
        } else if type.contains("REAL") || type.contains("FLOA") || type.contains("DOUB") {
          .real(0)
        } else {
          .blob([])
        }
    }
    defaults[table.name, default: [:]][column] = value ?? .null
    return value ?? .null
  }

  /// Returns the columns of a table that contain the ids of assets. Triggers delete the asset of a
  /// removed row or a replaced id.
  func assetColumns(of table: SyncTable) throws -> [String] {
    if assetColumns == nil {
      var found: [String: Set<String>] = [:]
      for (name, sql) in try connection.rows(
        """
        SELECT tbl_name, sql FROM main.sqlite_schema
        WHERE type = 'trigger' AND sql LIKE '%DELETE FROM magicdata_asset WHERE id = OLD.%'
        """, as: String.self, String.self)
      {
        found[asciiLowercased(name), default: []].insert(sql)
      }
      assetColumns = found
    }
    guard let triggers = assetColumns?[asciiLowercased(table.name)] else { return [] }
    return try table.columns.filter { column in
      let name = try SQL("\(identifier: column)").checkedText
      return triggers.contains { $0.contains("WHERE id = OLD.\(name);") }
    }
  }

  /// Returns the foreign keys of all tables that reference a table.
  func references(to name: String) throws -> [(table: SyncTable, key: ForeignKey)] {
    if references == nil {
      var found: [String: [(table: SyncTable, key: ForeignKey)]] = [:]
      for child in try connection.existingTables() {
        guard let table = try table(child) else { continue }
        for key in table.foreignKeys {
          found[asciiLowercased(key.referencedTable), default: []].append((table, key))
        }
      }
      references = found
    }
    return references?[asciiLowercased(name)] ?? []
  }
}

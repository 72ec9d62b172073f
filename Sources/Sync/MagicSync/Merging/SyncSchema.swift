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
  func patch(of rows: RecordedRows) throws -> Patch {
    let patch = try Patch(rows.netRows { !$0.isShadow && contains($0.table) })
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
}

/// The schema of a store, read when it is first needed.
final class SyncSchema {
  private let connection: Connection
  private let tables: SyncedTables
  private var known: [String: SyncTable] = [:]
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

import Essentials
import MagicHistory
import SQLiteCore
import SQLiteHistory
import SQLiteMapping
import SQLiteObjects

extension SyncedTables {
  /// Determines the tables of types, and creates those that don't exist.
  ///
  /// - Throws: ``SyncError`` if a reference between a synced and another table is not possible.
  init(
    _ objects: [any MagicObject.Type]?, _ records: [any Record.Type], of magic: MagicData
  ) async throws {
    let plans = try (objects ?? []).map { try magic.plan($0) }
    var names: Set<String>?
    if objects != nil || !records.isEmpty {
      names = Set(plans.flatMap { $0.claims.map { asciiLowercased($0.table) } })
      for record in records { names?.insert(asciiLowercased(record.tableName)) }
    }
    var keys: [String: String] = [:]
    for plan in plans {
      if let primary = plan.primary, plan.autoIncrementSlot == nil {
        keys[asciiLowercased(plan.table)] = plan.properties[primary].name
      }
    }
    if objects == nil, records.isEmpty,
      let stored = try await magic.database.read({ try SyncedTables.stored($0) })
    {
      (names, keys) = (stored.names, stored.naturalKeys)
    }
    self.init(names: names, naturalKeys: keys)
    let tables = self
    try await magic.database.withoutTransaction { connection in
      try connection.transaction {
        try magic.prepareTables(plans, connection)
        for record in records { try connection.prepare(record) }
        try tables.checkReferences(connection)
      }
    }
  }

  private func checkReferences(_ connection: Connection) throws {
    for table in try connection.existingTables() where HistoryRecording.holds(table) {
      for key in try connection.foreignKeys(of: table) {
        switch (contains(table), contains(key.referencedTable)) {
        case (true, false):
          throw SyncError.missingType(table: table, references: key.referencedTable)
        case (false, true) where !["CASCADE", "SET NULL"].contains(key.onDelete.uppercased()):
          throw SyncError.restrictingReference(table: table, references: key.referencedTable)
        default: break
        }
      }
    }
  }
}

/// Prepares a store for a sync.
struct SyncStart {
  /// The number of low bits of a key that count a device's own rows.
  private static let keyBits: Int64 = 32
  /// The size in bytes of the entries into which the content of a store is divided.
  private static let entrySize = 1 << 18

  let connection: Connection
  let tables: SyncedTables

  init(_ connection: Connection, _ tables: SyncedTables) {
    self.connection = connection
    self.tables = tables
  }

  /// Creates the tables of the sync if they are missing, and an entry for the content that the
  /// store already has.
  ///
  /// - Parameters:
  ///   - name: The name of the sync.
  ///   - joinsOthers: Whether the folder contains files of other devices.
  /// - Returns: The identity of the device, and the range of the keys that it assigns.
  func run(
    _ name: String, joinsOthers: Bool
  ) throws -> (device: String, keys: ClosedRange<Int64>) {
    try SyncTables.make(connection)
    let known = try SyncTables.text("device", connection)
    if let known, try SyncTables.number("isRemoved", connection) == nil {
      return (known, try keys())
    }
    if known == nil, joinsOthers, try hasContent() { throw SyncError.storeNotEmpty }
    let device = Self.newIdentity()
    try SyncTables.set("device", .text(device), connection)
    try SyncTables.set("name", .text(name), connection)
    let prefix = Int64.random(in: 1..<1 << 30)
    try SyncTables.set("firstKey", .integer(prefix << Self.keyBits), connection)
    if known == nil { try recordContent(device) }
    return (device, try keys())
  }

  private static func newIdentity() -> String {
    UUID().uuidString.lowercased().filter { $0 != "-" }
  }

  private func keys() throws -> ClosedRange<Int64> {
    let first = try SyncTables.number("firstKey", connection) ?? 1
    return first...(first + (1 << Self.keyBits) - 1)
  }

  private func syncedTables() throws -> [SyncTable] {
    let schema = SyncSchema(connection, tables)
    return try connection.existingTables().filter(tables.contains).compactMap {
      try schema.table($0)
    }
  }

  private func hasContent() throws -> Bool {
    try syncedTables().contains { table in
      try connection.firstRow("SELECT 1 FROM main.\(identifier: table.name) LIMIT 1") != nil
    }
  }

  /// Inserts entries for the content of the store.
  private func recordContent(_ device: String) throws {
    for group in SyncContent.groups(try syncedTables()) {
      try SyncContent(connection).forEachPatch(of: group, atMost: Self.entrySize) { patch in
        let id = EntryID(time: try SyncClock.next(connection), device: device)
        try SyncLog.insertOwn(SyncEntry(id: id, rows: patch.content()), connection)
      }
    }
  }
}

/// The rows of the synced tables.
struct SyncContent {
  let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  /// Returns tables in groups: each table comes after those that it references, and tables that
  /// reference each other, or themselves, are one group.
  static func groups(_ tables: [SyncTable]) -> [[SyncTable]] {
    var index = 0
    var indexes: [String: Int] = [:]
    var lowest: [String: Int] = [:]
    var stack: [SyncTable] = []
    var groups: [[SyncTable]] = []
    let byName = Dictionary(
      tables.map { (asciiLowercased($0.name), $0) }, uniquingKeysWith: { $1 })
    // Tarjan's algorithm finds the groups in this order.
    func visit(_ table: SyncTable) {
      let name = asciiLowercased(table.name)
      (indexes[name], lowest[name]) = (index, index)
      index += 1
      stack.append(table)
      for key in table.foreignKeys {
        let other = asciiLowercased(key.referencedTable)
        guard let parent = byName[other] else { continue }
        if indexes[other] == nil {
          visit(parent)
          lowest[name] = min(lowest[name] ?? 0, lowest[other] ?? 0)
        } else if stack.contains(where: { asciiLowercased($0.name) == other }) {
          lowest[name] = min(lowest[name] ?? 0, indexes[other] ?? 0)
        }
      }
      guard lowest[name] == indexes[name] else { return }
      var group: [SyncTable] = []
      while let last = stack.popLast() {
        group.append(last)
        if last.name == table.name { break }
      }
      groups.append(group)
    }
    for table in tables where indexes[asciiLowercased(table.name)] == nil { visit(table) }
    return groups
  }

  /// Calls `body` with patches that insert all rows of a group, in the order of their keys. Rows
  /// that may reference each other are in one patch.
  func forEachPatch(
    of group: [SyncTable], atMost limit: Int, _ body: (Patch) throws -> Void
  ) throws {
    let mayReferenceEachOther =
      group.count > 1
      || group.contains { table in
        table.foreignKeys.contains {
          asciiLowercased($0.referencedTable) == asciiLowercased(table.name)
        }
      }
    var waiting: [Patch.Table] = []
    for table in group {
      let positions = table.columns.map { column -> UInt8 in
        UInt8(clamping: (table.keys.firstIndex(of: column) ?? -1) + 1)
      }
      func patched(_ rows: [Patch.Row]) -> Patch.Table {
        Patch.Table(
          name: table.name, keyPositions: positions, columns: table.columns, rows: rows)
      }
      var rows: [Patch.Row] = []
      var size = 0
      var statement = try connection.statement(
        """
        SELECT \(SQL(identifiers: table.columns)) FROM main.\(identifier: table.name)
        ORDER BY \(SQL(identifiers: table.keys))
        """)
      let none = [Value?](repeating: nil, count: table.columns.count)
      while try statement.step() {
        let values: [Value?] = try table.columns.indices.map { try statement.value(at: $0) }
        let row = Patch.Row(.insert, isIndirect: false, old: none, new: values)
        size += row.byteCount
        rows.append(row)
        if size >= limit, !mayReferenceEachOther {
          try body(Patch(tables: [patched(rows)]))
          (rows, size) = ([], 0)
        }
      }
      if !rows.isEmpty { waiting.append(patched(rows)) }
    }
    if !waiting.isEmpty { try body(Patch(tables: waiting)) }
  }
}

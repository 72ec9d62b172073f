package import MagicData
import SQLiteCore
import SQLiteMapping

/// The rows of a store in a form that is the same on all devices: rows are identified by natural
/// keys, and references by the identities of their targets.
package struct SyncDump: Equatable {
  /// The values by the names of tables, the identities of rows and the names of columns.
  package var tables: [String: [String: [String: String]]] = [:]
  /// The identities of the rows with natural keys, by table and row number.
  package var identities: [String: [Int64: String]] = [:]

  /// The columns that identify rows for users while a number is the primary key.
  package static let naturalKeys = ["Team": "name", "Ticket": "id", "Report": "id"]

  package init(_ connection: Connection) throws {
    let names = try connection.rows(
      """
      SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'
        AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT IN ('Mark', 'Venue', 'Place')
        AND (name NOT LIKE 'magicdata\\_%' ESCAPE '\\' OR name = 'magicdata_asset')
      ORDER BY name
      """, as: String.self)
    for (table, column) in Self.naturalKeys where names.contains(table) {
      identities[table] = Dictionary(
        uniqueKeysWithValues: try connection.rows(
          SQL(unchecked: "SELECT z_index, quote(\"\(column)\") FROM \"\(table)\""),
          as: Int64.self, String.self
        ).map { ($0, $1) })
    }
    for table in names { tables[table] = try rows(of: table, connection) }
  }

  private func rows(
    of table: String, _ connection: Connection
  ) throws -> [String: [String: String]] {
    let columns = try connection.columns(of: table)
    let references = Dictionary(
      try connection.foreignKeys(of: table).map { ($0.columns[0], $0.referencedTable) },
      uniquingKeysWith: { $1 })
    let keys = columns.filter { $0.primaryKeyPosition > 0 }
      .sorted { $0.primaryKeyPosition < $1.primaryKeyPosition }.map(\.name)
    let isList = keys == ["owner", "position"]
    let list = columns.map { "quote(\"\($0.name)\")" }.joined(separator: ", ")
    let order = keys.map { "\"\($0)\"" }.joined(separator: ", ")
    var found: [String: [String: String]] = [:]
    var statement = try connection.statement(
      SQL(unchecked: "SELECT \(list) FROM \"\(table)\" ORDER BY \(order)"))
    while try statement.step() {
      var row: [String: String] = [:]
      for (index, column) in columns.enumerated() {
        var value = try statement.text(at: index)
        if let target = references[column.name], let number = Int64(value),
          let identity = identities[target]?[number]
        {
          value = identity
        }
        row[column.name] = value
      }
      if isList {
        // The identity of a link is its number among the links to the same target.
        let link = "\(row["owner"] ?? "")→\(row["target"] ?? "")"
        var number = 1
        while found["\(link)#\(number)"] != nil { number += 1 }
        found["\(link)#\(number)"] = [:]
      } else {
        let identity =
          Self.naturalKeys[table].flatMap { row[$0] }
          ?? keys.map { row[$0] ?? "" }.joined(separator: "→")
        if Self.naturalKeys[table] != nil { row["z_index"] = nil }
        for key in keys { row[key] = nil }
        found[identity] = row
      }
    }
    return found
  }
}

/// What one transaction of one device changed, and what the device had seen.
package struct SyncEdit: Codable, Sendable {
  package struct Change: Codable, Sendable {
    package let table: String
    package let row: String
    /// Nil for an update.
    package let isInsert: Bool?
    /// The new values of changed columns; the values of a deleted row.
    package let values: [String: String]
    /// The values of changed columns before the edit; empty for an insertion.
    package let old: [String: String]
  }

  package let device: String
  package let number: Int
  /// The number of the last edit of each device that the store contained before.
  package let seen: [String: Int]
  package let changes: [Change]
  /// The identities of new rows with natural keys, by table and row number.
  package let identities: [String: [Int64: String]]

  package init(
    device: String, number: Int, seen: [String: Int], from old: SyncDump, to new: SyncDump
  ) {
    self.device = device
    self.number = number
    self.seen = seen
    var changes: [Change] = []
    for table in Set(old.tables.keys).union(new.tables.keys).sorted() {
      let (before, after) = (old.tables[table] ?? [:], new.tables[table] ?? [:])
      for row in Set(before.keys).union(after.keys).sorted() {
        switch (before[row], after[row]) {
        case (let values?, nil):
          changes.append(
            Change(table: table, row: row, isInsert: false, values: values, old: values))
        case (nil, let values?):
          changes.append(Change(table: table, row: row, isInsert: true, values: values, old: [:]))
        case (let values?, let later?) where values != later:
          changes.append(
            Change(
              table: table, row: row, isInsert: nil,
              values: later.filter { values[$0.key] != $0.value },
              old: values.filter { later[$0.key] != $0.value }))
        default: break
        }
      }
    }
    self.changes = changes
    identities = new.identities.reduce(into: [:]) { all, table in
      let known = old.identities[table.key] ?? [:]
      let added = table.value.filter { known[$0.key] == nil }
      if !added.isEmpty { all[table.key] = added }
    }
  }

  /// Whether this edit was made with knowledge of another one.
  package func saw(_ other: SyncEdit) -> Bool {
    other.device == device ? other.number < number : other.number <= seen[other.device] ?? 0
  }

  /// Returns the number of the last edit of each device that a store contains.
  package static func seen(_ connection: Connection) throws -> [String: Int] {
    Dictionary(
      uniqueKeysWithValues: try connection.rows(
        "SELECT device, max(number) FROM Mark GROUP BY device", as: String.self, Int.self
      ).map { ($0, $1) })
  }
}

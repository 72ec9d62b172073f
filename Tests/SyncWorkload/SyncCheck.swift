package import MagicData
@testable import MagicSync
import MagicTemplates
import SQLiteAssets
import SQLiteCore
import SQLiteHistory

/// Checks of a store after an exchange.
package enum SyncCheck {
  /// Returns what is wrong with a store by itself.
  package static func faults(_ magic: MagicData) async throws -> [String] {
    let (faults, assets) = try await magic.database.read { connection in
      var faults: [String] = []
      let integrity = try connection.rows("PRAGMA integrity_check", as: String.self)
      if integrity != ["ok"] { faults += integrity }
      faults += try connection.rows(
        """
        SELECT 'the asset ' || id || ' belongs to no object' FROM magicdata_asset
        WHERE id NOT IN (SELECT badge FROM Team WHERE badge IS NOT NULL
          UNION SELECT photo FROM Player WHERE photo IS NOT NULL)
        """, as: String.self)
      for (table, row) in try connection.rows(
        "SELECT \"table\", rowid FROM pragma_foreign_key_check", as: String.self, Int64?.self)
      {
        faults.append("foreign key of \(table) \(row ?? -1)")
      }
      return (
        faults, try connection.rows("SELECT id FROM magicdata_asset", as: AssetID.self)
      )
    }
    var found = faults
    for id in assets {
      do {
        let reader = try await magic.assets.open(id)
        if SHA256.digest(of: try await reader.readAll()) != reader.record.sha256 {
          found.append("asset \(id) differs")
        }
      } catch { found.append("asset \(id): \(error)") }
    }
    // Full-text indexes verify themselves with a special insertion.
    found += try await magic.database.withoutTransaction { connection in
      try connection.transaction {
        var faults: [String] = []
        for name in try connection.rows(
          "SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE%fts5%'",
          as: String.self)
        {
          do {
            try connection.executeChange(
              "INSERT INTO main.\(identifier: name) (\(identifier: name), rank) VALUES ('integrity-check', 1)"
            )
          } catch { faults.append("full-text index \(name): \(error)") }
        }
        return faults
      }
    }
    return found
  }

  /// Returns the differences of stores that must be equal.
  ///
  /// - Parameters:
  ///   - stores: The stores.
  ///   - comparesConflicts: Whether their conflicts must be equal, too.
  package static func differences(
    _ stores: [MagicData], comparesConflicts: Bool = true
  ) async throws -> [String] {
    guard let first = stores.first else { return [] }
    var found: [String] = []
    let base = try await first.database.read { (try rows($0), try SyncConflict.all($0)) }
    for (number, store) in stores.enumerated().dropFirst() {
      let difference = try await store.difference(from: first)
      if !difference.isEmpty { found.append("store \(number): \(difference)") }
      let other = try await store.database.read { (try rows($0), try SyncConflict.all($0)) }
      if other.0 != base.0, difference.isEmpty {
        let lines = Set(base.0).symmetricDifference(other.0).sorted()
        found.append("store \(number): rows \(lines)")
      }
      let haveOtherConflicts = comparesConflicts && other.1 != base.1
      if !difference.isEmpty || haveOtherConflicts {
        found.append(try await firstDifference(first, store))
      }
      if haveOtherConflicts {
        found.append(
          "store \(number): conflicts \(Set(other.1).symmetricDifference(base.1).map { "\($0.id) \($0.kind) \($0.table) \($0.key) \($0.lost)" })"
        )
      }
    }
    return found
  }

  /// Returns the first entry whose changes differ in two stores, for the search of a fault.
  private static func firstDifference(
    _ one: MagicData, _ other: MagicData
  ) async throws -> String {
    func log(_ magic: MagicData) async throws -> [(id: EntryID, rows: String, effect: String)] {
      @Sendable func text(_ patch: Patch) -> String {
        patch.tables.flatMap { table in
          table.rows.map { row in
            let values = zip(row.old, row.new).map { old, new in
              "\(old.map { "\($0)" } ?? "-")→\(new.map { "\($0)" } ?? "-")"
            }
            return "\(table.name) \(row.kind) \(row.isIndirect) \(values.joined(separator: " "))"
          }
        }.sorted().joined(separator: "\n").replacing("SQLiteCore.Value.", with: "")
      }
      return try await magic.database.read { connection in
        try SyncLog.entries(where: "1", atMost: .max, connection).map { entry in
          (entry.id, text(try entry.patch()), entry.effect == nil ? "" : text(try entry.change()))
        }
      }
    }
    let (first, second) = (try await log(one), try await log(other))
    for (entry, other) in zip(first, second) where entry != other {
      return "first: \(entry)\nsecond: \(other)"
    }
    return "\(first.count) and \(second.count) entries"
  }

  /// Returns all rows of the synced tables, with positions of links.
  private static func rows(_ connection: Connection) throws -> [String] {
    var found: [String] = []
    for table in try connection.rows(
      """
      SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'
        AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
        AND (name NOT LIKE 'magicdata\\_%' ESCAPE '\\' OR name = 'magicdata_asset')
      """, as: String.self)
    {
      let columns = try connection.columns(of: table).map(\.name)
      let list = columns.map { "quote(\"\($0)\")" }.joined(separator: " || '|' || ")
      found += try connection.rows(
        SQL(unchecked: "SELECT '\(table) ' || \(list) FROM \"\(table)\" ORDER BY 1"),
        as: String.self)
    }
    return found
  }
}

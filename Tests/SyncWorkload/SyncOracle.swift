import Foundation
package import MagicData
@testable package import MagicSync
import SQLiteCore

/// Finds edits that were lost without a conflict.
///
/// An edit may only be replaced by an edit that was made with knowledge of it, or be named by a
/// conflict.
package struct SyncOracle {
  private let edits: [SyncEdit]
  private let final: SyncDump
  private let conflicts: [Named]
  private var changes: [Place: [(edit: SyncEdit, change: SyncEdit.Change)]] = [:]
  private var conflictsByPlace: [Place: [Named]] = [:]
  /// The rows whose removal was undone.
  private var keptRows: Set<String> = []
  private var lostAssets: Set<String> = []
  /// The lost values, by column.
  private var lostValues: [String: Set<String>] = [:]

  /// The columns that reference rows with which their row is removed.
  private static let cascades: Set = ["Match.away", "Ticket.match", "Street.town"]

  private struct Place: Hashable {
    let table: String
    let row: String
  }

  /// A conflict in the form of a ``SyncDump``.
  private struct Named {
    let kind: SyncConflict.Kind
    let table: String
    let row: String
    let lost: [String: String]
    let assets: Set<String>
  }

  /// - Parameters:
  ///   - edits: The committed edits of all devices.
  ///   - conflicts: The conflicts of a store to which all edits have been applied.
  ///   - connection: A connection of this store.
  package init(
    _ edits: [SyncEdit], _ conflicts: [SyncConflict], _ connection: Connection
  ) throws {
    self.edits = edits
    final = try SyncDump(connection)
    var identities = final.identities
    for edit in edits {
      for (table, numbers) in edit.identities {
        identities[table, default: [:]].merge(numbers) { $1 }
      }
    }
    self.conflicts = try conflicts.map { conflict in
      let references = Dictionary(
        try connection.foreignKeys(of: conflict.table).map { ($0.columns[0], $0.referencedTable) },
        uniquingKeysWith: { $1 })
      func text(_ column: String?, _ value: Value) throws -> String {
        if let target = column.flatMap({ references[$0] }), case .integer(let number) = value,
          let identity = identities[target]?[number]
        {
          return identity
        }
        return try connection.firstRow("SELECT quote(\(value))", as: String.self) ?? ""
      }
      let keys = try connection.columns(of: conflict.table).filter { $0.primaryKeyPosition > 0 }
        .sorted { $0.primaryKeyPosition < $1.primaryKeyPosition }.map(\.name)
      var lost: [String: String] = [:]
      for (column, value) in conflict.lost { lost[column] = try text(column, value) }
      var row: String
      if SyncDump.naturalKeys[conflict.table] != nil, case .integer(let number) = conflict.key[0] {
        row =
          identities[conflict.table]?[number] ?? lost[SyncDump.naturalKeys[conflict.table] ?? ""]
          ?? ""
      } else {
        row = try zip(keys, conflict.key).map { try text($0, $1) }.joined(separator: "→")
        if keys == ["owner", "position"] {
          row = "\(try text("owner", conflict.key[0]))→\(lost["target"] ?? "")"
        }
      }
      return Named(
        kind: conflict.kind, table: conflict.table, row: row, lost: lost,
        assets: Set(try conflict.assets.compactMap { try $0["id"].map { try text(nil, $0) } }))
    }
    for conflict in self.conflicts {
      conflictsByPlace[Place(table: conflict.table, row: conflict.row), default: []]
        .append(conflict)
      if conflict.kind == .removal { keptRows.insert(conflict.row) }
      lostAssets.formUnion(conflict.assets)
      for (column, value) in conflict.lost { lostValues[column, default: []].insert(value) }
    }
    for edit in edits {
      for change in edit.changes {
        let place = Place(table: change.table, row: Self.link(change.row))
        changes[place, default: []].append((edit, change))
      }
    }
  }

  /// Returns the row of a change without the number of a link.
  private static func link(_ row: String) -> String {
    row.lastIndex(of: "#").map { String(row[..<$0]) }.flatMap { $0.contains("→") ? $0 : nil } ?? row
  }

  /// Returns the edits that were lost silently.
  ///
  /// - Parameter ignoringRemovals: Whether removed rows may come back. If devices begin a sync
  ///   independently, each one keeps the rows that it has.
  package func losses(ignoringRemovals: Bool = false) -> [String] {
    var found: [String] = []
    for edit in edits {
      for change in edit.changes where !(ignoringRemovals && change.isInsert == false) {
        for loss in losses(edit, change) {
          let others = changes[Place(table: change.table, row: Self.link(change.row))] ?? []
          let story = others.map { other, change in
            "\(other.device)\(other.number)\(edit.saw(other) ? "<" : other.saw(edit) ? ">" : "|") "
              + "\(change.isInsert.map { $0 ? "+" : "-" } ?? "~")\(change.values.keys.sorted())"
          }
          let named = conflicts.filter { $0.table == change.table }.map {
            "\($0.kind) \($0.row) \($0.lost.keys.sorted())"
          }
          found.append(
            "\(edit.device)\(edit.number) \(change.table) \(change.row): \(loss); \(story); \(named)"
          )
        }
      }
    }
    return found
  }

  private func losses(_ edit: SyncEdit, _ change: SyncEdit.Change) -> [String] {
    let row = Self.link(change.row)
    let others = changes[Place(table: change.table, row: row)] ?? []
    // A lost asset is part of the conflict about its object.
    if change.table == "magicdata_asset", lostAssets.contains(row) { return [] }
    let kept = final.tables[change.table]?[change.row]
    func isNamed(_ condition: (Named) -> Bool) -> Bool {
      (conflictsByPlace[Place(table: change.table, row: row)] ?? []).contains(where: condition)
    }
    if change.isInsert == false {
      if kept == nil { return [] }
      // Links are kept together with an object whose removal another device forbids.
      let ends = row.components(separatedBy: "→") + change.values.values + change.old.values
      let isKeptLink = ends.contains(where: keptRows.contains)
      // So are the assets of such an object. Its own removal is checked by itself.
      let isKeptAsset = edit.changes.contains { owner in
        owner.isInsert == false && owner.values.values.contains(row)
      }
      let isKept =
        others.contains {
          $0.change.isInsert == true && !edit.saw($0.edit)
            && ($0.edit.device, $0.edit.number) != (edit.device, edit.number)
        }
        // The row no longer references the row with which it was removed.
        || others.contains { other, change in
          !edit.saw(other) && !other.saw(edit)
            && change.values.keys.contains { Self.cascades.contains("\(change.table).\($0)") }
        }
        || isNamed { [.removal, .row, .removalOfChanged].contains($0.kind) } || isKeptLink
        || isKeptAsset
      return isKept ? [] : ["the removal"]
    }
    var lost: [String] = []
    if change.isInsert == true, kept == nil,
      !others.contains(where: { $0.change.isInsert == false && $0.edit.saw(edit) }),
      !isNamed({ _ in true })
    {
      lost.append("the insertion")
    }
    for (column, value) in change.values.sorted(by: { $0.key < $1.key }) {
      if kept?[column] == value || change.isInsert == true && value == "NULL" { continue }
      // The reference became NULL because the edit removed its target.
      if value == "NULL", let target = change.old[column],
        edit.changes.contains(where: { $0.isInsert == false && $0.row == target })
      {
        continue
      }
      // An edit has also replaced the value knowingly if another edit had written the same value.
      let isReplaced = others.contains {
        $0.edit.saw(edit) && ($0.change.isInsert == false || $0.change.values[column] != nil)
          || $0.change.old[column] == value
      }
      if isReplaced || isNamed({ $0.lost[column] == value }) { continue }
      // A text is unique; its row may be known by another key.
      if value.count > 8, lostValues[column]?.contains(value) ?? false { continue }
      lost.append("\(column) = \(value.prefix(60)) (now \(kept?[column]?.prefix(60) ?? "no row"))")
    }
    return lost
  }
}

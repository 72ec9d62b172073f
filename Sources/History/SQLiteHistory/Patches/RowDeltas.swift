package import SQLiteCore

/// A row before and after a transaction. Both are there for a row that was updated.
package struct RowDelta: Sendable {
  package var old: [Value]?
  package var new: [Value]?
  /// The rowid before, or after if the row is new.
  package var rowID: Int64
  /// Whether only triggers and foreign keys have changed it.
  package var isIndirect: Bool
  /// The columns whose values are not exact, since the transaction has changed text in them that is not valid UTF-8.
  package var inexactColumns: Set<Int>

  /// Takes a later change of the row into account.
  fileprivate mutating func note(_ change: RowChange) {
    if !change.isIndirect { isIndirect = false }
    inexactColumns.formUnion(change.inexactColumns)
  }
}

/// The rows of one table that a transaction changed, each once, in the order in which they were changed first.
package struct TableDeltas: Sendable {
  package let layout: TableLayout
  package internal(set) var rows: [RowDelta] = []

  /// Whether each row can be identified by a declared key, which VACUUM keeps.
  package var hasKeys: Bool {
    let keys = layout.keyColumns
    return !keys.isEmpty
      && rows.allSatisfy { row in
        !keys.contains { key in row.old?[key].isNull ?? false || row.new?[key].isNull ?? false }
      }
  }

  /// The same rows for showing them: text that is not valid UTF-8 counts as the blob of its bytes, as which it is here.
  package var showingTextAsBlobs: TableDeltas {
    var deltas = self
    for index in rows.indices { deltas.rows[index].inexactColumns = [] }
    return deltas
  }
}

extension RecordedRows {
  /// Returns what came of the recorded changes, row by row: an insert and a delete of one key are nothing, or an
  /// update if the delete came first.
  ///
  /// - Parameter isWanted: Whether the rows of a table are wanted.
  /// - Throws: `SQLiteError` if the bytes are damaged.
  /// - Complexity: O(*n*), where *n* is the number of recorded changes.
  package func coalesced(
    where isWanted: (TableLayout) -> Bool = { _ in true }
  ) throws -> [TableDeltas] {
    var groups: [Coalescing] = []
    var named: [String: [Int]] = [:]
    let group: [Int?] = layouts.map { layout in
      guard !layout.columns.isEmpty, isWanted(layout) else { return nil }
      let sameName = named[asciiLowercased(layout.table), default: []]
      if let known = sameName.first(where: { groups[$0].layout.isSame(as: layout) }) {
        return known
      }
      named[asciiLowercased(layout.table), default: []].append(groups.count)
      groups.append(Coalescing(layout))
      return groups.count - 1
    }
    var slots: [ObjectIdentifier: Int] = [:]
    for (index, layout) in layouts.enumerated() {
      if let group = group[index] { slots[ObjectIdentifier(layout)] = group }
    }
    try forEach(where: { group[$0] != nil }) { change in
      guard let slot = slots[ObjectIdentifier(change.layout)] else { return }
      groups[slot].add(change)
    }
    return groups.map(\.deltas).filter { !$0.rows.isEmpty }
  }
}

/// The rows of one table while they are put together.
private struct Coalescing {
  /// A row is told by its key; where that has a NULL, or none is declared, by its rowid.
  private enum Identity: Hashable {
    case key(RowKey)
    case rowID(Int64)
  }

  let layout: TableLayout
  private let keyColumns: [Int]
  private var rows: [RowDelta?] = []
  private var places: [Identity: Int] = [:]

  init(_ layout: TableLayout) {
    self.layout = layout
    keyColumns = layout.keyColumns
  }

  mutating func add(_ change: RowChange) {
    let old = change.old.map { ($0, identity($0, change.oldRowID)) }
    let new = change.new.map { ($0, identity($0, change.rowID)) }
    if let old, let new, old.1 == new.1 {
      update(old.0, new.0, new.1, change)
      return
    }
    if let old { remove(old.0, old.1, change) }
    if let new { insert(new.0, new.1, change) }
  }

  private func identity(_ values: [Value], _ rowID: Int64) -> Identity {
    guard !keyColumns.isEmpty else { return .rowID(rowID) }
    let key =
      keyColumns.count == 1
      ? RowKey.one(values[keyColumns[0]]) : .several(keyColumns.map { values[$0] })
    return key.hasNull ? .rowID(rowID) : .key(key)
  }

  private mutating func update(
    _ old: [Value], _ new: [Value], _ identity: Identity, _ change: RowChange
  ) {
    guard let place = places[identity] else {
      return append(
        RowDelta(
          old: old, new: new, rowID: change.oldRowID, isIndirect: change.isIndirect,
          inexactColumns: change.inexactColumns),
        identity)
    }
    rows[place]?.new = new
    rows[place]?.note(change)
  }

  private mutating func insert(_ new: [Value], _ identity: Identity, _ change: RowChange) {
    guard let place = places[identity] else {
      return append(
        RowDelta(
          old: nil, new: new, rowID: change.rowID, isIndirect: change.isIndirect,
          inexactColumns: change.inexactColumns), identity)
    }
    rows[place]?.new = new
    rows[place]?.note(change)
  }

  private mutating func remove(_ old: [Value], _ identity: Identity, _ change: RowChange) {
    guard let place = places[identity] else {
      return append(
        RowDelta(
          old: old, new: nil, rowID: change.oldRowID, isIndirect: change.isIndirect,
          inexactColumns: change.inexactColumns),
        identity)
    }
    if rows[place]?.old == nil {
      rows[place] = nil
      places[identity] = nil
    } else {
      rows[place]?.new = nil
      rows[place]?.note(change)
    }
  }

  private mutating func append(_ row: RowDelta, _ identity: Identity) {
    places[identity] = rows.count
    rows.append(row)
  }

  /// The rows that differ.
  var deltas: TableDeltas {
    var deltas = TableDeltas(layout: layout)
    deltas.rows = rows.compactMap { row in
      guard let row, row.old != row.new || !row.inexactColumns.isEmpty else { return nil }
      return row
    }
    return deltas
  }
}

extension Patch {
  /// Puts together what was recorded.
  ///
  /// - Throws: `SQLiteError` if the bytes are damaged.
  package init(_ recorded: RecordedRows) throws {
    try self.init(recorded.coalesced { Patch.holds($0) })
  }

  /// Whether the rows of a table belong into a patch.
  package static func holds(_ layout: TableLayout) -> Bool {
    !layout.isShadow && holds(table: layout.table)
  }

  /// Whether the rows of a table of a name belong into a patch: this library's own facts about the store do not.
  package static func holds(table: String) -> Bool {
    !["magicdata_meta", "magicdata_journal"].contains(asciiLowercased(table))
  }

  /// - Throws: ``PatchError/Reason/noKey(table:)``, ``PatchError/Reason/notUTF8(table:column:)``.
  package init(_ deltas: [TableDeltas]) throws(PatchError) {
    self.init(tables: try deltas.map { deltas throws(PatchError) in try Table(deltas) })
  }
}

extension Patch.Table {
  fileprivate init(_ deltas: TableDeltas) throws(PatchError) {
    guard deltas.hasKeys else { throw PatchError(reason: .noKey(table: deltas.layout.table)) }
    let layout = deltas.layout
    let columns = layout.columns.indices.filter { !layout.columns[$0].isGenerated }
    let names = columns.map { layout.columns[$0].name }
    let positions = columns.map { UInt8(clamping: layout.columns[$0].keyPosition) }
    var rows: [Patch.Row] = []
    for row in deltas.rows {
      if let column = columns.first(where: row.inexactColumns.contains) {
        throw PatchError(
          reason: .notUTF8(table: layout.table, column: layout.columns[column].name))
      }
      let nothing = [Value?](repeating: nil, count: names.count)
      switch (row.old, row.new) {
      case (let old?, nil):
        rows.append(
          Patch.Row(
            .delete, isIndirect: row.isIndirect, old: columns.map { old[$0] }, new: nothing))
      case (nil, let new?):
        rows.append(
          Patch.Row(
            .insert, isIndirect: row.isIndirect, old: nothing, new: columns.map { new[$0] }))
      case (let old?, let new?):
        var before: [Value?] = []
        var after: [Value?] = []
        for column in columns {
          let isKey = layout.keyColumns.contains(column)
          let isSame = old[column] == new[column]
          before.append(isKey || !isSame ? old[column] : nil)
          after.append(isKey || isSame ? nil : new[column])
        }
        guard after.contains(where: { $0 != nil }) else { continue }
        rows.append(Patch.Row(.update, isIndirect: row.isIndirect, old: before, new: after))
      case (nil, nil): break
      }
    }
    self.init(name: layout.table, keyPositions: positions, columns: names, rows: rows)
  }
}

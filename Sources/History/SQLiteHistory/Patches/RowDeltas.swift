package import SQLiteCore

/// The values of a row before and after a transaction. `old` is nil for a new row, and `new` is nil
/// for a deleted one.
package struct RowDelta: Sendable {
  package let old: [Value]?
  package let new: [Value]?
  /// The rowid before the first change of the row, or after that change if the row is new.
  package let rowID: Int64
  /// Whether only triggers and foreign key actions changed the row.
  package let isIndirect: Bool
}

/// The rows of one table that a transaction changed. Each row appears once. The rows are in the
/// order of their first changes.
package struct TableDeltas: Sendable {
  package let layout: TableLayout
  package fileprivate(set) var rows: [RowDelta] = []
}

extension RecordedRows {
  /// Returns the net changes with decoded values; see ``netRows(where:)``. Text that isn't valid
  /// UTF-8 becomes a blob. Tables without net changes are omitted.
  ///
  /// - Parameter isWanted: Returns whether to include the rows of a table.
  /// - Throws: `SQLiteError` if the bytes are damaged.
  /// - Complexity: O(*n*), where *n* is the number of recorded changes.
  package func coalesced(
    where isWanted: (TableLayout) -> Bool = { _ in true }
  ) throws -> [TableDeltas] {
    try netRows(where: isWanted).map { net in
      func values(_ fields: [Field]) throws -> [Value] {
        try fields.map { try net.cursor.value(of: $0, takesAnyText: true) ?? .null }
      }
      var deltas = TableDeltas(layout: net.layout)
      var (index, old, new) = (0, [Field](), [Field]())
      while let row = try net.nextDifference(from: &index, &old, &new) {
        deltas.rows.append(
          RowDelta(
            old: row.old == nil ? nil : try values(old),
            new: row.new == nil ? nil : try values(new), rowID: row.rowID,
            isIndirect: row.isIndirect))
      }
      return deltas
    }.filter { !$0.rows.isEmpty }
  }
}

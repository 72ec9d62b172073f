import SQLiteCore

/// A way to write a record. In the SQL of all of them, parameter *n* is the *n*-th column.
enum RecordWrite: Hashable {
  /// A new row.
  case insert
  /// A new row, or the row with the same key changed.
  case update
  /// The row with the same key changed.
  case updateExisting
  /// A new row, or the row changed that has the same values in these columns.
  case updateMatching([String])
  /// A new row whose key the database makes; the row is returned.
  case insertReturning

  func sql(for table: TablePlan) -> SQL {
    let columns = table.columns.map(\.name)
    func changed(on unique: [String]) -> [String] {
      columns.filter { name in
        !table.isKey(name) && !unique.contains { isSameName($0, name) }
      }
    }
    /// The row that is there keeps its key. Something must be set, for the row to be returned.
    func conflict(on unique: [String]) -> TablePlan.Conflict {
      let names = changed(on: unique)
      return .update(on: unique, changed: names.isEmpty ? [unique[0]] : names)
    }
    switch self {
    case .insert: return table.insert(columns)
    case .update: return table.insert(columns, conflict(on: table.keys))
    case .insertReturning: return "\(table.insert(columns)) RETURNING *"
    case .updateMatching(let unique):
      return "\(table.insert(columns, conflict(on: unique))) RETURNING *"
    case .updateExisting:
      let names = changed(on: table.keys)
      return table.update(names.isEmpty ? columns : names, bound: columns)
    }
  }

  /// Whether the row is handed back.
  var returnsRow: Bool {
    switch self {
    case .insert, .update, .updateExisting: false
    case .updateMatching, .insertReturning: true
    }
  }
}

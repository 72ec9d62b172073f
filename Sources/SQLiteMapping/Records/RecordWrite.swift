import SQLiteCore

/// A way to write a value. In the SQL of all of them, parameter n is the n-th column.
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

  func sql(for plan: RecordPlan) throws(SQLiteError) -> SQL {
    switch self {
    case .insert: return insertion(plan)
    case .update: return "\(insertion(plan)) \(resolution(plan, on: plan.keys))"
    case .insertReturning: return "\(insertion(plan)) RETURNING *"
    case .updateMatching(let columns):
      return "\(insertion(plan)) \(resolution(plan, on: columns)) RETURNING *"
    case .updateExisting: return updating(plan)
    }
  }

  /// Says whether the row is handed back.
  var returnsRow: Bool {
    switch self {
    case .insert, .update, .updateExisting: false
    case .updateMatching, .insertReturning: true
    }
  }

  private func insertion(_ plan: RecordPlan) -> SQL {
    let values = plan.columns.enumerated().map { index, column -> SQL in
      let parameter = SQL(unchecked: "?\(index + 1)")
      guard plan.type.primaryKeyType == .computedInt, plan.isKey(column.name) else {
        return parameter
      }
      return
        "coalesce(\(parameter), (SELECT coalesce(max(\(identifier: column.name)), 0) + 1 FROM \(identifier: plan.table)))"
    }
    let columns = SQL(identifiers: plan.columns.map(\.name))
    return
      "INSERT INTO \(identifier: plan.table) (\(columns)) VALUES (\(SQL(joining: values, separator: ", ")))"
  }

  /// What happens to a row that is there already. It keeps its key.
  private func resolution(_ plan: RecordPlan, on columns: [String]) -> SQL {
    var changed = plan.columns.map(\.name).filter { name in
      !plan.isKey(name) && !columns.contains { plan.isSame($0, name) }
    }
    // Something must be set, for the row to be returned.
    if changed.isEmpty { changed = [columns[0]] }
    let assignments = changed.map { name -> SQL in
      "\(identifier: name) = excluded.\(identifier: name)"
    }
    return
      "ON CONFLICT (\(SQL(identifiers: columns))) DO UPDATE SET \(SQL(joining: assignments, separator: ", "))"
  }

  private func updating(_ plan: RecordPlan) -> SQL {
    func terms(_ isKey: Bool) -> [SQL] {
      plan.columns.enumerated().filter { plan.isKey($1.name) == isKey }.map { index, column in
        "\(identifier: column.name) = \(SQL(unchecked: "?\(index + 1)"))"
      }
    }
    let changed = terms(false).isEmpty ? terms(true) : terms(false)
    let assignments = SQL(joining: changed, separator: ", ")
    let condition = SQL(joining: terms(true), separator: " AND ")
    return "UPDATE \(identifier: plan.table) SET \(assignments) WHERE \(condition)"
  }
}

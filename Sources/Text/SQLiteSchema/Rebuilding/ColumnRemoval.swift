import SQLSyntax
import SQLiteCore

extension TableRebuild {
  /// Removes a column from the table's SQL text, together with the constraints that use only this
  /// column. Adds the indexes that use only this column to ``droppedIndexes``.
  ///
  /// - Throws: ``RebuildError`` with the other keys, constraints, indexes, foreign keys and `UPDATE
  ///   OF` triggers that use the column. Other uses in views and triggers are found by ``run()``.
  mutating func dropColumn(_ column: String) throws {
    let schema = try connection.schemaModel()
    var obstacles: [String] = []
    if old.primaryKey.contains(where: { SQLName($0).matches(column) }) {
      obstacles.append("“\(column)” is part of the primary key")
    }
    for other in old.columns {
      let isItself = other.name.matches(column)
      for constraint in other.constraints {
        let named = constraint.columns
        // A CHECK of the column itself may also constrain other columns.
        let isNeeded =
          isItself
          ? constraint.isCheck && named.contains { !$0.matches(column) }
          : named.contains { $0.matches(column) }
        if isNeeded { obstacles.append("\(constraint) of “\(other.name.text)” uses it") }
      }
    }
    for constraint in old.constraints {
      let named = constraint.columns
      guard named.contains(where: { $0.matches(column) }) else { continue }
      if named.allSatisfy({ $0.matches(column) }) {
        try text.remove(constraint)
      } else if case .primaryKey = constraint.kind {
        continue
      } else {
        obstacles.append("\(constraint) uses it")
      }
    }
    for index in schema.indexes(on: name) {
      let named =
        index.columns.flatMap { $0.expression.columns } + (index.where.map(\.columns) ?? [])
      guard named.contains(where: { $0.matches(column) }) else { continue }
      if named.allSatisfy({ $0.matches(column) }) {
        droppedIndexes.insert(index.name.name.text)
      } else {
        obstacles.append("the index “\(index.name.name.text)” uses it")
      }
    }
    for table in schema.tables {
      for (columns, reference) in table.definition?.references ?? []
      where reference.table.matches(name)
        && reference.columns.contains(where: { $0.matches(column) })
        && !(table.name.name.matches(name) && columns.allSatisfy { SQLName($0).matches(column) })
      {
        obstacles.append(
          "“\(columns.joined(separator: ", "))” of “\(table.name.name.text)” references it")
      }
    }
    for trigger in schema.triggers(on: name) {
      guard case .update(let columns) = trigger.event,
        columns.contains(where: { $0.matches(column) })
      else { continue }
      obstacles.append("the trigger “\(trigger.name.name.text)” declares UPDATE OF it")
    }
    guard obstacles.isEmpty else { throw RebuildError(name, obstacles) }
    try editing { try $0.dropColumn(column) }
  }

  /// Edits the table's SQL text. Throws ``RebuildError`` with the reason if the edit isn't
  /// possible.
  mutating func editing(_ edit: (inout SQLTableText) throws -> Void) throws {
    do {
      try edit(&text)
    } catch let error as SQLTableText.EditError {
      throw refuse(error.description)
    } catch let error as SQLSyntaxError {
      throw refuse("its SQL would be invalid: \(error.message)")
    }
  }
}

extension SQLExpression {
  /// The names of the columns in the expression.
  var columns: [SQLName] {
    var names: [SQLName] = []
    forEachPart { part in
      guard case .expression(let value) = part else { return }
      switch value.node {
      case .column(let name): names.append(name)
      case .qualifiedColumn(_, _, let name): names.append(name)
      default: break
      }
    }
    return names
  }
}

extension SQLColumnConstraint {
  fileprivate var isCheck: Bool { if case .check = kind { true } else { false } }

  /// The columns in the expression of a CHECK or of a generated column. Empty for any other
  /// constraint.
  fileprivate var columns: [SQLName] {
    switch kind {
    case .check(let condition): condition.columns
    case .generated(let value, _, _): value.columns
    default: []
    }
  }
}

extension SQLTableConstraint {
  /// The columns of the table to which the constraint refers.
  fileprivate var columns: [SQLName] {
    switch kind {
    case .nameOnly: []
    case .primaryKey(let terms, _, _), .unique(let terms, _): terms.flatMap(\.expression.columns)
    case .check(let condition, _): condition.columns
    case .foreignKey(let columns, _, _): columns
    }
  }
}

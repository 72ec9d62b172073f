import SQLSyntax
public import SQLiteCore
public import SQLiteMapping

// Steps for which SQLite has no statement. They rebuild the table from its edited text.
//
// Each takes time in proportion to the table's rows, and space for a second copy of them until the
// commit.
extension Migration.Step {
  /// Changes the type of a column.
  ///
  /// SQLite converts the values to the new type. If a conversion would lose a value, the migration
  /// throws ``RebuildError`` with the rowids of the rows. Examples are text that isn't a number,
  /// and a number with more digits than the type can represent.
  ///
  /// - Parameters:
  ///   - column: The name of the column.
  ///   - type: The new type in SQL, such as `REAL` or `VARCHAR(80)`. If empty, the column has no
  ///     type.
  ///   - table: The table that contains the column.
  public static func changeType(_ column: String, to type: String, in table: String) -> Self {
    rebuild(table, "change the type of “\(column)” of “\(table)” to \(type)") { rebuild in
      let before = try rebuild.column(column)
      try rebuild.editing {
        try $0.setType(of: column, to: type.isEmpty ? nil : SQLTypeName(type))
      }
      let after = try rebuild.column(column)
      guard rebuild.text.definition.columns.count == rebuild.old.columns.count,
        (after.type?.text ?? "") == type, after.constraints == before.constraints
      else { throw rebuild.refuse("“\(type)” is not a valid column type") }
      rebuild.converted = [after.name]
    }
  }

  /// Adds a constraint to a table.
  ///
  ///     .addConstraint("CONSTRAINT positive CHECK (size > 0)", in: "City")
  ///
  /// If rows violate the constraint, the migration throws ``RebuildError`` with their rowids, or
  /// `SQLiteError` if they violate a foreign key.
  ///
  /// - Parameters:
  ///   - constraint: A constraint `CHECK (…)`, `UNIQUE (…)`, `PRIMARY KEY (…)` or
  ///     `FOREIGN KEY (…) REFERENCES …`, optionally with a name before it.
  ///   - table: The table to change.
  public static func addConstraint(_ constraint: SQL, in table: String) -> Self {
    rebuild(table, "add \(constraint.text) to “\(table)”") { rebuild in
      let parsed = try rebuild.tableConstraint(constraint)
      try rebuild.editing { try $0.add(parsed) }
    }
  }

  /// Adds constraints to a column.
  ///
  ///     .addConstraint("COLLATE NOCASE DEFAULT ''", of: "name", in: "City")
  ///
  /// If rows violate a constraint, the migration throws ``RebuildError`` with their rowids, or
  /// `SQLiteError` if they violate a foreign key.
  ///
  /// - Parameters:
  ///   - constraint: One or more constraints, written as after the type in a column definition.
  ///   - column: The name of the column.
  ///   - table: The table that contains the column.
  public static func addConstraint(
    _ constraint: SQL, of column: String, in table: String
  ) -> Self {
    rebuild(table, "add \(constraint.text) to “\(column)” of “\(table)”") { rebuild in
      for parsed in try rebuild.columnConstraints(constraint) {
        if case .generated = parsed.kind {
          throw rebuild.refuse(
            "the values of “\(column)” would be lost: a generated column stores none")
        }
        try rebuild.editing { try $0.add(parsed, to: column) }
      }
    }
  }

  /// Drops the constraints with the given name from a table and its columns.
  ///
  /// The migration throws ``RebuildError`` if there is no such constraint.
  ///
  /// - Parameters:
  ///   - name: The name after CONSTRAINT.
  ///   - table: The table to change.
  public static func dropConstraint(named name: String, in table: String) -> Self {
    rebuild(table, "drop the constraint “\(name)” of “\(table)”") { rebuild in
      try rebuild.dropConstraints(named: name)
    }
  }

  /// Drops a table constraint that you specify by its content.
  ///
  ///     .dropConstraint("CHECK (size>0)", in: "City")
  ///
  /// Blanks, comments and the case of keywords are ignored. Names of constraints are compared only
  /// if you specify one. The migration throws ``RebuildError`` if there is no such constraint.
  ///
  /// - Parameters:
  ///   - constraint: The constraint, in the same form as for ``addConstraint(_:in:)``. A CHECK can
  ///     also belong to a column.
  ///   - table: The table to change.
  public static func dropConstraint(_ constraint: SQL, in table: String) -> Self {
    rebuild(table, "drop \(constraint.text) of “\(table)”") { rebuild in
      let wanted = try rebuild.tableConstraint(constraint)
      try rebuild.drop(wanted)
    }
  }

  /// Drops column constraints that you specify by their content.
  ///
  ///     .dropConstraint("NOT NULL", of: "name", in: "City")
  ///
  /// Constraints are compared as in ``dropConstraint(_:in:)``. The migration throws
  /// ``RebuildError`` if the column doesn't have one of them.
  ///
  /// - Parameters:
  ///   - constraint: One or more constraints, written as after the type in a column definition.
  ///   - column: The name of the column.
  ///   - table: The table that contains the column.
  public static func dropConstraint(
    _ constraint: SQL, of column: String, in table: String
  ) -> Self {
    rebuild(table, "drop \(constraint.text) of “\(column)” of “\(table)”") { rebuild in
      for wanted in try rebuild.columnConstraints(constraint) {
        try rebuild.drop(wanted, of: column)
      }
    }
  }

  /// Adds NOT NULL to a column.
  ///
  /// In existing rows, NULL is replaced by `value` or, if that is nil, by the default of the
  /// column. If there is neither, the migration throws ``RebuildError`` with the rowids of the rows
  /// that contain NULL.
  ///
  /// - Parameters:
  ///   - column: The name of the column.
  ///   - table: The table that contains the column.
  ///   - value: The value that replaces NULL in existing rows. The column's DEFAULT doesn't change.
  public static func setNotNull(
    _ column: String, in table: String, default value: Value? = nil
  ) -> Self {
    rebuild(table, "let “\(column)” of “\(table)” refuse NULL") { rebuild in
      let found = try rebuild.column(column)
      if found.isNotNull { return }
      for constraint in found.constraints {
        guard case .null = constraint.kind else { continue }
        try rebuild.editing { try $0.remove(constraint, of: column) }
      }
      try rebuild.editing { try $0.add(SQLColumnConstraint(.notNull(nil)), to: column) }
      guard let filling = value.map({ value -> SQL in "\(value)" }) ?? found.ownDefault else {
        return
      }
      rebuild.sources.append((found.name, "ifnull(\(identifier: column), \(filling))"))
    }
  }

  /// Changes the order of the columns in a table.
  ///
  /// A view or trigger may depend on the order, through `*` or an INSERT without column names. It
  /// is rewritten to name the columns in their previous order. The migration throws
  /// ``RebuildError`` if that isn't possible, or if a column is named twice or doesn't exist. The
  /// SQL in your program isn't checked.
  ///
  /// - Parameters:
  ///   - columns: The columns to move to the front. The others follow in their current order.
  ///   - table: The table that contains the columns.
  public static func reorder(_ columns: [String], in table: String) -> Self {
    rebuild(
      table, "put the columns of “\(table)” into the order \(columns.joined(separator: ", "))"
    ) {
      rebuild in
      let folded = Set(columns.map(asciiLowercased))
      guard folded.count == columns.count else { throw rebuild.refuse("a column is named twice") }
      try rebuild.editing { try $0.reorder(columns) }
      try rebuild.nameColumnsExplicitly()
    }
  }

  /// Drops a column, together with the constraints, foreign key and indexes that use only this
  /// column.
  ///
  /// `dropColumn(_:in:)` can't drop a column that is unique, or that an index or a foreign key
  /// uses. This step can. It throws ``RebuildError`` if anything else uses the column: the primary
  /// key, a CHECK or an index with other columns, a foreign key of another table, a view or a
  /// trigger.
  ///
  /// - Parameters:
  ///   - column: The name of the column.
  ///   - table: The table that contains the column.
  public static func dropColumnByRebuilding(_ column: String, in table: String) -> Self {
    rebuild(table, "remove “\(column)” of “\(table)”") { try $0.dropColumn(column) }
  }

  private static func rebuild(
    _ table: String, _ description: String,
    _ edit: @escaping @Sendable (inout TableRebuild) throws -> Void
  ) -> Self {
    Self(description: description, changing: table) { connection in
      // Without the full-text index, no trigger of it runs during conversions or prevents dropping
      // a column.
      try SearchTable.rebuildingIndex(table, to: table, connection) {
        var rebuild = try TableRebuild(table, connection)
        let before = rebuild.text.text
        try edit(&rebuild)
        // If the text is unchanged, the table doesn't have to be rebuilt.
        if rebuild.text.text != before { try rebuild.run() }
      }
    }
  }
}

extension SQLColumnDefinition {
  /// The default value of the column as SQL, or nil if the column has no default or the default is
  /// NULL.
  fileprivate var ownDefault: SQL? {
    guard let value = defaultValue else { return nil }
    switch value.node {
    case .literal(.null): return nil
    // A name alone is a string, except TRUE and FALSE.
    case .column(let name) where !name.matches("true") && !name.matches("false"):
      return "\(name.text)"
    default: return SQL(unchecked: value.description)
    }
  }
}

extension TableRebuild {
  fileprivate func column(_ name: String) throws -> SQLColumnDefinition {
    guard let column = text.definition.columns.first(where: { $0.name.matches(name) }) else {
      throw refuse("there is no column “\(name)”")
    }
    return column
  }

  fileprivate func tableConstraint(_ sql: SQL) throws -> SQLTableConstraint {
    try parsed(sql) { text throws(SQLSyntaxError) in
      try SQLTableConstraint(parsing: text, grammar: .linked)
    }
  }

  fileprivate func columnConstraints(_ sql: SQL) throws -> [SQLColumnConstraint] {
    try parsed(sql) { text throws(SQLSyntaxError) in
      try SQLColumnConstraint.list(parsing: text, grammar: .linked)
    }
  }

  private func parsed<Result>(
    _ sql: SQL, _ parse: (String) throws(SQLSyntaxError) -> Result
  ) throws -> Result {
    guard sql.values.isEmpty else {
      throw refuse(
        "the schema cannot contain bound values; write the value as a literal in \(sql.text)")
    }
    do {
      return try parse(sql.text)
    } catch {
      throw refuse("\(sql.text) cannot be parsed: \(error.message)")
    }
  }

  // MARK: Dropping

  /// Drops each table constraint, and each CHECK of a column, that has the same content as
  /// `wanted`. Throws if there is none.
  fileprivate mutating func drop(_ wanted: SQLTableConstraint) throws {
    try dropConstraints { found in
      found.kind == wanted.kind && (wanted.name == nil || found.name == wanted.name)
    } ofColumn: { found in
      guard case .check(let condition) = found.kind, case .check(let other, nil) = wanted.kind
      else { return false }
      return condition == other && (wanted.name == nil || found.name == wanted.name)
    }
  }

  /// Drops each constraint of a column that has the same content as `wanted`. Throws if there is
  /// none.
  fileprivate mutating func drop(_ wanted: SQLColumnConstraint, of column: String) throws {
    _ = try self.column(column)
    try dropConstraints { _ in
      false
    } ofColumn: { found in
      found.kind == wanted.kind && (wanted.name == nil || found.name == wanted.name)
    } named: {
      $0.matches(column)
    }
  }

  /// Drops all constraints named `name` from the table and its columns. Throws if there are none.
  fileprivate mutating func dropConstraints(named name: String) throws {
    try dropConstraints {
      $0.name?.matches(name) ?? false
    } ofColumn: {
      $0.name?.matches(name) ?? false
    }
  }

  private mutating func dropConstraints(
    ofTable isMeant: (SQLTableConstraint) -> Bool,
    ofColumn isMeantOfColumn: (SQLColumnConstraint) -> Bool,
    named isColumn: (SQLName) -> Bool = { _ in true }
  ) throws {
    var count = 0
    for constraint in text.definition.constraints where isMeant(constraint) {
      try editing { try $0.remove(constraint) }
      count += 1
    }
    for column in text.definition.columns where isColumn(column.name) {
      var isAfterReference = false
      for constraint in column.constraints {
        // DEFERRABLE belongs to the preceding REFERENCES, and would apply to another one.
        if case .deferrable = constraint.kind, isAfterReference {
          try editing { try $0.remove(constraint, of: column.name.text) }
          continue
        }
        isAfterReference = false
        guard isMeantOfColumn(constraint) else { continue }
        try editing { try $0.remove(constraint, of: column.name.text) }
        count += 1
        if case .references = constraint.kind { isAfterReference = true }
      }
    }
    guard count > 0 else { throw refuse("there is no such constraint") }
  }
}

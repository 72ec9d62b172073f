import SQLSyntax
public import SQLiteCore
public import SQLiteMapping

// Steps for which SQLite has no statement: the table is made anew from its edited text.
//
// Each takes time in proportion to the table's rows, and room for a second copy of them until the commit.
extension Migration.Step {
  /// Gives a column another type.
  ///
  /// SQLite converts the values as the new type asks. The migration throws ``RebuildError`` with their rowids if
  /// values would be lost: a text that is no number, or a number with more digits than the type holds.
  ///
  /// - Parameters:
  ///   - column: The column.
  ///   - type: The type as it is written in SQL, such as `REAL` or `VARCHAR(80)`; none if empty.
  ///   - table: Its table.
  public static func changeType(_ column: String, to type: String, in table: String) -> Self {
    rebuild(table, "change the type of “\(column)” of “\(table)” to \(type)") { rebuild in
      let before = try rebuild.column(column)
      try rebuild.editing {
        try $0.setType(of: column, to: type.isEmpty ? nil : SQLTypeName(type))
      }
      let after = try rebuild.column(column)
      guard rebuild.text.definition.columns.count == rebuild.old.columns.count,
        (after.type?.text ?? "") == type, after.constraints == before.constraints
      else { throw rebuild.refuse("“\(type)” is no type") }
      rebuild.converted = [after.name]
    }
  }

  /// Adds a constraint to a table.
  ///
  ///     .addConstraint("CONSTRAINT positive CHECK (size > 0)", in: "City")
  ///
  /// The migration throws if rows break it: ``RebuildError`` with their rowids, or `SQLiteError` with those that
  /// refer to nothing.
  ///
  /// - Parameters:
  ///   - constraint: `CHECK (…)`, `UNIQUE (…)`, `PRIMARY KEY (…)` or `FOREIGN KEY (…) REFERENCES …`, with a name
  ///     before it or none.
  ///   - table: The table.
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
  /// - Parameters:
  ///   - constraint: One constraint or more, as they stand behind a column's type.
  ///   - column: The column.
  ///   - table: Its table.
  public static func addConstraint(
    _ constraint: SQL, of column: String, in table: String
  ) -> Self {
    rebuild(table, "add \(constraint.text) to “\(column)” of “\(table)”") { rebuild in
      for parsed in try rebuild.columnConstraints(constraint) {
        if case .generated = parsed.kind {
          throw rebuild.refuse("the values of “\(column)” would be lost: it would be generated")
        }
        try rebuild.editing { try $0.add(parsed, to: column) }
      }
    }
  }

  /// Drops the constraint of a name, of a table or of one of its columns.
  ///
  /// - Parameters:
  ///   - name: The name behind CONSTRAINT.
  ///   - table: The table.
  public static func dropConstraint(named name: String, in table: String) -> Self {
    rebuild(table, "drop the constraint “\(name)” of “\(table)”") { rebuild in
      try rebuild.dropConstraints(named: name)
    }
  }

  /// Drops a constraint of a table, which is found by what it says.
  ///
  ///     .dropConstraint("CHECK (size>0)", in: "City")
  ///
  /// Blanks, comments and the case of words do not count; a name counts if one is given.
  ///
  /// - Parameters:
  ///   - constraint: The constraint, as ``addConstraint(_:in:)`` takes it. A CHECK may also stand behind a column.
  ///   - table: The table.
  public static func dropConstraint(_ constraint: SQL, in table: String) -> Self {
    rebuild(table, "drop \(constraint.text) of “\(table)”") { rebuild in
      let wanted = try rebuild.tableConstraint(constraint)
      try rebuild.drop(wanted)
    }
  }

  /// Drops constraints of a column, which are found by what they say.
  ///
  ///     .dropConstraint("NOT NULL", of: "name", in: "City")
  ///
  /// - Parameters:
  ///   - constraint: One constraint or more, as they stand behind a column's type.
  ///   - column: The column.
  ///   - table: Its table.
  public static func dropConstraint(
    _ constraint: SQL, of column: String, in table: String
  ) -> Self {
    rebuild(table, "drop \(constraint.text) of “\(column)” of “\(table)”") { rebuild in
      for wanted in try rebuild.columnConstraints(constraint) {
        try rebuild.drop(wanted, of: column)
      }
    }
  }

  /// Lets a column refuse NULL.
  ///
  /// Rows with NULL take the default that is given here, or else the column's own. Without one the migration
  /// throws ``RebuildError`` with their rowids.
  ///
  /// - Parameters:
  ///   - column: The column.
  ///   - table: Its table.
  ///   - value: What takes the place of NULL in rows that are there. The column's DEFAULT stays as it is.
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

  /// Puts the columns of a table into another order.
  ///
  /// A view or trigger that takes the columns by their places, by `*` or by an INSERT without names, names them
  /// from then on in the order that they had; where that cannot be done, the migration throws ``RebuildError``.
  /// The SQL of your program is not looked at.
  ///
  /// - Parameters:
  ///   - columns: The first columns; those that are not named follow in their order.
  ///   - table: Their table.
  public static func reorder(_ columns: [String], in table: String) -> Self {
    rebuild(
      table, "put the columns of “\(table)” into the order \(columns.joined(separator: ", "))"
    ) {
      rebuild in
      let folded = Set(columns.map(asciiLowercased))
      guard folded.count == columns.count else { throw rebuild.refuse("a column is named twice") }
      try rebuild.editing { try $0.reorder(columns) }
      try rebuild.namePlaces()
    }
  }

  /// Removes a column with what is of it alone: its constraints, its foreign key, its indexes.
  ///
  /// `dropColumn(_:in:)` refuses such a column. This throws ``RebuildError`` if something else needs it: the
  /// primary key, a CHECK or an index with other columns, a column of another table that leads to it, a view, a
  /// trigger.
  ///
  /// - Parameters:
  ///   - column: The column.
  ///   - table: Its table.
  public static func dropColumnByRebuilding(_ column: String, in table: String) -> Self {
    rebuild(table, "remove “\(column)” of “\(table)”") { try $0.dropColumn(column) }
  }

  private static func rebuild(
    _ table: String, _ description: String,
    _ edit: @escaping @Sendable (inout TableRebuild) throws -> Void
  ) -> Self {
    Self(description: description) { connection in
      // No trigger runs where values are converted or filled in, and none stands in the way of a column.
      try SearchTable.following(table, to: table, connection) {
        var rebuild = try TableRebuild(table, connection)
        let before = rebuild.text.text
        try edit(&rebuild)
        // What is so already needs no new table.
        if rebuild.text.text != before { try rebuild.run() }
      }
    }
  }
}

extension SQLColumnDefinition {
  /// The value of DEFAULT as SQL; nil without one, and for NULL.
  fileprivate var ownDefault: SQL? {
    guard let value = defaultValue else { return nil }
    switch value.node {
    case .literal(.null): return nil
    // A name alone is a text, unless it is TRUE or FALSE.
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
      throw refuse("the schema keeps no bound value: write the value into \(sql.text)")
    }
    do {
      return try parse(sql.text)
    } catch {
      throw refuse("\(sql.text) is not understood: \(error.message)")
    }
  }

  // MARK: Dropping

  /// Drops a constraint of the table by what it says, or a CHECK of a column.
  fileprivate mutating func drop(_ wanted: SQLTableConstraint) throws {
    try dropConstraints { found in
      found.kind == wanted.kind && (wanted.name == nil || found.name == wanted.name)
    } ofColumn: { found in
      guard case .check(let condition) = found.kind, case .check(let other, nil) = wanted.kind
      else { return false }
      return condition == other && (wanted.name == nil || found.name == wanted.name)
    }
  }

  /// Drops a constraint of a column by what it says.
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

  /// Drops the constraints of a name.
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
      var isBehindReference = false
      for constraint in column.constraints {
        // DEFERRABLE belongs to the REFERENCES before it, and would pass to another one.
        if case .deferrable = constraint.kind, isBehindReference {
          try editing { try $0.remove(constraint, of: column.name.text) }
          continue
        }
        isBehindReference = false
        guard isMeantOfColumn(constraint) else { continue }
        try editing { try $0.remove(constraint, of: column.name.text) }
        count += 1
        if case .references = constraint.kind { isBehindReference = true }
      }
    }
    guard count > 0 else { throw refuse("there is no such constraint") }
  }
}

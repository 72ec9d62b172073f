/// A step in the conversion of a schema into another one.
public struct SQLSchemaChange: Hashable, Sendable {
  /// The kinds of steps in the conversion of a schema.
  public enum Kind: Hashable, Sendable {
    /// Creates a table, virtual table, index, view or trigger.
    case create
    /// Drops a table, virtual table, index, view or trigger.
    case drop
    /// Adds a column after the existing ones.
    case addColumn(String)
    /// Drops a column.
    case dropColumn(String)
    /// Changes the type or the constraints of a column.
    case changeColumn(String)
    /// Changes the order of the columns.
    case reorder
    /// Adds a table constraint.
    case addConstraint
    /// Drops a table constraint.
    case dropConstraint
    /// Adds or removes STRICT or WITHOUT ROWID.
    case changeOptions
  }

  /// What the step changes, with the name of the column if it changes only one column.
  public let kind: Kind
  /// The name of the table, index, view or trigger that the step creates, drops or changes.
  public let name: String
  /// The statement that performs the step; nil if ALTER TABLE before SQLite 3.53 can't perform it,
  /// so that the table must be rebuilt (<https://www.sqlite.org/lang_altertable.html#otheralter>).
  public let statement: SQLStatement?
  /// The step as an English clause, such as `table note is dropped`.
  public let description: String
}

extension SQLSchemaChange: CustomStringConvertible {}

extension SQLSchema {
  /// Returns the steps that convert this schema into `other`, in an order in which they can be
  /// performed.
  ///
  ///     for change in stored.changes(to: wanted) { print(change) }
  ///
  /// A changed index, view, trigger or virtual table is dropped and created again. So is a renamed
  /// object, because a rename can't be detected. Objects in ``unread`` are ignored.
  ///
  /// - Parameter other: The schema into which to convert this one.
  /// - Returns: The steps. There are none if the schemas differ only in the order of their objects,
  ///   or in blanks, comments, quotation marks and the case of names and keywords.
  /// - Complexity: O(*n*) in the size of both schemas, plus O(*t*²) in the number of tables and
  ///   O(*c*²) in the columns and constraints of each table.
  public func changes(to other: SQLSchema) -> [SQLSchemaChange] {
    var differ = Differ()
    // Objects that depend on tables are dropped first and created last.
    differ.drop(.trigger, triggers, other.triggers, \.name) { .createTrigger($0) }
    differ.drop(.view, views, other.views, \.name) { .createView($0) }
    differ.drop(.index, indexes, other.indexes, \.name) { .createIndex($0) }
    differ.drop(.table, virtualTables, other.virtualTables, \.name) { .createVirtualTable($0) }
    differ.compare(tables, other.tables)
    differ.create("table", virtualTables, other.virtualTables, \.name) { .createVirtualTable($0) }
    differ.create("index", indexes, other.indexes, \.name) { .createIndex($0) }
    differ.create("view", views, other.views, \.name) { .createView($0) }
    differ.create("trigger", triggers, other.triggers, \.name) { .createTrigger($0) }
    return differ.changes
  }
}

private struct Differ {
  var changes: [SQLSchemaChange] = []

  private mutating func add(
    _ kind: SQLSchemaChange.Kind, _ name: SQLName, _ statement: SQLStatement?, _ text: String
  ) {
    changes.append(
      SQLSchemaChange(kind: kind, name: name.text, statement: statement, description: text))
  }

  // MARK: Objects

  mutating func drop<Object>(
    _ target: SQLDrop.Target, _ old: [Object], _ new: [Object],
    _ name: (Object) -> SQLQualifiedName, _ statement: (Object) -> SQLStatement
  ) {
    let kept = Dictionary(
      new.map { (folded(name($0).name), normalizedTokens(statement($0).printed())) },
      uniquingKeysWith: { $1 })
    for object in old {
      let own = name(object).name
      if kept[folded(own)] == normalizedTokens(statement(object).printed()) { continue }
      add(
        .drop, own, .drop(SQLDrop(target, SQLQualifiedName(own))),
        "\(folded(target.rawValue)) \(own) is dropped")
    }
  }

  mutating func create<Object>(
    _ target: String, _ old: [Object], _ new: [Object], _ name: (Object) -> SQLQualifiedName,
    _ statement: (Object) -> SQLStatement
  ) {
    let present = Dictionary(
      old.map { (folded(name($0).name), normalizedTokens(statement($0).printed())) },
      uniquingKeysWith: { $1 })
    for object in new {
      let own = name(object).name
      if present[folded(own)] == normalizedTokens(statement(object).printed()) { continue }
      add(.create, own, statement(object), "\(target) \(own) is made")
    }
  }

  // MARK: Tables

  mutating func compare(_ old: [SQLCreateTable], _ new: [SQLCreateTable]) {
    for table in old where !new.contains(where: { $0.name.name.matches(table.name.name) }) {
      let name = table.name.name
      add(.drop, name, .drop(SQLDrop(.table, SQLQualifiedName(name))), "table \(name) is dropped")
    }
    for table in new {
      let name = table.name.name
      guard let present = old.first(where: { $0.name.name.matches(name) }) else {
        add(.create, name, .createTable(table), "table \(name) is made")
        continue
      }
      if let from = present.definition, let to = table.definition {
        compare(present.name.name, from, to)
      } else if normalizedTokens(SQLStatement.createTable(present).printed())
        != normalizedTokens(SQLStatement.createTable(table).printed())
      {
        let drop = SQLStatement.drop(SQLDrop(.table, SQLQualifiedName(present.name.name)))
        add(.drop, name, drop, "table \(name) is dropped")
        add(.create, name, .createTable(table), "table \(name) is made")
      }
    }
  }

  private mutating func compare(
    _ table: SQLName, _ old: SQLTableDefinition, _ new: SQLTableDefinition
  ) {
    let kept = old.columns.filter { column in
      new.columns.contains { $0.name.matches(column.name) }
    }
    let fresh = new.columns.filter { column in
      !old.columns.contains { $0.name.matches(column.name) }
    }
    compareConstraints(table, old.constraints, new.constraints)
    for column in old.columns where !kept.contains(column) {
      drop(column, of: table, old)
    }
    for column in kept {
      guard let other = new.columns.first(where: { $0.name.matches(column.name) }),
        normalizedTokens(column.description) != normalizedTokens(other.description)
      else { continue }
      let text = "column \(column.name) of \(table) becomes \(other)"
      add(.changeColumn(column.name.text), table, nil, text)
    }
    for column in fresh { add(column, to: table) }
    if (kept + fresh).map({ folded($0.name) }) != new.columns.map({ folded($0.name) }) {
      let order = new.columns.map(\.name.description).joined(separator: ", ")
      add(.reorder, table, nil, "the columns of \(table) get the order \(order)")
    }
    if Set(old.options) != Set(new.options) {
      let options = new.options.map(\.rawValue).joined(separator: ", ")
      let text = options.isEmpty ? "no options" : "the options \(options)"
      add(.changeOptions, table, nil, "\(table) gets \(text)")
    }
  }

  private mutating func compareConstraints(
    _ table: SQLName, _ old: [SQLTableConstraint], _ new: [SQLTableConstraint]
  ) {
    // The same constraint may occur twice.
    var left = new.map { normalizedTokens($0.description) }
    for constraint in old {
      if let place = left.firstIndex(of: normalizedTokens(constraint.description)) {
        left.remove(at: place)
      } else {
        add(.dropConstraint, table, nil, "\(table) loses \(constraint)")
      }
    }
    for constraint in new {
      guard let place = left.firstIndex(of: normalizedTokens(constraint.description)) else {
        continue
      }
      left.remove(at: place)
      add(.addConstraint, table, nil, "\(table) gets \(constraint)")
    }
  }

  private mutating func drop(
    _ column: SQLColumnDefinition, of table: SQLName, _ definition: SQLTableDefinition
  ) {
    // DROP COLUMN fails for a column that a key, a constraint or another column uses.
    let isNeeded =
      column.isPrimaryKey || column.isUnique
      || definition.references.contains { reference in
        reference.columns.contains { column.name.matches($0) }
      }
      || definition.constraints.contains {
        normalizedTokens($0.description).contains(folded(column.name))
      }
      || definition.columns.contains {
        !$0.name.matches(column.name)
          && normalizedTokens($0.description).contains(folded(column.name))
      }
    let statement = SQLStatement.alterTable(
      SQLAlterTable(SQLQualifiedName(table), .dropColumn(column.name)))
    add(
      .dropColumn(column.name.text), table, isNeeded ? nil : statement,
      "column \(column.name) of \(table) is dropped")
  }

  private mutating func add(_ column: SQLColumnDefinition, to table: SQLName) {
    let statement = SQLStatement.alterTable(
      SQLAlterTable(SQLQualifiedName(table), .addColumn(column)))
    add(
      .addColumn(column.name.text), table, canAdd(column) ? statement : nil,
      "\(table) gets the column \(column)")
  }

  /// Returns whether ALTER TABLE can add the column to a table that has rows.
  private func canAdd(_ column: SQLColumnDefinition) -> Bool {
    if column.isPrimaryKey || column.isUnique || column.generated?.isStored == true { return false }
    let refers = column.constraints.contains {
      if case .references = $0.kind { true } else { false }
    }
    switch column.defaultValue?.node {
    case nil, .literal(.null): return !column.isNotNull || column.generated != nil
    case .literal(.currentTime), .literal(.currentDate), .literal(.currentTimestamp),
      .parenthesized:
      return false
    default: return !refers
    }
  }
}

// MARK: - Meaning

private func folded(_ name: SQLName) -> String { folded(name.text) }

/// Returns the text with ASCII letters in lowercase. SQLite ignores the case of these letters only.
private func folded(_ text: String) -> String {
  String(
    decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
}

/// Returns the tokens of a text without blanks, comments and quotation marks, and with letters in
/// lowercase. Strings are unchanged.
private func normalizedTokens(_ sql: String) -> [String] {
  var words: [String] = []
  var tokens = SQLTokens(sql)
  while let token = tokens.nextSignificant() {
    switch token.kind {
    case .identifier: words.append(folded(tokens.name(token)))
    case .string: words.append(tokens.text(of: token))
    default: words.append(folded(tokens.text(of: token)))
    }
  }
  return words
}

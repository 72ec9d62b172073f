/// The schema of a database as a model: its tables with their constraints, its indexes, views and
/// triggers, as `sqlite_schema` holds their texts.
///
///     let rows = try database.rows(
///       "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL", as: String.self, String.self)
///     let schema = SQLSchema(rows)
///     for check in schema.table("note")?.checks ?? [] { print(check) }
///
/// PRAGMAs tell less: no CHECK, no name of a constraint, no ON CONFLICT, no collation of a column,
/// no condition of an index. Two schemas are compared by ``changes(to:)``.
public struct SQLSchema: Hashable, Sendable {
  /// An object whose text is not understood: a newer SQLite made it, or the schema is damaged.
  public struct Unread: Hashable, Sendable {
    /// The name in `sqlite_schema`.
    public let name: String
    /// The text.
    public let sql: String
    /// Why it is not understood; nil for a statement that makes no object.
    public let error: SQLSyntaxError?
  }

  /// The tables, in the order of their rows.
  public var tables: [SQLCreateTable] = []
  /// The virtual tables, with the texts of their arguments.
  public var virtualTables: [SQLCreateVirtualTable] = []
  /// The indexes that CREATE INDEX made; those of constraints belong to their tables.
  public var indexes: [SQLCreateIndex] = []
  /// The views.
  public var views: [SQLCreateView] = []
  /// The triggers.
  public var triggers: [SQLCreateTrigger] = []
  /// What was not understood.
  public var unread: [Unread] = []

  /// Makes an empty schema.
  public init() {}

  /// Reads a schema.
  ///
  /// - Parameters:
  ///   - objects: Name and text of each row of `sqlite_schema` that has a text. SQLite's own tables,
  ///     such as `sqlite_sequence`, are left out.
  ///   - grammar: What the linked library accepts.
  /// - Complexity: O(n) in the bytes of all texts.
  public init(_ objects: some Sequence<(String, String)>, grammar: SQLGrammar = SQLGrammar()) {
    var stored = grammar
    stored.readsStoredSchema = true
    for (name, sql) in objects where !name.lowercased().hasPrefix("sqlite_") {
      do {
        switch try SQLStatement(parsing: sql, grammar: stored) {
        case .createTable(let table): tables.append(table)
        case .createVirtualTable(let table): virtualTables.append(table)
        case .createIndex(let index): indexes.append(index)
        case .createView(let view): views.append(view)
        case .createTrigger(let trigger): triggers.append(trigger)
        default: unread.append(Unread(name: name, sql: sql, error: nil))
        }
      } catch {
        unread.append(Unread(name: name, sql: sql, error: error))
      }
    }
  }

  /// Returns the columns and constraints of a table, letters A to Z taken for a to z.
  public func table(_ name: String) -> SQLTableDefinition? {
    tables.first { $0.name.name.matches(name) }?.definition
  }

  /// Returns the indexes that CREATE INDEX made on a table.
  public func indexes(on table: String) -> [SQLCreateIndex] {
    indexes.filter { $0.table.matches(table) }
  }

  /// Returns the triggers of a table or view.
  public func triggers(on table: String) -> [SQLCreateTrigger] {
    triggers.filter { $0.table.name.matches(table) }
  }
}

extension SQLCreateTable {
  /// The columns and constraints; nil for a table that a query makes.
  public var definition: SQLTableDefinition? {
    if case .definition(let definition) = body { definition } else { nil }
  }
}

// MARK: - What a table says

extension SQLTableDefinition {
  /// The conditions of all CHECK constraints, those of columns first.
  public var checks: [SQLExpression] {
    columns.flatMap(\.checks)
      + constraints.compactMap {
        if case .check(let condition, _) = $0.kind { condition } else { nil }
      }
  }

  /// The names of the primary key's columns, in its order; empty without one.
  public var primaryKey: [String] {
    for column in columns where column.isPrimaryKey { return [column.name.text] }
    for constraint in constraints {
      guard case .primaryKey(let terms, _, _) = constraint.kind else { continue }
      return terms.compactMap(\.columnName)
    }
    return []
  }

  /// The columns that refer to other tables, with what they refer to.
  public var references: [(columns: [String], reference: SQLReference)] {
    let own = columns.flatMap { column in
      column.constraints.compactMap { constraint in
        if case .references(let reference) = constraint.kind {
          (columns: [column.name.text], reference: reference)
        } else {
          nil
        }
      }
    }
    return own
      + constraints.compactMap { constraint in
        if case .foreignKey(let columns, let reference, _) = constraint.kind {
          (columns: columns.map(\.text), reference: reference)
        } else {
          nil
        }
      }
  }

  /// Whether the rows are stored by their primary key.
  public var isWithoutRowID: Bool { options.contains(.withoutRowID) }

  /// Whether columns hold values of their type only.
  public var isStrict: Bool { options.contains(.strict) }
}

extension SQLColumnDefinition {
  /// Whether NOT NULL is written.
  public var isNotNull: Bool {
    constraints.contains { if case .notNull = $0.kind { true } else { false } }
  }

  /// Whether PRIMARY KEY is written.
  public var isPrimaryKey: Bool {
    constraints.contains { if case .primaryKey = $0.kind { true } else { false } }
  }

  /// Whether UNIQUE is written.
  public var isUnique: Bool {
    constraints.contains { if case .unique = $0.kind { true } else { false } }
  }

  /// The value behind DEFAULT; of several SQLite takes the last.
  public var defaultValue: SQLExpression? {
    constraints.reversed().lazy.compactMap {
      if case .default(let value) = $0.kind { value.value } else { nil }
    }.first
  }

  /// The collation; of several SQLite takes the last.
  public var collation: SQLName? {
    constraints.reversed().lazy.compactMap {
      if case .collate(let name) = $0.kind { name } else { nil }
    }.first
  }

  /// The conditions of its CHECK constraints.
  public var checks: [SQLExpression] {
    constraints.compactMap { if case .check(let condition) = $0.kind { condition } else { nil } }
  }

  /// The expression of a generated column, and whether its values are stored.
  public var generated: (expression: SQLExpression, isStored: Bool)? {
    constraints.lazy.compactMap {
      guard case .generated(let expression, let storage, _) = $0.kind else { return nil }
      return (expression: expression, isStored: storage?.matches("stored") ?? false)
    }.first
  }
}

extension SQLOrderTerm {
  /// The name of the column, if the term is one, with a collation or without.
  var columnName: String? {
    switch expression.node {
    case .column(let name): return name.text
    case .collate(let value, _):
      if case .column(let name) = value.node { return name.text }
      return nil
    default: return nil
    }
  }
}

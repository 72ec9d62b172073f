/// A model of the schema of a database: its tables with their constraints, and its indexes, views
/// and triggers, parsed from the texts in `sqlite_schema`.
///
///     let rows = try database.rows(
///       "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL", as: String.self, String.self)
///     let schema = SQLSchema(rows)
///     for check in schema.table("note")?.checks ?? [] { print(check) }
///
/// It contains information that PRAGMAs don't return: CHECK constraints, constraint names, ON
/// CONFLICT clauses, collations of columns, and conditions of indexes. Use ``changes(to:)`` to
/// compare two schemas.
public struct SQLSchema: Hashable, Sendable {
  /// An object with a text that isn't a CREATE statement or can't be parsed, for example because a
  /// newer version of SQLite created the object or the schema is damaged.
  public struct Unread: Hashable, Sendable {
    /// The name of the object in `sqlite_schema`.
    public let name: String
    /// The text of the object in `sqlite_schema`.
    public let sql: String
    /// The syntax error, or nil if the text is a valid statement that doesn't create an object.
    public let error: SQLSyntaxError?
  }

  /// The tables, in the order of their rows in `sqlite_schema`.
  public var tables: [SQLCreateTable] = []
  /// The virtual tables, with their modules and arguments.
  public var virtualTables: [SQLCreateVirtualTable] = []
  /// The indexes that CREATE INDEX created. Indexes of constraints are part of their tables.
  public var indexes: [SQLCreateIndex] = []
  /// The views, with their queries.
  public var views: [SQLCreateView] = []
  /// The triggers of tables and views, in the order of their rows in `sqlite_schema`.
  public var triggers: [SQLCreateTrigger] = []
  /// The objects with texts that aren't CREATE statements or can't be parsed. They aren't in the
  /// other arrays.
  public var unread: [Unread] = []

  /// Creates an empty schema.
  public init() {}

  /// Creates a model of a schema from the rows of `sqlite_schema`. Objects with texts that can't be
  /// parsed are in ``unread``.
  ///
  /// - Parameters:
  ///   - objects: The name and text of each row of `sqlite_schema` that has a text. Objects with
  ///     names that begin with `sqlite_`, such as `sqlite_sequence`, are ignored.
  ///   - grammar: The grammar of the linked SQLite library.
  /// - Complexity: O(*n*) in the length of all texts.
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

  /// Returns the columns, constraints and options of a table. ASCII letters match in either case.
  ///
  /// - Parameter name: The name of the table.
  /// - Returns: The definition, or nil if there is no table `name` or its text is CREATE TABLE …
  ///   AS.
  public func table(_ name: String) -> SQLTableDefinition? {
    tables.first { $0.name.name.matches(name) }?.definition
  }

  /// Returns the indexes that CREATE INDEX created on a table. ASCII letters match in either case.
  ///
  /// - Parameter table: The name of the table.
  public func indexes(on table: String) -> [SQLCreateIndex] {
    indexes.filter { $0.table.matches(table) }
  }

  /// Returns the triggers of a table or view. ASCII letters match in either case.
  ///
  /// - Parameter table: The name of the table or view.
  public func triggers(on table: String) -> [SQLCreateTrigger] {
    triggers.filter { $0.table.name.matches(table) }
  }
}

extension SQLCreateTable {
  /// The columns, constraints and options of the table; nil if the statement creates the table from
  /// a query.
  public var definition: SQLTableDefinition? {
    if case .definition(let definition) = body { definition } else { nil }
  }
}

// MARK: - Content of a table

extension SQLTableDefinition {
  /// The conditions of all CHECK constraints. Those of the column constraints come first.
  public var checks: [SQLExpression] {
    columns.flatMap(\.checks)
      + constraints.compactMap {
        if case .check(let condition, _) = $0.kind { condition } else { nil }
      }
  }

  /// The names of the primary key columns, in the order of the key; empty if the table declares no
  /// primary key.
  public var primaryKey: [String] {
    for column in columns where column.isPrimaryKey { return [column.name.text] }
    for constraint in constraints {
      guard case .primaryKey(let terms, _, _) = constraint.kind else { continue }
      return terms.compactMap(\.columnName)
    }
    return []
  }

  /// The foreign keys, each with the names of its columns and its REFERENCES clause. Those of the
  /// column constraints come first.
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

  /// A Boolean value that indicates whether the table is declared WITHOUT ROWID, so that it has no
  /// rowid and its rows are stored in the order of the primary key.
  public var isWithoutRowID: Bool { options.contains(.withoutRowID) }

  /// A Boolean value that indicates whether the table is STRICT, so that columns accept only values
  /// that have the declared type or convert to it without loss.
  public var isStrict: Bool { options.contains(.strict) }
}

extension SQLColumnDefinition {
  /// A Boolean value that indicates whether the column has a NOT NULL constraint.
  public var isNotNull: Bool {
    constraints.contains { if case .notNull = $0.kind { true } else { false } }
  }

  /// A Boolean value that indicates whether the column itself has a PRIMARY KEY constraint. Table
  /// constraints don't count.
  public var isPrimaryKey: Bool {
    constraints.contains { if case .primaryKey = $0.kind { true } else { false } }
  }

  /// A Boolean value that indicates whether the column itself has a UNIQUE constraint. Table
  /// constraints don't count.
  public var isUnique: Bool {
    constraints.contains { if case .unique = $0.kind { true } else { false } }
  }

  /// The value of the last DEFAULT constraint, which is the one that SQLite uses; nil if there is
  /// none.
  public var defaultValue: SQLExpression? {
    constraints.reversed().lazy.compactMap {
      if case .default(let value) = $0.kind { value.value } else { nil }
    }.first
  }

  /// The collation of the last COLLATE constraint, which is the one that SQLite uses; nil if there
  /// is none.
  public var collation: SQLName? {
    constraints.reversed().lazy.compactMap {
      if case .collate(let name) = $0.kind { name } else { nil }
    }.first
  }

  /// The conditions of the column's CHECK constraints.
  public var checks: [SQLExpression] {
    constraints.compactMap { if case .check(let condition) = $0.kind { condition } else { nil } }
  }

  /// The expression of a generated column, and whether its values are stored; nil if the column
  /// isn't generated.
  public var generated: (expression: SQLExpression, isStored: Bool)? {
    constraints.lazy.compactMap {
      guard case .generated(let expression, let storage, _) = $0.kind else { return nil }
      return (expression: expression, isStored: storage?.matches("stored") ?? false)
    }.first
  }
}

extension SQLOrderTerm {
  /// The name of the column if the term is a column, with or without a collation; nil if it is
  /// another expression.
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

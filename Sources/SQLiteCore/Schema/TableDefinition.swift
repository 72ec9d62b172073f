/// The declared type of a column, which decides the storage class that it prefers
/// (<https://www.sqlite.org/datatype3.html>).
public enum ColumnType: String, Sendable, CaseIterable {
  /// Integers, and reals that are whole.
  case integer = "INTEGER"
  /// Reals.
  case real = "REAL"
  /// Text.
  case text = "TEXT"
  /// Any value, as it is given.
  case blob = "BLOB"
  /// Numbers, also where a text looks like one; not for strict tables.
  case numeric = "NUMERIC"
  /// 0 and 1; not for strict tables.
  case boolean = "BOOLEAN"
  /// Text of a date, kept as it is; not for strict tables.
  case date = "DATE TEXT"
  /// Anything, unchanged in strict tables, where this is the type that takes anything.
  case any = "ANY"
}

/// The fate of a row when the row that it refers to is deleted.
public enum DeleteRule: String, Sendable {
  /// The reference becomes NULL.
  case nullify = "SET NULL"
  /// The row is deleted too.
  case cascade = "CASCADE"
  /// The deletion is refused.
  case restrict = "RESTRICT"
}

/// A column of a table that is to be made.
///
///     try connection.createTable("city", columns: [
///       ColumnDefinition("id", .integer, isPrimaryKey: true),
///       ColumnDefinition("name", .text),
///       ColumnDefinition("founded", .date, isOptional: true),
///     ])
public struct ColumnDefinition: Hashable, Sendable {
  /// A row of another table that a column refers to.
  public struct Reference: Hashable, Sendable {
    /// The other table.
    public var table: String
    /// Its key.
    public var column: String
    /// The fate of this row when the other row is deleted.
    public var onDelete: DeleteRule

    /// Names the key of another table.
    ///
    /// - Parameters:
    ///   - table: The other table.
    ///   - column: Its key.
    ///   - onDelete: The fate of this row when the other row is deleted.
    public init(table: String, column: String, onDelete: DeleteRule) {
      self.table = table
      self.column = column
      self.onDelete = onDelete
    }
  }

  /// The column's name.
  public var name: String
  /// The declared type.
  public var type: ColumnType
  /// Whether the column is the primary key, or a part of it.
  public var isPrimaryKey: Bool
  /// Whether NULL is allowed.
  public var isOptional: Bool
  /// The value of rows that were there before the column, and of rows inserted without one.
  public var defaultValue: Value?
  /// Whether no two rows may have the same value.
  public var isUnique: Bool
  /// The row that the column refers to.
  public var reference: Reference?
  /// The collation of the column in indexes that are not unique, where that of bytes does not sort as the values
  /// do. The table does not name it: other programs, which do not know it, read the table all the same.
  package var collation: String?

  /// Describes a column.
  ///
  /// - Parameters:
  ///   - name: The column's name.
  ///   - type: The declared type.
  ///   - isPrimaryKey: Whether it is the primary key, or a part of it. An integer that is the whole key
  ///     is the rowid.
  ///   - isOptional: Whether NULL is allowed.
  ///   - defaultValue: The value of rows that are inserted without one.
  ///   - isUnique: Whether no two rows may have the same value.
  ///   - reference: The row that the column refers to.
  public init(
    _ name: String, _ type: ColumnType, isPrimaryKey: Bool = false, isOptional: Bool = false,
    defaultValue: Value? = nil, isUnique: Bool = false, reference: Reference? = nil
  ) {
    self.name = name
    self.type = type
    self.isPrimaryKey = isPrimaryKey
    self.isOptional = isOptional
    self.defaultValue = defaultValue
    self.isUnique = isUnique
    self.reference = reference
  }
}

/// An index that is to be made.
public struct IndexDefinition: Hashable, Sendable {
  /// The columns, the most significant first.
  public var columns: [String]
  /// Whether no two rows may have the same values in them.
  public var isUnique: Bool
  /// The collations of columns that are not in the order that the table says.
  package var collations: [String: String] = [:]

  /// Describes an index.
  ///
  /// - Parameters:
  ///   - columns: The columns, the most significant first.
  ///   - isUnique: Whether no two rows may have the same values in them.
  public init(_ columns: [String], isUnique: Bool = false) {
    self.columns = columns
    self.isUnique = isUnique
  }
}

/// A table that is to be made.
public struct TableDefinition: Hashable, Sendable {
  /// How the rows are identified.
  public enum Key: Hashable, Sendable {
    /// A column that is the rowid; numbers are never used again. Not among the columns.
    case autoIncrement(String)
    /// A column that is the rowid. Not among the columns.
    case rowID(String)
    /// One or several of the columns.
    case columns([String])
    /// As columns, in a table without rowids.
    case withoutRowID([String])
    /// The columns that say so themselves; none of them at all is allowed.
    case declared
  }

  /// The table's name.
  public var name: String
  /// How the rows are identified.
  public var key: Key
  /// The columns, in order.
  public var columns: [ColumnDefinition]
  /// The indexes besides those that UNIQUE makes.
  public var indexes: [IndexDefinition]

  /// Describes a table.
  ///
  /// - Parameters:
  ///   - name: The table's name.
  ///   - key: How the rows are identified.
  ///   - columns: The columns, in order.
  ///   - indexes: The indexes besides those that UNIQUE makes.
  public init(
    _ name: String, key: Key, columns: [ColumnDefinition], indexes: [IndexDefinition] = []
  ) {
    self.name = name
    self.key = key
    self.columns = columns
    self.indexes = indexes
  }
}

extension TableDefinition {
  /// Returns the statement that makes the table.
  ///
  /// - Parameters:
  ///   - ifNotExists: Whether a table of that name may be there already.
  ///   - isStrict: Whether values of another type than the column's are refused.
  package func createSQL(
    ifNotExists: Bool = true, isStrict: Bool = false
  ) throws(SQLiteError) -> SQL {
    var parts: [SQL] = []
    var columns = columns
    var keys: [String] = []
    switch key {
    case .autoIncrement(let name):
      parts.append("\(identifier: name) INTEGER PRIMARY KEY AUTOINCREMENT")
    case .rowID(let name): parts.append("\(identifier: name) INTEGER PRIMARY KEY")
    case .columns(let names), .withoutRowID(let names): keys = names
    case .declared: keys = columns.filter(\.isPrimaryKey).map(\.name)
    }
    // An integer becomes the rowid only if it is declared the key by itself.
    if case .declared = key, keys.count == 1 {
      keys = []
    } else {
      for index in columns.indices { columns[index].isPrimaryKey = false }
    }
    for column in columns { parts.append(try column.sql) }
    if !keys.isEmpty { parts.append("PRIMARY KEY (\(SQL(identifiers: keys)))") }
    var options: [SQL] = []
    if case .withoutRowID = key { options.append("WITHOUT ROWID") }
    if isStrict { options.append("STRICT") }
    let condition: SQL = ifNotExists ? "IF NOT EXISTS " : ""
    let body = SQL(joining: parts, separator: ", ")
    return
      "CREATE TABLE \(condition)\(identifier: name) (\(body)) \(SQL(joining: options, separator: ", "))"
  }
}

extension ColumnDefinition {
  /// The column as CREATE TABLE and ALTER TABLE spell it.
  package var sql: SQL {
    get throws(SQLiteError) {
      var sql: SQL = "\(identifier: name) \(SQL(unchecked: type.rawValue))"
      if isPrimaryKey { sql.append(" PRIMARY KEY") }
      if !isOptional, !(isPrimaryKey && type == .integer) { sql.append(" NOT NULL") }
      if let defaultValue {
        sql.append(" DEFAULT \(SQL(unchecked: try SQL.escapeValue(defaultValue)))")
      }
      if isUnique { sql.append(" UNIQUE") }
      if let reference {
        sql.append(
          " REFERENCES \(identifier: reference.table) (\(identifier: reference.column)) ON DELETE \(SQL(unchecked: reference.onDelete.rawValue)) DEFERRABLE INITIALLY DEFERRED"
        )
      }
      return sql
    }
  }
}

extension SQL {
  /// Quoted names with commas between.
  package init(identifiers names: some Sequence<String>) {
    var list = ""
    for name in names {
      do throws(SQLiteError) {
        let quoted = try quotedIdentifier(name)
        if !list.isEmpty { list += ", " }
        list += quoted
      } catch {
        self = "\(identifier: name)"
        return
      }
    }
    self.init(unchecked: list)
  }
}

extension TableDefinition {
  /// The indexes that the table needs, those of UNIQUE columns among them, each once: of two with the
  /// same columns the unique one.
  ///
  /// - Parameter hasDecimalOrder: Whether the database knows the order of decimals. A node does not: the index
  ///   finds equal ones, which are one text.
  func neededIndexes(hasDecimalOrder: Bool) -> [IndexDefinition] {
    var needed: [IndexDefinition] = []
    let unique = columns.filter(\.isUnique).map { IndexDefinition([$0.name], isUnique: true) }
    for var index in unique + indexes {
      if !hasDecimalOrder {
        index.collations = index.collations.filter { $0.value != DecimalOrder.collation }
      }
      let known = needed.firstIndex {
        $0.hasColumns(index.columns) && $0.collations == index.collations
      }
      guard let known else {
        needed.append(index)
        continue
      }
      if index.isUnique { needed[known].isUnique = true }
    }
    return needed
  }
}

extension IndexDefinition {
  /// The name that the index of a table gets, another one for each table and each list of columns.
  package func name(on table: String) -> String {
    func escaped(_ name: String) -> String {
      String(name.flatMap { "\\(),".contains($0) ? ["\\", $0] : [$0] })
    }
    return "\(escaped(table))(\(columns.map(escaped).joined(separator: ",")))"
  }

  /// Returns whether an index that is there does what this one asks for, whatever its name is.
  package func isFulfilled(by found: TableIndex) -> Bool {
    !found.isPartial && (found.isUnique || !isUnique)
      && hasColumns(found.columns.map { $0 ?? "" })
      && zip(columns, found.collations).allSatisfy { column, collation in
        collations[column].map { asciiLowercased($0) == asciiLowercased(collation) } ?? true
      }
  }

  /// Returns whether an index that is there has been made for this one by the order of bytes.
  func isPreceded(by found: TableIndex, on table: String) -> Bool {
    !collations.isEmpty && found.isExplicit && !found.isUnique && found.name == name(on: table)
      && hasColumns(found.columns.map { $0 ?? "" }) && !isFulfilled(by: found)
  }

  @inline(never)
  func hasColumns(_ names: [String]) -> Bool {
    columns.count == names.count
      && zip(columns, names).allSatisfy { asciiLowercased($0) == asciiLowercased($1) }
  }
}

/// A column that a table has (`PRAGMA table_xinfo`).
public struct SchemaColumn: Hashable, Sendable {
  /// The kind of the column.
  public enum Kind: Int, Sendable {
    /// One that is stored and seen.
    case ordinary = 0
    /// A hidden column of a virtual table.
    case hidden = 1
    /// Computed when it is read.
    case virtuallyGenerated = 2
    /// Computed when the row is written.
    case storedGenerated = 3
  }

  /// The column's name.
  public let name: String
  /// The type as it was declared, perhaps empty.
  public let declaredType: String
  /// Whether NULL is refused.
  public let isNotNull: Bool
  /// The default as SQL text, or nil if there is none.
  public let defaultSQL: String?
  /// The position in the primary key from 1, or 0 if the column is no part of it.
  public let primaryKeyPosition: Int
  /// The kind of the column.
  public let kind: Kind
}

/// A foreign key of a table (`PRAGMA foreign_key_list`).
public struct ForeignKey: Hashable, Sendable {
  /// The columns that refer, in order.
  public let columns: [String]
  /// The table that is referred to.
  public let referencedTable: String
  /// The columns referred to, in order; empty for that table's primary key.
  public let referencedColumns: [String]
  /// The action when the row referred to changes its key, such as `CASCADE`.
  public let onUpdate: String
  /// The action when the row referred to is deleted, such as `SET NULL`.
  public let onDelete: String
}

/// An index (`PRAGMA index_list`).
public struct TableIndex: Hashable, Sendable {
  /// The index's name.
  public let name: String
  /// The table that it belongs to.
  public let table: String
  /// Its columns in order; nil for an expression.
  public let columns: [String?]
  /// The collation of each of them, such as `BINARY`.
  public let collations: [String]
  /// Whether no two rows may have one key.
  public let isUnique: Bool
  /// Whether it holds only the rows that fulfil a condition.
  public let isPartial: Bool
  /// Whether it was made by CREATE INDEX, and not by a constraint.
  public let isExplicit: Bool
}

/// The declared type of a column. It determines the column's affinity, which is the storage class
/// that SQLite prefers (<https://www.sqlite.org/datatype3.html>).
public enum ColumnType: String, Sendable, CaseIterable {
  /// Integers. SQLite converts reals without a fraction to integers.
  case integer = "INTEGER"
  /// Reals. SQLite converts integers to reals.
  case real = "REAL"
  /// Text. SQLite converts numbers to text.
  case text = "TEXT"
  /// Values of any type, stored without conversion. A strict table accepts only blobs.
  case blob = "BLOB"
  /// Numbers. SQLite converts text that looks like a number. Not available in strict tables.
  case numeric = "NUMERIC"
  /// Booleans, stored as 0 and 1. Not available in strict tables.
  case boolean = "BOOLEAN"
  /// Dates as text, which SQLite stores without conversion. Not available in strict tables.
  case date = "DATE TEXT"
  /// Values of any type. Strict tables store them without conversion. In other tables, SQLite
  /// converts text that looks like a number.
  case any = "ANY"
}

/// The action on a row when the row that it references is deleted (`ON DELETE`).
public enum DeleteRule: String, Sendable {
  /// Sets the reference to NULL.
  case nullify = "SET NULL"
  /// Deletes the referencing row, too.
  case cascade = "CASCADE"
  /// Rejects the deletion.
  case restrict = "RESTRICT"
}

/// The definition of a column of a new table.
///
///     try connection.createTable("city", columns: [
///       ColumnDefinition("id", .integer, isPrimaryKey: true),
///       ColumnDefinition("name", .text),
///       ColumnDefinition("founded", .date, isOptional: true),
///     ])
public struct ColumnDefinition: Hashable, Sendable {
  /// A foreign key of a single column.
  public struct Reference: Hashable, Sendable {
    /// The name of the referenced table.
    public var table: String
    /// The name of the referenced table's key column.
    public var column: String
    /// The action on a referencing row when the referenced row is deleted.
    public var onDelete: DeleteRule

    /// Creates a reference to a key column of another table.
    ///
    /// - Parameters:
    ///   - table: The name of the referenced table.
    ///   - column: The name of the referenced table's key column.
    ///   - onDelete: The action on a referencing row when the referenced row is deleted.
    public init(table: String, column: String, onDelete: DeleteRule) {
      self.table = table
      self.column = column
      self.onDelete = onDelete
    }
  }

  /// The column's name.
  public var name: String
  /// The declared type, which determines the storage class that SQLite prefers for the column.
  public var type: ColumnType
  /// A Boolean value that indicates whether the column is the primary key, or part of it.
  public var isPrimaryKey: Bool
  /// A Boolean value that indicates whether the column accepts NULL.
  public var isOptional: Bool
  /// The value of the column in rows that exist when it is added, and in rows that are inserted
  /// without a value for it. Nil if the column has no default.
  public var defaultValue: Value?
  /// A Boolean value that indicates whether the column rejects a value that another row already
  /// has.
  public var isUnique: Bool
  /// The foreign key that consists of this column, or nil if the column isn't a foreign key.
  public var reference: Reference?
  /// The collation of the column in non-unique indexes, for values whose order differs from that of
  /// their bytes. The SQL of the table doesn't contain it, so that programs without this collation
  /// can read the table.
  package var collation: String?
  /// Whether the column contains dates as text, which never looks like a number. A column that is
  /// declared as DATETIME, which has the affinity NUMERIC, therefore stores it unchanged.
  package var isDateText = false

  /// Creates the definition of a column.
  ///
  /// - Parameters:
  ///   - name: The name of the column.
  ///   - type: The declared type.
  ///   - isPrimaryKey: Whether the column is the primary key, or part of it. If an integer column
  ///     is the whole key, it is an alias of the rowid.
  ///   - isOptional: Whether the column accepts NULL.
  ///   - defaultValue: The value of the column in rows that are inserted without a value for it;
  ///     nil if the column has no default.
  ///   - isUnique: Whether the column rejects a value that another row already has.
  ///   - reference: The foreign key that consists of this column, or nil.
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

/// The definition of an index of a new table.
public struct IndexDefinition: Hashable, Sendable {
  /// The names of the indexed columns, the most significant first.
  public var columns: [String]
  /// A Boolean value that indicates whether the index rejects rows with equal keys.
  public var isUnique: Bool
  /// The collations of the columns that the index sorts in another order than the table does, keyed
  /// by the names of these columns.
  package var collations: [String: String] = [:]

  /// Creates the definition of an index.
  ///
  /// - Parameters:
  ///   - columns: The names of the indexed columns, the most significant first.
  ///   - isUnique: Whether the index rejects rows with equal keys.
  public init(_ columns: [String], isUnique: Bool = false) {
    self.columns = columns
    self.isUnique = isUnique
  }
}

/// The definition of a new table with its primary key and its indexes, for
/// ``Connection/createTable(_:ifNotExists:isStrict:)``.
public struct TableDefinition: Hashable, Sendable {
  /// The kind of primary key that identifies the rows.
  public enum Key: Hashable, Sendable {
    /// An additional first column with this name. It is an alias of the rowid. SQLite assigns
    /// increasing numbers and never reuses the number of a deleted row.
    case autoIncrement(String)
    /// An additional first column with this name. It is an alias of the rowid. SQLite may reuse the
    /// number of a deleted row.
    case rowID(String)
    /// The table's columns with these names.
    case columns([String])
    /// The table's columns with these names, in a WITHOUT ROWID table.
    case withoutRowID([String])
    /// All columns whose ``ColumnDefinition/isPrimaryKey`` is true. If there are none, the table
    /// has no primary key.
    case declared
  }

  /// The table's name.
  public var name: String
  /// The primary key: its kind and, unless it is ``Key/declared``, the names of its columns.
  public var key: Key
  /// The columns, in order, without the additional column of ``Key/autoIncrement(_:)`` or
  /// ``Key/rowID(_:)``.
  public var columns: [ColumnDefinition]
  /// The indexes, in addition to those of UNIQUE columns.
  public var indexes: [IndexDefinition]

  /// Creates the definition of a table.
  ///
  /// - Parameters:
  ///   - name: The name of the table.
  ///   - key: The primary key.
  ///   - columns: The columns, in order, without the additional column of ``Key/autoIncrement(_:)``
  ///     or ``Key/rowID(_:)``.
  ///   - indexes: The indexes, in addition to those of UNIQUE columns.
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
  /// Returns the CREATE TABLE statement for the table.
  ///
  /// - Parameters:
  ///   - ifNotExists: Whether the statement does nothing if the table already exists.
  ///   - isStrict: Whether to create a STRICT table.
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
    // An integer column becomes the rowid only if the column itself is declared as the primary key.
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
  /// The column definition for CREATE TABLE and ALTER TABLE.
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
  /// Creates a comma-separated list of quoted identifiers.
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
  /// Returns the indexes that the table needs, including those of UNIQUE columns. Indexes with the
  /// same columns are merged, and the merged index is unique if one of them is.
  ///
  /// - Parameter hasDecimalOrder: Whether the database has the collation for decimals. A server
  ///   doesn't have it. Its indexes can still find equal decimals, because they have the same text.
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
  /// Returns the preferred name of the index on a table, composed of the names of the table and the
  /// columns.
  package func name(on table: String) -> String {
    func escaped(_ name: String) -> String {
      String(name.flatMap { "\\(),".contains($0) ? ["\\", $0] : [$0] })
    }
    return "\(escaped(table))(\(columns.map(escaped).joined(separator: ",")))"
  }

  /// Returns whether an existing index has this definition's columns and collations, is unique if
  /// this definition requires it, and contains all rows. Its name doesn't matter.
  package func isFulfilled(by found: TableIndex) -> Bool {
    !found.isPartial && (found.isUnique || !isUnique)
      && hasColumns(found.columns.map { $0 ?? "" })
      && zip(columns, found.collations).allSatisfy { column, collation in
        collations[column].map { asciiLowercased($0) == asciiLowercased(collation) } ?? true
      }
  }

  /// Returns whether the library created an existing index for this definition, but without the
  /// definition's collations.
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

/// A column of an existing table or view (`PRAGMA table_xinfo`).
public struct SchemaColumn: Hashable, Sendable {
  /// The way in which a column is stored or computed.
  public enum Kind: Int, Sendable {
    /// An ordinary column, which is neither hidden nor generated.
    case ordinary = 0
    /// A hidden column of a virtual table.
    case hidden = 1
    /// A generated column that is computed when it is read (VIRTUAL).
    case virtuallyGenerated = 2
    /// A generated column that is computed when the row is written (STORED).
    case storedGenerated = 3
  }

  /// The column's name.
  public let name: String
  /// The declared type; empty if the column was declared without a type.
  public let declaredType: String
  /// A Boolean value that indicates whether the column rejects NULL.
  public let isNotNull: Bool
  /// The default value as SQL text, or nil if the column has no default.
  public let defaultSQL: String?
  /// The position in the primary key, starting at 1, or 0 if the column isn't part of the key.
  public let primaryKeyPosition: Int
  /// The way in which the column is stored or computed.
  public let kind: Kind
}

/// A foreign key of an existing table (`PRAGMA foreign_key_list`).
public struct ForeignKey: Hashable, Sendable {
  /// The names of the referencing columns, in order.
  public let columns: [String]
  /// The name of the referenced table.
  public let referencedTable: String
  /// The names of the referenced columns, in order; empty if the foreign key references the table's
  /// primary key without naming it.
  public let referencedColumns: [String]
  /// The action when the key of the referenced row changes, such as `CASCADE`.
  public let onUpdate: String
  /// The action when the referenced row is deleted, such as `SET NULL`.
  public let onDelete: String
}

/// An existing index (`PRAGMA index_list`).
public struct TableIndex: Hashable, Sendable {
  /// The index's name.
  public let name: String
  /// The name of the table that the index belongs to.
  public let table: String
  /// The names of the indexed columns, in order. An element is nil if the index contains an
  /// expression or the rowid at this position.
  public let columns: [String?]
  /// The collation of each column, such as `BINARY`.
  public let collations: [String]
  /// A Boolean value that indicates whether the index rejects rows with equal keys.
  public let isUnique: Bool
  /// A Boolean value that indicates whether the index contains only the rows that satisfy a
  /// condition.
  public let isPartial: Bool
  /// A Boolean value that indicates whether CREATE INDEX created the index, rather than a
  /// constraint.
  public let isExplicit: Bool
}

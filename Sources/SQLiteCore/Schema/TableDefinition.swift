/// The declared type of a column: what it prefers to store, whatever it is given
/// (<https://www.sqlite.org/datatype3.html>).
public enum ColumnType: String, Sendable, CaseIterable {
  /// Integers, and reals that are whole.
  case integer = "INTEGER"
  /// Reals.
  case real = "REAL"
  /// Text.
  case text = "TEXT"
  /// Whatever is given, as it is.
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

/// What happens to a row when the row that it refers to is deleted.
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
    /// What happens here when the other row goes.
    public var onDelete: DeleteRule

    /// Names the key of another table.
    ///
    /// - Parameters:
    ///   - table: The other table.
    ///   - column: Its key.
    ///   - onDelete: What happens here when the other row goes.
    public init(table: String, column: String, onDelete: DeleteRule) {
      self.table = table
      self.column = column
      self.onDelete = onDelete
    }
  }

  /// The column's name.
  public var name: String
  /// What it stores.
  public var type: ColumnType
  /// Whether the column is the primary key, or a part of it.
  public var isPrimaryKey: Bool
  /// Whether NULL is allowed.
  public var isOptional: Bool
  /// What rows get that were there before the column, and rows that say nothing.
  public var defaultValue: Value?
  /// Whether no two rows may have the same value.
  public var isUnique: Bool
  /// What it refers to.
  public var reference: Reference?

  /// Describes a column.
  ///
  /// - Parameters:
  ///   - name: The column's name.
  ///   - type: What it stores.
  ///   - isPrimaryKey: Whether it is the primary key, or a part of it. An integer that is the whole key
  ///     is the rowid.
  ///   - isOptional: Whether NULL is allowed.
  ///   - defaultValue: What rows get that say nothing.
  ///   - isUnique: Whether no two rows may have the same value.
  ///   - reference: What it refers to.
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
  /// How rows are told apart.
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
  /// How rows are told apart.
  public var key: Key
  /// The columns, in order.
  public var columns: [ColumnDefinition]
  /// The indexes besides those that UNIQUE makes.
  public var indexes: [IndexDefinition]

  /// Describes a table.
  ///
  /// - Parameters:
  ///   - name: The table's name.
  ///   - key: How rows are told apart.
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

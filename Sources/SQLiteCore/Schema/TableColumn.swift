/// A column that a table has (`PRAGMA table_xinfo`).
public struct TableColumn: Hashable, Sendable {
  /// What kind of column it is.
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
  /// The place in the primary key from 1, or 0 if the column is no part of it.
  public let primaryKeyPosition: Int
  /// What kind of column it is.
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
  /// What happens when the row referred to changes its key, such as `CASCADE`.
  public let onUpdate: String
  /// What happens when the row referred to is deleted, such as `SET NULL`.
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
  /// Whether no two rows may have one key.
  public let isUnique: Bool
  /// Whether it holds only the rows that fulfil a condition.
  public let isPartial: Bool
  /// Whether it was made by CREATE INDEX, and not by a constraint.
  public let isExplicit: Bool
}

/// A difference between a table in the database and the table that its type requires.
public struct SchemaDifference: Hashable, Sendable, CustomStringConvertible {
  /// The kinds of differences between a table and its type.
  public enum Kind: Hashable, Sendable {
    /// The table is missing. The first write creates it.
    case missingTable
    /// A property has no column. The next write adds the column if the property is optional or has
    /// a default, or if the table has no rows.
    case missingColumn
    /// A column belongs to no property. It is ignored.
    case extraColumn
    /// A column belongs to no property, and it is NOT NULL without a default. Writes that may
    /// insert a row throw.
    case extraColumnWithoutDefault
    /// The declared type of a column has an affinity that converts values of the property's type
    /// when SQLite stores them.
    case type
    /// A property is not optional, but its column contains NULL in some rows.
    case nulls
    /// A relation is not optional, but its column allows NULL, as in tables that older versions of
    /// this library created. No row contains NULL. A migration can make the column NOT NULL.
    case nullable
    /// A property is optional, but its column is NOT NULL. Writing nil throws.
    case notNull
    /// The primary key consists of other columns than the type declares.
    case primaryKey
    /// An index that the type requires is missing. The next write creates it.
    case missingIndex
    /// A foreign key has another delete rule than the type declares. The next write changes it.
    case deleteRule
    /// The full-text index is missing, has outdated triggers, or has other columns than the type
    /// declares. The next write rebuilds it.
    case searchIndex
    /// Another table or view has the name of the full-text index. Rename or drop it yourself,
    /// because no write does.
    case searchName
    /// The full-text index does not match the rows, because rows have been changed without running
    /// its triggers, or the index itself has been changed. To rebuild the index of the table
    /// `Note`, run `INSERT INTO Note_search (Note_search) VALUES ('rebuild')`.
    case searchContent
  }

  /// The kind, which determines ``isResolvedByWriting`` and ``isHarmless``.
  public let kind: Kind
  /// The name of the column, or nil if the difference is not about one column.
  public let column: String?
  /// A sentence that describes the difference.
  public let description: String

  /// A Boolean value that indicates whether the next write of the type resolves the difference. The
  /// write throws if this isn't possible, for example because rows are equal in unique columns.
  public var isResolvedByWriting: Bool {
    switch kind {
    case .missingTable, .missingColumn, .missingIndex, .deleteRule, .searchIndex: true
    case .extraColumn, .extraColumnWithoutDefault, .type, .nulls, .nullable, .notNull, .primaryKey,
      .searchName, .searchContent:
      false
    }
  }

  /// A Boolean value that indicates whether values can be written and read despite the difference.
  /// This is true for ``Kind/notNull``, although writing nil throws.
  public var isHarmless: Bool {
    isResolvedByWriting || [.extraColumn, .nullable, .notNull].contains(kind)
  }
}

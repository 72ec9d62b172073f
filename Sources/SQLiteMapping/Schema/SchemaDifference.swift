/// A difference between a table and what its type asks for.
public struct SchemaDifference: Hashable, Sendable, CustomStringConvertible {
  /// The kinds of differences.
  public enum Kind: Hashable, Sendable {
    /// There is no table. The first write makes it.
    case missingTable
    /// A property has no column. The next write adds one if it is optional, has a default, or the
    /// table has no rows.
    case missingColumn
    /// A column belongs to no property. It is left alone.
    case extraColumn
    /// A column belongs to no property, and new rows would have to fill it.
    case extraColumnWithoutDefault
    /// A column would change what is stored in it.
    case type
    /// A property is not optional, and its column holds NULL in some rows.
    case nulls
    /// A relation is not optional, and its column allows NULL, which no row has: an older version of this
    /// library made it. A migration makes it refuse NULL.
    case nullable
    /// A property is optional, and its column refuses NULL.
    case notNull
    /// The primary key has other columns.
    case primaryKey
    /// An index is missing. The next write makes it.
    case missingIndex
    /// A reference has another delete rule. The next write changes it.
    case deleteRule
    /// The full-text index is missing, or has other columns or older triggers. The next write rebuilds it.
    case searchIndex
    /// Something else has the name of the full-text index. Rename or remove it: no write does.
    case searchName
    /// The full-text index does not match the rows: something has changed them past its triggers, or changed the
    /// index. `INSERT INTO Note_search (Note_search) VALUES ('rebuild')` makes it match.
    case searchContent
  }

  /// The kind of the difference.
  public let kind: Kind
  /// The column, or nil if it is not about one.
  public let column: String?
  /// The difference as a sentence.
  public let description: String

  /// Whether the next write removes the difference without losing anything.
  public var isMendedByWriting: Bool {
    switch kind {
    case .missingTable, .missingColumn, .missingIndex, .deleteRule, .searchIndex: true
    case .extraColumn, .extraColumnWithoutDefault, .type, .nulls, .nullable, .notNull, .primaryKey,
      .searchName, .searchContent:
      false
    }
  }

  /// Whether values can be written and read all the same.
  public var isHarmless: Bool {
    isMendedByWriting || [.extraColumn, .nullable, .notNull].contains(kind)
  }
}

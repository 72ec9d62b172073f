/// The difference between the contents of two stores: a base, and a store that is compared with it.
///
///     let difference = try magic.difference(from: base)
///     print(difference)
///
/// The description depends only on the contents of the stores, and its length is bounded:
///
///     + index Book_rank: CREATE INDEX "Book_rank" ON "Book" ("rank")
///     Book: 2 rows differ
///       ~ 1: rank 3 → 4, cover asset of 10 bytes (SHA-256 8f8cbb7d…) → NULL
///       + 7: title "Emma", rank 1, cover NULL
///     Shelf_books: 1 row differs
///       ~ owner 1: targets "[1, 2]" → "[2, 1, 7]"
///
/// `+` marks a row that only the compared store has, and `-` a row that only the base has. `~`
/// marks a row of both stores, and is followed by the columns that differ, each with the value in
/// the base, an arrow, and the value in the compared store.
///
/// Rows are matched by their primary key, or by their rowid if the table has no primary key. The
/// keys of objects without a primary value, and automatic keys, are numbered in the order in which
/// the objects were inserted, so insert them in the same order in both stores. Apart from that, the
/// order of changes and of rows doesn't matter. The elements of a list of objects are compared in
/// their order, those of a set in any order.
///
/// The stored values are compared exactly: dates with all digits, and floating-point numbers
/// without a tolerance. Assets are compared by size, SHA-256 digest and file name extension, as
/// they are recorded in the database; files aren't read. The identity of the store, counters of
/// automatic keys, statistics, undo steps and change logs aren't compared, and neither are the
/// contents of virtual tables, such as full-text indexes.
///
/// Unlike the errors of the library, a difference contains values of the stores. If they are
/// private, don't write the difference to a log.
public struct StoreDifference: Hashable, Sendable {
  /// A column whose value differs. The values are shortened texts.
  public struct Column: Hashable, Sendable {
    /// The name of the column.
    public let name: String
    /// The value in the base; nil if only the compared store has the row.
    public let base: String?
    /// The value in the compared store; nil if only the base has the row.
    public let value: String?
  }

  /// A row that differs.
  public struct Row: Hashable, Sendable {
    /// The ways in which a row can differ.
    public enum Kind: Hashable, Sendable {
      /// Only the compared store has the row.
      case added
      /// Only the base has the row.
      case removed
      /// Both stores have the row, with different values.
      case changed
    }

    /// The way in which the row differs.
    public let kind: Kind
    /// The key of the row, as a shortened text.
    public let key: String
    /// The columns that differ or, if only one store has the row, all columns other than the key.
    public let columns: [Column]
  }

  /// A table with rows that differ.
  public struct Table: Hashable, Sendable {
    /// The name of the table.
    public let name: String
    /// The first rows that differ, up to the row limit of the comparison.
    public internal(set) var rows: [Row] = []
    /// The number of all rows that differ.
    public internal(set) var count = 0
  }

  /// The differences between the schemas and between the lists of migrations, one line each.
  public internal(set) var schema: [String] = []
  /// The number of all differences of the schemas. ``schema`` contains only the first ones.
  public internal(set) var schemaCount = 0
  /// The first tables with rows that differ.
  public internal(set) var tables: [Table] = []
  /// The number of all tables with rows that differ.
  public internal(set) var tableCount = 0

  /// A Boolean value that indicates whether the contents are equal.
  public var isEmpty: Bool { schemaCount == 0 && tableCount == 0 }
}

extension StoreDifference: CustomStringConvertible {
  /// The difference as text with a bounded number of lines, or `no difference`.
  public var description: String {
    guard !isEmpty else { return "no difference" }
    var lines = schema
    if schemaCount > schema.count {
      lines.append("… and \(schemaCount - schema.count) more differences of the schemas")
    }
    for table in tables {
      lines.append(
        "\(table.name): \(table.count == 1 ? "1 row differs" : "\(table.count) rows differ")")
      lines += table.rows.map { "  \($0)" }
      if table.count > table.rows.count {
        lines.append("  … and \(table.count - table.rows.count) more rows")
      }
    }
    if tableCount > tables.count {
      lines.append("… and \(tableCount - tables.count) more tables")
    }
    return lines.joined(separator: "\n")
  }
}

extension StoreDifference.Row: CustomStringConvertible {
  /// The row as one line of text.
  public var description: String {
    let sign =
      switch kind {
      case .added: "+"
      case .removed: "-"
      case .changed: "~"
      }
    let limit = 20
    var values = columns.prefix(limit).map { column in
      let sides = [column.base, column.value].compactMap { $0 }
      return "\(column.name) \(sides.joined(separator: " → "))"
    }
    if columns.count > limit { values.append("… and \(columns.count - limit) more columns") }
    return "\(sign) \(key)\(values.isEmpty ? "" : ": ")\(values.joined(separator: ", "))"
  }
}

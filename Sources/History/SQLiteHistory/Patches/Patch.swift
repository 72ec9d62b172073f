package import SQLiteCore

/// The rows that one or more transactions changed, with their values before and after.
///
/// You can send a patch, store it, invert it, and apply it to another copy of the database.
///
///     let patch = try database.patch { connection in
///       try connection.executeChange("UPDATE city SET name = 'Toronto' WHERE id = 7")
///     }
///     try other.apply(patch)
///     try database.apply(patch.inverted)
///
/// A patch contains each changed row once. A row that was inserted and deleted again is omitted. If
/// the primary key of a row has changed, the patch contains a delete of the old row and an insert
/// of the new one. Changes that were undone by a rolled-back savepoint or a failed statement are
/// omitted. An update contains only the primary key and the changed columns.
///
/// ``data`` is a changeset of SQLite's session extension
/// (<https://www.sqlite.org/sessionintro.html>), which other programs can read.
///
/// A patch omits generated columns, the shadow tables of virtual tables, and this library's tables
/// `magicdata_meta` and `magicdata_journal`. Rows without a primary key can't be in a patch,
/// because VACUUM may change their rowids: ``PatchError/Reason/noKey(table:)`` is thrown.
public struct Patch: Hashable, Sendable {
  /// The effect of a change on a row. The raw value is SQLite's operation code in a changeset, such
  /// as `SQLITE_INSERT`.
  public enum Kind: UInt8, Hashable, Sendable {
    /// The row was inserted.
    case insert = 18
    /// Columns of an existing row were updated.
    case update = 23
    /// The row was deleted.
    case delete = 9
  }

  /// The changed rows of one table.
  public struct Table: Hashable, Sendable {
    /// The name of the table.
    public let name: String
    /// The position of each column in the primary key, starting at 1; 0 for a column that isn't
    /// part of the key.
    public let keyPositions: [UInt8]
    /// The names of the columns, or nil if the patch was created from a changeset, which contains
    /// no names.
    public internal(set) var columns: [String]?
    /// The changes of the rows of this table.
    public internal(set) var rows: [Row]

    package init(name: String, keyPositions: [UInt8], columns: [String]?, rows: [Row]) {
      self.name = name
      self.keyPositions = keyPositions
      self.columns = columns
      self.rows = rows
    }

    /// Returns the primary key of a row.
    package func key(of row: Row) -> RowKey {
      var fields = RowFields()
      row.read(into: &fields)
      let places = row.kind == .insert ? fields.new : fields.old
      return RowKey(keyColumns.map { fields.value(places[$0]) ?? .null })
    }

    /// The indexes of the primary key columns, in column order.
    package var keyColumns: [Int] { keyPositions.indices.filter { keyPositions[$0] != 0 } }

    /// Returns whether this table and `other` have the same primary key columns and, if known, the
    /// same column names.
    func fits(_ other: Table) -> Bool {
      keyPositions.map { $0 != 0 } == other.keyPositions.map { $0 != 0 }
        && (columns == nil || other.columns == nil
          || columns?.map(asciiLowercased) == other.columns?.map(asciiLowercased))
    }
  }

  /// The tables with changed rows. A table appears more than once if its columns changed between
  /// the changes of its rows.
  public internal(set) var tables: [Table]

  /// Creates an empty patch, which changes nothing when applied.
  public init() { tables = [] }

  package init(tables: [Table]) {
    self.tables = tables.filter { !$0.rows.isEmpty }
  }

  /// A Boolean value that indicates whether the patch contains no changes.
  public var isEmpty: Bool { tables.isEmpty }

  /// The number of changed rows in all tables.
  public var count: Int { tables.reduce(0) { $0 + $1.rows.count } }

  /// The size of the rows in memory, in bytes.
  package var byteCount: Int {
    tables.reduce(0) { $0 + $1.rows.reduce(0) { $0 + $1.byteCount + MemoryLayout<Row>.stride } }
  }

  /// A patch that reverts the changes of this one.
  ///
  /// - Complexity: O(*n*), where *n* is the number of rows.
  public var inverted: Patch {
    var result = self
    for table in result.tables.indices {
      // The last change must be reverted first.
      result.tables[table].rows = result.tables[table].rows.reversed().map(\.inverted)
    }
    result.tables.reverse()
    return result
  }

  /// Returns a patch that contains only the changes of some tables.
  ///
  /// - Parameter isWanted: A closure that receives the name of a table and returns whether to keep
  ///   its rows.
  /// - Returns: The filtered patch.
  /// - Throws: Any error that `isWanted` throws.
  public func filtered(_ isWanted: (String) throws -> Bool) rethrows -> Patch {
    Patch(tables: try tables.filter { try isWanted($0.name) })
  }
}

/// The primary key of a row, usable as a dictionary key.
package enum RowKey: Hashable, Sendable {
  case one(Value)
  case several([Value])

  package init(_ values: [Value]) {
    self = values.count == 1 ? .one(values[0]) : .several(values)
  }

  package var values: [Value] {
    switch self {
    case .one(let value): [value]
    case .several(let values): values
    }
  }
}

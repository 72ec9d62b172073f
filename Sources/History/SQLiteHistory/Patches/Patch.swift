package import SQLiteCore

/// The rows that one or several transactions changed: something that can be sent, kept, undone and applied to another
/// copy of the database.
///
///     let patch = try database.patch { connection in
///       try connection.executeChange("UPDATE city SET name = 'Toronto' WHERE id = 7")
///     }
///     try other.apply(patch)
///     try database.apply(patch.inverted)
///
/// Each row stands in it once, with the values before and after: a row that was inserted and deleted again does not
/// appear, and a row whose primary key has changed is one that was deleted and one that was inserted.
/// Changes that were undone do not appear, whether a savepoint was rolled back or a statement failed.
/// Columns that did not change are left out of an update. ``data`` is a changeset of SQLite's session extension
/// (<https://www.sqlite.org/sessionintro.html>), which other programs read.
///
/// Left out are tables of this library's own facts and shadow tables of virtual tables. Generated columns are left out of
/// each row. A patch of rows that have no primary key is refused, with ``PatchError/Reason/noKey(table:)``: nothing that
/// VACUUM keeps identifies them.
public struct Patch: Hashable, Sendable {
  /// The effect on a row. Its raw value is SQLite's code in a changeset, such as `SQLITE_INSERT`.
  public enum Kind: UInt8, Hashable, Sendable {
    /// The row is new.
    case insert = 18
    /// The row has other values.
    case update = 23
    /// The row is gone.
    case delete = 9
  }

  /// The rows of one table.
  public struct Table: Hashable, Sendable {
    /// The table's name.
    public let name: String
    /// For each column its place in the primary key, from 1, and 0 outside it.
    public let keyPositions: [UInt8]
    /// The columns' names; nil if they are not known, since a changeset does not have them.
    public internal(set) var columns: [String]?
    /// The rows.
    public internal(set) var rows: [Row]

    package init(name: String, keyPositions: [UInt8], columns: [String]?, rows: [Row]) {
      self.name = name
      self.keyPositions = keyPositions
      self.columns = columns
      self.rows = rows
    }

    /// The key of a row.
    package func key(of row: Row) -> RowKey {
      var fields = RowFields()
      row.read(into: &fields)
      let places = row.kind == .insert ? fields.new : fields.old
      return RowKey(keyColumns.map { fields.value(places[$0]) ?? .null })
    }

    /// The indexes of the columns of the key, in the order of the columns.
    package var keyColumns: [Int] { keyPositions.indices.filter { keyPositions[$0] != 0 } }

    /// Whether both are the same table, as far as is known.
    func fits(_ other: Table) -> Bool {
      keyPositions.map { $0 != 0 } == other.keyPositions.map { $0 != 0 }
        && (columns == nil || other.columns == nil
          || columns?.map(asciiLowercased) == other.columns?.map(asciiLowercased))
    }
  }

  /// The tables. One table may stand here twice if its columns changed in between.
  public internal(set) var tables: [Table]

  /// A patch that changes nothing.
  public init() { tables = [] }

  package init(tables: [Table]) {
    self.tables = tables.filter { !$0.rows.isEmpty }
  }

  /// Whether the patch changes nothing.
  public var isEmpty: Bool { tables.isEmpty }

  /// The number of changed rows.
  public var count: Int { tables.reduce(0) { $0 + $1.rows.count } }

  /// The memory that the rows take.
  package var byteCount: Int {
    tables.reduce(0) { $0 + $1.rows.reduce(0) { $0 + $1.byteCount + MemoryLayout<Row>.stride } }
  }

  /// The patch that undoes this one.
  ///
  /// - Complexity: O(*n*), where *n* is the number of rows.
  public var inverted: Patch {
    var result = self
    for table in result.tables.indices {
      // The last change is undone first.
      result.tables[table].rows = result.tables[table].rows.reversed().map(\.inverted)
    }
    result.tables.reverse()
    return result
  }

  /// The part of the patch that concerns some tables.
  ///
  /// - Parameter isWanted: Whether the rows of a table of a name are kept.
  public func filtered(_ isWanted: (String) throws -> Bool) rethrows -> Patch {
    Patch(tables: try tables.filter { try isWanted($0.name) })
  }
}

/// The primary key of a row, for looking it up.
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

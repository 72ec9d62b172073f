import CSQLite

/// A change of one row in a transaction. A transaction may change the same row several times.
package struct RowChange: Sendable {
  package enum Kind: UInt8, Sendable {
    // SQLite's operation codes, which changesets use, too.
    case insert = 18
    case update = 23
    case delete = 9
  }

  /// The table's layout when the row changed. It has no columns if values weren't requested.
  package let layout: TableLayout
  package let kind: Kind
  /// Whether a trigger or a foreign key action made the change (`sqlite3_preupdate_depth`).
  package let isIndirect: Bool
  /// The rowid before the change; for an insert, the new rowid. Meaningless for a WITHOUT ROWID
  /// table, whose key is among the values.
  package let oldRowID: Int64
  /// The rowid after the change; for a delete, the old rowid.
  package let rowID: Int64
  /// The values of the layout's columns before the change; nil for an insert, or if values weren't
  /// requested. Text that isn't valid UTF-8 becomes a blob.
  package let old: [Value]?
  /// The values of the layout's columns after the change; nil for a delete, or if values weren't
  /// requested.
  package let new: [Value]?
  package var table: String { layout.table }
}

/// The rows that a transaction changed, in the order of the changes.
///
/// The rows are stored as bytes, each value in the format of a changeset. Recording then allocates
/// nothing per row, and a consumer can decode the values on its own thread.
package struct RecordedRows: Sendable {
  /// The layouts of the changed tables. A table may have several, for example because its columns
  /// have changed.
  package let layouts: [TableLayout]
  /// The encoded changes, in order: a header and the values of each row.
  package let bytes: [UInt8]

  static let none = RecordedRows(layouts: [], bytes: [])

  /// The size of the encoded rows in bytes.
  package var byteCount: Int { bytes.count }

  package var isEmpty: Bool { bytes.isEmpty }

  /// Calls `body` for each change.
  ///
  /// - Parameters:
  ///   - isWanted: Returns whether the caller needs the rows of the layout at an index of
  ///     ``layouts``. Other rows are skipped.
  ///   - body: The closure to call with a change.
  /// - Throws: Errors of `body`; ``SQLiteError`` if the bytes are damaged.
  package func forEach(
    where isWanted: (Int) -> Bool = { _ in true }, _ body: (RowChange) throws -> Void
  ) throws {
    try forEachHeader(where: isWanted) { header, cursor in
      let layout = layouts[header.slot]
      var old: [Value]?
      var new: [Value]?
      if header.hasValues {
        let count = layout.columns.count
        if header.kind != .insert { old = try cursor.values(count, instead: nil) }
        if header.kind != .delete { new = try cursor.values(count, instead: old) }
      }
      try body(
        RowChange(
          layout: layout, kind: header.kind, isIndirect: header.isIndirect,
          oldRowID: header.oldRowID, rowID: header.rowID, old: old, new: new))
    }
  }

  /// Calls `body` with the header of each change and a cursor at its values. `body` must advance
  /// the cursor past the values.
  package func forEachHeader(
    where isWanted: (Int) -> Bool, _ body: (RecordedHeader, inout ChangesetCursor) throws -> Void
  ) throws {
    var cursor = ChangesetCursor(bytes)
    while !cursor.isAtEnd {
      let header = try RecordedHeader(&cursor)
      guard layouts.indices.contains(header.slot) else {
        throw cursor.damage("unknown table number")
      }
      if isWanted(header.slot) {
        try body(header, &cursor)
      } else {
        try cursor.skip(header.valueSize)
      }
    }
  }
}

/// The header before the values of a recorded row, as written by
/// ``ChangesetBuffer/beginRow(_:flags:slot:_:_:)``.
package struct RecordedHeader {
  package let kind: RowChange.Kind
  private let flags: UInt8
  /// The index of the table's layout in ``RecordedRows/layouts``.
  package let slot: Int
  /// The size, in bytes, of the values that follow the header.
  let valueSize: Int
  package let oldRowID: Int64
  package let rowID: Int64

  package var hasValues: Bool { flags & RecordingFlag.hasValues != 0 }
  package var isIndirect: Bool { flags & RecordingFlag.isIndirect != 0 }

  init(_ cursor: inout ChangesetCursor) throws(SQLiteError) {
    kind = RowChange.Kind(rawValue: try cursor.byte()) ?? .update
    flags = try cursor.byte()
    slot = Int(try cursor.bigEndian(as: UInt32.self))
    // The stored size includes the rowids.
    valueSize = Int(try cursor.bigEndian(as: UInt32.self)) - 16
    oldRowID = Int64(bitPattern: try cursor.bigEndian(as: UInt64.self))
    rowID = Int64(bitPattern: try cursor.bigEndian(as: UInt64.self))
  }
}

/// The bits of the flags in the header of a recorded row.
enum RecordingFlag {
  static let hasValues: UInt8 = 1
  static let isIndirect: UInt8 = 2
}

extension RecordedRows {
  /// The layouts and the rows in one array of bytes, for storage in a journal.
  package var archive: [UInt8] {
    var bytes: [UInt8] = []
    func append(_ text: String) {
      bytes.append(varint: UInt64(text.utf8.count))
      bytes += text.utf8
    }
    bytes.append(varint: UInt64(layouts.count))
    for layout in layouts {
      append(layout.table)
      bytes.append((layout.isWithoutRowID ? 1 : 0) | (layout.isShadow ? 2 : 0))
      bytes.append(varint: UInt64(layout.columns.count))
      for column in layout.columns {
        append(column.name)
        bytes.append(varint: UInt64(column.keyPosition))
        bytes.append(column.isGenerated ? 1 : 0)
      }
    }
    return bytes + self.bytes
  }

  /// Creates the rows that an ``archive`` contains.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/corrupt`` if the archive is damaged.
  package init(archive: [UInt8]) throws(SQLiteError) {
    var cursor = ChangesetCursor(archive)
    func count() throws(SQLiteError) -> Int {
      let count = try cursor.varint()
      // Each element takes at least one byte.
      guard count <= UInt64(cursor.left) else {
        throw cursor.damage("the count \(count) is larger than the data")
      }
      return Int(count)
    }
    var layouts: [TableLayout] = []
    for _ in 0..<(try count()) {
      let table = try cursor.countedText()
      let flags = try cursor.byte()
      var columns: [TableLayout.Column] = []
      for index in 0..<(try count()) {
        let name = try cursor.countedText()
        let position = try cursor.varint()
        columns.append(
          TableLayout.Column(
            name: name, keyPosition: Int(clamping: position), isGenerated: try cursor.byte() == 1,
            index: Int32(clamping: index)))
      }
      layouts.append(
        TableLayout(
          table: table, columns: columns, isWithoutRowID: flags & 1 != 0, isShadow: flags & 2 != 0,
          hasVirtualColumns: false))
    }
    self.init(layouts: layouts, bytes: [UInt8](archive[cursor.position...]))
  }
}

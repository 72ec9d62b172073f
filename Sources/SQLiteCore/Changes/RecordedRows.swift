import CSQLite

/// A row that a committed transaction changed. One row may be changed several times.
package struct RowChange: Sendable {
  package enum Kind: UInt8, Sendable {
    // The numbers of SQLite, which stand in changesets too.
    case insert = 18
    case update = 23
    case delete = 9
  }

  /// The table as it was when the row changed. It has no columns if values were not asked for.
  package let layout: TableLayout
  package let kind: Kind
  /// Whether a trigger or a foreign key made the change (`sqlite3_preupdate_depth`).
  package let isIndirect: Bool
  /// The rowid before the change; for an insert the one after it. Meaningless for a table WITHOUT
  /// ROWID, whose key is among the values.
  package let oldRowID: Int64
  /// The rowid after the change; for a delete the one before it.
  package let rowID: Int64
  /// The values of the layout's columns before the change; nil for an insert, or if they were not asked for. Text
  /// that is not valid UTF-8 comes as a blob.
  package let old: [Value]?
  /// The values of the layout's columns after the change; nil for a delete, or if they were not asked for.
  package let new: [Value]?
  package var table: String { layout.table }
}

/// The rows that a transaction changed, in the order of their changes.
///
/// They are kept as bytes, each value in the form that it has in a changeset: writing them down allocates
/// nothing per row, and who wants them as values reads them on a thread of its own.
package struct RecordedRows: Sendable {
  /// The tables as they were, once for each change of their columns.
  package let layouts: [TableLayout]
  /// The bytes of all changes.
  package let bytes: [UInt8]

  static let none = RecordedRows(layouts: [], bytes: [])

  /// The memory that the rows take.
  package var byteCount: Int { bytes.count }

  package var isEmpty: Bool { bytes.isEmpty }

  /// Hands the changes to `body` one by one.
  ///
  /// - Parameters:
  ///   - isWanted: Whether the rows of a layout are wanted, by its index. The others are passed over.
  ///   - body: Takes a change.
  /// - Throws: What `body` throws; ``SQLiteError`` if the bytes are damaged.
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

  /// Hands the headers of the changes to `body`, with a cursor behind each that `body` moves past the values.
  package func forEachHeader(
    where isWanted: (Int) -> Bool, _ body: (RecordedHeader, inout FieldCursor) throws -> Void
  ) throws {
    var cursor = FieldCursor(bytes)
    while !cursor.isAtEnd {
      let header = try RecordedHeader(&cursor)
      guard layouts.indices.contains(header.slot) else { throw cursor.damage("a table") }
      if isWanted(header.slot) {
        try body(header, &cursor)
      } else {
        try cursor.skip(header.valueSize)
      }
    }
  }
}

/// What precedes the values of a recorded row. ``ByteLog/beginRow(_:flags:slot:_:_:)`` writes it.
package struct RecordedHeader {
  package let kind: RowChange.Kind
  private let flags: UInt8
  /// The index of the table's layout.
  package let slot: Int
  /// The number of bytes after the header.
  let valueSize: Int
  package let oldRowID: Int64
  package let rowID: Int64

  package var hasValues: Bool { flags & RecordingFlag.hasValues != 0 }
  package var isIndirect: Bool { flags & RecordingFlag.isIndirect != 0 }

  init(_ cursor: inout FieldCursor) throws(SQLiteError) {
    kind = RowChange.Kind(rawValue: try cursor.byte()) ?? .update
    flags = try cursor.byte()
    slot = Int(try cursor.bigEndian(as: UInt32.self))
    // The rowids are a part of the size.
    valueSize = Int(try cursor.bigEndian(as: UInt32.self)) - 16
    oldRowID = Int64(bitPattern: try cursor.bigEndian(as: UInt64.self))
    rowID = Int64(bitPattern: try cursor.bigEndian(as: UInt64.self))
  }
}

/// The flags of a recorded row.
enum RecordingFlag {
  static let hasValues: UInt8 = 1
  static let isIndirect: UInt8 = 2
}

extension RecordedRows {
  /// The tables and the rows as bytes, for a journal.
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

  /// Reads ``archive``.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/corrupt`` if it is damaged.
  package init(archive: [UInt8]) throws(SQLiteError) {
    var cursor = FieldCursor(archive)
    func count() throws(SQLiteError) -> Int {
      let count = try cursor.varint()
      // Each takes a byte at least.
      guard count <= UInt64(cursor.left) else { throw cursor.damage("a count of \(count)") }
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

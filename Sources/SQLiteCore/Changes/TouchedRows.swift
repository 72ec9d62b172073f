/// The rows that a part of a recording touches, each with its state before that part.
///
/// The first recorded old values of a row are its values before that part, even if the statement
/// that changed the row was undone, because nothing else in the part had touched the row before.
struct TouchedRows {
  /// The identity of a row: its rowid if the table has rowids, and otherwise its primary key. The
  /// rowid is preferred because, unlike a declared key, it is never NULL and never depends on a
  /// collation.
  enum Identity: Hashable {
    case rowID(Int64, slot: Int)
    /// The encoded primary key of a row in a WITHOUT ROWID table, and the index of the table's
    /// layout.
    case key([UInt8], slot: Int)
  }

  struct Row {
    let identity: Identity
    /// The index of the table's layout among the layouts of the recording.
    let slot: Int
    /// The row's rowid; meaningless in a WITHOUT ROWID table.
    let rowID: Int64
    /// Whether the row existed before this part of the recording.
    let existed: Bool
    /// The range of the old values in ``TouchedRows/bytes``; nil if the row did not exist, or if
    /// values are not recorded.
    let old: Range<Int>?
    let hasValues: Bool
    /// Whether all recorded changes of the row were made by triggers or foreign key actions.
    fileprivate(set) var isIndirect: Bool
  }

  /// The changes of the recording, in encoded form.
  let bytes: [UInt8]
  /// The rows in the order in which they were first touched.
  private(set) var rows: [Row] = []
  private var places: [Identity: Int] = [:]

  /// Creates the list of rows that the encoded changes touch.
  ///
  /// - Throws: ``SQLiteError`` if the bytes are damaged.
  init(_ bytes: [UInt8], _ layouts: [TableLayout]) throws(SQLiteError) {
    self.bytes = bytes
    var cursor = ChangesetCursor(bytes)
    // Repeated lookups of a table may create equal layouts. Use the first one for all of them.
    let slots = layouts.map { layout in layouts.firstIndex { $0.isSame(as: layout) } ?? 0 }
    while !cursor.isAtEnd {
      let header = try RecordedHeader(&cursor)
      guard slots.indices.contains(header.slot) else { throw cursor.damage("unknown table number") }
      let slot = slots[header.slot]
      let layout = layouts[slot]
      let count = header.hasValues ? layout.columns.count : 0
      var oldFields: [Range<Int>] = []
      var oldIdentity: Identity?
      if header.kind != .insert {
        oldFields = try cursor.fields(count)
        oldIdentity = identity(layout, slot, header.oldRowID, header.hasValues, oldFields)
        let old = (oldFields.first?.lowerBound ?? 0)..<(oldFields.last?.upperBound ?? 0)
        touch(oldIdentity, header, slot, header.oldRowID, old: old)
      }
      if header.kind != .delete {
        let newFields = zip(0..., try cursor.fields(count)).map { column, field in
          bytes[field.lowerBound] == FieldCode.undefined ? oldFields[column] : field
        }
        let new = identity(layout, slot, header.rowID, header.hasValues, newFields)
        if new != oldIdentity { touch(new, header, slot, header.rowID, old: nil) }
      }
    }
  }

  private func identity(
    _ layout: TableLayout, _ slot: Int, _ rowID: Int64, _ hasValues: Bool, _ fields: [Range<Int>]
  ) -> Identity {
    guard layout.isWithoutRowID, hasValues else { return .rowID(rowID, slot: slot) }
    return .key(layout.keyColumns.flatMap { bytes[fields[$0]] }, slot: slot)
  }

  private mutating func touch(
    _ identity: Identity?, _ header: RecordedHeader, _ slot: Int, _ rowID: Int64, old: Range<Int>?
  ) {
    guard let identity else { return }
    if let place = places[identity] {
      if !header.isIndirect { rows[place].isIndirect = false }
      return
    }
    places[identity] = rows.count
    rows.append(
      Row(
        identity: identity, slot: slot, rowID: rowID, existed: old != nil,
        old: header.hasValues ? old : nil, hasValues: header.hasValues,
        isIndirect: header.isIndirect))
  }

  /// Returns the ranges of a row's old values; nil if no old values are recorded for the row.
  func oldFields(of row: Row, _ layout: TableLayout) throws(SQLiteError) -> [Range<Int>]? {
    guard let old = row.old else { return nil }
    var cursor = ChangesetCursor(bytes)
    try cursor.skip(old.lowerBound)
    return try cursor.fields(layout.columns.count)
  }
}

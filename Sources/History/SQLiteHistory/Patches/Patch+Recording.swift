package import SQLiteCore

extension Patch {
  /// Creates a patch from the recorded changes of one transaction.
  ///
  /// - Throws: The errors of ``init(_:isForDisplay:)``.
  package init(_ recorded: RecordedRows) throws {
    try self.init(recorded.netRows { Patch.holds($0) })
  }

  /// Returns whether a patch may contain the rows of a table.
  package static func holds(_ layout: TableLayout) -> Bool {
    !layout.isShadow && holds(table: layout.table)
  }

  /// Returns whether a patch may contain the rows of the table named `table`: any table except
  /// `magicdata_meta` and `magicdata_journal`.
  package static func holds(table: String) -> Bool {
    !["magicdata_meta", "magicdata_journal"].contains(asciiLowercased(table))
  }

  /// Creates a patch from the net changes of a transaction.
  ///
  /// - Parameters:
  ///   - net: The changed rows of each table.
  ///   - isForDisplay: Whether the patch is only for display and is never applied. If true, text that
  ///     isn't valid UTF-8 becomes a blob of its bytes, and tables in which a changed row has no
  ///     primary key are omitted.
  /// - Throws: ``PatchError`` with ``PatchError/Reason/noKey(table:)`` or
  ///   ``PatchError/Reason/notUTF8(table:column:)``, unless `isForDisplay` is true; `SQLiteError` if
  ///   the bytes are damaged.
  package init(_ net: [NetRows], isForDisplay: Bool = false) throws {
    self.init(
      tables: try net.compactMap { net in
        let unidentified = PatchError(reason: .noKey(table: net.layout.table))
        do {
          return try Table(net, isForDisplay: isForDisplay)
        } catch let error as PatchError where isForDisplay && error == unidentified {
          return nil
        }
      })
  }
}

extension Patch.Table {
  fileprivate init(_ net: NetRows, isForDisplay: Bool) throws {
    let layout = net.layout
    var writer = RowWriter(net, isForDisplay: isForDisplay)
    var (index, old, new) = (0, [Field](), [Field]())
    while let row = try net.nextDifference(from: &index, &old, &new) {
      guard row.hasKey else { throw PatchError(reason: .noKey(table: layout.table)) }
      try writer.append(row, old, new)
    }
    let columns = writer.columns.map { layout.columns[$0] }
    self.init(
      name: layout.table, keyPositions: columns.map { UInt8(clamping: $0.keyPosition) },
      columns: columns.map(\.name), rows: writer.rows)
  }
}

/// A writer that encodes rows of a patch into one shared array of bytes.
private struct RowWriter {
  private let layout: TableLayout
  private let cursor: ChangesetCursor
  private let isForDisplay: Bool
  /// The indexes of the table columns that the patch includes.
  let columns: [Int]
  private let isKey: [Bool]
  private var bytes: [UInt8] = []
  private var starts: [Int] = []
  /// The indexes of the columns that the current row changes.
  private var changed: [Int] = []
  /// The range of the recording to copy next. Adjacent values are copied together.
  private var pending = 0..<0

  init(_ net: NetRows, isForDisplay: Bool) {
    layout = net.layout
    cursor = net.cursor
    self.isForDisplay = isForDisplay
    columns = layout.columns.indices.filter { [layout] in !layout.columns[$0].isGenerated }
    isKey = layout.columns.map { $0.keyPosition > 0 }
  }

  /// Appends a row unless it differs only in generated columns.
  mutating func append(_ row: NetRows.Row, _ old: [Field], _ new: [Field]) throws(PatchError) {
    let start = bytes.count
    switch (row.old, row.new) {
    case (_?, nil):
      begin(.delete, row)
      for column in columns { try append(old[column], column) }
    case (nil, _?):
      begin(.insert, row)
      for column in columns { try append(new[column], column) }
    case (_?, _?):
      begin(.update, row)
      changed.removeAll(keepingCapacity: true)
      for column in columns {
        let isChanged =
          !isKey[column] && old[column].start != new[column].start
          && !cursor.areSame(old[column], new[column])
        if isChanged { changed.append(column) }
        try append(isChanged || isKey[column] ? old[column] : .undefined, column)
      }
      guard !changed.isEmpty else {
        pending = 0..<0
        bytes.removeLast(bytes.count - start)
        return
      }
      var next = 0
      for column in columns {
        let isChanged = next < changed.count && changed[next] == column
        if isChanged { next += 1 }
        try append(isChanged ? new[column] : .undefined, column)
      }
    case (nil, nil): return
    }
    flush()
    starts.append(start)
  }

  private mutating func begin(_ kind: Patch.Kind, _ row: NetRows.Row) {
    bytes.append(kind.rawValue)
    bytes.append(row.isIndirect ? 1 : 0)
  }

  @inline(__always)
  private mutating func append(_ field: Field, _ column: Int) throws(PatchError) {
    guard cursor.isExact(field) else { return try appendConverted(field, column) }
    if field.start == pending.upperBound {
      pending = pending.lowerBound..<field.content.upperBound
    } else {
      flush()
      pending = field.start..<field.content.upperBound
    }
  }

  @inline(never)
  private mutating func appendConverted(_ field: Field, _ column: Int) throws(PatchError) {
    flush()
    switch field.code {
    case FieldCode.undefined: bytes.append(FieldCode.undefined)
    case FieldCode.text:
      guard isForDisplay else {
        throw PatchError(
          reason: .notUTF8(table: layout.table, column: layout.columns[column].name))
      }
      bytes.append(FieldCode.blob)
      pending = field.start + 1..<field.content.upperBound
    default: bytes.append(FieldCode.null)
    }
  }

  private mutating func flush() {
    if !pending.isEmpty { bytes += cursor.bytes[pending] }
    pending = 0..<0
  }

  var rows: [Patch.Row] {
    let ends = starts.dropFirst() + [bytes.count]
    return zip(starts, ends).map { Patch.Row(bytes, $0..<$1, columnCount: columns.count) }
  }
}

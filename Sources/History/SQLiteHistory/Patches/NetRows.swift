package import SQLiteCore

/// The rows of one table that a transaction changed, each once, in the order in which they were changed first.
///
/// The values stay in the bytes of the recording, in which the rows are places.
package struct NetRows {
  /// A row with the places of its values. One without any was inserted and deleted again.
  struct Row {
    /// Where the values before begin; nil if the row is new.
    let old: Int?
    /// Where the values after begin; nil if the row is gone.
    fileprivate(set) var new: Int?
    /// Where the values begin that the last change has left alone.
    fileprivate(set) var base: Int?
    /// The rowid before, or after if the row is new.
    let rowID: Int64
    /// Whether only triggers and foreign keys have changed it.
    fileprivate(set) var isIndirect: Bool
    /// Whether a declared key identifies it, which VACUUM keeps.
    let hasKey: Bool
  }

  /// A row is told by its key; where that has a NULL, or none is declared, by its rowid.
  private enum Identity: Hashable {
    case integer(Int64)
    case key([UInt8])
    case rowID(Int64)

    var isKey: Bool {
      if case .rowID = self { false } else { true }
    }
  }

  let layout: TableLayout
  /// The recording.
  let cursor: FieldCursor
  private let keyColumns: [Int]
  private var rows: [Row] = []
  private var places: [Identity: Int] = [:]
  // The values of the change that is added.
  private var old: [Field] = []
  private var new: [Field] = []

  fileprivate init(_ layout: TableLayout, _ recorded: RecordedRows) {
    self.layout = layout
    keyColumns = layout.keyColumns
    cursor = FieldCursor(recorded.bytes)
  }

  /// Takes a change into account, whose values are next.
  fileprivate mutating func add(
    _ change: RecordedHeader, _ cursor: inout FieldCursor
  ) throws(SQLiteError) {
    guard change.hasValues else { return }
    var before: (place: Int, identity: Identity)?
    if change.kind != .insert {
      let place = cursor.position
      try cursor.places(layout.columns.count, into: &old)
      guard old.allSatisfy(\.isDefined) else { throw cursor.damage("no value") }
      before = (place, identity(old, change.oldRowID))
    }
    guard change.kind != .delete else {
      if let before { remove(before.identity, change, before.place) }
      return
    }
    let place = cursor.position
    try cursor.places(layout.columns.count, into: &new)
    guard new.fill(from: before == nil ? nil : old) else { throw cursor.damage("no value") }
    let identity = identity(new, change.rowID)
    if let before, before.identity != identity { remove(before.identity, change, before.place) }
    let isUpdate = before?.identity == identity
    if let known = self.place(of: identity) {
      rows[known].new = place
      rows[known].base = before?.place
      if !change.isIndirect { rows[known].isIndirect = false }
    } else {
      rows.append(
        Row(
          old: isUpdate ? before?.place : nil, new: place, base: before?.place,
          rowID: isUpdate ? change.oldRowID : change.rowID, isIndirect: change.isIndirect,
          hasKey: identity.isKey))
    }
  }

  private mutating func remove(_ identity: Identity, _ change: RecordedHeader, _ place: Int) {
    guard let known = self.place(of: identity) else {
      rows.append(
        Row(
          old: place, new: nil, base: nil, rowID: change.oldRowID, isIndirect: change.isIndirect,
          hasKey: identity.isKey))
      return
    }
    rows[known].new = nil
    if rows[known].old == nil {
      places[identity] = nil
    } else if !change.isIndirect {
      rows[known].isIndirect = false
    }
  }

  /// Returns the index of a row; nil for one that the caller appends.
  private mutating func place(of identity: Identity) -> Int? {
    func value(_ place: inout Int) -> Int { place }
    let next = rows.count
    let place = value(&places[identity, default: next])
    return place == next ? nil : place
  }

  private func identity(_ fields: [Field], _ rowID: Int64) -> Identity {
    if keyColumns.count == 1, let integer = cursor.integer(fields[keyColumns[0]]) {
      return .integer(integer)
    }
    var key: [UInt8] = []
    for column in keyColumns {
      let field = fields[column]
      if field.code == FieldCode.null || cursor.isNotANumber(field) { return .rowID(rowID) }
      key += cursor.bytes[field.range]
    }
    return key.isEmpty ? .rowID(rowID) : .key(key)
  }

  /// Finds the next row that differs, and the places of its values.
  ///
  /// - Parameters:
  ///   - index: Where the search begins, and where the next one does.
  ///   - old: Becomes the values before, if the row was there.
  ///   - new: Becomes the values after, if the row is there.
  /// - Returns: The row; nil at the end.
  func nextDifference(
    from index: inout Int, _ old: inout [Field], _ new: inout [Field]
  ) throws(SQLiteError) -> Row? {
    while index < rows.count {
      let row = rows[index]
      index += 1
      if row.old == nil, row.new == nil { continue }
      try read(row.old, into: &old)
      try read(row.new, into: &new)
      if row.new != nil, let place = row.base {
        if place == row.old {
          _ = new.fill(from: old)
        } else {
          var base: [Field] = []
          try read(place, into: &base)
          _ = new.fill(from: base)
        }
      }
      if row.old == nil || row.new == nil { return row }
      for column in new.indices where !cursor.areSame(old[column], new[column]) { return row }
    }
    return nil
  }

  private func read(_ place: Int?, into fields: inout [Field]) throws(SQLiteError) {
    guard let place else { return }
    var cursor = FieldCursor(cursor.bytes, at: place)
    try cursor.places(layout.columns.count, into: &fields)
  }
}

extension [Field] {
  /// Puts values of the row before into the places that have none.
  ///
  /// - Returns: Whether each place has a value now.
  fileprivate mutating func fill(from before: [Field]?) -> Bool {
    for index in indices where !self[index].isDefined {
      guard let before, before.indices.contains(index) else { return false }
      self[index] = before[index]
    }
    return true
  }
}

extension RecordedRows {
  /// Returns what came of the recorded changes, row by row: an insert and a delete of one key are nothing, or an
  /// update if the delete came first.
  ///
  /// - Parameter isWanted: Whether the rows of a table are wanted.
  /// - Throws: `SQLiteError` if the bytes are damaged.
  /// - Complexity: O(*n*), where *n* is the number of recorded changes.
  package func netRows(
    where isWanted: (TableLayout) -> Bool = { _ in true }
  ) throws -> [NetRows] {
    var groups: [NetRows] = []
    var named: [String: [Int]] = [:]
    let group: [Int?] = layouts.map { layout in
      guard !layout.columns.isEmpty, isWanted(layout) else { return nil }
      let name = asciiLowercased(layout.table)
      if let known = named[name, default: []].first(where: { groups[$0].layout.isSame(as: layout) })
      {
        return known
      }
      named[name, default: []].append(groups.count)
      groups.append(NetRows(layout, self))
      return groups.count - 1
    }
    try forEachHeader(where: { group[$0] != nil }) { header, cursor in
      if let place = group[header.slot] { try groups[place].add(header, &cursor) }
    }
    return groups
  }
}

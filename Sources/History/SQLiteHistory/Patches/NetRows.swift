package import SQLiteCore

/// The net changes that a transaction made to the rows of one table. Each row appears once. The
/// rows are in the order of their first changes.
///
/// The values stay in the bytes of the recording. A row stores their offsets.
package struct NetRows {
  /// A row and the offsets of its values. If `old` and `new` are both nil, the row was inserted and
  /// deleted again.
  struct Row {
    /// The offset of the values before the transaction; nil if the row is new.
    let old: Int?
    /// The offset of the values after the transaction; nil if the row was deleted.
    fileprivate(set) var new: Int?
    /// The offset of the values before the last change if that is an update; nil if it is an
    /// insert. These values supply the unchanged columns, which the values at `new` omit.
    fileprivate(set) var base: Int?
    /// The rowid before the first change of the row, or after that change if the row is new.
    let rowID: Int64
    /// Whether only triggers and foreign key actions changed the row.
    fileprivate(set) var isIndirect: Bool
    /// Whether a declared primary key identifies the row, not only its rowid, which VACUUM may
    /// change.
    let hasKey: Bool
  }

  /// The identity of a row: its primary key, or its rowid if the table declares no key or the key
  /// contains NULL.
  private enum Identity: Hashable {
    case integer(Int64)
    case key([UInt8])
    case rowID(Int64)

    var isKey: Bool {
      if case .rowID = self { false } else { true }
    }
  }

  let layout: TableLayout
  /// A cursor over the bytes of the recording, which contain the values of the rows.
  let cursor: ChangesetCursor
  private let keyColumns: [Int]
  private var rows: [Row] = []
  private var places: [Identity: Int] = [:]
  // The fields of the change that `add` processes, stored to reuse their memory.
  private var old: [Field] = []
  private var new: [Field] = []

  fileprivate init(_ layout: TableLayout, _ recorded: RecordedRows) {
    self.layout = layout
    keyColumns = layout.keyColumns
    cursor = ChangesetCursor(recorded.bytes)
  }

  /// Merges a recorded change into the net changes, and moves the cursor past the values of the
  /// change.
  fileprivate mutating func add(
    _ change: RecordedHeader, _ cursor: inout ChangesetCursor
  ) throws(SQLiteError) {
    guard change.hasValues else { return }
    var before: (place: Int, identity: Identity)?
    if change.kind != .insert {
      let place = cursor.position
      try cursor.places(layout.columns.count, into: &old)
      guard old.allSatisfy(\.isDefined) else { throw cursor.damage("a value is missing") }
      before = (place, identity(old, change.oldRowID))
    }
    guard change.kind != .delete else {
      if let before { remove(before.identity, change, before.place) }
      return
    }
    let place = cursor.position
    try cursor.places(layout.columns.count, into: &new)
    guard new.fill(from: before == nil ? nil : old) else {
      throw cursor.damage("a value is missing")
    }
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

  /// Returns the index in `rows` of the row with an identity. If there is none, registers the next
  /// index for it and returns nil; the caller must append the row.
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

  /// Returns the next row that the transaction has changed, and reads the locations of its values.
  ///
  /// - Parameters:
  ///   - index: The index of the first row to check. It is moved past the returned row.
  ///   - old: Receives the locations of the old values, if the row existed before.
  ///   - new: Receives the locations of the new values, if the row still exists.
  /// - Returns: The row, or nil if no more rows differ.
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
    var cursor = ChangesetCursor(cursor.bytes, at: place)
    try cursor.places(layout.columns.count, into: &fields)
  }
}

extension [Field] {
  /// Replaces undefined fields with the fields of the row before the change.
  ///
  /// - Returns: Whether every field is defined now.
  fileprivate mutating func fill(from before: [Field]?) -> Bool {
    for index in indices where !self[index].isDefined {
      guard let before, before.indices.contains(index) else { return false }
      self[index] = before[index]
    }
    return true
  }
}

extension RecordedRows {
  /// Returns the net changes of the rows of each table. An insert and a later delete of the same
  /// key cancel out. A delete and a later insert of the same key become an update.
  ///
  /// - Parameter isWanted: Returns whether to include the rows of a table.
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

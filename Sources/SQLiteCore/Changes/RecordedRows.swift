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
  /// The columns that the change gives text that is not valid UTF-8, or takes it from: their values are not exact.
  package let inexactColumns: Set<Int>

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
  let bytes: [UInt8]

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
    var cursor = FieldCursor(bytes)
    while !cursor.isAtEnd {
      let header = try RecordedHeader(&cursor)
      guard layouts.indices.contains(header.slot) else { throw cursor.damage("a table") }
      guard isWanted(header.slot) else {
        try cursor.skip(header.valueSize)
        continue
      }
      let layout = layouts[header.slot]
      var old: [Value]?
      var new: [Value]?
      var inexact: Set<Int> = []
      if header.hasValues {
        if header.kind != .insert { old = try cursor.values(layout, instead: nil, &inexact) }
        if header.kind != .delete { new = try cursor.values(layout, instead: old, &inexact) }
      }
      try body(
        RowChange(
          layout: layout, kind: header.kind, isIndirect: header.isIndirect,
          oldRowID: header.oldRowID, rowID: header.rowID, old: old, new: new,
          inexactColumns: inexact))
    }
  }
}

/// What precedes the values of a recorded row. ``ByteLog/beginRow(_:flags:slot:_:_:)`` writes it.
struct RecordedHeader {
  let kind: RowChange.Kind
  private let flags: UInt8
  /// The index of the table's layout.
  let slot: Int
  /// The number of bytes after the header.
  let valueSize: Int
  let oldRowID: Int64
  let rowID: Int64

  var hasValues: Bool { flags & RecordingFlag.hasValues != 0 }
  var isIndirect: Bool { flags & RecordingFlag.isIndirect != 0 }

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

/// The first byte of a value in a changeset, of SQLite's session extension
/// (<https://www.sqlite.org/session/intro.html>).
package enum FieldCode {
  /// No value: the column has not changed.
  package static let undefined: UInt8 = 0
  package static let integer: UInt8 = 1
  package static let real: UInt8 = 2
  package static let text: UInt8 = 3
  package static let blob: UInt8 = 4
  package static let null: UInt8 = 5
}

extension [UInt8] {
  /// Appends a number as ``FieldCursor/varint()`` reads it.
  package mutating func append(varint number: UInt64) {
    var groups: [UInt8] = []
    var rest = number
    if rest >> 56 != 0 {
      groups.append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
      for _ in 0..<8 {
        groups.append(UInt8(rest & 0x7f) | 0x80)
        rest >>= 7
      }
    } else {
      repeat {
        groups.append(UInt8(rest & 0x7f) | (groups.isEmpty ? 0 : 0x80))
        rest >>= 7
      } while rest > 0
    }
    self += groups.reversed()
  }
}

/// Reads changesets and their like, byte by byte: whatever they hold, nothing is read beyond their end, and
/// nothing is allocated that is greater than what is there.
package struct FieldCursor: Sendable {
  private let bytes: [UInt8]
  /// The index of the next byte.
  package private(set) var position = 0

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  package var isAtEnd: Bool { position == bytes.count }

  /// The number of bytes that are left.
  package var left: Int { bytes.count - position }

  /// The error for bytes that do not make sense.
  @inline(never)
  package func damage(_ part: String) -> SQLiteError {
    SQLiteError(.corrupt, "the changeset is damaged at byte \(position): \(part)")
  }

  package mutating func byte() throws(SQLiteError) -> UInt8 {
    guard position < bytes.count else { throw damage("it ends too soon") }
    defer { position += 1 }
    return bytes[position]
  }

  /// Passes over bytes.
  package mutating func skip(_ count: Int) throws(SQLiteError) {
    guard count >= 0, count <= left else { throw damage("it ends too soon") }
    position += count
  }

  package mutating func bigEndian<Integer: FixedWidthInteger & UnsignedInteger>(
    as type: Integer.Type
  ) throws(SQLiteError) -> Integer {
    guard left >= MemoryLayout<Integer>.size else { throw damage("it ends too soon") }
    var result: Integer = 0
    for _ in 0..<MemoryLayout<Integer>.size {
      result = result << 8 | Integer(bytes[position])
      position += 1
    }
    return result
  }

  /// Reads a number of one to nine bytes, the first ones first, seven bits in each but the ninth.
  package mutating func varint() throws(SQLiteError) -> UInt64 {
    var result: UInt64 = 0
    for index in 0..<9 {
      let next = try byte()
      if index == 8 { return result << 8 | UInt64(next) }
      result = result << 7 | UInt64(next & 0x7f)
      if next < 0x80 { break }
    }
    return result
  }

  /// Reads a name that ends with a NUL.
  package mutating func name() throws(SQLiteError) -> String {
    guard let end = bytes[position...].firstIndex(of: 0) else { throw damage("a name without end") }
    guard let name = text(position..<end) else { throw damage("a name that is not UTF-8") }
    position = end + 1
    return name
  }

  /// Reads bytes after their count.
  fileprivate mutating func counted() throws(SQLiteError) -> Range<Int> {
    let count = try varint()
    guard count <= UInt64(left) else {
      throw damage("a value of \(count) bytes, of which \(left) are there")
    }
    defer { position += Int(count) }
    return position..<position + Int(count)
  }

  fileprivate func text(_ range: Range<Int>) -> String? {
    unsafe bytes.withUnsafeBufferPointer { all in
      guard let start = all.baseAddress, !range.isEmpty else { return "" }
      return unsafe SQLiteCore.text(copying: start + range.lowerBound, count: range.count)
    }
  }

  /// Reads a value; nil where there is none, since the column has not changed.
  ///
  /// - Parameter takesAnyText: Whether text that is not UTF-8 comes as a blob, else it is an error.
  package mutating func field(takesAnyText: Bool = false) throws(SQLiteError) -> Value? {
    switch try byte() {
    case FieldCode.undefined: return nil
    case FieldCode.integer: return .integer(Int64(bitPattern: try bigEndian(as: UInt64.self)))
    case FieldCode.real:
      let real = Double(bitPattern: try bigEndian(as: UInt64.self))
      // SQLite has no other value for what is not a number.
      return real.isNaN ? .null : .real(real)
    case FieldCode.text:
      let range = try counted()
      if let text = text(range) { return .text(text) }
      guard takesAnyText else { throw damage("a text that is not UTF-8") }
      return .blob(copy(range))
    case FieldCode.blob: return .blob(copy(try counted()))
    case FieldCode.null: return .null
    default:
      position -= 1
      throw damage("an unknown kind of value")
    }
  }

  /// Passes over values, and returns their places.
  mutating func fields(_ count: Int) throws(SQLiteError) -> [Range<Int>] {
    var fields: [Range<Int>] = []
    fields.reserveCapacity(count)
    for _ in 0..<count {
      let start = position
      switch try byte() {
      case FieldCode.undefined, FieldCode.null: break
      case FieldCode.integer, FieldCode.real: try skip(8)
      case FieldCode.text, FieldCode.blob: _ = try counted()
      default: throw damage("an unknown kind of value")
      }
      fields.append(start..<position)
    }
    return fields
  }

  private func copy(_ range: Range<Int>) -> [UInt8] {
    unsafe bytes.withUnsafeBytes { all in
      unsafe copiedBytes(all.baseAddress.map { unsafe $0 + range.lowerBound }, count: range.count)
    }
  }

  /// Reads the values of a row, those without one from another row.
  ///
  /// - Parameters:
  ///   - layout: The table.
  ///   - instead: The row before the change.
  ///   - inexact: The columns of that row with text that is not UTF-8. Those of this row are added, and those that have not
  ///     changed are removed, except in the key.
  fileprivate mutating func values(
    _ layout: TableLayout, instead: [Value]?, _ inexact: inout Set<Int>
  ) throws(SQLiteError) -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(layout.columns.count)
    for index in layout.columns.indices {
      let isText = !isAtEnd && bytes[position] == FieldCode.text
      if let value = try field(takesAnyText: true) {
        if isText, case .blob = value { inexact.insert(index) }
        values.append(value)
      } else {
        guard let instead, instead.indices.contains(index) else { throw damage("no value") }
        values.append(instead[index])
        if !inexact.isEmpty, !layout.keyColumns.contains(index) { inexact.remove(index) }
      }
    }
    return values
  }
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

extension FieldCursor {
  /// Reads a text after the number of its bytes.
  fileprivate mutating func countedText() throws(SQLiteError) -> String {
    let range = try counted()
    guard let text = text(range) else { throw damage("a name that is not UTF-8") }
    return text
  }
}

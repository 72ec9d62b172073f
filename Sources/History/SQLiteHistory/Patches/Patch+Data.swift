public import Essentials
public import SQLiteCore

extension Patch {
  /// Reads a changeset, as ``data`` or SQLite's session extension makes it (`sqlite3session_changeset`).
  ///
  /// Every byte is checked, and nothing is allocated that is not there: the data may come from anybody.
  ///
  /// - Parameter data: The changeset.
  /// - Throws: `SQLiteError` with `ResultCode.corrupt` if it is damaged, with the place; with `ResultCode.misuse` if it is a
  ///   patchset, which cannot be undone and does not notice conflicts.
  public init(data: Data) throws(SQLiteError) {
    var cursor = FieldCursor([UInt8](data))
    var tables: [Table] = []
    var table: Table?
    while !cursor.isAtEnd {
      switch try cursor.byte() {
      case Code.table:
        if let table { tables.append(table) }
        table = try Table(header: &cursor)
      case Code.patchset:
        throw SQLiteError(
          .misuse,
          "the data is a patchset, which lacks the values before: ask the other program for a changeset"
        )
      case let code:
        guard let kind = Kind(rawValue: code), let columns = table?.keyPositions else {
          throw cursor.damage("no kind of change")
        }
        table?.rows.append(try Row(kind, columns, &cursor))
      }
    }
    if let table { tables.append(table) }
    self.init(tables: tables)
  }

  /// The patch as a changeset of SQLite's session extension, which `sqlite3changeset_apply` and its like read.
  ///
  /// The names of the columns are not in it, so that a copy whose columns have other places is not noticed:
  /// encode the patch itself to keep them.
  ///
  /// - Complexity: O(*n*), where *n* is the size of all values.
  public var data: Data {
    var writer = ChangesetWriter()
    for table in tables where !table.rows.isEmpty {
      writer.bytes.append(Code.table)
      writer.bytes.append(varint: UInt64(table.keyPositions.count))
      writer.bytes += table.keyPositions
      writer.bytes += table.name.utf8
      writer.bytes.append(0)
      for row in table.rows {
        writer.bytes.append(row.kind.rawValue)
        writer.bytes.append(row.isIndirect ? 1 : 0)
        if row.kind != .insert { for value in row.old { writer.append(value) } }
        if row.kind != .delete { for value in row.new { writer.append(value) } }
      }
    }
    return Data(writer.bytes)
  }

  fileprivate enum Code {
    static let table = UInt8(ascii: "T")
    static let patchset = UInt8(ascii: "P")
    /// More than any table has (`SQLITE_MAX_COLUMN`).
    static let mostColumns = 65_536
  }
}

extension Patch.Table {
  fileprivate init(header cursor: inout FieldCursor) throws(SQLiteError) {
    let count = try cursor.varint()
    guard count > 0, count <= Patch.Code.mostColumns, count <= cursor.left else {
      throw cursor.damage("a table of \(count) columns")
    }
    var positions: [UInt8] = []
    for _ in 0..<Int(count) { positions.append(try cursor.byte()) }
    guard positions.contains(where: { $0 != 0 }) else {
      throw cursor.damage("a table without a primary key")
    }
    let name = try cursor.name()
    guard !name.isEmpty else { throw cursor.damage("a table without a name") }
    self.init(name: name, keyPositions: positions, columns: nil, rows: [])
  }
}

extension Patch.Row {
  fileprivate init(
    _ kind: Patch.Kind, _ keys: [UInt8], _ cursor: inout FieldCursor
  ) throws(SQLiteError) {
    let flag = try cursor.byte()
    guard flag <= 1 else { throw cursor.damage("a change that is neither direct nor indirect") }
    // Each value takes a byte at least.
    guard cursor.left >= keys.count * (kind == .update ? 2 : 1) else {
      throw cursor.damage("it ends too soon")
    }
    let nothing = [Value?](repeating: nil, count: keys.count)
    var old = nothing
    var new = nothing
    if kind != .insert { for column in keys.indices { old[column] = try cursor.field() } }
    if kind != .delete { for column in keys.indices { new[column] = try cursor.field() } }
    for column in keys.indices {
      let isKey = keys[column] != 0
      switch kind {
      case .insert, .delete:
        guard let value = kind == .insert ? new[column] : old[column], !(isKey && value.isNull)
        else {
          throw cursor.damage("a row without a value")
        }
      case .update:
        if isKey {
          guard let value = old[column], !value.isNull else {
            throw cursor.damage("an update without a primary key")
          }
          guard new[column] == nil || new[column] == value else {
            throw cursor.damage("an update of a primary key")
          }
          new[column] = nil
        } else if new[column] == nil {
          old[column] = nil
        } else if old[column] == nil {
          throw cursor.damage("an update without the value before")
        }
      }
    }
    self.init(kind, isIndirect: flag == 1, old: old, new: new)
  }
}

/// Writes a changeset.
private struct ChangesetWriter {
  var bytes: [UInt8] = []

  private mutating func append(bigEndian number: UInt64) {
    for shift in stride(from: 56, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
    }
  }

  mutating func append(_ value: Value?) {
    switch value {
    case nil: bytes.append(FieldCode.undefined)
    case .integer(let integer):
      bytes.append(FieldCode.integer)
      append(bigEndian: UInt64(bitPattern: integer))
    case .real(let real):
      bytes.append(FieldCode.real)
      append(bigEndian: real.bitPattern)
    case .text(let text):
      bytes.append(FieldCode.text)
      bytes.append(varint: UInt64(text.utf8.count))
      bytes += text.utf8
    case .blob(let blob):
      bytes.append(FieldCode.blob)
      bytes.append(varint: UInt64(blob.count))
      bytes += blob
    case .null: bytes.append(FieldCode.null)
    }
  }
}

extension Patch: Codable {
  private enum CodingKeys: CodingKey {
    case data
    case columns
  }

  /// Decodes a patch with the names of its columns, which ``data`` lacks.
  ///
  /// - Throws: `DecodingError`, also if they do not fit the changeset; `SQLiteError` if that is damaged.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    try self.init(data: container.decode(Data.self, forKey: .data))
    let columns = try container.decode([[String]?].self, forKey: .columns)
    guard columns.count == tables.count,
      zip(columns, tables).allSatisfy({ names, table in
        guard let names else { return true }
        let count = table.keyPositions.count
        return names.count == count && Set(names.map(asciiLowercased)).count == count
      })
    else {
      throw DecodingError.dataCorruptedError(
        forKey: .columns, in: container, debugDescription: "the columns are not those of the patch")
    }
    for index in tables.indices { tables[index].columns = columns[index] }
  }

  /// Encodes the patch with the names of its columns.
  ///
  /// - Throws: What `encoder` throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(data, forKey: .data)
    try container.encode(tables.map(\.columns), forKey: .columns)
  }
}

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
    var bytes: [UInt8] = []
    for table in tables where !table.rows.isEmpty {
      bytes.append(Code.table)
      bytes.append(varint: UInt64(table.keyPositions.count))
      bytes += table.keyPositions
      bytes += table.name.utf8
      bytes.append(0)
      for row in table.rows { row.append(to: &bytes) }
    }
    return Data(bytes)
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
    let start = cursor.position - 2
    var old = [Field](repeating: .undefined, count: keys.count)
    var new = old
    if kind != .insert { try cursor.places(keys.count, into: &old) }
    if kind != .delete { try cursor.places(keys.count, into: &new) }
    func isNull(_ field: Field) -> Bool {
      field.code == FieldCode.null || cursor.isNotANumber(field)
    }
    // Whether the bytes are just as this library writes them.
    var isExact = true
    for column in keys.indices {
      let isKey = keys[column] != 0
      let (before, after) = (old[column], new[column])
      guard !cursor.isDamagedText(before), !cursor.isDamagedText(after) else {
        throw cursor.damage("a text that is not UTF-8")
      }
      if cursor.isNotANumber(before) || cursor.isNotANumber(after) { isExact = false }
      switch kind {
      case .insert, .delete:
        let field = kind == .insert ? after : before
        guard field.isDefined, !(isKey && isNull(field)) else {
          throw cursor.damage("a row without a value")
        }
      case .update where isKey:
        guard before.isDefined, !isNull(before) else {
          throw cursor.damage("an update without a primary key")
        }
        if after.isDefined {
          let (before, after) = (try cursor.value(of: before), try cursor.value(of: after))
          guard before == after else { throw cursor.damage("an update of a primary key") }
          isExact = false
          new[column] = .undefined
        }
      case .update:
        if before.isDefined, !after.isDefined { isExact = false }
        if after.isDefined, !before.isDefined {
          throw cursor.damage("an update without the value before")
        }
        if !after.isDefined { old[column] = .undefined }
      }
    }
    if isExact {
      self.init(cursor.bytes, start..<cursor.position, columnCount: keys.count)
    } else {
      func values(_ fields: [Field]) throws(SQLiteError) -> [Value?] {
        try fields.map { field throws(SQLiteError) in try cursor.value(of: field) }
      }
      self.init(kind, isIndirect: flag == 1, old: try values(old), new: try values(new))
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

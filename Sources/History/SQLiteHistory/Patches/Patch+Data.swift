public import Essentials
public import SQLiteCore

extension Patch {
  /// Creates a patch from a changeset: from ``data`` of another patch, or from the output of
  /// SQLite's session extension (`sqlite3session_changeset`). The patch contains no column names.
  ///
  /// You can pass data from an untrusted source. The initializer validates every byte, and a
  /// damaged size never causes a large allocation.
  ///
  /// - Parameter data: The bytes of the changeset.
  /// - Throws: `SQLiteError` with `ResultCode.corrupt` if the data is damaged; the message contains
  ///   the byte offset. With `ResultCode.misuse` if the data is a patchset, which can't be inverted
  ///   and can't be checked for conflicts.
  public init(data: Data) throws(SQLiteError) {
    var cursor = ChangesetCursor([UInt8](data))
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
          "the data is a patchset, which lacks the old values; use a changeset"
        )
      case let code:
        guard let kind = Kind(rawValue: code), let columns = table?.keyPositions else {
          throw cursor.damage("unknown kind of change")
        }
        table?.rows.append(try Row(kind, columns, &cursor))
      }
    }
    if let table { tables.append(table) }
    self.init(tables: tables)
  }

  /// The patch as a changeset of SQLite's session extension, readable by `sqlite3changeset_apply`
  /// and other functions of the extension.
  ///
  /// A changeset contains no column names, so applying it to a table with a different order of
  /// columns isn't detected. To keep the names, encode the patch with `encode(to:)` instead.
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
    /// The maximum number of columns of a table. A changeset with more is rejected as damaged.
    /// SQLite's own limit (`SQLITE_MAX_COLUMN`) is lower.
    static let maximumColumnCount = 65_536
  }
}

extension Patch.Table {
  fileprivate init(header cursor: inout ChangesetCursor) throws(SQLiteError) {
    let count = try cursor.varint()
    guard count > 0, count <= Patch.Code.maximumColumnCount, count <= cursor.left else {
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
    _ kind: Patch.Kind, _ keys: [UInt8], _ cursor: inout ChangesetCursor
  ) throws(SQLiteError) {
    let flag = try cursor.byte()
    guard flag <= 1 else { throw cursor.damage("a change that is neither direct nor indirect") }
    // Each value takes at least one byte.
    guard cursor.left >= keys.count * (kind == .update ? 2 : 1) else {
      throw cursor.damage("the data ends too early")
    }
    let start = cursor.position - 2
    var old = [Field](repeating: .undefined, count: keys.count)
    var new = old
    if kind != .insert { try cursor.places(keys.count, into: &old) }
    if kind != .delete { try cursor.places(keys.count, into: &new) }
    func isNull(_ field: Field) -> Bool {
      field.code == FieldCode.null || cursor.isNotANumber(field)
    }
    // Whether this library would write the same bytes.
    var isExact = true
    for column in keys.indices {
      let isKey = keys[column] != 0
      let (before, after) = (old[column], new[column])
      guard !cursor.isDamagedText(before), !cursor.isDamagedText(after) else {
        throw cursor.damage("a text is not valid UTF-8")
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
          guard before == after else { throw cursor.damage("an update changes a primary key") }
          isExact = false
          new[column] = .undefined
        }
      case .update:
        if before.isDefined, !after.isDefined { isExact = false }
        if after.isDefined, !before.isDefined {
          throw cursor.damage("an update without the old value")
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

  /// Creates a patch from its encoded form, which includes the column names that ``data`` lacks.
  ///
  /// - Parameter decoder: The decoder that contains the encoded patch.
  /// - Throws: `DecodingError` if the encoded form is invalid or the column names don't match the
  ///   changeset; `SQLiteError` if the changeset is damaged or is a patchset; any other error that
  ///   `decoder` throws.
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
        forKey: .columns, in: container, debugDescription: "the columns do not match the patch")
    }
    for index in tables.indices { tables[index].columns = columns[index] }
  }

  /// Encodes the patch as its changeset and the names of its columns.
  ///
  /// - Parameter encoder: The encoder to write to.
  /// - Throws: Any error that `encoder` throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(data, forKey: .data)
    try container.encode(tables.map(\.columns), forKey: .columns)
  }
}

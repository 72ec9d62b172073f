public import SQLiteCore

extension Patch {
  /// A row of a table that differs before and after.
  ///
  /// Its values are read from the bytes of a changeset each time that they are asked for.
  public struct Row: Sendable {
    /// The bytes of a changeset, which rows share.
    private let bytes: [UInt8]
    /// The index of the row's first byte.
    private let start: Int
    /// The number of its bytes.
    let byteCount: Int
    private let columnCount: Int32
    /// Whether the row undoes the one in the bytes.
    private let isInverted: Bool

    /// - Parameters:
    ///   - bytes: The bytes of a changeset.
    ///   - range: The indexes of the row's bytes, which must be valid.
    ///   - columnCount: The number of its columns.
    ///   - isInverted: Whether the row undoes the one in the bytes.
    init(_ bytes: [UInt8], _ range: Range<Int>, columnCount: Int, isInverted: Bool = false) {
      self.bytes = bytes
      start = range.lowerBound
      byteCount = range.count
      self.columnCount = Int32(clamping: columnCount)
      self.isInverted = isInverted
    }

    package init(_ kind: Kind, isIndirect: Bool, old: [Value?], new: [Value?]) {
      var bytes = [kind.rawValue, isIndirect ? 1 : 0]
      if kind != .insert { for value in old { bytes.append(field: value) } }
      if kind != .delete { for value in new { bytes.append(field: value) } }
      self.init(bytes, bytes.indices, columnCount: max(old.count, new.count))
    }

    /// The effect on the row.
    public var kind: Kind {
      let kind = Kind(rawValue: bytes[start]) ?? .update
      guard isInverted else { return kind }
      return switch kind {
      case .insert: .delete
      case .delete: .insert
      case .update: .update
      }
    }

    /// Whether only triggers and foreign keys have changed the row, besides those that somebody changed. A direct change
    /// by a statement that failed also counts if the row has changed otherwise.
    public var isIndirect: Bool { bytes[start + 1] != 0 }

    /// The values before, in the order of the columns. In an update nil stands for a column that has not changed,
    /// except in the key; of an insert all are nil.
    ///
    /// - Complexity: O(*n*), where *n* is the size of the row.
    public var old: [Value?] { values.old }

    /// The values after, in the order of the columns. In an update nil stands for a column that has not changed, and
    /// for those of the key; of a delete all are nil.
    ///
    /// - Complexity: O(*n*), where *n* is the size of the row.
    public var new: [Value?] { values.new }

    /// The values before and after.
    package var values: (old: [Value?], new: [Value?]) {
      var fields = RowFields()
      read(into: &fields)
      return (fields.old.map(fields.value), fields.new.map(fields.value))
    }

    /// The row that undoes this one.
    var inverted: Row {
      Row(
        bytes, start..<start + byteCount, columnCount: Int(columnCount), isInverted: !isInverted)
    }

    /// Finds the values in the bytes.
    func read(into fields: inout RowFields) {
      let code = bytes[start]
      fields.read(
        bytes, at: start + 2, Int(columnCount), hasOld: code != Kind.insert.rawValue,
        hasNew: code != Kind.delete.rawValue)
      if isInverted { fields.invert(isUpdate: code == Kind.update.rawValue) }
    }

    /// Appends the row as a changeset has it.
    func append(to changeset: inout [UInt8]) {
      guard isInverted else {
        changeset += bytes[start..<start + byteCount]
        return
      }
      var fields = RowFields()
      read(into: &fields)
      let kind = kind
      changeset.append(kind.rawValue)
      changeset.append(isIndirect ? 1 : 0)
      for field in (kind == .insert ? [] : fields.old) + (kind == .delete ? [] : fields.new) {
        if field.isDefined {
          changeset += bytes[field.range]
        } else {
          changeset.append(FieldCode.undefined)
        }
      }
    }
  }
}

extension Patch.Row: Hashable {
  /// Returns whether both have the same effect and the same values.
  public static func == (left: Self, right: Self) -> Bool {
    left.kind == right.kind && left.isIndirect == right.isIndirect && left.values == right.values
  }

  /// Feeds the effect and the values to `hasher`.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combine(isIndirect)
    let values = values
    hasher.combine(values.old)
    hasher.combine(values.new)
  }
}

/// The places of the values of a row of a patch.
struct RowFields {
  private(set) var cursor = FieldCursor([])
  private(set) var old: [Field] = []
  private(set) var new: [Field] = []

  fileprivate mutating func read(
    _ bytes: [UInt8], at start: Int, _ count: Int, hasOld: Bool, hasNew: Bool
  ) {
    cursor = FieldCursor(bytes, at: start)
    Self.read(count, hasOld, &cursor, &old)
    Self.read(count, hasNew, &cursor, &new)
  }

  private static func read(
    _ count: Int, _ isThere: Bool, _ cursor: inout FieldCursor, _ fields: inout [Field]
  ) {
    // Rows are made of valid bytes only.
    if isThere, (try? cursor.places(count, into: &fields)) != nil { return }
    fields.removeAll(keepingCapacity: true)
    for _ in 0..<count { fields.append(.undefined) }
  }

  /// Exchanges the values before and after. Those of the key stay before an update.
  fileprivate mutating func invert(isUpdate: Bool) {
    swap(&old, &new)
    guard isUpdate else { return }
    for column in old.indices where !old[column].isDefined {
      old[column] = new[column]
      new[column] = .undefined
    }
  }

  func value(_ field: Field) -> Value? { (try? cursor.value(of: field)) ?? nil }
}

extension [UInt8] {
  /// Appends a value as a changeset has it.
  fileprivate mutating func append(field value: Value?) {
    switch value {
    case nil: append(FieldCode.undefined)
    case .integer(let integer):
      append(FieldCode.integer)
      append(bigEndian: UInt64(bitPattern: integer))
    case .real(let real):
      append(FieldCode.real)
      append(bigEndian: real.bitPattern)
    case .text(let text):
      append(FieldCode.text)
      append(varint: UInt64(text.utf8.count))
      self += text.utf8
    case .blob(let blob):
      append(FieldCode.blob)
      append(varint: UInt64(blob.count))
      self += blob
    case .null: append(FieldCode.null)
    }
  }

  private mutating func append(bigEndian number: UInt64) {
    for shift in stride(from: 56, through: 0, by: -8) {
      append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
    }
  }
}

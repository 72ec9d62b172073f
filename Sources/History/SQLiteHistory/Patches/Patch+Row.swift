public import SQLiteCore

extension Patch {
  /// The change of one row of a table.
  ///
  /// A row decodes its values from the bytes of a changeset at each access.
  public struct Row: Sendable {
    /// The bytes of a changeset, shared by several rows.
    private let bytes: [UInt8]
    /// The index of the row's first byte.
    private let start: Int
    /// The number of the row's bytes.
    package let byteCount: Int
    private let columnCount: Int32
    /// Whether the row is the inverse of the change that the bytes encode.
    private let isInverted: Bool

    /// Creates a row that shares encoded bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of a changeset.
    ///   - range: The range of the row's bytes, which must be valid.
    ///   - columnCount: The number of columns.
    ///   - isInverted: Whether the row is the inverse of the change that the bytes encode.
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

    /// The kind of change: an insert, an update or a delete.
    public var kind: Kind {
      let kind = Kind(rawValue: bytes[start]) ?? .update
      guard isInverted else { return kind }
      return switch kind {
      case .insert: .delete
      case .delete: .insert
      case .update: .update
      }
    }

    /// A Boolean value that indicates whether only triggers and foreign key actions changed the
    /// row.
    ///
    /// It is false if a statement changed the row directly, even if that statement failed and only
    /// an indirect change of the row remains.
    public var isIndirect: Bool { bytes[start + 1] != 0 }

    /// The values before the change, in column order.
    ///
    /// In an update, nil represents an unchanged column; primary key columns always have a value.
    /// In an insert, all elements are nil.
    ///
    /// - Complexity: O(*n*), where *n* is the size of the row.
    public var old: [Value?] { values.old }

    /// The values after the change, in column order.
    ///
    /// In an update, nil represents an unchanged column; primary key columns are always nil. In a
    /// delete, all elements are nil.
    ///
    /// - Complexity: O(*n*), where *n* is the size of the row.
    public var new: [Value?] { values.new }

    /// The values before and after the change.
    package var values: (old: [Value?], new: [Value?]) {
      var fields = RowFields()
      read(into: &fields)
      return (fields.old.map(fields.value), fields.new.map(fields.value))
    }

    /// The row that reverts this one.
    var inverted: Row {
      Row(
        bytes, start..<start + byteCount, columnCount: Int(columnCount), isInverted: !isInverted)
    }

    /// Stores the locations of the row's old and new values in `fields`.
    func read(into fields: inout RowFields) {
      let code = bytes[start]
      fields.read(
        bytes, at: start + 2, Int(columnCount), hasOld: code != Kind.insert.rawValue,
        hasNew: code != Kind.delete.rawValue)
      if isInverted { fields.invert(isUpdate: code == Kind.update.rawValue) }
    }

    /// Appends the encoded row to the bytes of a changeset.
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
  /// Returns a Boolean value that indicates whether two rows have the same kind and values, and are
  /// both direct or both indirect.
  ///
  /// - Parameters:
  ///   - left: A row.
  ///   - right: Another row.
  public static func == (left: Self, right: Self) -> Bool {
    left.kind == right.kind && left.isIndirect == right.isIndirect && left.values == right.values
  }

  /// Hashes the kind, ``isIndirect`` and the values into `hasher`.
  ///
  /// - Parameter hasher: The hasher to feed.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combine(isIndirect)
    let values = values
    hasher.combine(values.old)
    hasher.combine(values.new)
  }
}

/// The locations of the values of a patch's row.
struct RowFields {
  private(set) var cursor = ChangesetCursor([])
  private(set) var old: [Field] = []
  private(set) var new: [Field] = []

  fileprivate mutating func read(
    _ bytes: [UInt8], at start: Int, _ count: Int, hasOld: Bool, hasNew: Bool
  ) {
    cursor = ChangesetCursor(bytes, at: start)
    Self.read(count, hasOld, &cursor, &old)
    Self.read(count, hasNew, &cursor, &new)
  }

  private static func read(
    _ count: Int, _ isThere: Bool, _ cursor: inout ChangesetCursor, _ fields: inout [Field]
  ) {
    // Rows contain only validated bytes, so this doesn't fail.
    if isThere, (try? cursor.places(count, into: &fields)) != nil { return }
    fields.removeAll(keepingCapacity: true)
    for _ in 0..<count { fields.append(.undefined) }
  }

  /// Swaps the old and new values. In an update, key values stay among the old ones.
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
  /// Appends a value in the format of a changeset; nil represents an unchanged column.
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

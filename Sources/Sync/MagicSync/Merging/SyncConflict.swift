public import Essentials
public import SQLiteCore

/// An edit that lost against a concurrent one of another device.
///
/// All devices have the same conflicts. A conflict stays in the store until you acknowledge it.
public struct SyncConflict: Hashable, Sendable, Identifiable {
  /// What happened to the lost edit.
  public enum Kind: Int64, Hashable, Sendable {
    /// Two devices set the same property. The later value is kept.
    case value = 1
    /// A property was set here, and the row was removed there. The row stays removed.
    case changeOfRemoved = 2
    /// A row was changed here, and removed there later. The row stays removed.
    case removalOfChanged = 3
    /// A row was removed here, but another device has made it required. The row is kept.
    case removal = 4
    /// Two devices chose the same unique value. The earlier row keeps it.
    case uniqueValue = 5
    /// Two devices inserted rows with the same primary key. They are one row, with the later values.
    case sameKey = 6
    /// A row references a row that was removed. The reference is now NULL.
    case reference = 7
    /// A row could not be inserted, because a row that it requires was removed, or because a
    /// constraint forbids it.
    case row = 8
  }

  /// The position of a conflict in the order that all devices share.
  public struct ID: Hashable, Sendable {
    let entry: EntryID
    let number: Int64
  }

  /// The identity of the conflict, which is the same on all devices.
  public let id: ID
  /// What happened to the edit.
  public let kind: Kind
  /// The name of the table.
  public let table: String
  /// The primary key of the row.
  public let key: [Value]
  /// The values of the edit that lost, by the names of the columns.
  public let lost: [String: Value]
  /// The values that the row has instead, by the names of the columns. Empty if the row doesn't
  /// exist.
  public let kept: [String: Value]
  /// All values of the row with which ``Sync/restore(_:)`` inserts it again; empty if the row
  /// exists.
  let row: [String: Value]
  /// SQLite's message if a constraint rejected the edit; nil otherwise.
  public let message: String?

  /// The time of the later one of the two edits, by the clock of its device.
  public var date: Date { id.entry.time.date }

  init(
    _ kind: Kind, _ table: String, _ key: [Value], lost: [String: Value],
    kept: [String: Value] = [:], row: [String: Value] = [:], message: String? = nil,
    id: ID = ID(entry: EntryID(time: .zero, device: ""), number: 0)
  ) {
    self.kind = kind
    self.table = table
    self.key = key
    self.lost = lost
    self.kept = kept
    self.row = row
    self.message = message
    self.id = id
  }
}

extension SyncConflict: CustomStringConvertible {
  /// A description with the table and the columns. It contains no values, which may be private.
  public var description: String {
    let columns = lost.keys.sorted().joined(separator: ", ")
    return switch kind {
    case .value: "“\(table)”: a later value replaced \(columns)"
    case .changeOfRemoved: "“\(table)”: a removed row was changed in \(columns)"
    case .removalOfChanged: "“\(table)”: a changed row was removed"
    case .removal: "“\(table)”: a row could not be removed, because another one requires it"
    case .uniqueValue: "“\(table)”: \(columns) has a unique value that another row already has"
    case .sameKey: "“\(table)”: two rows with the same key became one; \(columns) differed"
    case .reference: "“\(table)”: \(columns) referenced a removed row"
    case .row:
      "“\(table)”: a row could not be inserted: \(message ?? "a row that it requires was removed")"
    }
  }
}

// Storage.
extension SyncConflict {
  /// The conflict without its id.
  var content: [UInt8] {
    var writer = ByteWriter()
    writer.append(kind.rawValue)
    writer.append(table)
    writer.append(Int64(key.count))
    for value in key { writer.append(value) }
    for values in [lost, kept, row] {
      writer.append(Int64(values.count))
      for (name, value) in values.sorted(by: { $0.key < $1.key }) {
        writer.append(name)
        writer.append(value)
      }
    }
    writer.append(message ?? "")
    return writer.bytes
  }

  init(_ content: [UInt8], id: ID) throws {
    var reader = ByteReader(content)
    guard let kind = Kind(rawValue: try reader.number()) else {
      throw SQLiteError(.corrupt, "a conflict of the sync is corrupt")
    }
    self.kind = kind
    self.id = id
    table = try reader.text()
    var key: [Value] = []
    for _ in 0..<(try reader.count()) { key.append(try reader.value()) }
    self.key = key
    func values() throws -> [String: Value] {
      var values: [String: Value] = [:]
      for _ in 0..<(try reader.count()) {
        let name = try reader.text()
        values[name] = try reader.value()
      }
      return values
    }
    lost = try values()
    kept = try values()
    row = try values()
    let message = try reader.text()
    self.message = message.isEmpty ? nil : message
  }
}

extension SyncConflict {
  /// The SQL condition that a conflict of `magicdata_sync_conflict` hasn't been acknowledged.
  private static let isOpen: SQL =
    "NOT EXISTS (SELECT 1 FROM main.magicdata_sync_acknowledged AS a WHERE a.time = c.time AND a.device = c.device AND a.content = c.content)"

  static func count(_ connection: Connection) throws -> Int {
    try connection.firstRow(
      "SELECT count(*) FROM main.magicdata_sync_conflict AS c WHERE \(isOpen)", as: Int.self) ?? 0
  }

  /// Returns the conflicts that haven't been acknowledged, in the order of their entries.
  static func all(_ connection: Connection) throws -> [SyncConflict] {
    try connection.rows(
      """
      SELECT time, device, number, content FROM main.magicdata_sync_conflict AS c
      WHERE \(isOpen) ORDER BY time, device, number
      """, as: Int64.self, String.self, Int64.self, [UInt8].self
    ).map { time, device, number, content in
      try SyncConflict(
        content,
        id: ID(entry: EntryID(time: SyncTime(bits: time), device: device), number: number))
    }
  }
}

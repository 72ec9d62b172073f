public import Essentials
public import SQLiteCore

/// An edit that lost against a concurrent one of another device.
///
/// All devices find the same conflicts. A conflict stays in a store until you acknowledge it there
/// with ``Sync/acknowledge(_:)`` or ``Sync/restore(_:)``.
///
/// ``table`` and ``key`` identify the row. The row of an object is in the table of its type, and its
/// key is the `z_index` of the object. The link table of a property that is a collection is named
/// after the type and the property, for example `Island_people`. Its rows are the links: the
/// `owner`, the `target`, and the `position` in a list or the `key` in a dictionary. If the
/// contents of an asset were replaced on two devices, the table is `magicdata_asset`.
public struct SyncConflict: Hashable, Sendable, Identifiable {
  /// What happened to the lost edit.
  public enum Kind: Int64, Hashable, Sendable {
    /// Two devices set the same property, or moved the same link of a list. The later value is
    /// kept.
    case value = 1
    /// A row was changed that another device had removed. The row stays removed.
    case changeOfRemoved = 2
    /// A row was removed that another device had changed, or to which it had added rows. The row
    /// stays removed.
    case removalOfChanged = 3
    /// A row was removed, but another device has made it required. The row is kept.
    case removal = 4
    /// Two devices chose the same unique value. The row that has it first keeps it.
    case uniqueValue = 5
    /// Two devices inserted rows with the same primary key or the same natural key. They are one row,
    /// with the later values.
    case sameKey = 6
    /// A row references a row that another device has removed. The reference is now NULL.
    case reference = 7
    /// A row could not be inserted, because a row that it requires was removed, or because a
    /// constraint forbids it.
    case row = 8
    /// A constraint forbids a value together with those that other devices have set. The row keeps
    /// its value.
    case constraint = 9
  }

  /// The position of a conflict in the order that all devices share.
  public struct ID: Hashable, Sendable {
    let entry: EntryID
    let number: Int64
  }

  /// The identity of the conflict.
  public let id: ID
  /// What happened to the edit.
  public let kind: Kind
  /// The name of the table.
  public let table: String
  /// The primary key of the row, in the order of the key's columns.
  public let key: [Value]
  /// The values of the edit that lost, by the names of the columns. Empty for
  /// ``Kind/removal``.
  public let lost: [String: Value]
  /// The values that the row has instead, by the names of the columns. Empty if the row doesn't
  /// exist.
  public let kept: [String: Value]
  /// All values of the row with which ``Sync/restore(_:)`` inserts it again. Empty if the row
  /// exists, unless it is a moved link.
  var row: [String: Value]
  /// The rows of the assets that ``row`` or ``lost`` contain and that were removed.
  var assets: [[String: Value]] = []
  /// SQLite's description of the constraint that rejected the edit; nil if there is none. It
  /// contains names of tables and columns, but no values.
  public let message: String?

  /// The time of the transaction in which the conflict was found, by the clock of its device. This
  /// is the later one of the two edits.
  public var date: Date { id.entry.time.date }

  /// Whether the conflict is about the content of an asset.
  var isAsset: Bool { asciiLowercased(table) == "magicdata_asset" }

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
    case .constraint: "“\(table)”: a constraint forbids \(columns): \(message ?? "")"
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
    // `holdFiles` searches for the name of the table.
    writer.append(assets.isEmpty ? "" : "magicdata_asset")
    writer.append(Int64(assets.count))
    for values in [lost, kept, row] + assets {
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
    _ = try reader.text()
    let assetCount = try reader.count()
    lost = try values()
    kept = try values()
    row = try values()
    for _ in 0..<assetCount { assets.append(try values()) }
    let message = try reader.text()
    self.message = message.isEmpty ? nil : message
  }
}

extension SyncConflict {
  /// The SQL condition that a conflict of `magicdata_sync_conflict` hasn't been acknowledged.
  private static let isOpen: SQL =
    "NOT EXISTS (SELECT 1 FROM main.magicdata_sync_acknowledged AS a WHERE a.time = c.time AND a.device = c.device AND a.content = c.content)"

  /// Deletes acknowledged conflicts of transactions that can't be applied again.
  static func forgetAcknowledged(_ connection: Connection) throws {
    for (table, condition) in [
      ("magicdata_sync_conflict", "NOT \(isOpen)"), ("magicdata_sync_acknowledged", "1"),
    ] as [(String, SQL)] {
      try connection.executeChange(
        """
        DELETE FROM main.\(identifier: table) AS c WHERE \(condition) AND (time, device) NOT IN (
          SELECT time, device FROM main.magicdata_sync_log)
        """)
    }
  }

  /// Returns the rows of the conflicts that haven't been acknowledged, for a snapshot.
  static func openRows(_ connection: Connection) throws -> [[Value]] {
    try connection.rows(
      "SELECT time, device, number, content FROM main.magicdata_sync_conflict AS c WHERE \(isOpen)",
      as: Value.self, Value.self, Value.self, Value.self
    ).map { [$0, $1, $2, $3] }
  }

  static func count(_ connection: Connection) throws -> Int {
    try connection.firstRow(
      "SELECT count(*) FROM main.magicdata_sync_conflict AS c WHERE \(isOpen)", as: Int.self) ?? 0
  }

  /// Returns the conflicts that haven't been acknowledged, in the order of their entries.
  ///
  /// - Parameters:
  ///   - connection: The connection.
  ///   - withAssets: Whether to return only those that contain rows of assets.
  static func all(
    _ connection: Connection, withAssets: Bool = false
  ) throws -> [SyncConflict] {
    let filter: SQL =
      withAssets ? "instr(content, CAST('magicdata_asset' AS BLOB)) > 0" : "1"
    return try connection.rows(
      """
      SELECT time, device, number, content FROM main.magicdata_sync_conflict AS c
      WHERE \(filter) AND \(isOpen) ORDER BY time, device, number
      """, as: Int64.self, String.self, Int64.self, [UInt8].self
    ).map { time, device, number, content in
      try SyncConflict(
        content,
        id: ID(entry: EntryID(time: SyncTime(bits: time), device: device), number: number))
    }
  }
}

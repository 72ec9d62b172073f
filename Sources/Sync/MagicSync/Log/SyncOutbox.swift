import MagicHistory
import SQLiteAssets
import SQLiteCore
import SQLiteHistory

/// The entries of this device, divided into batches.
struct SyncOutbox {
  let connection: Connection
  let state: SyncState

  init(_ connection: Connection) throws {
    self.connection = connection
    state = try SyncState(connection)
  }

  /// Assigns the entries that belong to no batch to new ones, together with what the device has
  /// received so far. If there are none, assigns a batch without entries if other devices don't know
  /// yet that this device exists, or which batches it has received.
  ///
  /// - Parameters:
  ///   - group: The name of the sync.
  ///   - deviceName: The name of this device, for people.
  func assign(group: String, deviceName: String) throws {
    let peers = SyncPeers(connection)
    var number = state.lastBatch
    let device = state.device
    // A device that is not admitted itself doesn't know whether all others wait for the entries.
    var admitted = state.isAdmitted ? try peers.unannounced() : []
    func insert(clock: SyncTime) throws {
      number += 1
      let head = SyncHead(
        group: group, origin: state.origin ?? device, device: device, deviceName: deviceName,
        number: number, clock: clock, vector: try peers.vector(of: device, number - 1),
        admitted: admitted, removed: try peers.removed(),
        level: try SchemaFit.storedLevel(connection))
      try connection.executeChange(
        "INSERT INTO main.magicdata_sync_batch VALUES (\(number), \(head.bytes), 0)")
      if !admitted.isEmpty {
        try connection.executeChange("UPDATE main.magicdata_sync_device SET isAnnounced = 1")
        admitted = []
      }
      try SyncTables.remove("mustConfirm", connection)
    }
    while state.isAdmitted {
      let entries = try SyncLog.entries(
        where: "device = \(device) AND batch IS NULL", atMost: SyncPass.batchSize, connection)
      guard let last = entries.last else { break }
      try insert(clock: last.id.time)
      try connection.executeChange(
        """
        UPDATE main.magicdata_sync_log SET batch = \(number)
        WHERE device = \(device) AND batch IS NULL AND time <= \(last.id.time.bits)
        """)
    }
    let isUnknown = number == 0 && !state.isAdmitted
    if try isUnknown || !admitted.isEmpty
      || SyncTables.number("mustConfirm", connection) != nil
    {
      try insert(clock: try SyncClock.next(connection))
    }
    if number != state.lastBatch {
      try SyncTables.set("lastBatch", .integer(number), connection)
    }
  }

  /// Returns the numbers of the batches that aren't known to be in the folder.
  func unwritten() throws -> [Int64] {
    try connection.rows(
      "SELECT number FROM main.magicdata_sync_batch WHERE isWritten = 0 ORDER BY number",
      as: Int64.self)
  }

  func markWritten(_ number: Int64) throws {
    try connection.executeChange(
      "UPDATE main.magicdata_sync_batch SET isWritten = 1 WHERE number = \(number)")
  }

  /// Returns the content of a batch, which is the same each time; nil if another process has given
  /// the store a new identity.
  func batch(_ number: Int64) throws -> SyncBatch? {
    guard
      let head = try connection.firstRow(
        "SELECT head FROM main.magicdata_sync_batch WHERE number = \(number)", as: [UInt8].self)
    else { return nil }
    let entries = try SyncLog.entries(
      where: "device = \(state.device) AND batch = \(number)", atMost: .max, connection)
    return SyncBatch(
      head: try SyncHead(stored: head), entries: try entries.map { try $0.entry() })
  }

  /// Marks the batches that the folder lacks, although a device needs them, as not written.
  ///
  /// - Parameters:
  ///   - present: The numbers of this device's batches in the folder.
  ///   - confirmed: The last batch that all devices have.
  ///   - last: The last batch that a snapshot contains.
  /// - Returns: Whether a new device needs some that can't be written again, because their entries
  ///   were deleted.
  func repair(present: Set<Int64>, confirmed: Int64, after last: Int64) throws -> Bool {
    let known = try connection.rows(
      """
      SELECT number FROM main.magicdata_sync_batch WHERE number > \(min(confirmed, last))
      """, as: Int64.self)
    for number in known where !present.contains(number) {
      try connection.executeChange(
        "UPDATE main.magicdata_sync_batch SET isWritten = 0 WHERE number = \(number)")
    }
    guard state.lastBatch > last else { return false }
    let available = present.union(known)
    return (last + 1...state.lastBatch).contains { !available.contains($0) }
  }

  /// Marks the batches as not written whose assets the folder lacks. A device that hadn't received
  /// such a batch may have deleted the content.
  ///
  /// - Parameters:
  ///   - files: The files in the folder.
  ///   - number: The last batch that neither another device nor a new one needs.
  func repairAssets(_ files: SyncListing, after number: Int64) throws {
    guard try connection.tableExists("magicdata_asset_held") else { return }
    let batches = try connection.rows(
      """
      SELECT batch, rows FROM main.magicdata_sync_log
      WHERE device = \(state.device) AND batch > \(number) AND number IN (
        SELECT (-number - 1) / 2 FROM main.magicdata_asset_held WHERE number < 0)
      """, as: Int64.self, [UInt8].self)
    for (batch, rows) in batches {
      let isLost = try Patch(content: rows).addedAssets.contains { asset in
        !files.hasAsset(
          asset.sha256.description, partCount: SyncPass.partCount(ofAssetWithSize: asset.size))
      }
      guard isLost else { continue }
      try connection.executeChange(
        "UPDATE main.magicdata_sync_batch SET isWritten = 0 WHERE number = \(batch)")
    }
  }
}

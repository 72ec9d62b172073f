import Essentials
import SQLiteAssets
import SQLiteCore

/// What this store knows about itself in a sync.
struct SyncState {
  /// The identity of this device.
  let device: String
  /// The device that began the sync, or nil if this one doesn't take part yet.
  let origin: String?
  /// Whether another device has met this one, so that its entries have their final times.
  let isAdmitted: Bool
  /// The number of the last batch that was assigned.
  let lastBatch: Int64

  init(_ connection: Connection) throws {
    guard let device = try SyncTables.text("device", connection) else {
      throw SQLiteError(.corrupt, "the sync of the store has no device")
    }
    self.device = device
    origin = try SyncTables.text("origin", connection)
    isAdmitted = try SyncTables.number("isAdmitted", connection) != nil
    lastBatch = try SyncTables.number("lastBatch", connection) ?? 0
  }
}

/// A device, as far as its files have arrived.
struct SyncPeer: Sendable {
  let device: String
  let name: String
  /// The number of its last batch that was received; 0 if another device has met it.
  let received: Int64
  /// A time before all entries of the device that haven't been received.
  let clock: SyncTime
  /// The last batch without its entries, or nil.
  let head: SyncHead?
  let isRemoved: Bool
}

/// The other devices.
struct SyncPeers {
  let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  func all() throws -> [SyncPeer] {
    try connection.rows(
      """
      SELECT device, name, received, clock, head, isRemoved FROM main.magicdata_sync_device
      ORDER BY device
      """, as: String.self, String.self, Int64.self, Int64.self, [UInt8].self, Bool.self
    ).map { device, name, received, clock, head, isRemoved in
      SyncPeer(
        device: device, name: name, received: try SyncNumber.checked(received),
        clock: SyncTime(bits: try SyncNumber.checked(clock)),
        head: head.isEmpty ? nil : try SyncHead(stored: head), isRemoved: isRemoved)
    }
  }

  /// Returns the number of the last batch that was applied, by device.
  func vector(of own: String, _ lastBatch: Int64) throws -> [String: Int64] {
    var vector = Dictionary(
      try connection.rows(
        "SELECT device, received FROM main.magicdata_sync_device WHERE received > 0",
        as: String.self, Int64.self
      ).map { ($0, try SyncNumber.checked($1)) }, uniquingKeysWith: { $1 })
    vector[own] = lastBatch
    return vector
  }

  /// The devices that no batch of this device mentions yet.
  func unannounced() throws -> [String] {
    try connection.rows(
      "SELECT device FROM main.magicdata_sync_device WHERE isAnnounced = 0 ORDER BY device",
      as: String.self)
  }

  func removed() throws -> [String] {
    try connection.rows(
      "SELECT device FROM main.magicdata_sync_device WHERE isRemoved = 1 ORDER BY device",
      as: String.self)
  }

  /// Records a batch, and the devices that it admits or removes. Does nothing if it is recorded
  /// already.
  ///
  /// - Parameters:
  ///   - batch: The batch.
  ///   - own: The identity of this device.
  /// - Returns: Whether the batch is the next one of its device.
  func receive(_ batch: SyncBatch, own: String) throws -> Bool {
    let head = batch.head
    let received =
      try connection.firstRow(
        "SELECT received FROM main.magicdata_sync_device WHERE device = \(head.device)",
        as: Int64.self)
    guard head.number == (try SyncNumber.checked(received ?? 0)) + 1 else { return false }
    try connection.executeChange(
      """
      INSERT INTO main.magicdata_sync_device
      VALUES (\(head.device), \(head.deviceName), \(head.number), \(head.clock.bits),
        \(head.bytes), \(try SyncDays.count(connection)), 0, 0)
      ON CONFLICT (device) DO UPDATE SET name = excluded.name, received = excluded.received,
        clock = excluded.clock, head = excluded.head, day = excluded.day
      """)
    try storeBase(of: own)
    for device in head.admitted {
      if device == own {
        try SyncTables.set("isAdmitted", .integer(1), connection)
        continue
      }
      try connection.executeChange(
        """
        INSERT INTO main.magicdata_sync_device
        VALUES (\(device), '', 0, \(head.clock.bits), x'', \(try SyncDays.count(connection)), 0, 1)
        ON CONFLICT (device) DO UPDATE SET clock = min(clock, excluded.clock) WHERE received = 0
        """)
    }
    for device in head.removed { try remove(device, own: own) }
    if !batch.entries.isEmpty || !head.admitted.isEmpty {
      try SyncTables.set("mustConfirm", .integer(1), connection)
    }
    return true
  }

  /// Stores what this device knows, as the base of its next entries.
  func storeBase(of own: String) throws {
    var writer = ByteWriter()
    writer.append(try vector(of: own, 0).filter { $0.key != own })
    try SyncTables.set("base", .blob(writer.bytes), connection)
  }

  /// Removes a device from the sync.
  func remove(_ device: String, own: String) throws {
    if device == own { return try SyncTables.set("isRemoved", .integer(1), connection) }
    let change = try connection.executeChange(
      """
      INSERT INTO main.magicdata_sync_device VALUES (\(device), '', 0, 0, x'', 0, 1, 1)
      ON CONFLICT (device) DO UPDATE SET isRemoved = 1 WHERE isRemoved = 0
      """)
    if change.rows > 0 { try SyncTables.set("mustConfirm", .integer(1), connection) }
  }

  /// Removes the devices from which nothing has arrived for a number of days on which this store
  /// was synced.
  func removeSilent(for days: Int64, own: String) throws {
    let last = try SyncDays.count(connection) - days
    let devices = try connection.rows(
      "SELECT device FROM main.magicdata_sync_device WHERE isRemoved = 0 AND day <= \(last)",
      as: String.self)
    for device in devices { try remove(device, own: own) }
  }
}

/// Counts the days on which a store was synced. A clock that is set forward or backward by years
/// counts as one day.
enum SyncDays {
  static func count(_ connection: Connection) throws -> Int64 {
    try SyncTables.number("dayCount", connection) ?? 0
  }

  static func update(_ now: Date, _ connection: Connection) throws {
    let day = max(0, Int64(exactly: (now.timeIntervalSince1970 / 86_400).rounded(.down)) ?? 0)
    guard try SyncTables.number("day", connection) != day else { return }
    try SyncTables.set("day", .integer(day), connection)
    try SyncTables.set("dayCount", .integer(try count(connection) + 1), connection)
  }
}

/// What of the log and the folder no device needs any more.
struct SyncStability: Sendable {
  /// The time that precedes all entries that can still arrive.
  private let stable: SyncTime
  /// The number of the batch that all devices have received, by device.
  let confirmed: [String: Int64]
  /// The removed devices whose files no device will ask for.
  let settled: Set<String>

  init(_ connection: Connection) throws {
    let state = try SyncState(connection)
    let peers = try SyncPeers(connection).all()
    let live = peers.filter { !$0.isRemoved }
    // A removed device counts until all others know that it was removed, since one of them may
    // have received more of its batches, and says so before.
    let settled = Set(
      peers.filter { peer in
        peer.isRemoved && live.allSatisfy { $0.head?.removed.contains(peer.device) ?? false }
      }.map(\.device))
    let counted = peers.filter { !settled.contains($0.device) }
    let unwritten = try SyncOutbox(connection).unwritten().first
    var confirmed = try SyncPeers(connection).vector(
      of: state.device, unwritten.map { $0 - 1 } ?? state.lastBatch)
    for (device, number) in confirmed {
      confirmed[device] = counted.reduce(number) { least, peer in
        min(
          least,
          peer.device == device ? peer.received : peer.head?.vector[device] ?? 0)
      }
    }
    self.confirmed = confirmed
    self.settled = settled
    stable = counted.reduce(try SyncClock.current(connection)) { min($0, $1.clock) }
  }

  /// Deletes the entries of the log that can neither be undone nor conflict with an entry that can
  /// arrive or be undone.
  ///
  /// An entry that all devices have received conflicts with no later one. But an earlier one with
  /// which it conflicts may still be undone and applied again, which needs the values of this one.
  /// The entries are therefore deleted only when everything that existed at the time of the
  /// confirmation is stable.
  func truncate(_ assets: AssetStore, _ connection: Connection) throws {
    var writer = ByteWriter()
    writer.append(confirmed)
    let clock = try SyncClock.current(connection)
    if let cut = try SyncTables.number("cut", connection),
      let content = try SyncTables.content("cutVector", connection)
    {
      guard stable >= SyncTime(bits: cut) else { return }
      var reader = ByteReader(content)
      let own = try SyncState(connection).device
      for (device, number) in try reader.map() {
        try SyncLog.delete(
          where: "device = \(device) AND batch <= \(number) AND isApplied = 1 AND time <= \(cut)",
          assets, connection)
        if device == own {
          try connection.executeChange(
            """
            DELETE FROM main.magicdata_sync_batch WHERE number <= \(number) AND isWritten = 1
            """)
        }
      }
      try SyncConflict.forgetAcknowledged(connection)
      // A pass that finds nothing new writes nothing.
      if content == writer.bytes, SyncTime(bits: cut) == clock { return }
    }
    try SyncTables.set("cutVector", .blob(writer.bytes), connection)
    try SyncTables.set("cut", .integer(clock.bits), connection)
  }
}

import SQLiteCore

/// The entries of this device, divided into batches.
struct SyncOutbox {
  let connection: Connection
  let device: String

  init(_ connection: Connection, _ device: String) {
    self.connection = connection
    self.device = device
  }

  /// Assigns the entries that belong to no batch to new ones, together with what the device has
  /// received so far.
  func assign() throws {
    var number = try SyncTables.number("lastBatch", connection) ?? 0
    let vector = try SyncPeers(connection).vector(of: device)
    while true {
      let entries = try SyncLog.entries(
        where: "device = \(device) AND batch IS NULL", atMost: SyncPass.batchSize, connection)
      guard let last = entries.last else { break }
      number += 1
      try connection.executeChange(
        """
        UPDATE main.magicdata_sync_log SET batch = \(number)
        WHERE device = \(device) AND batch IS NULL AND time <= \(last.id.time.bits)
        """)
      try insert(number, clock: last.id.time, vector)
    }
    try SyncTables.set("lastBatch", .integer(number), connection)
  }

  /// Assigns a batch without entries, which only confirms what the device has received.
  func assignConfirmation() throws {
    let number = (try SyncTables.number("lastBatch", connection) ?? 0) + 1
    try insert(
      number, clock: try SyncClock.next(connection), try SyncPeers(connection).vector(of: device))
    try SyncTables.set("lastBatch", .integer(number), connection)
  }

  private func insert(_ number: Int64, clock: SyncTime, _ vector: [String: Int64]) throws {
    var writer = ByteWriter()
    writer.append(vector)
    try connection.executeChange(
      """
      INSERT INTO main.magicdata_sync_batch (number, clock, vector, isWritten)
      VALUES (\(number), \(clock.bits), \(writer.bytes), 0)
      """)
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

  /// Returns the content of a batch, which is the same each time.
  func batch(_ number: Int64, group: String, deviceName: String) throws -> SyncBatch {
    guard
      let (clock, vector) = try connection.firstRow(
        "SELECT clock, vector FROM main.magicdata_sync_batch WHERE number = \(number)",
        as: Int64.self, [UInt8].self)
    else { throw SQLiteError(.corrupt, "a batch of the sync is missing") }
    var reader = ByteReader(vector)
    let entries = try SyncLog.entries(
      where: "device = \(device) AND batch = \(number)", atMost: .max, connection)
    return SyncBatch(
      group: group, device: device, deviceName: deviceName, number: number,
      clock: SyncTime(bits: clock), vector: try reader.map(),
      entries: entries.map { SyncEntry(id: $0.id, rows: $0.rows) }, removals: [:])
  }
}

/// The other devices, as far as their files have arrived.
struct SyncPeers {
  let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  /// Returns the number of the last batch that was applied, by device. That of `own` is the last
  /// one that was assigned.
  func vector(of own: String) throws -> [String: Int64] {
    var vector = Dictionary(
      try connection.rows(
        "SELECT device, received FROM main.magicdata_sync_device", as: String.self, Int64.self
      ).map { ($0, $1) }, uniquingKeysWith: { $1 })
    vector[own] = try SyncTables.number("lastBatch", connection) ?? 0
    return vector
  }

  /// Records a batch whose entries are in the log. Does nothing if it is recorded already.
  ///
  /// - Returns: Whether the batch is the next one of its device.
  func receive(_ batch: SyncBatch) throws -> Bool {
    let received =
      try connection.firstRow(
        "SELECT received FROM main.magicdata_sync_device WHERE device = \(batch.device)",
        as: Int64.self) ?? 0
    guard batch.number == received + 1 else { return false }
    var writer = ByteWriter()
    writer.append(batch.vector)
    try connection.executeChange(
      """
      INSERT INTO main.magicdata_sync_device (device, name, received, clock, vector)
      VALUES (\(batch.device), \(batch.deviceName), \(batch.number), \(batch.clock.bits),
        \(writer.bytes))
      ON CONFLICT (device) DO UPDATE SET name = excluded.name, received = excluded.received,
        clock = excluded.clock, vector = excluded.vector
      """)
    return true
  }

  /// Returns the time up to which no further entry can arrive: the least clock of all devices.
  func stableTime() throws -> SyncTime? {
    try connection.firstRow(
      "SELECT min(clock) FROM main.magicdata_sync_device WHERE lastBatch IS NULL", as: Int64?.self
    ).flatMap(\.self).map(SyncTime.init(bits:))
  }
}

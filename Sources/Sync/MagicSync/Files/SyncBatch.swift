import SQLiteCore

/// Everything in a batch but its entries.
struct SyncHead: Hashable, Sendable {
  /// The name of the sync.
  let group: String
  /// The device that began the sync. A sync of the same name that another device began is another
  /// one.
  let origin: String
  let device: String
  /// The name of the device, for people.
  let deviceName: String
  let number: Int64
  /// The device's clock when it assigned the batch. Its later entries have later times.
  let clock: SyncTime
  /// The number of the last batch that the device had applied, for each device: the base of the
  /// entries, and the confirmation that the device no longer needs these files.
  let vector: [String: Int64]
  /// The new devices that this one has met. They may send entries with times after ``clock``.
  let admitted: [String]
  /// All devices that were removed, as far as this one knows.
  let removed: [String]
  /// The number of migrations that the device had run. The rows have the resulting schema.
  var level: Int64

  /// The number of batches that the device had applied.
  var batchCount: Int64 { vector.values.reduce(0, &+) }

  var bytes: [UInt8] {
    var writer = ByteWriter()
    append(to: &writer)
    return writer.bytes
  }

  func append(to writer: inout ByteWriter) {
    writer.append(group)
    writer.append(origin)
    writer.append(device)
    writer.append(deviceName)
    writer.append(number)
    writer.append(clock.bits)
    writer.append(vector)
    writer.append(admitted)
    writer.append(removed)
    writer.append(level)
  }

  init(
    group: String, origin: String, device: String, deviceName: String, number: Int64,
    clock: SyncTime, vector: [String: Int64], admitted: [String], removed: [String],
    level: Int64
  ) {
    self.group = group
    self.origin = origin
    self.device = device
    self.deviceName = deviceName
    self.number = number
    self.clock = clock
    self.vector = vector
    self.admitted = admitted
    self.removed = removed
    self.level = level
  }

  /// Reads a head from a table of this device.
  ///
  /// - Throws: `SQLiteError` with `ResultCode.corrupt` if it is damaged.
  init(stored bytes: [UInt8]) throws(SQLiteError) {
    do { try self.init(bytes) } catch {
      throw SQLiteError(.corrupt, "a batch in the tables of the sync is corrupt")
    }
  }

  init(from reader: inout ByteReader) throws {
    group = try reader.text()
    origin = try reader.text()
    device = try reader.text()
    deviceName = try reader.text()
    number = try reader.ordinal()
    clock = SyncTime(bits: try reader.ordinal())
    vector = try reader.map()
    admitted = try reader.texts()
    removed = try reader.texts()
    level = try reader.ordinal()
    guard clock <= .limit else { throw SyncFileFault.damaged }
  }

  init(_ bytes: [UInt8]) throws {
    var reader = ByteReader(bytes)
    try self.init(from: &reader)
  }
}

/// The content of a file with changes of one device.
struct SyncBatch: Sendable {
  let head: SyncHead
  let entries: [SyncEntry]

  var bytes: [UInt8] {
    var writer = ByteWriter()
    head.append(to: &writer)
    writer.append(Int64(entries.count))
    var base: [String: Int64] = [:]
    for entry in entries {
      writer.append(entry.id.time.bits)
      // Consecutive entries usually have the same base.
      writer.append(entry.base == base ? 0 : 1)
      if entry.base != base { writer.append(entry.base) }
      base = entry.base
      writer.append(entry.rows)
    }
    return writer.bytes
  }

  /// Returns whether the other batch has the same entries, perhaps in the schema before or after a
  /// migration.
  func isSame(as other: SyncBatch) -> Bool {
    var head = head
    head.level = other.head.level
    return head == other.head && entries.map(\.id) == other.entries.map(\.id)
  }

  init(head: SyncHead, entries: [SyncEntry]) {
    self.head = head
    self.entries = entries
  }

  /// Reads a batch.
  ///
  /// - Throws: ``SyncFileFault/damaged`` if the bytes aren't a batch, or if the batch contradicts
  ///   itself.
  init(_ bytes: [UInt8]) throws(SyncFileFault) {
    do {
      var reader = ByteReader(bytes)
      head = try SyncHead(from: &reader)
      var entries: [SyncEntry] = []
      var last = SyncTime.zero
      var base: [String: Int64] = [:]
      for _ in 0..<(try reader.count()) {
        let time = SyncTime(bits: try reader.ordinal())
        guard time > last, time <= head.clock else { throw SyncFileFault.damaged }
        last = time
        if try reader.number() == 1 { base = try reader.map() }
        entries.append(
          SyncEntry(
            id: EntryID(time: time, device: head.device), base: base, rows: try reader.content()))
      }
      self.entries = entries
      guard reader.isAtEnd else { throw SyncFileFault.damaged }
    } catch { throw .damaged }
  }
}

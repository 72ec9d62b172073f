import SQLiteCore

/// The content of a file with changes of one device.
struct SyncBatch: Sendable {
  /// The identity of everything that is synced through one folder.
  let group: String
  let device: String
  /// The name of the device, for people.
  let deviceName: String
  let number: Int64
  /// The device's clock when it wrote the batch. Its later entries have later times.
  let clock: SyncTime
  /// The number of the last batch that the device had applied, for each device: the base of the
  /// entries, and the confirmation that the device no longer needs these files.
  let vector: [String: Int64]
  let entries: [SyncEntry]
  /// The devices that this one removes, and the number of the last batch of each that counts.
  let removals: [String: Int64]

  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.append(group)
    writer.append(device)
    writer.append(deviceName)
    writer.append(number)
    writer.append(clock.bits)
    writer.append(vector)
    writer.append(removals)
    writer.append(Int64(entries.count))
    for entry in entries {
      writer.append(entry.id.time.bits)
      writer.append(entry.rows)
    }
    return writer.bytes
  }

  init(
    group: String, device: String, deviceName: String, number: Int64, clock: SyncTime,
    vector: [String: Int64], entries: [SyncEntry], removals: [String: Int64]
  ) {
    self.group = group
    self.device = device
    self.deviceName = deviceName
    self.number = number
    self.clock = clock
    self.vector = vector
    self.entries = entries
    self.removals = removals
  }

  /// Reads a batch.
  ///
  /// - Throws: ``SyncFileFault/damaged`` if the bytes aren't a batch, or if the batch contradicts
  ///   itself.
  init(_ bytes: [UInt8]) throws(SyncFileFault) {
    do {
      var reader = ByteReader(bytes)
      group = try reader.text()
      let device = try reader.text()
      self.device = device
      deviceName = try reader.text()
      number = try reader.number()
      clock = SyncTime(bits: try reader.number())
      vector = try reader.map()
      removals = try reader.map()
      var entries: [SyncEntry] = []
      var last = SyncTime.zero
      for _ in 0..<(try reader.count()) {
        let time = SyncTime(bits: try reader.number())
        guard time > last, time <= clock else { throw SyncFileFault.damaged }
        last = time
        entries.append(
          SyncEntry(id: EntryID(time: time, device: device), rows: try reader.content()))
      }
      self.entries = entries
      guard reader.isAtEnd, clock >= .zero, clock <= .limit else { throw SyncFileFault.damaged }
    } catch { throw .damaged }
  }
}

import Essentials
import MagicHistory
import SQLiteAssets
import SQLiteCore
import SQLiteHistory
import SQLiteObjects

// Taking part.
extension SyncPass {
  /// Makes this device take part in the sync if it doesn't: it begins the sync if the folder
  /// contains no other device's files, or begins with a snapshot of another device.
  ///
  /// - Returns: Whether the device takes part.
  mutating func takePart() async throws -> Bool {
    let state = try await state()
    let best = try await bestSnapshot(of: nil)
    if let origin = state.origin {
      // Devices that didn't see each other's files may have begun the sync several times. All of
      // them continue with the one that the device with the least identity has begun.
      guard let best, best.snapshot.head.origin < origin else { return true }
      let hadContent = try await database.read { try SyncTables.hadContent($0) }
      guard !hadContent || !best.snapshot.hadContent else {
        note(.otherStore(name: best.name.text))
        return true
      }
      return try await begin(with: best.snapshot, keeping: .allRows, renewing: true)
    }
    if let best {
      guard try await !database.read({ try SyncTables.hadContent($0) }) else {
        throw SyncError.storeNotEmpty
      }
      return try await begin(with: best.snapshot, keeping: .ownEntries, renewing: false)
    }
    for name in files.snapshots {
      if let other = try await snapshot(name), belongs(other.head, name, origin: nil) {
        note(.waitsForSnapshot)
        return false
      }
    }
    for (device, numbers) in files.batches {
      let name = SyncFileName.batch(device: device, number: numbers.min() ?? 1)
      let batch = try await read(name) { bytes throws(SyncFileFault) in try SyncBatch(bytes) }
      if let head = batch?.content.head, belongs(head, name, origin: nil) {
        note(.waitsForSnapshot)
        return false
      }
    }
    // It may be a file of another device that isn't complete yet.
    if isUnreadable { return false }
    let assets = assets
    try await write { connection in
      // The snapshot that follows contains what the entries have changed.
      try SyncLog.delete(where: "1", assets, connection)
      let device = try SyncState(connection).device
      try SyncTables.set("origin", .text(device), connection)
      try SyncTables.set("isAdmitted", .integer(1), connection)
    }
    return true
  }

  /// Begins again with a snapshot if another device has removed this one, if another copy of this
  /// store has used its identity, or if no other device has met this one and files that it needs were
  /// deleted.
  ///
  /// - Returns: Whether the device has begun again.
  mutating func beginAgainIfRemoved() async throws -> Bool {
    let device = sync.device
    let copied = try await numberOfCopiedBatch()
    let (state, isMarked, isCopy, received) = try await database.read { connection in
      let state = try SyncState(connection)
      return (
        state, try SyncTables.number("isRemoved", connection) != nil,
        try copied > state.lastBatch || SyncTables.number("isCopy", connection) != nil,
        try SyncPeers(connection).vector(of: device, state.lastBatch)
      )
    }
    let best = try await bestSnapshot(of: state.origin)?.snapshot
    let isRemoved = isMarked || isCopy || best?.head.removed.contains(device) ?? false
    let present = files.batches
    let isBehind =
      !state.isAdmitted
      && best?.head.vector.contains { other, number in
        let next = received[other, default: 0] + 1
        return other != device && number >= next && !(present[other]?.contains(next) ?? false)
      } ?? false
    guard isRemoved || isBehind else { return false }
    guard let best else {
      note(.waitsForSnapshot)
      return false
    }
    let kept = isCopy ? Kept.copiedEntries : .ownEntries
    guard try await begin(with: best, keeping: kept, renewing: isRemoved) else { return false }
    report.problems.removeAll { if case .missingFile = $0 { true } else { false } }
    if isRemoved { note(.startsFromSnapshot(device: device)) }
    return true
  }

  /// Returns the number of the last batch with this device's identity if it isn't this store that
  /// has written it, or 0.
  private mutating func numberOfCopiedBatch() async throws -> Int64 {
    let state = try await state()
    guard let last = files.batches[state.device]?.max(), last > state.lastBatch else { return 0 }
    let name = SyncFileName.batch(device: state.device, number: last)
    let batch = try await read(name) { bytes throws(SyncFileFault) in try SyncBatch(bytes) }
    guard let head = batch?.content.head, head.device == state.device, head.number == last,
      belongs(head, name, origin: state.origin)
    else { return 0 }
    return last
  }

  /// Returns the snapshot that contains most batches, of those whose files are all in the folder.
  ///
  /// - Parameter origin: The device that began the sync. If it is nil, the one with the least
  ///   identity is used.
  mutating func bestSnapshot(
    of origin: String?
  ) async throws -> (name: SyncFileName, snapshot: SyncSnapshot)? {
    var best: (name: SyncFileName, snapshot: SyncSnapshot)?
    for name in files.snapshots.sorted(by: { $0.text < $1.text }) {
      guard let snapshot = try await snapshot(name), belongs(snapshot.head, name, origin: origin),
        (0..<snapshot.partCount).allSatisfy({ files.snapshotParts.contains(name.part($0)) })
      else { continue }
      if let other = best?.snapshot.head {
        let head = snapshot.head
        guard (other.origin, head.batchCount) > (head.origin, other.batchCount) else { continue }
      }
      best = (name, snapshot)
    }
    return best
  }

  private mutating func snapshot(_ name: SyncFileName) async throws -> SyncSnapshot? {
    if let known = sync.snapshot(name) { return known }
    guard
      let found = try await read(
        name,
        as: { bytes throws(SyncFileFault) in
          let snapshot = try SyncSnapshot(bytes)
          guard name == .snapshot(device: snapshot.head.device, number: snapshot.head.number) else {
            throw .damaged
          }
          return snapshot
        })
    else { return nil }
    sync.keep(found.content, name)
    return found.content
  }

  /// What a device keeps that begins with a snapshot.
  enum Kept {
    /// The transactions of this device that the snapshot doesn't contain.
    case ownEntries
    /// The same, with new keys for their new rows, since another copy of this store may have
    /// assigned the same ones.
    case copiedEntries
    /// All rows.
    case allRows
  }

  /// Replaces the synced rows by those of a snapshot, and applies what this device keeps to them.
  ///
  /// - Returns: False, and nothing has changed, if the snapshot can't be used yet.
  private mutating func begin(
    with snapshot: SyncSnapshot, keeping kept: Kept, renewing renews: Bool
  ) async throws -> Bool {
    let download = SyncDownload(assets)
    var parts: [StagedAsset] = []
    let name = SyncFileName.snapshot(device: snapshot.head.device, number: snapshot.head.number)
    var keys: Set<Value> = []
    for part in 0..<snapshot.partCount {
      sync.report(.receiving(done: part, total: snapshot.partCount))
      let tables = sync.tables
      guard
        let (bytes, _) = try await read(
          name.part(part), as: { bytes throws(SyncFileFault) in bytes })
      else { return false }
      switch try SyncSnapshotPart(bytes) {
      case .rows(let patch):
        guard try await isUsable([patch], of: snapshot.head, download) else {
          return false
        }
        keys.formUnion(patch.assetRows.keys)
      case .log(let records):
        let patches = try records.map { try Patch(content: $0.effect ?? $0.rows) }
        let level = snapshot.head.level
        guard
          try await database.read({ try tables.missing(for: patches, from: level, $0) }) == nil
        else { return false }
      }
      parts.append(try await assets.work { try download.stage(bytes) })
    }
    let (tables, assets, device) = (sync.tables, assets, sync.device)
    let (received, allParts) = (download.assets, parts)
    sync.report(.applying)
    let allKeys = keys
    let identity = try await write { connection in
      guard try SyncState(connection).device == device else {
        return try SyncIdentity(connection).current()
      }
      let start = SyncStart(connection, tables, assets)
      try received.adopted(allKeys, in: connection) {
        try SyncRecorder.applying(connection) {
          try start.begin(with: snapshot, allParts, keeping: kept, renewing: renews)
        }
      }
      try SyncConflict.holdFiles(assets, connection, received)
      return try SyncIdentity(connection).current()
    }
    sync.use(identity)
    return true
  }
}

/// Replaces the content of a store by that of a snapshot.
struct SyncStart {
  let connection: Connection
  let tables: SyncedTables
  let assets: AssetStore

  init(_ connection: Connection, _ tables: SyncedTables, _ assets: AssetStore) {
    self.connection = connection
    self.tables = tables
    self.assets = assets
  }

  func begin(
    with snapshot: SyncSnapshot, _ parts: [StagedAsset], keeping kept: SyncPass.Kept,
    renewing renews: Bool
  ) throws {
    try SchemaFit.noticeMigrations(tables, assets, connection)
    let fit = try SchemaFit(from: snapshot.head.level, tables, connection)
    let state = try SyncState(connection)
    let content = SyncContent(connection, tables)
    var own: [[UInt8]] = []
    switch kept {
    case .ownEntries, .copiedEntries:
      let sent = snapshot.head.vector[state.device] ?? 0
      own = try SyncLog.entries(
        where: """
          device = \(state.device) AND (batch IS NULL OR batch > \(sent)
            OR batch IN (SELECT number FROM main.magicdata_sync_batch WHERE isWritten = 0))
          """, atMost: .max, connection
      ).map(\.rows)
    case .allRows:
      var all: [Patch.Table] = []
      try content.forEachPatch(atMost: .max) { all += $0.tables }
      if !all.isEmpty { own = [try Patch(tables: all).content()] }
      try SyncTables.addFormer(state.device, connection)
    }
    let files = try connection.withoutTriggersAndForeignKeys { try content.deleteAll() }
    if kept != .allRows {
      // The conflicts of these entries are found again.
      try connection.executeChange(
        """
        DELETE FROM main.magicdata_sync_conflict
        WHERE (time, device) IN (SELECT time, device FROM main.magicdata_sync_log)
        """)
    }
    try SyncLog.delete(where: "1", assets, connection)
    // A device that keeps its identity keeps the batch with which it has introduced itself.
    for table in ["alias", "device"] + (renews ? ["batch"] : []) {
      try connection.executeChange("DELETE FROM main.\(identifier: "magicdata_sync_\(table)")")
    }
    let oldKeys = try SyncIdentity(connection).current().keys
    if renews { try SyncIdentity(connection).renew() }
    try SyncTables.set("origin", .text(snapshot.head.origin), connection)
    try SyncTables.setHadContent(snapshot.hadContent, connection)
    try SyncClock.advance(to: snapshot.head.clock, connection)
    for part in parts {
      switch try SyncSnapshotPart(part.readAll()) {
      case .rows(let patch):
        _ = try HistoryRecording.apply(fit.fit(patch), connection, checksForeignKeys: false, nil)
      case .log(let records):
        for record in records {
          let held = try Patch(content: record.rows).assetFiles
            .union(record.effect.map { try Patch(content: $0).assetFiles } ?? [])
          try SyncLog.insert(
            fit.fit(record.entry()), batch: record.batch, isApplied: true,
            effect: record.effect.map { try fit.fit($0) }, holding: held, assets, connection)
        }
      }
    }
    try insertPeers(snapshot)
    try fit.convertNames()
    let device = try SyncState(connection).device
    var patches = try own.map { try Patch(content: $0) }
    if kept == .copiedEntries {
      let keys = KeyTranslation(
        patches, from: oldKeys, to: try SyncIdentity(connection).current().keys.lowerBound,
        SyncSchema(connection, tables))
      patches = try patches.map(keys.translated)
    }
    try SyncPeers(connection).storeBase(of: device)
    let base = try SyncTables.base(connection)
    for patch in patches {
      let id = EntryID(time: try SyncClock.next(connection), device: device)
      try SyncLog.insert(
        SyncEntry(id: id, base: base, rows: patch.content()), isApplied: false,
        holding: patch.assetFiles,
        assets, connection)
    }
    try content.settleLocalReferences()
    _ = try Replay(connection: connection, tables: tables, assets: assets).run()
    try assets.markUnreferenced(files, in: connection)
  }

  private func insertPeers(_ snapshot: SyncSnapshot) throws {
    let head = snapshot.head
    let author = SyncPeer(
      device: head.device, name: head.deviceName, received: head.vector[head.device] ?? 0,
      clock: head.clock, head: head, isRemoved: false)
    let day = try SyncDays.count(connection)
    let device = try SyncState(connection).device
    for peer in snapshot.peers + [author] {
      if peer.device == device {
        // The author has met this device. Its entries get times after those of the snapshot.
        try SyncTables.set("isAdmitted", .integer(1), connection)
        continue
      }
      try connection.executeChange(
        """
        INSERT INTO main.magicdata_sync_device
        VALUES (\(peer.device), \(peer.name), \(peer.received), \(peer.clock.bits),
          \(peer.head?.bytes ?? []), \(day), \(peer.isRemoved), 1)
        """)
    }
    for (table, rows) in [("conflict", snapshot.conflicts), ("alias", snapshot.aliases)] {
      for row in rows {
        try connection.executeChange(
          """
          INSERT INTO main.\(identifier: "magicdata_sync_\(table)")
          VALUES (\(SQL(joining: row.map { "\($0)" }, separator: ", "))) ON CONFLICT DO NOTHING
          """)
      }
    }
  }
}

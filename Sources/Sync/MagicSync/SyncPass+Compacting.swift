import Essentials
import MagicHistory
import SQLiteAssets
import SQLiteCore
import SQLiteHistory
import SQLiteObjects

// Deleting what no device needs.
extension SyncPass {
  mutating func compact() async throws {
    let (assets, device, days) = (assets, sync.device, sync.limits.days)
    guard try await state().isAdmitted else { return }
    let (state, stability) = try await write { connection in
      try SyncPeers(connection).removeSilent(for: days, own: device)
      let stability = try SyncStability(connection)
      try stability.truncate(assets, connection)
      return (try SyncState(connection), stability)
    }
    try await restoreAssets()
    var best = try await bestSnapshot(of: state.origin)
    if try await needsSnapshot(best?.snapshot, stability), let new = try await writeSnapshot() {
      try await removeAssets()
      best = new
    }
    guard let best else { return }
    try await removeFiles(stability, state, best)
  }

  /// Returns whether so many files follow a snapshot that this device should write a new one, or
  /// whether a new device couldn't begin with it.
  private func needsSnapshot(
    _ last: SyncSnapshot?, _ stability: SyncStability
  ) async throws -> Bool {
    let vector = last?.head.vector ?? [:]
    let (device, limits) = (sync.device, sync.limits)
    let present = files.batches[device] ?? []
    let files = files
    let (isIncomplete, peers, isOrigin) = try await write { connection in
      try SyncOutbox(connection).repairAssets(
        files, after: min(stability.confirmed[device] ?? 0, vector[device] ?? 0))
      return (
        try SyncOutbox(connection).repair(
          present: present, confirmed: stability.confirmed[device] ?? 0, after: vector[device] ?? 0),
        try SyncPeers(connection).all(), try SyncState(connection).origin == device
      )
    }
    // The device with the least identity writes it. If that one is away, the next one does later.
    let rank = peers.count { !$0.isRemoved && $0.device < device }
    if isIncomplete || last == nil && (isOrigin || rank == 0) { return true }
    let count = files.batches.reduce(0) { sum, batches in
      sum + batches.value.count { $0 > vector[batches.key, default: 0] }
    }
    let least = max(
      limits.batchesPerSnapshot, (last?.byteCount ?? 0) / limits.snapshotBytesPerBatch)
    return count >= least * (1 + rank)
  }

  /// Writes a snapshot of the store.
  ///
  /// - Returns: Nil if transactions of this device follow each other so fast that none could be
  ///   written.
  private mutating func writeSnapshot() async throws -> (SyncFileName, SyncSnapshot)? {
    let number = try await write { connection in
      let number = (try SyncTables.number("lastSnapshot", connection) ?? 0) + 1
      try SyncTables.set("lastSnapshot", .integer(number), connection)
      return number
    }
    let download = SyncDownload(assets)
    let (group, deviceName, device) = (sync.name, sync.deviceName, sync.device)
    let (tables, limits) = (sync.tables, sync.limits)
    for _ in 0..<8 {
      // Everything that the snapshot contains must be in batches.
      try await send()
      let writer = SyncSnapshotWriter(download: download, partSize: limits.partSize)
      let written = try await database.read { connection -> SyncSnapshotWriter.Result? in
        let state = try SyncState(connection)
        guard state.device == device,
          try connection.firstRow(
            """
            SELECT 1 FROM main.magicdata_sync_log WHERE isApplied = 0
              OR (device = \(device) AND batch IS NULL) LIMIT 1
            """) == nil
        else { return nil }
        return try writer.write(number, group: group, deviceName: deviceName, tables, connection)
      }
      guard let (snapshot, parts, contents) = written else { continue }
      try await send()
      for asset in contents { try await send(asset) }
      let name = SyncFileName.snapshot(device: device, number: number)
      for (part, staged) in parts.enumerated() {
        try Task.checkCancellation()
        sync.report(.sending(done: part, total: parts.count))
        let bytes = try await staged.readAll()
        let file = name.part(part)
        _ = try await sync.folder.create(file.text, try sync.format.seal(bytes, as: file))
        files.insert(file)
      }
      _ = try await sync.folder.create(name.text, try sync.format.seal(snapshot.bytes, as: name))
      files.insert(name)
      sync.keep(snapshot, name)
      return (name, snapshot)
    }
    return nil
  }

  /// Deletes the files that all devices have, and that no new device needs.
  private func removeFiles(
    _ stability: SyncStability, _ state: SyncState,
    _ best: (name: SyncFileName, snapshot: SyncSnapshot)
  ) async throws {
    let vector = best.snapshot.head.vector
    let received = try await database.read { connection in
      try SyncPeers(connection).vector(of: state.device, state.lastBatch)
    }
    let former = try await database.read { try SyncTables.formerDevices($0) }
    func isOurs(_ device: String) -> Bool {
      device == state.device || stability.settled.contains(device) || former.contains(device)
    }
    var old: [SyncFileName] = []
    for (device, numbers) in files.batches where isOurs(device) {
      for number in numbers {
        let isNeeded =
          device == state.device
          ? number > min(stability.confirmed[device, default: 0], vector[device, default: 0])
          : !former.contains(device) && number > vector[device, default: 0]
            && number <= received[device, default: 0]
        if !isNeeded { old.append(.batch(device: device, number: number)) }
      }
    }
    let snapshots = files.snapshots.filter { $0 != best.name && isOurs($0.device) }
    old += snapshots
    // Parts without the last file may belong to a snapshot that another process is writing.
    let newest = files.snapshots.filter { $0.device == state.device }.map(\.number).max() ?? 0
    for part in files.snapshotParts where isOurs(part.device) {
      let isPartOfBest = part.device == best.name.device && part.number == best.name.number
      if !isPartOfBest, part.device != state.device || part.number <= newest { old.append(part) }
    }
    for name in old { try await sync.folder.remove(name.text) }
  }

  /// Writes the contents of assets again that the folder has lost. Devices that began the sync
  /// independently may have deleted them before they knew this one.
  private mutating func restoreAssets() async throws {
    guard sync.haveAssetsDisappeared(from: files) else { return }
    let (tables, files) = (sync.tables, files)
    let lost = try await database.read { connection in
      var lost: [AssetFile] = []
      try SyncContent(connection, tables).forEachAsset { asset in
        let count = SyncPass.partCount(ofAssetWithSize: asset.size)
        if !files.hasAsset(asset.sha256.description, partCount: count) { lost.append(asset) }
      }
      return lost
    }
    for asset in lost { try await send(asset) }
  }

  /// Deletes the contents of assets that nothing in this store needs. If another device needs one,
  /// it writes it again.
  private mutating func removeAssets() async throws {
    let (tables, device) = (sync.tables, sync.device)
    // A batch that this device can't apply yet, or that belongs to a sync that another device has
    // begun, may need any asset.
    let received = try await database.read { try SyncPeers($0).vector(of: device, .max) }
    guard files.batches.allSatisfy({ $0.value.max() ?? 0 <= received[$0.key, default: 0] }) else {
      return
    }
    let needed = try await database.read { connection in
      try SyncContent(connection, tables).neededAssets()
    }
    for (digest, parts) in files.assets where !needed.contains(digest) {
      for part in parts {
        try await sync.folder.remove(SyncFileName.asset(digest: digest, part: part).text)
      }
    }
  }
}

/// Writes the parts of a snapshot to files of this store.
struct SyncSnapshotWriter {
  /// The snapshot, its parts, and the assets whose contents it needs.
  typealias Result = (snapshot: SyncSnapshot, parts: [StagedAsset], contents: [AssetFile])

  let download: SyncDownload
  let partSize: Int

  func write(
    _ number: Int64, group: String, deviceName: String, _ tables: SyncedTables,
    _ connection: Connection
  ) throws -> Result {
    var contents: Set<AssetFile> = []
    var parts: [StagedAsset] = []
    func append(_ part: SyncSnapshotPart) throws {
      parts.append(try download.stage(part.content()))
    }
    try SyncContent(connection, tables).forEachPatch(atMost: partSize) { patch in
      contents.formUnion(patch.addedAssets)
      try append(.rows(patch))
    }
    try SyncLog.forEachGroup(atMost: partSize, connection) { records in
      for record in records { contents.formUnion(try Patch(content: record.rows).allAssets) }
      try append(.log(records))
    }
    let state = try SyncState(connection)
    let peers = SyncPeers(connection)
    let head = SyncHead(
      group: group, origin: state.origin ?? state.device, device: state.device,
      deviceName: deviceName, number: number, clock: try SyncClock.current(connection),
      vector: try peers.vector(of: state.device, state.lastBatch), admitted: [],
      removed: try peers.removed(), level: try SchemaFit.storedLevel(connection))
    let aliases = try connection.rows(
      "SELECT name, device, key, target, time, author FROM main.magicdata_sync_alias",
      as: Value.self, Value.self, Value.self, Value.self, Value.self, Value.self
    ).map { [$0, $1, $2, $3, $4, $5] }
    let snapshot = SyncSnapshot(
      head: head, hadContent: try SyncTables.hadContent(connection), peers: try peers.all(),
      conflicts: try SyncConflict.openRows(connection), aliases: aliases, partCount: parts.count,
      byteCount: parts.reduce(0) { $0 + $1.size })
    return (snapshot, parts, Array(contents))
  }
}

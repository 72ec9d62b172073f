import Essentials
import MagicHistory
import SQLiteAssets
import SQLiteCore
import SQLiteHistory
import SQLiteObjects

/// One exchange of a ``Sync`` with its folder.
struct SyncPass {
  /// The size in bytes up to which entries become one file.
  static let batchSize = 1 << 20
  /// The size in bytes of the parts of an asset.
  static let assetPartSize = 4 << 20
  /// The size in bytes of the batches that are read before they are applied.
  private static let readSize = 16 << 20

  let sync: Sync
  private var report = SyncReport()

  init(_ sync: Sync) { self.sync = sync }

  private var database: Database { sync.magic.database }

  /// Runs `body` in a transaction of the store. Its changes of synced rows are recorded only if it
  /// doesn't call ``SyncRecorder/applying(_:_:)``.
  private func write<Result: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    try await sync.magic.database.withoutTransaction { connection in
      try connection.transaction { try body(connection) }
    }
  }

  mutating func run() async throws -> SyncReport {
    // A folder that can't be written may still be read.
    do {
      try await send()
    } catch let failure as SyncFolderFailure { note(failure.problem) }
    do {
      let present = try await sync.folder.list().compactMap { SyncFileName($0) }
      try await receive(present)
      try await confirm()
      try await removeFiles(present)
    } catch let failure as SyncFolderFailure { note(failure.problem) }
    report.conflictCount = try await database.read { try SyncConflict.count($0) }
    return report
  }
}

// Sending.
extension SyncPass {
  /// Assigns this device's new entries to batches, and writes the batches that the folder lacks.
  ///
  /// The assignment is committed before the first file is written, so that a batch has the same
  /// content if writing it has to be repeated.
  private mutating func send() async throws {
    let device = sync.device
    let pending = try await write { connection in
      try SyncOutbox(connection, device).assign()
      return try SyncOutbox(connection, device).unwritten()
    }
    for (index, number) in pending.enumerated() {
      try Task.checkCancellation()
      sync.report(.sending(done: index, total: pending.count))
      let (name, deviceName) = (sync.name, sync.deviceName)
      let batch = try await database.read { connection in
        try SyncOutbox(connection, device).batch(number, group: name, deviceName: deviceName)
      }
      try await sendAssets(of: batch)
      let file = SyncFileName.batch(device: device, number: number)
      _ = try await sync.folder.create(file.text, try sync.format.seal(batch.bytes, as: file))
      try await write { connection in try SyncOutbox(connection, device).markWritten(number) }
      report.sentCount += batch.entries.count
    }
  }

  /// Writes the contents of the assets that a batch adds, in parts.
  private func sendAssets(of batch: SyncBatch) async throws {
    var sent: Set<AssetDigest> = []
    for entry in batch.entries {
      for asset in try Patch(content: entry.rows).addedAssets
      where sent.insert(asset.sha256).inserted {
        try await sendAsset(asset.sha256)
      }
    }
  }

  private func sendAsset(_ digest: AssetDigest) async throws {
    let assets = sync.magic.assets
    let found = try await database.read { connection in
      try connection.firstRow(
        "SELECT id FROM main.magicdata_asset WHERE sha256 = \(digest.bytes) AND content IS NULL",
        as: AssetID.self
      ).map { try assets.open($0, in: connection) }
    }
    // The asset has been replaced since. The batch that replaces it follows.
    guard let reader = found else { return }
    let count = max(1, (reader.record.size + Self.assetPartSize - 1) / Self.assetPartSize)
    for part in 0..<count {
      let name = SyncFileName.asset(digest: digest.description, part: part)
      if try await sync.folder.read(name.text) != nil { continue }
      let bytes = try await reader.read(Self.assetPartSize, at: part * Self.assetPartSize)
      _ = try await sync.folder.create(name.text, try sync.format.seal(bytes, as: name))
    }
  }
}

// Receiving.
extension SyncPass {
  /// Reads the next batches of each device and applies them.
  private mutating func receive(_ present: [SyncFileName]) async throws {
    let device = sync.device
    var numbers: [String: Set<Int64>] = [:]
    for case .batch(let other, let number) in present where other != device {
      numbers[other, default: []].insert(number)
    }
    let total = numbers.values.reduce(0) { $0 + $1.count }
    var done = 0
    var waiting: [String: (batch: SyncBatch, size: Int)] = [:]
    let download = try SyncDownload()
    while true {
      let received = try await database.read { try SyncPeers($0).vector(of: device) }
      var batches: [SyncBatch] = []
      var size = 0
      var reached = received
      var stopped: Set<String> = []
      // A batch is applied after those that its device had, which may be in a later file of another
      // device.
      var isProgress = true
      while isProgress, size < Self.readSize {
        isProgress = false
        for (other, numbers) in numbers.sorted(by: { $0.key < $1.key })
        where !stopped.contains(other) {
          let next = (reached[other] ?? 0) + 1
          let name = SyncFileName.batch(device: other, number: next)
          guard numbers.contains(next) else {
            if numbers.contains(where: { $0 > next }) { note(.missingFile(name: name.text)) }
            stopped.insert(other)
            continue
          }
          sync.report(.receiving(done: done, total: total))
          var found = waiting[other]
          if found?.batch.number != next {
            found = nil
            do {
              found = try await read(name, download)
            } catch let failure as SyncFolderFailure { note(failure.problem) }
          }
          guard let found else {
            stopped.insert(other)
            continue
          }
          waiting[other] = found
          guard found.batch.vector.allSatisfy({ $0 == device || reached[$0, default: 0] >= $1 })
          else { continue }
          batches.append(found.batch)
          reached[other] = next
          size += found.size
          done += 1
          isProgress = true
        }
      }
      for (other, found) in waiting where reached[other, default: 0] < found.batch.number {
        for (third, number) in found.batch.vector
        where third != device && reached[third, default: 0] < number {
          note(
            .missingFile(
              name: SyncFileName.batch(device: third, number: reached[third, default: 0] + 1).text))
        }
      }
      guard !batches.isEmpty else { return }
      sync.report(.applying)
      try await apply(batches, download)
      report.receivedCount += batches.reduce(0) { $0 + $1.entries.count }
    }
  }

  private mutating func note(_ problem: SyncProblem) {
    // Each file of an unreachable folder has an error. One is enough.
    if case .folder = problem, report.folderProblem != nil { return }
    if !report.problems.contains(problem) { report.problems.append(problem) }
  }

  /// Reads a batch. Returns nil if it can't be used yet.
  private mutating func read(
    _ name: SyncFileName, _ download: SyncDownload
  ) async throws -> (batch: SyncBatch, size: Int)? {
    guard case .batch(let device, let number) = name,
      let file = try await sync.folder.read(name.text)
    else { return nil }
    let found: SyncBatch
    do throws(SyncFileFault) {
      let batch = try SyncBatch(sync.format.open(file, as: name))
      guard batch.device == device, batch.number == number else { throw .damaged }
      guard batch.group == sync.name else {
        note(.otherSync(name: name.text))
        return nil
      }
      let ahead = batch.clock.date.timeIntervalSinceNow
      if ahead > 86_400 { note(.wrongClock(device: device, ahead: .seconds(Int64(ahead)))) }
      found = batch
    } catch {
      switch error {
      case .damaged: note(.damagedFile(name: name.text))
      case .newerFormat: note(.newerFormat(name: name.text))
      case .wrongKey: note(.wrongKey(name: name.text))
      }
      return nil
    }
    return try await isUsable(found, download) ? (found, file.count) : nil
  }

  /// Returns whether the store has the tables, columns and assets that a batch needs. Fetches
  /// missing assets.
  private mutating func isUsable(
    _ batch: SyncBatch, _ download: SyncDownload
  ) async throws -> Bool {
    let patches: [Patch]
    do {
      patches = try batch.entries.map { try Patch(content: $0.rows) }
    } catch {
      note(.damagedFile(name: SyncFileName.batch(device: batch.device, number: batch.number).text))
      return false
    }
    let tables = sync.tables
    let missing = try await database.read { connection in
      try tables.missing(for: patches, connection)
    }
    if let missing {
      note(.newerSchema(device: batch.device, table: missing.table, column: missing.column))
      return false
    }
    let assets = sync.magic.assets
    for asset in patches.flatMap(\.addedAssets) {
      if try await database.read({ try assets.has(asset.file, in: $0) }) { continue }
      guard try await download.fetch(asset, from: sync.folder, sync.format) else {
        note(.missingAsset(sha256: asset.sha256.description))
        return false
      }
    }
    return true
  }

  private func apply(_ batches: [SyncBatch], _ download: SyncDownload) async throws {
    let tables = sync.tables
    let assets = sync.magic.assets
    let patches = try batches.flatMap { try $0.entries.map { try Patch(content: $0.rows) } }
    let names = Set(patches.flatMap(\.addedAssets).map(\.file))
    let received = try await assets.work {
      try ReceivedAssets(names, from: download.path, to: assets)
    }
    let rows = patches.map(\.assetRows)
    let keys = rows.reduce(into: Set<Value>()) { $0.formUnion($1.keys) }
    let oldFiles = rows.reduce(into: Set<String>()) { $0.formUnion($1.oldFiles) }
    try await write { connection in
      try received.adopted(keys, in: connection) {
        try SyncRecorder.applying(connection) {
          for batch in batches {
            guard try SyncPeers(connection).receive(batch) else { continue }
            try SyncClock.advance(to: batch.clock, connection)
            for entry in batch.entries {
              try SyncLog.insert(entry, batch: batch.number, connection)
            }
          }
          _ = try Replay(connection: connection, tables: tables).run()
        }
      }
      try assets.markUnreferenced(oldFiles, in: connection)
      try SyncConflict.holdFiles(assets, connection, received)
      withExtendedLifetime(download) {}
    }
  }

  /// Writes a batch without entries if this device has received some since its last batch, so that
  /// others can delete what all devices have.
  private mutating func confirm() async throws {}

  /// Deletes own files that no device needs any more.
  private mutating func removeFiles(_ present: [SyncFileName]) async throws {}
}

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

  let sync: Sync
  var files = SyncListing([])
  var report = SyncReport()
  /// Whether a file is damaged, or can't be opened with the key. A file that something else has
  /// written doesn't count.
  var isUnreadable = false

  init(_ sync: Sync) { self.sync = sync }

  var database: Database { sync.magic.database }
  var assets: AssetStore { sync.magic.assets }

  /// Runs `body` in a transaction of the store. Its changes of synced rows are recorded unless it
  /// calls ``SyncRecorder/applying(_:_:)``.
  func write<Result: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    try await database.writeSeparately(body)
  }

  func state() async throws -> SyncState { try await database.read { try SyncState($0) } }

  mutating func note(_ problem: SyncProblem) {
    // Each file of an unreachable folder has an error. One is enough.
    if case .folder = problem, report.folderProblem != nil { return }
    if !report.problems.contains(problem) { report.problems.append(problem) }
  }

  mutating func run() async throws -> SyncReport {
    let now = sync.limits.now
    let (tables, assets) = (sync.tables, assets)
    let identity = try await write { connection in
      try SchemaFit.noticeMigrations(tables, assets, connection)
      try SyncDays.update(now(), connection)
      return try SyncIdentity(connection).current()
    }
    sync.use(identity)
    do {
      try await exchange()
    } catch let failure as SyncFolderFailure { note(failure.problem) }
    report.conflictCount = try await database.read { try SyncConflict.count($0) }
    return report
  }

  private mutating func exchange() async throws {
    do {
      files = SyncListing(try await sync.folder.list())
    } catch let failure as SyncFolderFailure {
      note(failure.problem)
      // A folder that can't be listed may still be written.
      if try await state().origin != nil { try await send() }
      return
    }
    guard try await takePart() else { return }
    try await receive()
    if try await beginAgainIfRemoved() { try await receive() }
    try await send()
    try await compact()
    if try await !state().isAdmitted { note(.notAdmitted) }
  }

  /// Reads a file of this sync. Returns nil, and reports why, if it can't be used.
  mutating func read<Content>(
    _ name: SyncFileName, as parse: ([UInt8]) throws(SyncFileFault) -> Content
  ) async throws -> (content: Content, size: Int)? {
    guard let file = try await sync.folder.read(name.text) else {
      note(.missingFile(name: name.text))
      return nil
    }
    do throws(SyncFileFault) {
      return (try parse(sync.format.open(file, as: name)), file.count)
    } catch {
      if error != .foreign { isUnreadable = true }
      switch error {
      case .damaged, .foreign: note(.damagedFile(name: name.text))
      case .newerFormat: note(.newerFormat(name: name.text))
      case .wrongKey: note(.wrongKey(name: name.text))
      }
      return nil
    }
  }

  /// Returns whether a file belongs to this sync.
  ///
  /// - Parameter origin: The device that began the sync, or nil if it isn't known yet.
  mutating func belongs(_ head: SyncHead, _ name: SyncFileName, origin: String?) -> Bool {
    guard head.group == sync.name else {
      note(.otherSync(name: name.text))
      return false
    }
    guard origin == nil || head.origin == origin else {
      note(.otherStore(name: name.text))
      return false
    }
    return true
  }

  /// Returns whether the store has the tables, columns and assets that patches need. Fetches
  /// missing assets.
  mutating func isUsable(
    _ patches: [Patch], of head: SyncHead, _ download: SyncDownload
  ) async throws -> Bool {
    let tables = sync.tables
    let missing = try await database.read { connection in
      try tables.missing(for: patches, from: head.level, connection)
    }
    if let missing {
      note(.newerSchema(device: head.device, table: missing.table, column: missing.column))
      return false
    }
    return try await fetch(patches.flatMap(\.addedAssets), download)
  }

  private mutating func fetch(_ added: [AssetFile], _ download: SyncDownload) async throws -> Bool {
    guard !added.isEmpty else { return true }
    let assets = assets
    let missing = try await database.read { connection in
      try added.filter { try !assets.has($0.name.text, in: connection) }
    }
    guard let lost = try await download.fetch(missing, from: sync.folder, sync.format) else {
      return true
    }
    note(.missingAsset(sha256: lost.sha256.description))
    return false
  }
}

// Sending.
extension SyncPass {
  /// Assigns this device's new entries to batches, and writes the batches that the folder lacks.
  ///
  /// The assignment is committed before the first file is written, so that a batch has the same
  /// content if writing it has to be repeated.
  mutating func send() async throws {
    let (group, deviceName) = (sync.name, sync.deviceName)
    let pending = try await write { connection in
      try SyncOutbox(connection).assign(group: group, deviceName: deviceName)
      return try SyncOutbox(connection).unwritten()
    }
    for (index, number) in pending.enumerated() {
      try Task.checkCancellation()
      sync.report(.sending(done: index, total: pending.count))
      guard let batch = try await database.read({ try SyncOutbox($0).batch(number) }) else {
        return
      }
      for entry in batch.entries {
        for asset in try Patch(content: entry.rows).addedAssets { try await send(asset) }
      }
      let name = SyncFileName.batch(device: batch.head.device, number: number)
      if try await !sync.folder.create(name.text, try sync.format.seal(batch.bytes, as: name)),
        let present = try await read(
          name, as: { bytes throws(SyncFileFault) in try SyncBatch(bytes) }),
        !present.content.isSame(as: batch)
      {
        // Another copy of this store has written it.
        try await write { try SyncTables.set("isCopy", .integer(1), $0) }
        return
      }
      files.insert(name)
      try await write { try SyncOutbox($0).markWritten(number) }
      report.sentCount += batch.entries.count
    }
  }

  static func partCount(ofAssetWithSize size: Int) -> Int {
    max(1, (size + assetPartSize - 1) / assetPartSize)
  }

  /// Writes the parts of an asset that the folder lacks, if the store has its content.
  mutating func send(_ asset: AssetFile) async throws {
    let digest = asset.sha256.description
    let count = Self.partCount(ofAssetWithSize: asset.size)
    if files.hasAsset(digest, partCount: count) { return }
    let assets = assets
    let opened = try await assets.work {
      try assets.open(file: asset.name.text, of: asset.id, size: asset.size, sha256: asset.sha256)
    }
    guard let reader = opened else { return }
    for part in 0..<count {
      let name = SyncFileName.asset(digest: digest, part: part)
      if files.assets[digest]?.contains(part) ?? false { continue }
      let bytes = try await reader.read(Self.assetPartSize, at: part * Self.assetPartSize)
      _ = try await sync.folder.create(name.text, try sync.format.seal(bytes, as: name))
      files.insert(name)
    }
  }
}

// Receiving.
extension SyncPass {
  /// The size in bytes of the batches that are read before they are applied.
  private static let readSize = 4 << 20

  /// A batch that can be applied.
  private struct ReadBatch {
    let batch: SyncBatch
    let patches: [Patch]
    let size: Int
    var head: SyncHead { batch.head }
  }

  /// Reads the next batches of each device and applies them.
  mutating func receive() async throws {
    let device = sync.device
    let numbers = files.batches.filter { $0.key != device }
    let total = numbers.values.reduce(0) { $0 + $1.count }
    var done = 0
    var waiting: [String: ReadBatch] = [:]
    let download = SyncDownload(assets)
    while true {
      let (received, removed) = try await database.read { connection in
        (try SyncPeers(connection).vector(of: device, 0), try SyncPeers(connection).removed())
      }
      var batches: [ReadBatch] = []
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
          // Of a removed device, only what others have received counts.
          if removed.contains(other),
            !waiting.values.contains(where: { $0.head.vector[other, default: 0] >= next })
          {
            continue
          }
          guard numbers.contains(next) else {
            if numbers.contains(where: { $0 > next }) {
              note(.missingFile(name: SyncFileName.batch(device: other, number: next).text))
            }
            stopped.insert(other)
            continue
          }
          sync.report(.receiving(done: done, total: total))
          var found = waiting[other]
          if found?.head.number != next {
            found = nil
            // What can be received is applied, even if other files can't be read.
            do {
              found = try await readBatch(of: other, next, download)
            } catch let failure as SyncFolderFailure { note(failure.problem) }
          }
          guard let found else {
            stopped.insert(other)
            continue
          }
          waiting[other] = found
          guard
            found.head.vector.allSatisfy({ $0 == device || reached[$0, default: 0] >= $1 })
          else { continue }
          batches.append(found)
          reached[other] = next
          size += found.size
          done += 1
          isProgress = true
        }
      }
      for (other, found) in waiting where reached[other, default: 0] < found.head.number {
        for (third, number) in found.head.vector
        where third != device && reached[third, default: 0] < number {
          let next = reached[third, default: 0] + 1
          note(.missingFile(name: SyncFileName.batch(device: third, number: next).text))
        }
      }
      guard !batches.isEmpty else { return }
      sync.report(.applying)
      try await apply(batches, download)
      report.receivedCount += batches.reduce(0) { $0 + $1.patches.count }
    }
  }

  /// Reads a batch. Returns nil if it can't be used yet.
  private mutating func readBatch(
    of device: String, _ number: Int64, _ download: SyncDownload
  ) async throws -> ReadBatch? {
    let name = SyncFileName.batch(device: device, number: number)
    guard
      let (batch, size) = try await read(
        name,
        as: { bytes throws(SyncFileFault) in
          let batch = try SyncBatch(bytes)
          guard batch.head.device == device, batch.head.number == number else { throw .damaged }
          return batch
        })
    else { return nil }
    guard belongs(batch.head, name, origin: try await state().origin) else { return nil }
    let ahead = batch.head.clock.date.timeIntervalSince(sync.limits.now())
    if ahead > 86_400 { note(.wrongClock(device: device, ahead: .seconds(Int64(ahead)))) }
    let patches: [Patch]
    do {
      patches = try batch.entries.map { try Patch(content: $0.rows) }
      guard patches.allSatisfy(\.hasValidFileNames) else { throw SyncFileFault.damaged }
    } catch {
      note(.damagedFile(name: name.text))
      return nil
    }
    guard try await isUsable(patches, of: batch.head, download) else { return nil }
    return ReadBatch(batch: batch, patches: patches, size: size)
  }

  private mutating func apply(_ batches: [ReadBatch], _ download: SyncDownload) async throws {
    do {
      try await write(batches, download)
    } catch AssetError.missingFile {
      // Undoing an entry has restored an asset whose content never was in this store.
      let patches = try await database.read { connection in
        try SyncLog.entries(where: "1", atMost: .max, connection).flatMap {
          [try $0.patch(), try $0.change()]
        }
      }
      guard try await fetch(Array(Set(patches.flatMap(\.allAssets))), download) else { return }
      try await write(batches, download)
    }
  }

  private func write(_ batches: [ReadBatch], _ download: SyncDownload) async throws {
    let (tables, assets, device) = (sync.tables, assets, sync.device)
    let all = batches.flatMap(\.patches)
    let received = download.assets
    let rows = all.map(\.assetRows)
    let keys = rows.reduce(into: Set<Value>()) { $0.formUnion($1.keys) }
    let oldFiles = rows.reduce(into: Set<String>()) { $0.formUnion($1.oldFiles) }
    try await write { connection in
      let state = try SyncState(connection)
      guard state.device == device else { return }
      // Applying later entries again can insert rows that they had deleted.
      let first = batches.compactMap(\.batch.entries.first?.id).min()
      let keys =
        state.isAdmitted && first == nil
        ? keys : try SyncLog.assetKeys(from: state.isAdmitted ? first : nil, connection).union(keys)
      try received.adopted(keys, in: connection) {
        try SyncRecorder.applying(connection) {
          try SchemaFit.noticeMigrations(tables, assets, connection)
          let replay = Replay(connection: connection, tables: tables, assets: assets)
          for (batch, patches) in batches.map({ ($0.batch, $0.patches) }) {
            guard try SyncPeers(connection).receive(batch, own: device) else { continue }
            try SyncClock.advance(to: batch.head.clock, connection)
            let fit = try SchemaFit(from: batch.head.level, tables, connection)
            for (entry, patch) in zip(batch.entries, patches) {
              try SyncLog.insert(
                fit.fit(entry, patch), batch: batch.head.number, isApplied: false,
                holding: patch.assetFiles, assets, connection)
            }
          }
          if try !state.isAdmitted && SyncState(connection).isAdmitted {
            try replay.delayOwnEntries(of: device)
          }
          _ = try replay.run()
        }
      }
      try assets.markUnreferenced(oldFiles, in: connection)
      try SyncConflict.holdFiles(assets, connection, received)
    }
  }
}

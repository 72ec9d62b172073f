import Essentials
import MagicHistory
import SQLiteAssets
import SQLiteCore
import SQLiteHistory
public import SQLiteMapping
public import SQLiteObjects
import Synchronization

/// Keeps stores on several devices equal by exchanging files through a folder that something else
/// copies.
///
///     let sync = try await Sync(magic, through: .folder(url))
///     try await sync.run()
///
/// Each transaction is recorded while a `Sync` exists. Every process that writes to the store must
/// hold one. All devices apply the same transactions in the same order, so that their stores become
/// equal. If two devices have made different changes to the same data, the later one wins, and the
/// other one is a ``SyncConflict``.
///
/// New objects, and new records whose keys the store assigns, get integer keys of a range that
/// belongs to the device. If SQL of your own inserts a row without a key, SQLite chooses the key,
/// and another device may choose the same one. Insert such rows with keys of your own, such as
/// UUIDs. Two rows with the same key become one, which is a conflict of the kind
/// ``SyncConflict/Kind/sameKey``. The key of a removed row is not assigned again, except for
/// records with `PrimaryKeyType.computedInt`.
public final class Sync: Sendable {
  /// The name of the sync, which all devices have in common.
  public let name: String

  let magic: SyncedStore
  let folder: any SyncFolder
  let format: SyncFileFormat
  let tables: SyncedTables
  package let deviceName: String
  let limits: SyncLimits
  private let registration: Registration
  private let state: Mutex<State>
  private let gate = PassGate()
  private let owner: StoreReference

  private struct State {
    var device: String
    var snapshots: [SyncFileName: SyncSnapshot] = [:]
    var assets: Set<Int>?
    var status = SyncStatus.idle
    var lastReport: SyncReport?
    var listeners: [Int: AsyncStream<SyncStatus>.Continuation] = [:]
    var count = 0
  }

  /// Begins to record the changes of a store, and prepares it for the exchange with other devices.
  ///
  /// The folder isn't used until ``once()`` or ``run(every:_:)`` is called.
  ///
  /// - Parameters:
  ///   - magic: The store.
  ///   - folder: The place through which files are exchanged.
  ///   - name: The name of the sync. Devices that use the same folder with other names don't
  ///     exchange anything.
  ///   - objects: The types whose objects are synced, with their links and assets. They must
  ///     include all types that they reference. If this is nil and `records` is empty, the tables
  ///     that the last `Sync` of this store chose are synced. If there was none, everything in the
  ///     store is synced.
  ///   - records: The types whose records are synced.
  ///   - migrations: All migrations of the program, the oldest first. They run as in
  ///     `MagicData.migrate(_:)`, and their changes of rows are recorded. All devices need the same
  ///     list, of which older programs have only the first ones. Don't run the migrations in
  ///     another way, except before the first `Sync` of a store: their changes of rows would not be
  ///     recorded.
  ///   - deviceName: The name of this device, for people.
  ///   - cipher: The cipher of the files, or nil if they aren't encrypted. A store that has once
  ///     been synced with a cipher needs one from then on.
  ///   - retention: The time after which a device from which nothing arrives is removed, so that
  ///     the others needn't keep files for it. It is counted in days on which this store is synced.
  /// - Throws: ``SyncError`` if the store or a type isn't suitable; `SQLiteError` if the store
  ///   can't be written, or with `ResultCode.misuse` if this libsqlite3 was built without
  ///   `SQLITE_ENABLE_PREUPDATE_HOOK`.
  public convenience init(
    _ magic: MagicData, through folder: some SyncFolder, name: String = "store",
    objects: [any MagicObject.Type]? = nil, records: [any Record.Type] = [],
    migrations: [Migration] = [], deviceName: String = "", cipher: (any SyncCipher)? = nil,
    retention: Duration = .seconds(90 * 86_400)
  ) async throws {
    var limits = SyncLimits()
    let (days, rest) = retention.components.seconds.quotientAndRemainder(dividingBy: 86_400)
    limits.days = max(1, days + (rest > 0 ? 1 : 0))
    try await self.init(
      magic, through: folder, name: name, objects: objects, records: records,
      migrations: migrations, deviceName: deviceName, cipher: cipher, limits: limits)
  }

  init(
    _ magic: MagicData, through folder: some SyncFolder, name: String = "store",
    objects: [any MagicObject.Type]?, records: [any Record.Type] = [],
    migrations: [Migration] = [], deviceName: String = "",
    cipher: (any SyncCipher)? = nil, limits: SyncLimits
  ) async throws {
    self.magic = SyncedStore(magic)
    owner = StoreReference(magic)
    self.folder = CheckedSyncFolder(folder)
    self.name = name
    self.deviceName = deviceName
    self.limits = limits
    format = SyncFileFormat(cipher: cipher)
    guard magic.database.has(.functions) else { throw SyncError.unsuitableStore }
    guard magic.database.recordsValues else { throw SQLiteError.noPreupdateHook }
    let tables = try await SyncedTables(objects, records, migrations, of: magic)
    self.tables = tables
    let assets = magic.assets
    let device = try await magic.database.writeSeparately { connection in
      try SyncIdentity(connection).prepare(tables, assets)
    }
    state = Mutex(State(device: device.id))
    magic.database.keyRange = device.keys
    registration = SyncRecorder.start(magic.database, magic.assets, tables)
    try await storeChoice()
  }

  /// The identity of this device in the sync: 32 hexadecimal digits. It changes if the device was
  /// removed and takes part again.
  public var device: String { state.withLock { $0.device } }

  /// Uses the identity that this or another process has determined.
  func use(_ device: (id: String, keys: ClosedRange<Int64>)) {
    state.withLock { $0.device = device.id }
    magic.database.keyRange = device.keys
  }

  /// Returns a snapshot that was read before.
  func snapshot(_ name: SyncFileName) -> SyncSnapshot? { state.withLock { $0.snapshots[name] } }

  /// Keeps a snapshot that was read, so that it isn't read again.
  func keep(_ snapshot: SyncSnapshot, _ name: SyncFileName) {
    state.withLock { state in
      // Each device has one or two.
      if state.snapshots.count >= 64 { state.snapshots = [:] }
      state.snapshots[name] = snapshot
    }
  }

  /// Returns whether assets have disappeared from the folder since the last call.
  func haveAssetsDisappeared(from files: SyncListing) -> Bool {
    let present = files.assetHashes
    return state.withLock { state in
      defer { state.assets = present }
      return state.assets.map { !$0.isSubset(of: present) } ?? true
    }
  }

  /// The current status.
  public var status: SyncStatus { state.withLock { $0.status } }

  /// Returns a sequence with the current status and later ones. It ends only when you stop iterating.
  /// A slow loop misses intermediate states, but never the last one.
  public func statuses() -> AsyncStream<SyncStatus> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: SyncStatus.self, bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state in
      state.count += 1
      state.listeners[state.count] = continuation
      continuation.yield(state.status)
      return state.count
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { $0.listeners[number] = nil }
    }
    return stream
  }

  func report(_ status: SyncStatus) {
    state.withLock { state in
      guard state.status != status else { return }
      state.status = status
      for listener in state.listeners.values { listener.yield(status) }
    }
  }

  /// Exchanges changes with the folder once. Only one exchange of a `Sync` runs at a time; further
  /// calls wait.
  ///
  /// Writes this store's transactions to the folder, and applies those of other devices that have
  /// arrived. If the call fails or is cancelled half way, nothing is half applied, and the next
  /// call continues.
  ///
  /// Errors of the folder aren't thrown, because most of them pass: a share that isn't connected, a
  /// full disk, a file that can't be read. The report contains ``SyncProblem/folder(description:)``.
  /// What can be received is received even if nothing can be written.
  ///
  /// - Returns: A report, with what in the folder can't be used yet.
  /// - Throws: ``SyncError/storeNotEmpty`` if the store had content before its first exchange, and
  ///   the folder has files of other devices; `SQLiteError` if the store can't be read or written;
  ///   `AssetError` if a file of an asset can't be read or written; `CancellationError` if the task
  ///   was cancelled.
  @discardableResult
  public func once() async throws -> SyncReport {
    try await gate.run {
      var end = SyncStatus.idle
      defer { self.report(end) }
      try await owner.prepareUsedTypes(tables)
      var pass = SyncPass(self)
      let report = try await pass.run()
      if let problem = report.folderProblem { end = .waiting(problem) }
      try await storeProblems(report.problems, unlessIn: lastReport)
      state.withLock { $0.lastReport = report }
      return report
    }
  }

  /// Lets the store own this instance.
  func releaseStore() { owner.release() }

  /// The report of the last exchange, or nil if there was none yet.
  public var lastReport: SyncReport? { state.withLock { $0.lastReport } }

  /// Exchanges changes until the task is cancelled: about a second after a transaction of this
  /// process, and regularly to receive those of other devices.
  ///
  /// If the folder can't be read or written, the status becomes ``SyncStatus/waiting(_:)``, and the
  /// exchange is repeated. The time between two attempts doubles up to a minute. A transaction ends
  /// it earlier.
  ///
  /// - Parameters:
  ///   - interval: The time after which the folder is read again.
  ///   - body: A closure that is called with the report of each exchange.
  /// - Throws: The errors of ``once()``. `CancellationError` when the task is cancelled.
  public func run(
    every interval: Duration = .seconds(5),
    _ body: @escaping @Sendable (SyncReport) -> Void = { _ in }
  ) async throws {
    let alarm = SyncAlarm(magic.database, tables)
    var pace = SyncPace(interval)
    while true {
      let report = try await once()
      body(report)
      let wasWoken = try await alarm.wait(pace.pause(hasFailed: report.folderProblem != nil))
      if wasWoken { pace.restart() }
    }
  }
}

/// Lets one pass run at a time. Others wait.
private struct PassGate: Sendable {
  private let isBusy = Awaited(false)

  /// - Throws: The errors of `body`; `CancellationError` if the task was cancelled while it waited.
  func run<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
    while true {
      try Task.checkCancellation()
      let mayEnter = isBusy.withLock { isBusy in
        defer { isBusy = true }
        return !isBusy
      }
      if mayEnter { break }
      await isBusy.wait { !$0 }
    }
    defer { isBusy.change { $0 = false } }
    return try await body()
  }
}

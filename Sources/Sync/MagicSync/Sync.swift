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
public final class Sync: Sendable {
  /// The identity of this device in the sync: 32 hexadecimal digits.
  public let device: String
  /// The name of the sync, which all devices have in common.
  public let name: String

  let magic: MagicData
  let folder: any SyncFolder
  let format: SyncFileFormat
  let tables: SyncedTables
  let deviceName: String
  private let registration: Registration
  private let state = Mutex(State())
  private let gate = PassGate()

  private struct State {
    var status = SyncStatus.idle
    var listeners: [Int: AsyncStream<SyncStatus>.Continuation] = [:]
    var count = 0
  }

  /// Begins to record the changes of a store, and prepares it for the exchange with other devices.
  ///
  /// - Parameters:
  ///   - magic: The store.
  ///   - folder: The place through which files are exchanged.
  ///   - name: The name of the sync. Devices that use the same folder with other names don't
  ///     exchange anything.
  ///   - objects: The types whose objects are synced, with their links and assets. They must
  ///     include all types that they reference. If this is nil and `records` is empty, everything
  ///     in the store is synced.
  ///   - records: The types whose records are synced.
  ///   - deviceName: The name of this device, for people.
  ///   - cipher: The cipher of the files, or nil if they aren't encrypted.
  /// - Throws: ``SyncError`` if the store or a type isn't suitable; `SQLiteError` if the store
  ///   can't be written, or with `ResultCode.misuse` if this libsqlite3 was built without
  ///   `SQLITE_ENABLE_PREUPDATE_HOOK`; any error of the folder.
  public init(
    _ magic: MagicData, through folder: some SyncFolder, name: String = "store",
    objects: [any MagicObject.Type]? = nil, records: [any Record.Type] = [],
    deviceName: String = "", cipher: (any SyncCipher)? = nil
  ) async throws {
    self.magic = magic
    self.folder = folder
    self.name = name
    self.deviceName = deviceName
    format = SyncFileFormat(cipher: cipher)
    guard magic.database.has(.functions) else { throw SyncError.unsuitableStore }
    guard magic.database.recordsValues else { throw SQLiteError.noPreupdateHook }
    let tables = try await SyncedTables(objects, records, of: magic)
    self.tables = tables
    let others = try await folder.list().contains { SyncFileName($0) != nil }
    let start = try await magic.database.withoutTransaction { connection in
      try connection.transaction {
        try SyncStart(connection, tables).run(name, joinsOthers: others)
      }
    }
    device = start.device
    magic.database.keyRange = start.keys
    registration = SyncRecorder.start(magic.database, tables)
  }

  /// What the sync is doing now.
  public var status: SyncStatus { state.withLock { $0.status } }

  /// Returns a sequence of what the sync is doing: the current status, and each later one. It never
  /// ends by itself.
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

  /// Exchanges changes with the folder once.
  ///
  /// Writes this store's transactions to the folder, and applies those of other devices that have
  /// arrived. If the call fails or is cancelled half way, nothing is half applied, and the next
  /// call continues.
  ///
  /// - Returns: A report, with what in the folder can't be used yet.
  /// - Throws: ``SyncError/deviceWasRemoved``; `SQLiteError` if the store can't be read or written;
  ///   `AssetError` if a file of an asset can't be read or written; any error of the folder;
  ///   `CancellationError` if the task was cancelled.
  @discardableResult
  public func once() async throws -> SyncReport {
    try await gate.run {
      defer { self.report(.idle) }
      var pass = SyncPass(self)
      return try await pass.run()
    }
  }

  /// Exchanges changes until the task is cancelled: after each local transaction, and regularly for
  /// those of other devices. Errors of the folder are retried.
  ///
  /// - Parameter interval: The time after which the folder is read again.
  /// - Throws: The errors of ``once()`` other than those of the folder. `CancellationError` when
  ///   the task is cancelled.
  public func run(every interval: Duration = .seconds(5)) async throws {
    let (commits, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let subscription = magic.database.subscribe(to: .tables) { _ in continuation.yield() }
    defer { withExtendedLifetime(subscription) {} }
    while true {
      try Task.checkCancellation()
      do {
        try await once()
      } catch let error as SyncFolderError {
        report(.idle)
        _ = error
      }
      await withTaskGroup { group in
        group.addTask { try? await Task.sleep(for: interval) }
        group.addTask {
          for await _ in commits { return }
        }
        await group.next()
        group.cancelAll()
      }
    }
  }
}

/// Lets one pass run at a time. Others wait.
private actor PassGate {
  private var isRunning = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  nonisolated func run<Result: Sendable>(
    _ body: @Sendable () async throws -> Result
  ) async throws -> Result {
    await enter()
    do {
      let result = try await body()
      await leave()
      return result
    } catch {
      await leave()
      throw error
    }
  }

  private func enter() async {
    if !isRunning {
      isRunning = true
      return
    }
    await withCheckedContinuation { waiting.append($0) }
  }

  private func leave() {
    if waiting.isEmpty {
      isRunning = false
    } else {
      waiting.removeFirst().resume()
    }
  }
}

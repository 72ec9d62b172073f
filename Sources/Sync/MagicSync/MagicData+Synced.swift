public import SQLiteCore
public import SQLiteMapping
public import SQLiteObjects
import SQLiteAssets

extension MagicData {
  /// Opens the store at a path, and keeps it equal to those of other devices while it is open.
  /// Creates the store if it doesn't exist.
  ///
  ///     let magic = try await MagicData(path: "cities", syncedThrough: .folder("/shared/cities"))
  ///
  /// A program that was written for a local store needs no other change. It works without the
  /// folder, too: changes are sent when the folder is available. The folder determines
  /// who can use the data: a folder of one user, such as one in iCloud Drive, connects the devices
  /// of that user; a folder that several people share, such as one on a network share, connects all
  /// of them. ``sync`` returns the status, the conflicts and the other devices.
  ///
  /// Only the first device may begin with a store that has content. If the store has content before
  /// its first exchange, and the folder contains files of other devices, nothing is exchanged, and
  /// the status is ``SyncStatus/failed(description:)``.
  ///
  /// The call doesn't wait for the folder. To begin with what other devices have sent, call
  /// `try await magic.sync?.once()`. Call it before you close the store, too, if everything must
  /// have been sent.
  ///
  /// - Parameters:
  ///   - path: The folder or the database file of the store, as for
  ///     `MagicData.init(path:options:minimumFileSize:)`.
  ///   - folder: The place through which files are exchanged.
  ///   - name: The name of the sync. Devices that use the same folder with other names don't
  ///     exchange anything.
  ///   - objects: The types whose objects are synced, with their links and assets. They must
  ///     include all types that they reference. If this is nil and `records` is empty, everything
  ///     in the store is synced. What other devices have stored of a type then waits until this
  ///     program uses the type.
  ///   - records: The types whose records are synced.
  ///   - migrations: All migrations of the program, the oldest first, which this call runs.
  ///   - deviceName: The name of this device, for people.
  ///   - cipher: The cipher of the files, or nil if they aren't encrypted.
  ///   - retention: The time after which a device from which nothing arrives is removed, so that
  ///     the others needn't keep files for it.
  ///   - interval: The time after which the folder is read again. Changes of this program are sent
  ///     about a second after their commit.
  ///   - options: The options for opening the database.
  ///   - minimumFileSize: The size in bytes from which the content of an asset is stored in a file.
  /// - Throws: The errors of `MagicData.init(path:options:minimumFileSize:)`, and those of
  ///   ``Sync/init(_:through:name:objects:records:migrations:deviceName:cipher:retention:)``.
  public convenience init(
    path: String, syncedThrough folder: some SyncFolder, name: String = "store",
    objects: [any MagicObject.Type]? = nil, records: [any Record.Type] = [],
    migrations: [Migration] = [], deviceName: String = "", cipher: (any SyncCipher)? = nil,
    retention: Duration = .seconds(90 * 86_400), every interval: Duration = .seconds(5),
    options: Database.Options = Database.Options(), minimumFileSize: Int = 0
  ) async throws {
    try await self.init(path: path, options: options, minimumFileSize: minimumFileSize)
    let sync = try await Sync(
      self, through: folder, name: name, objects: objects, records: records,
      migrations: migrations, deviceName: deviceName, cipher: cipher, retention: retention)
    sync.releaseStore()
    _ = attachments.value { BackgroundSync(sync, every: interval) }
  }

  /// The sync of a store that was opened with
  /// ``init(path:syncedThrough:name:objects:records:migrations:deviceName:cipher:retention:every:options:minimumFileSize:)``;
  /// nil for any other store.
  ///
  /// It exchanges files in the background. Use it for the status, the conflicts and the devices, or
  /// to exchange files now.
  public var sync: Sync? { attachments.present(BackgroundSync.self)?.sync }
}

/// The exchange of files in the background, which a store owns.
///
/// Its task retains the ``Sync`` only during an exchange, and ends when the store is closed or
/// released.
private final class BackgroundSync: Sendable {
  let sync: Sync
  private let task: Task<Void, Never>

  init(_ sync: Sync, every interval: Duration) {
    self.sync = sync
    let alarm = SyncAlarm(sync.magic.database, sync.tables)
    task = Task.detached(priority: .utility) { [weak sync] in
      var pace = SyncPace(interval)
      while let hasFailed = await sync?.exchange(),
        let wasWoken = try? await alarm.wait(pace.pause(hasFailed: hasFailed))
      {
        if wasWoken { pace.restart() }
      }
    }
  }

  deinit { task.cancel() }
}

extension Sync {
  /// Exchanges changes once, and reports an error as the status.
  ///
  /// - Returns: Whether the exchange failed, or nil if the store was closed or the task was
  ///   cancelled.
  fileprivate func exchange() async -> Bool? {
    do {
      return try await once().folderProblem != nil
    } catch {
      if Task.isCancelled || magic.database.isClosed { return nil }
      report(.failed(description: "\(error)"))
      return true
    }
  }
}

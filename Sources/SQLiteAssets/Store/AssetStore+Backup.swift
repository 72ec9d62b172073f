import SQLiteCore
import SystemFiles

/// The result of a backup: the paths of the copied database and assets, and an error for each asset
/// that couldn't be copied intact.
public struct AssetBackup: Hashable, Sendable {
  /// The path of the copied database file.
  public let database: String
  /// The path of the folder with the copied assets.
  public let assets: String
  /// One error for each asset with an invalid row, or with a file that is missing, damaged or
  /// unreadable. Content in rows isn't verified. The backup contains the rows of these assets, and
  /// copies of the damaged files.
  public internal(set) var faults: [AssetError] = []
}

extension AssetStore {
  /// Copies a consistent snapshot of the database and its assets to a new folder. Blocks the
  /// thread.
  ///
  /// The folder appears at the path only when the copy is complete. If the process is killed before
  /// that, nothing changes at the path, and the next backup to the same location removes the
  /// incomplete copy.
  ///
  /// You can use the store during a backup. Files that the backup needs are not removed meanwhile.
  /// In WAL mode, the write-ahead log grows until the backup is complete. Files are copied as
  /// copy-on-write clones if the file system supports them.
  ///
  /// A backup is a normal store. Open the database `default.sqlite3` in it with the asset folder
  /// `assets`, or open the whole folder as a `MagicData`.
  ///
  /// - Parameters:
  ///   - path: The path of the new folder. An empty folder at the path is replaced. The parent
  ///     folder must exist. The path can't be a mount point; use a subfolder of it.
  ///   - deadline: The time by which the backup must be complete; nil for no limit.
  ///   - progress: A closure that is called at the beginning and after each file, inside a read of
  ///     the database. If it throws, the backup ends.
  /// - Returns: The paths of the backup. Check its `faults` for missing or damaged assets.
  /// - Throws: ``AssetError/folderNotEmpty(path:)`` if the folder exists and isn't empty; other
  ///   ``AssetError`` cases if the copies can't be written; `SQLiteError` if the database can't be
  ///   copied before the deadline; any error of `progress`. Nothing changes at the path then.
  @available(
    *, noasync,
    message: "blocks the thread; `await` needs a @Sendable closure, in a function"
  )
  public func backup(
    to path: String, deadline: ContinuousClock.Instant? = nil,
    progress: (AssetProgress) throws -> Void = { _ in }
  ) throws -> AssetBackup {
    try database.require(.backup)
    let path = try File.absolute(path)
    PendingFile.removeAbandoned(nextTo: path, operations)
    if let present = try Folder.existing(path: path, operations), try !present.names().isEmpty {
      throw AssetError.folderNotEmpty(path: path)
    }
    let pending = try addingPath(path) { () throws(SystemFailure) in
      try PendingFile(path, operations)
    }
    let target = try Folder.open(path: pending.contentPath, operations)
    let faults = try database.read(deadline: deadline) { connection in
      // The snapshot is older than any later commit, so its files aren't removed during this read.
      let copy = try StoreFolder(
        path: target.path(of: "assets"), identity: identity, operations, createsMissing: true)
      let faults = try copyFiles(to: copy.files, connection, progress)
      var options = Database.Options()
      options.key = database.key
      let other = try Database(path: target.path(of: "default.sqlite3"), options: options)
      try database.backup(to: other, deadline: deadline)
      // Marked files weren't copied unless a row references them.
      try other.executeChange("DELETE FROM magicdata_asset_trash")
      try other.close()
      return faults
    }
    try addingPath(path) { () throws(SystemFailure) in try pending.publish(replacing: true) }
    return AssetBackup(
      database: "\(path)/default.sqlite3", assets: "\(path)/assets", faults: faults)
  }

  /// Copies a consistent snapshot of the database and its assets to a new folder. Suspends the task
  /// meanwhile. If you cancel the task, the backup ends before the next file.
  ///
  /// The blocking form describes the details.
  ///
  /// - Parameters:
  ///   - path: The path of the new folder. An empty folder at the path is replaced. The parent
  ///     folder must exist. The path can't be a mount point; use a subfolder of it.
  ///   - deadline: The time by which the backup must be complete; nil for no limit.
  ///   - progress: A closure that is called at the beginning and after each file, inside a read of
  ///     the database. If it throws, the backup ends.
  /// - Returns: The paths of the backup. Check its `faults` for missing or damaged assets.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was cancelled.
  ///   Nothing changes at the path then.
  nonisolated(nonsending) public func backup(
    to path: String, deadline: ContinuousClock.Instant? = nil,
    progress: @escaping @Sendable (AssetProgress) throws -> Void = { _ in }
  ) async throws -> AssetBackup {
    try await CancellableWork.run(on: worker, progress) {
      try self.backup(to: path, deadline: deadline, progress: $1)
    }
  }

  /// Copies the files of the assets in a snapshot of the database, and the files that a persistent
  /// undo history may restore. Makes the copies durable.
  ///
  /// - Returns: One error for each asset with a missing or damaged file or row.
  private func copyFiles(
    to files: Folder, _ connection: Connection, _ progress: (AssetProgress) throws -> Void
  ) throws -> [AssetError] {
    let faults = try faults(
      where: "content IS NULL", progress,
      reading: { read in try read(connection) },
      in: { record in try copyFile(of: record, to: files, as: record.file.text) })
    if try AssetSchema.hasHolds(connection) {
      // An undo history in the database may restore these assets in the copy, too.
      let held = try connection.rows(
        """
        SELECT DISTINCT file FROM main.magicdata_asset_held
        WHERE session = '' AND file NOT IN (SELECT file FROM main.magicdata_asset)
        """, as: String.self)
      for name in held.compactMap({ AssetFileName($0) }) {
        guard let source = try folder.find(name) else { continue }
        _ = try copy(source, to: files, as: name.text).get()
      }
    }
    if try !files.syncFileSystem() {
      for name in try files.names() { try files.file(name)?.sync(isLast: false) }
      try files.sync()
    }
    return faults
  }

  /// Copies the file of an asset to a folder, without syncing the copy.
  ///
  /// - Returns: The error if the original file is missing or damaged or can't be read, otherwise
  ///   nil.
  /// - Throws: ``AssetError`` if the copy can't be written.
  func copyFile(
    of record: AssetRecord, to target: Folder, as name: String
  ) throws(AssetError) -> AssetError? {
    let path = folder.path(of: record.file)
    let found: File?
    do {
      found = try folder.find(record.file)
    } catch {
      return error
    }
    guard let source = found else { return .missingFile(record.id, path: path) }
    switch try copy(source, to: target, as: name) {
    case .success(let copied):
      let isIntact = copied.size == record.size && copied.sha256 == record.sha256
      return isIntact ? nil : .damagedFile(record.id, path: path)
    case .failure(let error): return error
    }
  }

  /// Copies a file to a folder, as a copy-on-write clone if the file system supports it.
  ///
  /// - Returns: The size and digest of the content, or the error if the original can't be read.
  /// - Throws: ``AssetError`` if the copy can't be written.
  private func copy(
    _ source: File, to target: Folder, as name: String
  ) throws(AssetError) -> Result<(size: Int, sha256: AssetDigest), AssetError> {
    let isShared = (try? target.clone(source, as: name)) != nil
    let copy = isShared ? nil : try target.makeFile(name)
    var failure: AssetError?
    do throws(AssetError) {
      return .success(
        try source.forEachPiece { piece throws(AssetError) in
          do throws(AssetError) {
            try copy?.write(unsafe piece.span.bytes)
          } catch {
            failure = error
            throw error
          }
        })
    } catch {
      if let failure { throw failure }
      return .failure(error)
    }
  }
}

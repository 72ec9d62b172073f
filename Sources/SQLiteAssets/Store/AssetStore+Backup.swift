import SQLiteCore
import SystemFiles

/// Where the parts of a copy of a store are.
public struct AssetBackup: Hashable, Sendable {
  /// The path of the database file.
  public let database: String
  /// The path of the folder with the assets.
  public let assets: String
  /// The assets that were missing or damaged when they were copied, one error for each. Their rows
  /// are in the copy, and damaged content is as it is.
  public internal(set) var faults: [AssetError] = []
}

extension AssetStore {
  /// Copies the database and its assets, as one state of one moment, into a new folder.
  ///
  /// The folder appears when the copy is complete. If the process is killed before, the path is as it was, and the
  /// next copy into the same place removes the remains.
  ///
  /// The store may be read and written meanwhile; nothing that the copy needs is removed. In WAL mode
  /// the log grows until the copy is done. Where the file system can, files share their content with
  /// the copies.
  ///
  /// A backup is a store like any other: open `default.sqlite3` in it with the assets in `assets`, or
  /// the folder itself as a `MagicData`.
  ///
  /// - Parameters:
  ///   - path: The path of a folder that is missing, or empty and then replaced. The folder above it must exist. A
  ///     mount point can't be replaced: name a folder in it.
  ///   - deadline: When the copy must be finished.
  ///   - progress: Called after each file, within a read of the database; what it throws ends the copy.
  /// - Returns: Where the parts are, and what was wrong with assets: look at it.
  /// - Throws: ``AssetError``, such as ``AssetError/folderNotEmpty(path:)``, `SQLiteError`, or what
  ///   `progress` throws. Then the path is as it was.
  public func backup(
    to path: String, deadline: ContinuousClock.Instant? = nil,
    progress: (AssetProgress) throws -> Void = { _ in }
  ) throws -> AssetBackup {
    try database.require(.backup)
    let path = try File.absolute(path)
    PendingFile.removeAbandoned(beside: path, operations)
    if let present = try Folder.existing(path: path, operations), try !present.names().isEmpty {
      throw AssetError.folderNotEmpty(path: path)
    }
    let pending = try naming(path) { () throws(SystemFailure) in
      try PendingFile(path, operations)
    }
    let target = try Folder.open(path: pending.contentPath, operations)
    let faults = try database.read(deadline: deadline) { connection in
      // Files that this snapshot sees stay where they are, since it is older than any later commit.
      let copy = try StoreFolder(
        path: target.path(of: "assets"), identity: identity, operations, isMade: true)
      let faults = try copyFiles(to: copy.files, connection, progress)
      let other = try Database(path: target.path(of: "default.sqlite3"))
      try database.backup(to: other, deadline: deadline)
      // Marked files were not copied, unless a row names them.
      try other.executeChange("DELETE FROM magicdata_asset_trash")
      try other.close()
      return faults
    }
    try naming(path) { () throws(SystemFailure) in try pending.publish(replacing: true) }
    return AssetBackup(
      database: "\(path)/default.sqlite3", assets: "\(path)/assets", faults: faults)
  }

  /// As ``backup(to:deadline:progress:)``, without blocking the task. Cancelling the task ends it before the
  /// next file.
  nonisolated(nonsending) public func backup(
    to path: String, deadline: ContinuousClock.Instant? = nil,
    progress: @escaping @Sendable (AssetProgress) throws -> Void = { _ in }
  ) async throws -> AssetBackup {
    try await CancellableWork.run(on: worker, progress) {
      try self.backup(to: path, deadline: deadline, progress: $1)
    }
  }

  /// Copies the files that rows of a snapshot name, and returns what is wrong with them.
  private func copyFiles(
    to files: Folder, _ connection: Connection, _ progress: (AssetProgress) throws -> Void
  ) throws -> [AssetError] {
    let faults = try faults(
      where: "content IS NULL", progress,
      reading: { read in try read(connection) },
      in: { record in try copyFile(of: record, to: files, as: record.file.text) })
    if try AssetSchema.hasHolds(connection) {
      // A history that is kept in the store brings them back in the copy too.
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

  /// Copies the file of an asset into a folder, without a sync.
  ///
  /// - Returns: The fault in the file, or nil.
  /// - Throws: The error of the copy.
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

  /// Copies a file into a folder. Where the file system can, the copy shares the content.
  ///
  /// - Returns: The size and digest of the content, or the error of reading it.
  /// - Throws: The error of the copy.
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

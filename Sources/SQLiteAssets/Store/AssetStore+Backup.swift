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
      let copy = try StoreFolder(path: target.path(of: "assets"), identity: identity, operations)
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
    try await workUntilCancelled { check in
      try self.backup(to: path, deadline: deadline) {
        try check()
        try progress($0)
      }
    }
  }

  /// Copies the files that rows of a snapshot name, and returns what is wrong with them.
  private func copyFiles(
    to files: Folder, _ connection: Connection, _ progress: (AssetProgress) throws -> Void
  ) throws -> [AssetError] {
    var faults: [AssetError] = []
    var done = try progressAtStart(of: "content IS NULL", in: connection)
    try progress(done)
    try connection.forEachRow(
      "SELECT id, file, size, sha256 FROM main.magicdata_asset WHERE content IS NULL"
    ) { row in
      done.assets += 1
      let id = try row.value(at: 0)
      let record = AssetRecord(
        id: id, file: try row.value(at: 1), size: try row.value(at: 2),
        sha256: try row.value(at: 3), isInRow: false)
      guard let record else {
        faults.append(.damagedRow(id: id.text))
        return
      }
      if let fault = try copyFile(of: record, to: files) { faults.append(fault) }
      done.bytes = done.bytes.addingReportingOverflow(record.size).partialValue
      try progress(done)
    }
    if try AssetSchema.hasHolds(connection) {
      // A history that is kept in the store brings them back in the copy too.
      let held = try connection.rows(
        """
        SELECT DISTINCT file FROM main.magicdata_asset_held
        WHERE session = '' AND file NOT IN (SELECT file FROM main.magicdata_asset)
        """, as: String.self)
      for name in held.compactMap({ AssetFileName($0) }) { try copyFile(name, to: files) }
    }
    if try !files.syncFileSystem() {
      for name in try files.names() { try files.file(name)?.sync(isLast: false) }
      try files.sync()
    }
    return faults
  }

  /// Copies a file that no row names, if it is there.
  private func copyFile(_ name: AssetFileName, to files: Folder) throws(AssetError) {
    guard let source = try folder.find(name) else { return }
    if (try? files.clone(source, as: name.text)) != nil { return }
    let copy = try files.makeFile(name.text)
    var size = 0
    while true {
      let piece = try source.read(File.pieceSize, at: size)
      try copy.write(unsafe piece.span.bytes)
      size += piece.count
      if piece.count < File.pieceSize { return }
    }
  }

  /// Copies a file, and returns what is wrong with it. What is wrong with the copy is thrown.
  private func copyFile(
    of record: AssetRecord, to files: Folder
  ) throws(AssetError) -> AssetError? {
    let path = folder.path(of: record.file)
    let source: File
    do {
      guard let found = try folder.find(record.file) else {
        return .missingFile(record.id, path: path)
      }
      source = found
    } catch {
      return error
    }
    let isShared = (try? files.clone(source, as: record.file.text)) != nil
    let copy = isShared ? nil : try files.makeFile(record.file.text)
    var size = 0
    var hash = SHA256()
    while true {
      let piece: [UInt8]
      do {
        piece = try source.read(File.pieceSize, at: size)
      } catch {
        return error
      }
      try copy?.write(unsafe piece.span.bytes)
      hash.update(piece)
      size += piece.count
      if piece.count < File.pieceSize { break }
    }
    let isIntact = size == record.size && hash.finalize() == record.sha256
    return isIntact ? nil : .damagedFile(record.id, path: path)
  }
}

import SQLiteAssets
import SQLiteCore
public import SQLiteHistory
import SQLiteMapping
public import SQLiteObjects

// Creating patches.
extension MagicData {
  /// Runs `body` in one transaction and returns a patch of its changes. Blocks the thread.
  ///
  ///     let patch = try magic.patch(assetsTo: "outbox") {
  ///       person.photo?.set(picture)
  ///       try magic.update(person)
  ///     }
  ///     try copy.apply(patch, assetsFrom: "outbox")
  ///
  /// The patch contains all changed rows of objects, links and assets, including changes by delete
  /// rules, raw SQL and triggers. Asset content that is stored in files isn't in the patch. It is
  /// copied to `folder`, each file under its name in the store. One folder can therefore hold the
  /// files of many patches, without duplicates. Content that `body` removes or replaces isn't
  /// copied.
  ///
  /// Otherwise this works like `transaction(_:)`. The files are copied before the commit. Other
  /// writers wait meanwhile, unless the file system supports copy-on-write clones.
  ///
  /// - Parameters:
  ///   - folder: The path of a folder for asset files. If the folder is missing, it is created for
  ///     the first file. If the path is nil, no files are copied.
  ///   - body: A closure that calls the store.
  /// - Returns: The patch. It is empty if `body` returns `TransactionOutcome.rollback`.
  /// - Throws: Any error of `body`; `PatchError` if a changed row can't be in a patch; `AssetError`
  ///   if a file can't be copied; `SQLiteError`, for example with `ResultCode.misuse` if this
  ///   libsqlite3 was built without `SQLITE_ENABLE_PREUPDATE_HOOK`; `MagicError.closed` if the
  ///   store was closed. Nothing is saved in these cases. Files that were copied before a failing
  ///   commit stay in the folder.
  @available(
    *, noasync,
    message:
      "blocks the thread; `await` needs a Sendable result and a @Sendable closure, in a function"
  )
  public func patch<Result>(
    assetsTo folder: String? = nil, _ body: () throws -> Result
  ) throws -> Patch {
    try database.reportingClosedStore {
      try database.write { try self.patch($0, folder, body) }
    }
  }

  /// Runs `body` in one transaction and returns a patch of its changes. Suspends the task
  /// meanwhile.
  ///
  /// This works like the blocking form. `body` runs on a thread of the database and can use only
  /// blocking calls, as in `transaction(_:)`.
  ///
  /// - Parameters:
  ///   - folder: The path of a folder for asset files. If the folder is missing, it is created for
  ///     the first file. If the path is nil, no files are copied.
  ///   - body: A closure that calls the store.
  /// - Returns: The patch. It is empty if `body` returns `TransactionOutcome.rollback`.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was cancelled.
  ///   Nothing is saved in these cases. Files that were copied before a failing commit stay in the
  ///   folder.
  nonisolated(nonsending) public func patch<Result: Sendable>(
    assetsTo folder: String? = nil, _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Patch {
    // Not `write`: if group commit is enabled, writes may share a transaction and run again.
    try await database.reportingClosedStore {
      try await database.withoutTransaction { connection in
        try connection.transaction { try self.patch(connection, folder, body) }
      }
    }
  }

  private func patch<Result>(
    _ connection: Connection, _ folder: String?, _ body: () throws -> Result
  ) throws -> Patch {
    let (_, rows) = try connection.recordingRows { try connection.savepoint(body) }
    let patch = try HistoryRecording.patch(rows)
    if let folder {
      try assets.copyFiles(of: patch.newAssets.compactMap(\.id), to: folder, in: connection)
    }
    return patch
  }

  /// Copies the files of all assets that a patch adds or replaces to a folder. Blocks the thread.
  ///
  /// Use it for a patch that was created without a folder. Content that is stored in rows is
  /// already in the patch.
  ///
  /// - Parameters:
  ///   - patch: A patch that was created from this store.
  ///   - folder: The path of the folder, which is created if it is missing. Of the existing files
  ///     in it, only those with the name of a copied file but another size are replaced.
  /// - Throws: `AssetError`, for example `noAsset` or `missingFile` if the store no longer has the
  ///   content; `SQLiteError` if the database can't be read; `MagicError.closed` if the store was
  ///   closed. Nothing is copied in these cases.
  public func copyAssets(of patch: Patch, to folder: String) throws {
    try read { (connection: Connection) in
      try self.assets.copyFiles(
        of: patch.newAssets.map { asset in
          // If the content was replaced since then, its file doesn't match the patch.
          guard let id = asset.id, let record = try self.assets.record(id, in: connection),
            record.isInRow || record.file.text == asset.file
          else { throw AssetError.missingAsset(asset.id, asset.file) }
          return id
        }, to: folder, in: connection)
    }
  }

  /// Copies the files of all assets that a patch adds or replaces to a folder, and suspends the
  /// task meanwhile.
  ///
  /// Use it for a patch that was created without a folder. Content that is stored in rows is
  /// already in the patch.
  ///
  /// - Parameters:
  ///   - patch: A patch that was created from this store.
  ///   - folder: The path of the folder, which is created if it is missing. Of the existing files
  ///     in it, only those with the name of a copied file but another size are replaced.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was cancelled.
  ///   Nothing is copied in these cases.
  nonisolated(nonsending) public func copyAssets(of patch: Patch, to folder: String) async throws {
    try await database.reportingClosedStore {
      try await assets.work { try self.copyAssets(of: patch, to: folder) }
    }
  }
}

// Applying patches.
extension MagicData {
  /// Applies a patch and the files of its assets in one transaction. Blocks the thread.
  ///
  /// Only the rows of the patch change. Triggers and delete rules don't run, because the patch
  /// already contains their effects. Full-text indexes are updated. Rows with other values than the
  /// patch expects are conflicts. Rows of internal tables, such as those of the other store's
  /// history, are skipped.
  ///
  /// Each added or replaced asset needs its content: in the patch if a row stores it, and otherwise
  /// as a file in the store or in `folder`. The size and digest of files are verified. Files are
  /// copied before the transaction begins, and become part of it: after a crash, either all rows
  /// and files exist or none of them. Other files in the folder are ignored.
  ///
  /// - Parameters:
  ///   - patch: The patch to apply.
  ///   - folder: The path of the folder to which `patch(assetsTo:_:)` or `copyAssets(of:to:)`
  ///     copied the files, or nil if there are no files.
  ///   - isIdempotent: Whether to skip rows that already have the values of the patch instead of
  ///     treating them as conflicts.
  ///   - onConflict: A closure that decides how to resolve a conflict. It must not use the store.
  ///     If it is nil, this method throws an error with all conflicts.
  /// - Returns: A report with the number of applied rows, the number of skipped rows, and the
  ///   resolved conflicts.
  /// - Throws: `PatchError` if the patch doesn't match the schema or has unresolved conflicts;
  ///   `AssetError`, for example `missingFile` or `damagedFile` if a file is missing or has other
  ///   content, or `damagedRow` if an asset row of the patch is invalid; `SQLiteError` if a
  ///   statement fails, or with `ResultCode.misuse` if `onConflict` returns a resolution that isn't
  ///   allowed for the conflict; any error that `onConflict` throws; `MagicError.closed` if the
  ///   store was closed. Nothing is changed in these cases.
  @available(
    *, noasync,
    message: "blocks the thread; `await` needs a @Sendable closure, in a function"
  )
  @discardableResult
  public func apply(
    _ patch: Patch, assetsFrom folder: String? = nil, isIdempotent: Bool = false,
    onConflict: ((PatchConflict) throws -> PatchResolution)? = nil
  ) throws -> PatchReport {
    try database.reportingClosedStore {
      let receivedAssets = try ReceivedAssets(patch.newFiles, from: folder, to: assets)
      return try database.write {
        try self.apply(patch, receivedAssets, $0, isIdempotent: isIdempotent, onConflict)
      }
    }
  }

  /// Applies a patch and the files of its assets in one transaction, and suspends the task
  /// meanwhile.
  ///
  /// Only the rows of the patch change; triggers and delete rules don't run. The blocking form
  /// describes the details.
  ///
  /// - Parameters:
  ///   - patch: The patch to apply.
  ///   - folder: The path of the folder to which `patch(assetsTo:_:)` or `copyAssets(of:to:)`
  ///     copied the files, or nil if there are no files.
  ///   - isIdempotent: Whether to skip rows that already have the values of the patch instead of
  ///     treating them as conflicts.
  ///   - onConflict: A closure that decides how to resolve a conflict. It must not use the store.
  ///     If it is nil, this method throws an error with all conflicts.
  /// - Returns: A report with the number of applied rows, the number of skipped rows, and the
  ///   resolved conflicts.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was cancelled.
  ///   Nothing is changed in these cases.
  @discardableResult
  nonisolated(nonsending) public func apply(
    _ patch: Patch, assetsFrom folder: String? = nil, isIdempotent: Bool = false,
    onConflict: (@Sendable (PatchConflict) throws -> PatchResolution)? = nil
  ) async throws -> PatchReport {
    try await database.reportingClosedStore {
      let receivedAssets = try await assets.work {
        try ReceivedAssets(patch.newFiles, from: folder, to: self.assets)
      }
      // Not `write`: if group commit is enabled, writes may share a transaction and run again.
      return try await database.withoutTransaction { connection in
        try connection.transaction {
          try self.apply(patch, receivedAssets, connection, isIdempotent: isIdempotent, onConflict)
        }
      }
    }
  }

  private func apply(
    _ patch: Patch, _ receivedAssets: ReceivedAssets, _ connection: Connection, isIdempotent: Bool,
    _ onConflict: ((PatchConflict) throws -> PatchResolution)?
  ) throws -> PatchReport {
    let patch = patch.filtered { HistoryRecording.holds($0) }
    let report = try receivedAssets.adopted(patch.assetKeys, in: connection) {
      try HistoryRecording.apply(patch, connection, isIdempotent: isIdempotent, onConflict)
    }
    // No trigger has marked the files of deleted assets.
    try assets.markUnreferenced(patch.oldFiles, in: connection)
    return report
  }
}

// The assets of a patch.
extension Patch {
  /// An asset whose content a patch adds or removes.
  private struct AssetRow {
    let id: AssetID?
    let file: String
    let isInRow: Bool
    let isNew: Bool
  }

  private var assetTables: [Table] {
    tables.filter { asciiLowercased($0.name) == "magicdata_asset" }
  }

  /// The primary keys of all asset rows in the patch. Not all of them need to be valid asset ids,
  /// because the patch may come from another program.
  fileprivate var assetKeys: Set<Value> {
    Set(assetTables.flatMap { table in table.rows.flatMap { table.key(of: $0).values } })
  }

  private var assetRows: [AssetRow] {
    var found: [AssetRow] = []
    for table in assetTables {
      // A changeset of another program contains no column names.
      let columns =
        table.columns?.map(asciiLowercased) ?? ["id", "file", "size", "sha256", "content"]
      guard columns.count == table.keyPositions.count, let file = columns.firstIndex(of: "file"),
        let content = columns.firstIndex(of: "content")
      else { continue }
      for row in table.rows {
        let id = table.key(of: row).values.first.flatMap { try? AssetID(databaseValue: $0) }
        for (values, isNew) in [(row.old, false), (row.new, true)] {
          guard case .text(let name)?? = values[file] as Value?? else { continue }
          let isInRow = values[content].map { $0 != .null } ?? false
          found.append(AssetRow(id: id, file: name, isInRow: isInRow, isNew: isNew))
        }
      }
    }
    return found
  }

  /// The names of the files of assets that the patch inserts, replaces or deletes.
  package var assetFiles: Set<String> { Set(assetRows.filter { !$0.isInRow }.map(\.file)) }

  /// The names of the files of assets that the patch replaces or deletes.
  fileprivate var oldFiles: Set<String> {
    Set(assetRows.filter { !$0.isNew && !$0.isInRow }.map(\.file))
  }

  /// The file names of all content that the patch adds, including content that is stored in rows.
  fileprivate var newFiles: Set<String> { Set(assetRows.filter(\.isNew).map(\.file)) }

  /// The id and the file name of each asset whose new content the patch stores in a file. The id is
  /// nil if the key of the asset's row isn't a valid id.
  fileprivate var newAssets: [(id: AssetID?, file: String)] {
    assetRows.filter { $0.isNew && !$0.isInRow }.map { ($0.id, $0.file) }
  }
}

extension AssetError {
  /// Returns the error for content of a patch that the store no longer has: `noAsset`, or
  /// `damagedRow` if the asset's id is unknown.
  fileprivate static func missingAsset(_ id: AssetID?, _ file: String) -> AssetError {
    id.map { .noAsset($0) } ?? .damagedRow(id: file)
  }
}

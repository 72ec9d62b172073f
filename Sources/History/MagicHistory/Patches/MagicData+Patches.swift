import SQLiteAssets
import SQLiteCore
public import SQLiteHistory
import SQLiteMapping
public import SQLiteObjects

// Making patches.
extension MagicData {
  /// Runs several calls in one transaction, and returns what they have changed, blocking the thread.
  ///
  ///     let patch = try magic.patch(assetsTo: "outbox") {
  ///       person.photo?.set(picture)
  ///       try magic.update(person)
  ///     }
  ///     try copy.apply(patch, assetsFrom: "outbox")
  ///
  /// The patch has the rows of the objects with their links and assets, whatever has changed them: delete rules, raw
  /// SQL and triggers too. Contents of assets that are files travel beside it, each as a file under the name that the
  /// store has for it: so a folder may hold those of many patches, in any order, and none twice. Contents that the
  /// calls remove or replace are not among them.
  ///
  /// Else as `transaction(_:)`. The files are copied before the transaction commits, and others who write wait for
  /// that, unless the file system lets copies share their content.
  ///
  /// - Parameters:
  ///   - folder: The path of a folder for the contents, which is made if it is missing; nil for rows alone.
  ///   - body: The calls.
  /// - Returns: The patch. It is empty if `body` returns `TransactionOutcome.rollback`.
  /// - Throws: What `body` throws; `AssetError`; `SQLiteError`, such as with `ResultCode.misuse` if this libsqlite3 was
  ///   built without `SQLITE_ENABLE_PREUPDATE_HOOK`. Nothing is saved or copied then.
  public func patch<Result>(
    assetsTo folder: String? = nil, _ body: () throws -> Result
  ) throws -> Patch {
    try database.reportingClosure {
      try database.write { try self.patch($0, folder, body) }
    }
  }

  /// As ``patch(assetsTo:_:)``, without blocking the task: `body` runs on a thread of the database's own, as that of
  /// `transaction(_:)`. Throws `CancellationError` too.
  nonisolated(nonsending) public func patch<Result: Sendable>(
    assetsTo folder: String? = nil, _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Patch {
    // Not as a `write`: by an option these share a transaction, and then may run again.
    try await database.reportingClosure {
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

  /// Copies the contents of the assets that a patch brings into a folder, as far as they are files, blocking the
  /// thread: for a patch that was made without them.
  ///
  /// - Parameters:
  ///   - patch: A patch of this store.
  ///   - folder: The path of the folder, which is made if it is missing. What it has already stays.
  /// - Throws: `AssetError`, such as `noAsset` or `missingFile` for a content that the store has no more;
  ///   `SQLiteError`. Nothing is copied then.
  public func copyAssets(of patch: Patch, to folder: String) throws {
    try read { (connection: Connection) in
      try self.assets.copyFiles(
        of: patch.newAssets.map { asset in
          // One that was replaced since has another content, and the patch would not fit it.
          guard let id = asset.id, let record = try self.assets.record(id, in: connection),
            record.isInRow || record.file.text == asset.file
          else { throw AssetError.missingAsset(asset.id, asset.file) }
          return id
        }, to: folder, in: connection)
    }
  }

  /// As ``copyAssets(of:to:)``, without blocking the task. Throws `CancellationError` too.
  nonisolated(nonsending) public func copyAssets(of patch: Patch, to folder: String) async throws {
    try await database.reportingClosure {
      try await assets.work { try self.copyAssets(of: patch, to: folder) }
    }
  }
}

// Applying patches.
extension MagicData {
  /// Applies a patch with the contents of its assets, in a transaction, blocking the thread.
  ///
  /// The rows of the patch are all that changes, as with undoing: no trigger runs and no delete rule acts, whose
  /// effects are in the patch, and full-text search is kept in step. What others have changed here is a conflict. A
  /// file is there for each asset that came: one that the store has already, or one of the folder, whose digest is
  /// compared. The files are copied before the transaction, and belong to it: after a crash all of the patch is there,
  /// or neither rows nor files. What the folder has besides is left alone. Rows in which the other store keeps its own
  /// books, such as those of its history, are passed over.
  ///
  /// - Parameters:
  ///   - patch: The patch.
  ///   - folder: The path of the folder that `patch(assetsTo:_:)` has filled; nil if no contents came.
  ///   - isIdempotent: Whether rows that are already as the patch makes them are passed over, rather than conflicts.
  ///   - onConflict: Decides about a row that does not fit; it must not use the store. Nil for throwing an error that
  ///     names all of them.
  /// - Returns: What was done.
  /// - Throws: `PatchError`; `AssetError`: `missingFile`, `damagedFile`, or `damagedRow` for the row of an asset that no
  ///   store writes; `SQLiteError`; what `onConflict` throws. Nothing is changed then.
  @discardableResult
  public func apply(
    _ patch: Patch, assetsFrom folder: String? = nil, isIdempotent: Bool = false,
    onConflict: ((PatchConflict) throws -> PatchResolution)? = nil
  ) throws -> PatchReport {
    try database.reportingClosure {
      let arriving = try ArrivingAssets(patch.newFiles, from: folder, to: assets)
      return try database.write {
        try self.apply(patch, arriving, $0, isIdempotent: isIdempotent, onConflict)
      }
    }
  }

  /// As ``apply(_:assetsFrom:isIdempotent:onConflict:)``, without blocking the task. Throws `CancellationError` too.
  @discardableResult
  nonisolated(nonsending) public func apply(
    _ patch: Patch, assetsFrom folder: String? = nil, isIdempotent: Bool = false,
    onConflict: (@Sendable (PatchConflict) throws -> PatchResolution)? = nil
  ) async throws -> PatchReport {
    try await database.reportingClosure {
      let arriving = try await assets.work {
        try ArrivingAssets(patch.newFiles, from: folder, to: self.assets)
      }
      // Not as a `write`: by an option these share a transaction, and then may run again.
      return try await database.withoutTransaction { connection in
        try connection.transaction {
          try self.apply(patch, arriving, connection, isIdempotent: isIdempotent, onConflict)
        }
      }
    }
  }

  private func apply(
    _ patch: Patch, _ arriving: ArrivingAssets, _ connection: Connection, isIdempotent: Bool,
    _ onConflict: ((PatchConflict) throws -> PatchResolution)?
  ) throws -> PatchReport {
    let patch = patch.filtered { HistoryRecording.holds($0) }
    let report = try arriving.adopted(patch.assetKeys, in: connection) {
      try HistoryRecording.apply(patch, connection, isIdempotent: isIdempotent, onConflict)
    }
    // No trigger has marked what is gone.
    try assets.releaseUnnamed(patch.oldFiles, in: connection)
    return report
  }
}

// The assets in patches.
extension Patch {
  /// An asset whose content a patch brings or removes, as its row names it.
  private struct AssetRow {
    let id: AssetID?
    let file: String
    let isInRow: Bool
    let isNew: Bool
  }

  private var assetTables: [Table] {
    tables.filter { asciiLowercased($0.name) == "magicdata_asset" }
  }

  /// The keys of the assets' rows, which may be no ids.
  fileprivate var assetKeys: Set<Value> {
    Set(assetTables.flatMap { table in table.rows.flatMap { table.key(of: $0).values } })
  }

  private var assetRows: [AssetRow] {
    var found: [AssetRow] = []
    for table in assetTables {
      // A changeset of another program has no names.
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

  /// The files of the assets that the changes delete, make or replace.
  var assetFiles: Set<String> { Set(assetRows.filter { !$0.isInRow }.map(\.file)) }

  /// The files of the assets that the changes delete or replace.
  fileprivate var oldFiles: Set<String> {
    Set(assetRows.filter { !$0.isNew && !$0.isInRow }.map(\.file))
  }

  /// The names that rows have for the contents that they bring.
  fileprivate var newFiles: Set<String> { Set(assetRows.filter(\.isNew).map(\.file)) }

  /// The assets that get contents in files.
  fileprivate var newAssets: [(id: AssetID?, file: String)] {
    assetRows.filter { $0.isNew && !$0.isInRow }.map { ($0.id, $0.file) }
  }
}

extension AssetError {
  /// The error for a content that a patch names and a store has no more.
  fileprivate static func missingAsset(_ id: AssetID?, _ file: String) -> AssetError {
    id.map { .noAsset($0) } ?? .damagedRow(id: file)
  }
}

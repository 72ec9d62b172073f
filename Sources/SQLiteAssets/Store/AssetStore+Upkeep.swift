import SQLiteCore
import SystemFiles

/// The progress of a verification or a backup.
///
/// A verification processes all assets. A backup processes the assets with content in a file.
public struct AssetProgress: Hashable, Sendable {
  /// The number of assets that have been processed, including damaged ones.
  public internal(set) var assets = 0
  /// The number of assets to process, as counted when the operation began.
  public internal(set) var totalAssets = 0
  /// The size of the processed assets in bytes, according to their rows.
  public internal(set) var bytes = 0
  /// The size of the assets to process in bytes, according to their rows when the operation began.
  public internal(set) var totalBytes = 0
}

extension AssetStore {
  /// Reads all assets and verifies their size and digest. Blocks the thread.
  ///
  /// - Parameter progress: A closure that is called at the beginning and after each asset with a
  ///   valid row, outside any access to the database. If it throws, the operation ends.
  /// - Returns: One error for each asset with a missing file, a damaged file, or a damaged row.
  /// - Throws: `SQLiteError` if the rows can't be read; any error of `progress`.
  /// - Complexity: O(*n*), where *n* is the size of all assets in bytes.
  @available(
    *, noasync,
    message: "blocks the thread; `await` needs a @Sendable closure, in a function"
  )
  public func verify(
    progress: (AssetProgress) throws -> Void = { _ in }
  ) throws -> [AssetError] {
    try faults(progress, reading: { read in try database.read { try read($0) } }, in: fault)
  }

  /// Reads all assets and verifies their size and digest. Suspends the task meanwhile. If you
  /// cancel the task, the operation ends before the next asset.
  ///
  /// - Parameter progress: A closure that is called at the beginning and after each asset with a
  ///   valid row, outside any access to the database. If it throws, the operation ends.
  /// - Returns: One error for each asset with a missing file, a damaged file, or a damaged row.
  /// - Throws: `SQLiteError` if the rows can't be read; any error of `progress`;
  ///   `CancellationError` if the task was cancelled.
  /// - Complexity: O(*n*), where *n* is the size of all assets in bytes.
  nonisolated(nonsending) public func verify(
    progress: @escaping @Sendable (AssetProgress) throws -> Void = { _ in }
  ) async throws -> [AssetError] {
    try await CancellableWork.run(on: worker, progress) { try self.verify(progress: $1) }
  }

  /// Returns an error for each asset with a damaged row, and each error that `fault` returns. Reads
  /// the rows in pages.
  ///
  /// - Parameters:
  ///   - condition: The SQL condition that selects assets.
  ///   - progress: A closure that is called at the beginning and after each asset with a valid row.
  ///   - access: A function that runs a closure in an access to the database. It is called once for
  ///     the totals, and once per page.
  ///   - fault: A function that returns the error if an asset's content is missing or damaged,
  ///     otherwise nil.
  /// - Returns: The errors, in the order of the ids.
  func faults(
    where condition: SQL = "true", _ progress: (AssetProgress) throws -> Void,
    reading access: ((Connection) throws -> Void) throws -> Void,
    in fault: (AssetRecord) throws -> AssetError?
  ) throws -> [AssetError] {
    var errors: [AssetError] = []
    var done = AssetProgress()
    try access { connection in
      let sums = try connection.firstRow(
        "SELECT count(*), total(size) FROM main.magicdata_asset WHERE \(condition)", as: Int.self,
        Double.self)
      done.totalAssets = sums?.0 ?? 0
      done.totalBytes = Int(exactly: (sums?.1 ?? 0).rounded()) ?? 0
    }
    try progress(done)
    var start: SQL = "true"
    while true {
      var page: [AssetRow] = []
      try access { connection in
        page = try rows("WHERE \(condition) AND \(start) ORDER BY id LIMIT 200", in: connection)
      }
      guard let last = page.last else { return errors }
      start = "id > \(last.id)"
      for row in page {
        done.assets += 1
        let record: AssetRecord
        do {
          record = try row.record()
        } catch {
          errors.append(error)
          continue
        }
        if let error = try fault(record) { errors.append(error) }
        // A manipulated row may contain any size.
        done.bytes = done.bytes.addingReportingOverflow(record.size).partialValue
        try progress(done)
      }
    }
  }

  /// Removes files that no row references. Blocks the thread.
  ///
  /// Such files exist, for example, if rows were deleted while the triggers of the store were
  /// dropped. Like opening the store, this call also processes the pending files of terminated
  /// programs and removes the files of deleted and replaced assets. It never removes a file that a
  /// reader may still need, or a file that the store didn't create.
  ///
  /// - Returns: The names of the removed files, of those that were kept, and of those that the
  ///   store didn't create.
  /// - Throws: ``AssetError`` if a file can't be removed; `SQLiteError` if the database can't be
  ///   read or written, or a transaction is open on the writer connection.
  /// - Complexity: O(*n*), where *n* is the number of all files.
  public func sweep() throws -> SweepReport {
    try recover()
    try removeDeletedFiles()
    var report = SweepReport()
    // Read the files before the rows, because a file is moved to the folder only after its row was
    // committed.
    let names = try folder.fileNames()
    report.foreign = names.filter { AssetFileName($0) == nil }
    return try outsideTransaction { connection in
      let unnamed = try names.compactMap { AssetFileName($0) }.filter {
        try !isKnown($0, in: connection)
      }
      guard !unnamed.isEmpty else { return report }
      guard try hasNoOlderReader(connection) else {
        report.kept = unnamed.map(\.text)
        if database.server != nil {
          // They are removed when their marks are old enough.
          try connection.transaction { try mark(unnamed.map { .text($0.text) }, in: connection) }
        }
        return report
      }
      try connection.transaction {
        for name in unnamed where try !isKnown(name, in: connection) {
          do {
            let size = try folder.files.file(name.text)?.status().size ?? 0
            guard try folder.files.remove(name.text) else { continue }
            report.removed.append(name.text)
            report.removedSize += size
          } catch AssetError.notRegularFile {
            report.foreign.append(name.text)
          }
        }
      }
      return report
    }
  }

  /// Removes files that no row references. Suspends the task meanwhile.
  ///
  /// Such files exist, for example, if rows were deleted while the triggers of the store were
  /// dropped. Like opening the store, this call also processes the pending files of terminated
  /// programs and removes the files of deleted and replaced assets. It never removes a file that a
  /// reader may still need, or a file that the store didn't create.
  ///
  /// - Returns: The names of the removed files, of those that were kept, and of those that the
  ///   store didn't create.
  /// - Throws: ``AssetError`` if a file can't be removed; `SQLiteError` if the database can't be
  ///   read or written; `CancellationError` if the task was cancelled.
  /// - Complexity: O(*n*), where *n* is the number of all files.
  nonisolated(nonsending) public func sweep() async throws -> SweepReport {
    try await worker.run { try self.sweep() }
  }

  /// Returns the files that opening and sweeping the store would move or remove, without changing
  /// them. Blocks the thread.
  ///
  /// Opening a store for writing already does the work in `moved`, `discarded` and `deleted`. To
  /// see that work in the plan, open the database read-only.
  ///
  /// - Returns: The names of the affected files, grouped by what would happen to them.
  /// - Throws: ``AssetError`` if the folder can't be read; `SQLiteError` if the database can't be
  ///   read.
  /// - Complexity: O(*n*), where *n* is the number of all files.
  public func upkeepPlan() throws -> UpkeepPlan {
    var plan = UpkeepPlan()
    // Holds the locks until the plan is complete. An opening of the store during that time skips
    // these files.
    let abandoned = try folder.lockAbandoned()
    for (_, left) in abandoned {
      let names = try left.names().compactMap { AssetFileName($0) }
      let named = try known(names)
      plan.moved += names.filter { named.contains($0) }.map(\.text)
      plan.discarded += names.filter { !named.contains($0) }.map(\.text)
    }
    let names = try folder.fileNames()
    plan.foreign = names.filter { AssetFileName($0) == nil }
    try database.read { connection in
      plan.deleted = try connection.rows(
        """
        SELECT CAST(file AS TEXT) FROM main.magicdata_asset_trash
        WHERE file NOT IN (SELECT file FROM main.magicdata_asset) ORDER BY 1
        """, as: String.self)
      plan.unnamed = try names.compactMap { AssetFileName($0) }.filter {
        try !isKnown($0, in: connection)
      }.map(\.text)
    }
    return plan
  }

  /// Returns the files that opening and sweeping the store would move or remove, without changing
  /// them. Suspends the task meanwhile.
  ///
  /// Opening a store for writing already does the work in `moved`, `discarded` and `deleted`. To
  /// see that work in the plan, open the database read-only.
  ///
  /// - Returns: The names of the affected files, grouped by what would happen to them.
  /// - Throws: ``AssetError`` if the folder can't be read; `SQLiteError` if the database can't be
  ///   read; `CancellationError` if the task was cancelled.
  /// - Complexity: O(*n*), where *n* is the number of all files.
  nonisolated(nonsending) public func upkeepPlan() async throws -> UpkeepPlan {
    try await worker.run { try self.upkeepPlan() }
  }

  /// Returns an error if the content of an asset is missing, damaged or unreadable, otherwise nil.
  /// Also returns nil if the asset has been replaced or deleted since its row was read.
  private func fault(of record: AssetRecord) throws -> AssetError? {
    let reader = Result { try database.read { try open(record, in: $0) } }
    guard try fault(in: reader) != nil else { return nil }
    // Check again: the asset may have been replaced or deleted. During a read its file isn't
    // removed.
    return try database.read { connection in
      guard try self.record(record.id, in: connection) == record else { return nil }
      return try fault(in: Result { try open(record, in: connection) })
    }
  }

  private func fault(in reader: Result<AssetReader, any Error>) throws -> AssetError? {
    do {
      try reader.get().forEachPiece { _ in }
      return nil
    } catch let error as AssetError {
      return error
    }
  }
}

/// The files that a sweep removed and those that it kept, as `AssetStore.sweep()` returns them.
public struct SweepReport: Hashable, Sendable {
  /// The names of the removed files, which no row referenced.
  public internal(set) var removed: [String] = []
  /// The size of the removed files in bytes.
  public internal(set) var removedSize = 0
  /// The names of files that no row references but that a reader may still need. They were not
  /// removed.
  public internal(set) var kept: [String] = []
  /// The names of entries that the store didn't create: files with other names, and links or
  /// folders. They were not removed.
  public internal(set) var foreign: [String] = []
}

/// The files that opening and sweeping a store would move or remove, as `AssetStore.upkeepPlan()`
/// returns them.
public struct UpkeepPlan: Hashable, Sendable {
  /// The names of files that rows reference, but that a terminated program hasn't moved into place.
  /// Opening the store moves them.
  public internal(set) var moved: [String] = []
  /// The names of files that a terminated program has written and that no row references. Opening
  /// the store removes them.
  public internal(set) var discarded: [String] = []
  /// The names of the files of deleted and replaced assets. They are removed when no reader needs
  /// them any more.
  public internal(set) var deleted: [String] = []
  /// The names of other files in the store that no row references. A sweep removes them.
  public internal(set) var unnamed: [String] = []
  /// The names of entries that the store didn't create. They are never removed.
  public internal(set) var foreign: [String] = []

  /// A Boolean value that indicates whether there is nothing to move or remove.
  public var isEmpty: Bool {
    moved.isEmpty && discarded.isEmpty && deleted.isEmpty && unnamed.isEmpty
  }
}

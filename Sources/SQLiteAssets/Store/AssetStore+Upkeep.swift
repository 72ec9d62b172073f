import SQLiteCore
import SystemFiles

/// How far a work on all assets is.
public struct AssetProgress: Hashable, Sendable {
  /// The assets that are done.
  public internal(set) var assets = 0
  /// All assets when the work began.
  public internal(set) var totalAssets = 0
  /// The bytes that are done.
  public internal(set) var bytes = 0
  /// The bytes of all assets when the work began.
  public internal(set) var totalBytes = 0
}

extension AssetStore {
  /// Reads every asset and compares its file with its row.
  ///
  /// - Parameter progress: Called after each asset, outside any access to the database; what it throws ends
  ///   the work.
  /// - Returns: What is wrong, one error for each asset: missing and damaged files, damaged rows.
  /// - Throws: `SQLiteError`, or what `progress` throws.
  /// - Complexity: O(*n*) in the bytes of all assets.
  public func verify(
    progress: (AssetProgress) throws -> Void = { _ in }
  ) throws -> [AssetError] {
    try faults(progress, reading: { read in try database.read { try read($0) } }, in: fault)
  }

  /// As ``verify(progress:)``, without blocking the task. Cancelling the task ends it before the next asset.
  nonisolated(nonsending) public func verify(
    progress: @escaping @Sendable (AssetProgress) throws -> Void = { _ in }
  ) async throws -> [AssetError] {
    try await CancellableWork.run(on: worker, progress) { try self.verify(progress: $1) }
  }

  /// Finds faults in assets, in the memory of some of them.
  ///
  /// - Parameters:
  ///   - condition: Says which assets.
  ///   - progress: Called after each asset.
  ///   - access: Makes an access to the database, one for some hundred rows.
  ///   - fault: Returns the fault in an asset, or nil.
  /// - Returns: One error for each asset with a fault.
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
        // A hostile row may say any size.
        done.bytes = done.bytes.addingReportingOverflow(record.size).partialValue
        try progress(done)
      }
    }
  }

  /// Removes files that no row names, such as those of rows that were deleted while somebody had
  /// dropped the triggers.
  ///
  /// It also does what opening the store does. It never removes a file that a reader may still need,
  /// nor one whose name no store has given.
  ///
  /// - Returns: What was removed and what was not.
  /// - Throws: ``AssetError`` or `SQLiteError`.
  /// - Complexity: O(*n*) in the number of all files.
  public func sweep() throws -> SweepReport {
    try recover()
    try removeDeletedFiles()
    var report = SweepReport()
    // First the files, then the rows: a file is moved into place only after its row is committed.
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
          // They go once they are old enough.
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

  /// As ``sweep()``, without blocking the task.
  nonisolated(nonsending) public func sweep() async throws -> SweepReport {
    try await worker.run { try self.sweep() }
  }

  /// Tells what opening the store and sweeping it would do now, and does nothing of it.
  ///
  /// Opening a store for writing does the first three, so ask this of one whose database is open for reading
  /// only.
  ///
  /// - Returns: The names of files, each in the list of what would happen to it.
  /// - Throws: ``AssetError`` or `SQLiteError`.
  /// - Complexity: O(*n*) in the number of all files.
  public func upkeepPlan() throws -> UpkeepPlan {
    var plan = UpkeepPlan()
    // Locked as long as this lasts: an opening at the same time leaves them to the next one.
    let abandoned = try folder.takeAbandoned()
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

  /// As ``upkeepPlan()``, without blocking the task.
  nonisolated(nonsending) public func upkeepPlan() async throws -> UpkeepPlan {
    try await worker.run { try self.upkeepPlan() }
  }

  /// Returns the error in a content, if the asset still has it.
  private func fault(of record: AssetRecord) throws -> AssetError? {
    let reader = Result { try database.read { try open(record, in: $0) } }
    guard try fault(in: reader) != nil else { return nil }
    // It may have been replaced or deleted meanwhile. Within a read its file stays.
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

/// The result of `AssetStore.sweep()`.
public struct SweepReport: Hashable, Sendable {
  /// The names of the files that were removed: no row named them.
  public internal(set) var removed: [String] = []
  /// The number of their bytes.
  public internal(set) var removedSize = 0
  /// The names of files that no row names, but that a reader may still need.
  public internal(set) var kept: [String] = []
  /// Names that no store gives, and links, folders and the like with other names. These entries are
  /// left alone.
  public internal(set) var foreign: [String] = []
}

/// The work that `AssetStore.upkeepPlan()` has found.
public struct UpkeepPlan: Hashable, Sendable {
  /// The names of files that rows name and that a program which has ended did not move into place: opening the
  /// store moves them.
  public internal(set) var moved: [String] = []
  /// The names of files that such a program wrote and no row names: opening the store removes them.
  public internal(set) var discarded: [String] = []
  /// The names of files of deleted and replaced assets: they go once no reader needs them.
  public internal(set) var deleted: [String] = []
  /// The names of files in place that no row names: a sweep removes them.
  public internal(set) var unnamed: [String] = []
  /// Names that no store gives: nothing removes them.
  public internal(set) var foreign: [String] = []

  /// Whether nothing is to be done.
  public var isEmpty: Bool {
    moved.isEmpty && discarded.isEmpty && deleted.isEmpty && unnamed.isEmpty
  }
}

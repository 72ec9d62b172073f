import SQLiteCore
import SystemFiles

extension AssetStore {
  /// Reads every asset and compares its file with its row.
  ///
  /// - Returns: What is wrong, one error for each asset: missing and damaged files, damaged rows.
  /// - Throws: `SQLiteError`.
  /// - Complexity: O(*n*) in the bytes of all assets.
  public func verify() throws -> [AssetError] {
    var errors: [AssetError] = []
    var start: SQL = ""
    while true {
      let page = try database.read { connection in
        try connection.rows(
          """
          SELECT id, file, size, sha256, content IS NOT NULL FROM main.magicdata_asset
          \(start) ORDER BY id LIMIT 200
          """, as: Value.self, Value.self, Value.self, Value.self, Bool.self)
      }
      guard let last = page.last else { return errors }
      start = "WHERE id > \(last.0)"
      for (id, file, size, sha256, isInRow) in page {
        let record = AssetRecord(id: id, file: file, size: size, sha256: sha256, isInRow: isInRow)
        guard let record else {
          errors.append(.damagedRow(id: id.text))
          continue
        }
        if let error = try fault(of: record) { errors.append(error) }
      }
    }
  }

  /// As ``verify()``, without blocking the task.
  nonisolated(nonsending) public func verify() async throws -> [AssetError] {
    try await worker.run { try self.verify() }
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
    let names = try folder.files.names()
    report.foreign = names.filter { AssetFileName($0) == nil }
    return try outsideTransaction { connection in
      let unnamed = try names.compactMap { AssetFileName($0) }.filter {
        try !isKnown($0, in: connection)
      }
      guard !unnamed.isEmpty else { return report }
      guard try hasNoOlderReader(connection) else {
        report.kept = unnamed.map(\.text)
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

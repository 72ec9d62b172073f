import Essentials
import SQLiteCore

extension Database {
  /// Copies all pages into the database at a path, in one transaction there.
  ///
  /// - Parameters:
  ///   - path: A database, or where none is yet.
  ///   - deadline: When the copy must be finished.
  ///   - progress: Called now and then with the bytes copied, and with how many there are.
  /// - Throws: `SQLiteError`, or what `progress` throws; then nothing stands where nothing stood.
  func copy(
    to path: String, deadline: ContinuousClock.Instant? = nil,
    _ progress: (DumpProgress) throws -> Void
  ) throws {
    try Self.filling(path) { file in
      guard server != nil else { return try copy(to: file, deadline: deadline, progress) }
      // A server gives rows and no pages: by way of a text, which has all that there is.
      let text = DataFile.spon(
        path: path + ".dump-" + String(UInt64.random(in: 0 ... .max), radix: 16))
      defer { try? FileManager.default.removeItem(atPath: text.path) }
      try dump(to: text, progress: progress)
      try file.restore(from: text, deadline: deadline)
    }
  }

  /// Copies all pages into another database, in one transaction there.
  func copy(
    to target: Database, deadline: ContinuousClock.Instant? = nil,
    _ progress: (DumpProgress) throws -> Void
  ) throws {
    let pageSize = try pageSize
    try backup(to: target, deadline: deadline) { pages in
      var step = DumpProgress()
      step.bytes = (pages.totalPages - pages.remainingPages) * pageSize
      step.totalBytes = pages.totalPages * pageSize
      try progress(step)
    }
  }

  /// The size of a page in bytes.
  var pageSize: Int {
    get throws { try read { try $0.pragma("page_size").map { try Int(databaseValue: $0) } } ?? 0 }
  }

  /// Makes an empty database, whose pages are to be copied, have pages of a size: a backup cannot change
  /// the size of the pages in a log.
  func setPageSize(_ size: Int) throws {
    try withoutTransaction { _ = try $0.pragma("page_size", " = \(size)") }
  }

  /// Opens the database at a path, fills it and closes it. If that fails where there was no file, there
  /// is none afterwards.
  ///
  /// The file is opened by SQLite and keeps its journal mode: what a log beside it holds belongs to it.
  static func filling(_ path: String, _ body: (Database) throws -> Void) throws {
    var options = Options()
    options.journalMode = .delete
    options.keepsJournalMode = true
    let target = try Database(path: path, options: options)
    do {
      try body(target)
      try target.close()
    } catch {
      try? target.close()
      if target.madeFile, let file = target.path {
        for suffix in [""] + OpenDatabases.suffixes {
          try? FileManager.default.removeItem(atPath: file + suffix)
        }
      }
      throw error
    }
  }

  /// Opens the database at a path for reading, also if it must be repaired first.
  static func reading(_ path: String) throws(SQLiteError) -> Database {
    do {
      return try Database(path: path, options: .readOnly)
    } catch  where error.code.primary == .readOnly {
      // Only a connection that may write repairs what a crash left.
      var options = Options(mode: .readWrite)
      options.journalMode = .delete
      options.keepsJournalMode = true
      return try Database(path: path, options: options)
    }
  }
}

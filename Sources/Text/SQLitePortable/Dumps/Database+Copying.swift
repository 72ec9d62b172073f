import Essentials
import SQLiteCore
import SystemFiles

extension Database {
  /// Copies all pages into the database at a path, in one transaction there.
  ///
  /// - Parameters:
  ///   - path: A database, or a path where a file is to appear.
  ///   - deadline: When the copy must be finished.
  ///   - progress: Called now and then with the bytes copied, and with how many there are.
  /// - Throws: `SQLiteError`, or what `progress` throws; then the path is as it was.
  func copy(
    to path: String, deadline: ContinuousClock.Instant? = nil,
    _ progress: (DumpProgress) throws -> Void
  ) throws {
    try Self.filling(path) { file in
      guard server != nil else { return try copy(to: file, deadline: deadline, progress) }
      // A server returns rows but no pages, so the content travels as a text, which has everything.
      let text = try AtomicFile(path + ".spon")
      try dump(to: .spon(path: text.contentPath), progress: progress)
      try file.restore(from: .spon(path: text.contentPath), deadline: deadline)
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

  /// Fills the database at a path. If it is missing, it appears when `body` has returned.
  ///
  /// An existing file is opened by SQLite, since it may be in use, and keeps its journal mode. `body` must fill it in
  /// one transaction. SQLite also removes the journals of a file that is gone.
  static func filling(_ path: String, _ body: (Database) throws -> Void) throws {
    let names = [path] + OpenDatabases.suffixes.map { path + $0 }
    guard !names.contains(where: { FileManager.default.fileExists(atPath: $0) }) else {
      // A process may have been killed after the file had its name.
      PendingFile.removeAbandoned(beside: path)
      return try filling(databaseAt: path, body)
    }
    let file = try AtomicFile(path)
    try filling(databaseAt: file.contentPath, body)
    try file.publish(replacing: false)
  }

  private static func filling(
    databaseAt path: String, _ body: (Database) throws -> Void
  ) throws {
    var options = Options()
    options.journalMode = .delete
    options.keepsJournalMode = true
    let target = try Database(path: path, options: options)
    do {
      try body(target)
      try target.close()
    } catch {
      try? target.close()
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

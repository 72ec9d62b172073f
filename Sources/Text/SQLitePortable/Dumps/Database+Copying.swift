import Essentials
import SQLiteCore
import SystemFiles

extension Database {
  /// Copies all content to the database at a path, in one transaction.
  ///
  /// - Parameters:
  ///   - path: The path of a database, or of a new file.
  ///   - deadline: The time by which the copy must be complete; nil for no limit.
  ///   - progress: A closure that is called repeatedly with the number of copied bytes and their
  ///     total.
  /// - Throws: `SQLiteError` if the database can't be read or the file can't be written before the
  ///   deadline, ``DumpError`` if content of a cluster can't be copied, or any error that
  ///   `progress` throws. The file is then unchanged.
  func copy(
    to path: String, deadline: ContinuousClock.Instant? = nil,
    _ progress: (DumpProgress) throws -> Void
  ) throws {
    try Self.filling(path, key: key) { file in
      guard server != nil else { return try copy(to: file, deadline: deadline, progress) }
      // A server returns rows but no pages. Text is a lossless copy of all content.
      let text = try AtomicFile(path + ".spon")
      try dump(to: .spon(path: text.contentPath), progress: progress)
      try file.restore(from: .spon(path: text.contentPath), deadline: deadline)
    }
  }

  /// Copies all pages to another database, in one transaction.
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
    get throws {
      switch try read({ try $0.pragma("page_size") }) {
      case .integer(let size): Int(size)
      // SQLCipher returns the size of an encrypted page as text.
      case .text(let size): Int(size) ?? 0
      default: 0
      }
    }
  }

  /// Sets the page size of an empty database to which pages will be copied. A backup can't change
  /// the page size of a database in WAL mode.
  func setPageSize(_ size: Int) throws {
    try withoutTransaction { _ = try $0.pragma("page_size", " = \(size)") }
  }

  /// Runs `body` to fill the database at a path. If the file is missing, it appears after `body`
  /// has returned.
  ///
  /// SQLite opens an existing file, because it may be in use, and keeps its journal mode. `body`
  /// must fill it in one transaction. If only the journals of a deleted file exist, SQLite removes
  /// them. The file has the key `key`.
  static func filling(
    _ path: String, key: Key?, _ body: (Database) throws -> Void
  ) throws {
    let names = [path] + OpenDatabases.suffixes.map { path + $0 }
    guard !names.contains(where: { FileManager.default.fileExists(atPath: $0) }) else {
      // A process may have been killed after it published the file, but before it removed its
      // folder.
      PendingFile.removeAbandoned(nextTo: path)
      return try filling(databaseAt: path, key, body)
    }
    let file = try AtomicFile(path)
    try filling(databaseAt: file.contentPath, key, body)
    try file.publish(replacing: false)
  }

  private static func filling(
    databaseAt path: String, _ key: Key?, _ body: (Database) throws -> Void
  ) throws {
    var options = Options()
    options.key = key
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

  /// Opens the database at a path for reading, even if it must be recovered first.
  static func reading(_ path: String, key: Key?) throws(SQLiteError) -> Database {
    var options = Options.readOnly
    options.key = key
    do {
      return try Database(path: path, options: options)
    } catch  where error.code.primary == .readOnly {
      // Only a connection that can write recovers a database after a crash.
      options.mode = .readWrite
      options.journalMode = .delete
      options.keepsJournalMode = true
      return try Database(path: path, options: options)
    }
  }
}

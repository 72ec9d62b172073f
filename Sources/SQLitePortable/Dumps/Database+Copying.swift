#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
import SQLiteCore

extension Database {
  /// Copies all pages into the database at a path, in one transaction there.
  ///
  /// - Parameters:
  ///   - path: A database, or where none is yet.
  ///   - progress: Called now and then with the bytes copied, and with how many there are.
  /// - Throws: `SQLiteError`, or what `progress` throws; then nothing stands where nothing stood.
  func copy(to path: String, _ progress: (DumpProgress) throws -> Void) throws {
    try Self.filling(path) { try copy(to: $0, progress) }
  }

  /// Copies all pages into another database, in one transaction there.
  func copy(to target: Database, _ progress: (DumpProgress) throws -> Void) throws {
    let pageSize = try read { try $0.pragma("page_size").map { try Int(databaseValue: $0) } } ?? 0
    try backup(to: target) { pages in
      var step = DumpProgress()
      step.bytes = (pages.totalPages - pages.remainingPages) * pageSize
      step.totalBytes = pages.totalPages * pageSize
      try progress(step)
    }
  }

  /// Opens the database at a path, fills it and closes it. If that fails where there was no file, there
  /// is none afterwards.
  static func filling(_ path: String, _ body: (Database) throws -> Void) throws {
    let isNew = !FileManager.default.fileExists(atPath: path)
    let target = try Database(path: path)
    do {
      try body(target)
      try target.close()
    } catch {
      try? target.close()
      if isNew, let file = target.path {
        for suffix in ["", "-wal", "-shm", "-journal"] {
          try? FileManager.default.removeItem(atPath: file + suffix)
        }
      }
      throw error
    }
  }
}

import Conformance
import Dispatch
import Foundation
import SQLiteCore
import TestSupport

/// A kind of database. All kinds must behave alike.
enum Kind: String, CaseIterable, Sendable {
  case memory
  case file
  case temporary
  case rollbackJournal
}

/// A new database of a kind, and a folder for its files.
struct Fixture: Sendable {
  let database: Database
  let folder: TestFolder

  init(_ kind: Kind, _ options: Database.Options = Database.Options()) throws {
    folder = try TestFolder()
    var options = options
    // The tests don't depend on durability, and syncing would slow them down.
    options.synchronous = .normalLosesLastCommitsOnPowerCut
    guard Engine.current == .local else {
      database = try .fresh(options: options)
      return
    }
    switch kind {
    case .memory: database = try .memory(options: options)
    case .temporary: database = try .temporary(options: options)
    case .file: database = try Database(path: folder.file(), options: options)
    case .rollbackJournal:
      options.journalMode = .delete
      database = try Database(path: folder.file(), options: options)
    }
  }

  func count(_ table: String = "t") throws -> Int {
    try database.rows("SELECT count(*) FROM \(identifier: table)", as: Int.self).first ?? -1
  }
}

struct Stop: Error, Equatable {}

/// Returns the `SQLiteError` that `body` throws, or nil if it throws another error or none.
func sqliteError(_ body: () throws -> Void) -> SQLiteError? {
  do {
    try body()
    return nil
  } catch {
    return error as? SQLiteError
  }
}

/// Waits for a signal on a separate thread, so that no thread of Swift's pool blocks.
func wait(for semaphore: DispatchSemaphore) async {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread {
      semaphore.wait()
      continuation.resume()
    }
  }
}

import Dispatch
import Foundation
import SQLiteCore

/// A folder that goes away with this value.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.path + "/magicdata-core-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    do { try FileManager.default.removeItem(atPath: path) } catch { print("\(error)") }
  }

  func file(_ name: String = "data.sqlite3") -> String { "\(path)/\(name)" }
}

/// The kinds of databases that must behave alike.
enum Kind: String, CaseIterable, Sendable {
  case memory
  case file
  case temporary
  case rollbackJournal
}

/// A fresh database of a kind, with the folder it needs.
struct Fixture: Sendable {
  let database: Database
  let folder: TemporaryFolder

  init(_ kind: Kind, _ options: Database.Options = Database.Options()) throws {
    folder = try TemporaryFolder()
    var options = options
    // What is tested here does not depend on it, and the tests are many.
    options.synchronous = .normalLosesLastCommitsOnPowerCut
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
    try database.firstRow("SELECT count(*) FROM \(identifier: table)", as: Int.self) ?? -1
  }
}

struct Stop: Error, Equatable {}

/// Numbers that are the same in each run (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// The SQLiteError that `body` throws, or nil.
func sqliteError(_ body: () throws -> Void) -> SQLiteError? {
  do {
    try body()
    return nil
  } catch {
    return error as? SQLiteError
  }
}

/// Waits for a signal on another thread than one of Swift's.
func wait(for semaphore: DispatchSemaphore) async {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread {
      semaphore.wait()
      continuation.resume()
    }
  }
}

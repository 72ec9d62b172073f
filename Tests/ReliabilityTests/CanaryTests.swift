import Foundation
import SQLiteCore
import Synchronization
import Testing
import TestSupport

/// ThreadSanitizer does not see into SQLite. Each run of a statement changes a plain counter of its
/// connection, which it does see: two threads on one connection are a race on that counter.
///
/// With `MAGICDATA_PLANTED_RACE` set there is such a race, which `.ci/sanitize thread` must find.
@Suite struct CanaryTests {
  static let isPlanted = ProcessInfo.processInfo.environment["MAGICDATA_PLANTED_RACE"] != nil

  /// Hands a connection to another thread, as no program may.
  private struct Smuggled: @unchecked Sendable {
    let connection: Connection
  }

  /// Ends a thread without being something that it waits for.
  private final class Stop: Sendable {
    let isSet = Atomic(false)
  }

  @Test(.enabled(if: isPlanted, "a race is planted only for ThreadSanitizer to find"))
  func `a connection used by two threads is seen`() throws {
    let database = try Database.memory()
    try database.read { connection in
      let smuggled = Smuggled(connection: connection), stop = Stop()
      let started = DispatchSemaphore(value: 0), done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        var sum = smuggled.connection.statementCount
        started.signal()
        // Until the end, and slowly: what a thread did that has ended, or has done much since, is
        // forgotten.
        while !stop.isSet.load(ordering: .relaxed) {
          sum &+= smuggled.connection.statementCount
          Thread.sleep(forTimeInterval: 0.001)
        }
        done.signal()
      }
      started.wait()
      for _ in 0..<500 { _ = try connection.executeQuery("SELECT 1") }
      stop.isSet.store(true, ordering: .relaxed)
      done.wait()
    }
  }

  @Test func `many threads on one database use no connection at once`() throws {
    let folder = try TestFolder.inMemory()
    let database = try Database(path: folder.file())
    try database.executeMultipleChanges("CREATE TABLE t (a); INSERT INTO t VALUES (0)")
    let failures = Failures()
    DispatchQueue.concurrentPerform(iterations: 8) { worker in
      for round in 0..<25 {
        do {
          if worker % 4 == 0 {
            try database.executeChange("UPDATE t SET a = a + 1")
          } else if round % 5 == 0 {
            try database.write { connection in
              let old = try connection.firstRow("SELECT a FROM t", as: Int.self) ?? 0
              try connection.executeChange("UPDATE t SET a = \(old)")
            }
          } else {
            _ = try database.rows("SELECT a FROM t", as: Int.self)
          }
        } catch {
          failures.add(error)
        }
      }
    }
    #expect(failures.all == [])
    let sum = try database.rows("SELECT a FROM t", as: Int.self).first
    #expect(sum == 50)
  }
}

/// What went wrong on other threads.
private final class Failures: @unchecked Sendable {
  private let lock = NSLock()
  private var messages: [String] = []

  var all: [String] { lock.withLock { messages } }

  func add(_ error: any Error) { lock.withLock { messages.append("\(error)") } }
}

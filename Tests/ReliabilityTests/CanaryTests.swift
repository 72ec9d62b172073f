import Foundation
import SQLiteCore
import Synchronization
import Testing
import TestSupport

/// Proves that ThreadSanitizer detects two threads on one connection. It can't see into SQLite, but
/// each run of a statement changes a plain counter of its connection, so concurrent use is a race
/// on that counter.
///
/// With `MAGICDATA_PLANTED_RACE` set, a test contains such a race, which `.ci/sanitize thread` must
/// find.
@Suite struct CanaryTests {
  static let isPlanted = ProcessInfo.processInfo.environment["MAGICDATA_PLANTED_RACE"] != nil

  /// A wrapper that passes a connection to another thread, which programs must not do.
  private struct Smuggled: @unchecked Sendable {
    let connection: Connection
  }

  /// A flag that ends a thread without synchronizing with it.
  private final class Stop: Sendable {
    let isSet = Atomic(false)
  }

  @Test(.enabled(if: isPlanted, "the race is planted only for ThreadSanitizer"))
  func `using a connection on two threads is a data race`() throws {
    let database = try Database.memory()
    try database.read { connection in
      let smuggled = Smuggled(connection: connection), stop = Stop()
      let started = DispatchSemaphore(value: 0), done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        var sum = smuggled.connection.statementCount
        started.signal()
        // Reads slowly until the end, because ThreadSanitizer forgets the accesses of ended threads
        // and of threads that have done much since.
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

  @Test func `many threads on one database never share a connection`() throws {
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

/// The errors of other threads.
private final class Failures: @unchecked Sendable {
  private let lock = NSLock()
  private var messages: [String] = []

  var all: [String] { lock.withLock { messages } }

  func add(_ error: any Error) { lock.withLock { messages.append("\(error)") } }
}

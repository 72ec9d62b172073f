import Conformance
import Foundation
import SQLiteCore
import Synchronization
import Testing

/// Work that waits for the reads that run when it is asked for.
@Suite(.everyEngine) final class PresentReadsTests: Sendable {
  let path: String
  let database: Database
  private let log = Mutex<[String]>([])

  init() throws {
    path = "\(FileManager.default.temporaryDirectory.path)/reads-\(UUID().uuidString).sqlite3"
    database = try Database.at(path)
    try database.executeChange("CREATE TABLE note (text TEXT)")
  }

  deinit {
    for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) }
  }

  private func note(_ text: String) { log.withLock { $0.append(text) } }

  private func onAnotherThread(_ body: @escaping @Sendable () throws -> Void) {
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      #expect(throws: Never.self) { try body() }
      done.signal()
    }
    done.wait()
  }

  @Test func `without a read nothing is run`() throws {
    #expect(database.afterPresentReads { _ in self.note("work") } == false)
    try database.write { _ in
      #expect(database.afterPresentReads { _ in self.note("work") } == false)
    }
    try database.withoutTransaction { _ in }
    #expect(log.withLock { $0 } == [])
  }

  @Test func `it runs after the last of the reads, and before later writes`() throws {
    try database.read { _ in
      self.onAnotherThread { [self] in
        try database.read { _ in
          #expect(
            database.afterPresentReads { connection in
              self.note("work")
              #expect(throws: Never.self) { try connection.executeChange("DELETE FROM note") }
            })
        }
        try database.write { _ in self.note("write") }
        // A read that begins later is not waited for.
        try database.read { _ in self.note("read") }
      }
    }
    try database.write { _ in self.note("last") }
    #expect(log.withLock { $0 } == ["write", "read", "work", "last"])
  }

  @Test func `a closed database drops it`() throws {
    let database = database
    let begun = DispatchSemaphore(value: 0)
    let end = DispatchSemaphore(value: 0)
    let ended = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      try? database.read { _ in
        #expect(database.afterPresentReads { _ in self.note("work") })
        begun.signal()
        end.wait()
      }
      ended.signal()
    }
    begun.wait()
    Thread.detachNewThread {
      while !database.isClosed { Thread.sleep(forTimeInterval: 0.001) }
      end.signal()
    }
    try database.close()
    ended.wait()
    #expect(log.withLock { $0 } == [])
  }
}

import Conformance
import Foundation
import SQLiteCore
import Synchronization
import Testing

/// Tests of work that waits for the reads that are running when it is requested.
@Suite(.everyEngine) final class CurrentReadsTests: Sendable {
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

  private func record(_ text: String) { log.withLock { $0.append(text) } }

  private func onAnotherThread(_ body: @escaping @Sendable () throws -> Void) {
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      #expect(throws: Never.self) { try body() }
      done.signal()
    }
    done.wait()
  }

  @Test func `the work isn't run if no read is running`() throws {
    #expect(database.afterCurrentReads { _ in self.record("work") } == false)
    try database.write { _ in
      #expect(database.afterCurrentReads { _ in self.record("work") } == false)
    }
    try database.withoutTransaction { _ in }
    #expect(log.withLock { $0 } == [])
  }

  @Test func `the work runs after the last running read and before later writes`() throws {
    try database.read { _ in
      self.onAnotherThread { [self] in
        try database.read { _ in
          #expect(
            database.afterCurrentReads { connection in
              self.record("work")
              #expect(throws: Never.self) { try connection.executeChange("DELETE FROM note") }
            })
        }
        try database.write { _ in self.record("write") }
        // The work doesn't wait for a read that begins later.
        try database.read { _ in self.record("read") }
      }
    }
    try database.write { _ in self.record("last") }
    #expect(log.withLock { $0 } == ["write", "read", "work", "last"])
  }

  @Test func `a closed database drops the work`() throws {
    let database = database
    let begun = DispatchSemaphore(value: 0)
    let end = DispatchSemaphore(value: 0)
    let ended = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      try? database.read { _ in
        #expect(database.afterCurrentReads { _ in self.record("work") })
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

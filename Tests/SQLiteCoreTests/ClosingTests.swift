import Dispatch
import Foundation
import SQLiteCore
import Synchronization
import Testing
import TestSupport

/// Tests of what a closing connection releases: statements first, on the connection's thread, and
/// outside all locks.
@Suite struct ClosingTests {
  /// An object that uses the database when it is deallocated.
  private final class DatabaseUser: Sendable {
    private let database: Database

    init(_ database: Database) { self.database = database }

    deinit {
      // The database is closed, so these calls throw. They must not block or crash.
      _ = sqliteError { try database.read { _ in } }
      _ = sqliteError { try database.write { _ in } }
    }
  }

  @Test(arguments: [Kind.memory, .file])
  func `a value that a function captures can use the database when it is released`(kind: Kind)
    throws
  {
    let fixture = try Fixture(kind)
    try fixture.database.write { connection in
      let user = DatabaseUser(fixture.database)
      try connection.addFunction("word") { () -> Int in withExtendedLifetime(user) { 1 } }
    }
    try fixture.database.close()
  }

  @Test func `values that callbacks capture are released with the connection`() throws {
    final class Mark: Sendable {}
    weak var traced: Mark?
    weak var decided: Mark?
    weak var called: Mark?
    do {
      let database = try Database.memory()
      try database.write { connection in
        let (trace, decision, call) = (Mark(), Mark(), Mark())
        (traced, decided, called) = (trace, decision, call)
        try connection.trace { [trace] _ in withExtendedLifetime(trace) {} }
        try connection.setAuthorizer { [decision] _ in
          withExtendedLifetime(decision) {}
          return .allow
        }
        try connection.addFunction("call") { [call] () -> Int in withExtendedLifetime(call) { 1 } }
        try connection.executeMultipleChanges("CREATE TABLE t (a); INSERT INTO t VALUES (call())")
      }
      #expect(traced != nil && decided != nil && called != nil)
      try database.close()
    }
    #expect(traced == nil && decided == nil && called == nil)
  }

  @Test(arguments: [Kind.memory, .file])
  func `a connection that can't roll back is discarded while a subscriber listens`(
    kind: Kind
  ) throws {
    let fixture = try Fixture(kind)
    let database = fixture.database
    let notifications = Mutex(0)
    if kind == .file { try database.executeChange("CREATE TABLE t (a)") }
    let subscription = database.subscribe(to: .values) { _ in notifications.withLock { $0 += 1 } }
    for _ in 0..<3 {
      // Cached statements keep SQLite's handle open until they are finalized.
      _ = sqliteError {
        try database.write { connection in
          try connection.executeMultipleChanges("CREATE TABLE IF NOT EXISTS t (a)")
          for number in 0..<20 {
            try connection.executeChange(SQL(unchecked: "INSERT INTO t VALUES (\(number))"))
          }
        }
      }
      let error = sqliteError {
        try database.write { connection in
          try connection.executeChange("INSERT INTO t VALUES (-1)")
          // ROLLBACK exceeds this limit and can't be compiled.
          try connection.setLimit(.sqlLength, to: 1)
          throw SQLiteError(.constraint, "the work fails")
        }
      }
      #expect(error?.message == "the work fails")
    }
    // A database in memory is lost with its connection.
    if kind == .file {
      #expect(try database.rows("SELECT count(*) FROM t", as: Int.self).first == 60)
      #expect(try database.rows("SELECT count(*) FROM t WHERE a < 0", as: Int.self).first == 0)
    }
    #expect(notifications.withLock { $0 } == 3)
    withExtendedLifetime(subscription) {}
  }

  @Test func `a traced connection that can't roll back is discarded safely`() throws {
    let fixture = try Fixture(.file)
    let events = Mutex<[TraceEvent]>([])
    try fixture.database.executeChange("CREATE TABLE t (a)")
    _ = sqliteError {
      try fixture.database.write { connection in
        try connection.trace { event in events.withLock { $0.append(event) } }
        try connection.executeChange("INSERT INTO t VALUES (1)")
        try connection.setLimit(.sqlLength, to: 1)
        throw Stop()
      }
    }
    #expect(events.withLock { $0.isEmpty } == false)
    #expect(try fixture.count() == 0)
  }

  @Test func `many databases on one file open and close concurrently`() throws {
    let folder = try TestFolder()
    let path = folder.file()
    let first = try Database(path: path)
    try first.executeChange("CREATE TABLE t (a)")
    DispatchQueue.concurrentPerform(iterations: 60) { _ in
      _ = sqliteError { _ = try Database(path: path).rows("SELECT a FROM t", as: Int.self).first }
    }
    let notifications = Mutex(0)
    let subscription = first.subscribe(to: .tables) { _ in notifications.withLock { $0 += 1 } }
    try Database(path: path).executeChange("INSERT INTO t VALUES (1)")
    #expect(notifications.withLock { $0 } == 1)
    withExtendedLifetime(subscription) {}
  }
}

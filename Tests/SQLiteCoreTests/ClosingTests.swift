import Dispatch
import Foundation
import SQLiteCore
import Synchronization
import Testing
import TestSupport

/// What goes with a connection goes outside all locks, on its thread, statements first.
@Suite struct ClosingTests {
  /// Something of a user's that looks at the database when it goes.
  private final class LastWord: Sendable {
    private let database: Database

    init(_ database: Database) { self.database = database }

    deinit {
      // Closed, so this throws; it must not wait for ever, nor end the process.
      _ = sqliteError { try database.read { _ in } }
      _ = sqliteError { try database.write { _ in } }
    }
  }

  @Test(arguments: [Kind.memory, .file])
  func `what a function holds may use the database when it goes`(kind: Kind) throws {
    let fixture = try Fixture(kind)
    try fixture.database.write { connection in
      let word = LastWord(fixture.database)
      try connection.addFunction("word") { () -> Int in withExtendedLifetime(word) { 1 } }
    }
    try fixture.database.close()
  }

  @Test func `what a trace, an authorizer and a function hold goes with the connection`() throws {
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
  func `a connection whose rollback fails is thrown away while somebody listens`(
    kind: Kind
  ) throws {
    let fixture = try Fixture(kind)
    let database = fixture.database
    let told = Mutex(0)
    if kind == .file { try database.executeChange("CREATE TABLE t (a)") }
    let subscription = database.subscribe(to: .values) { _ in told.withLock { $0 += 1 } }
    for _ in 0..<3 {
      // Statements in the cache, which keep SQLite's own handle alive as long as they are.
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
          // No ROLLBACK compiles any more.
          try connection.setLimit(.sqlLength, to: 1)
          throw SQLiteError(.constraint, "the work fails")
        }
      }
      #expect(error?.message == "the work fails")
    }
    // A database in memory goes with its connection.
    if kind == .file {
      #expect(try database.rows("SELECT count(*) FROM t", as: Int.self).first == 60)
      #expect(try database.rows("SELECT count(*) FROM t WHERE a < 0", as: Int.self).first == 0)
    }
    #expect(told.withLock { $0 } == 3)
    withExtendedLifetime(subscription) {}
  }

  @Test func `a traced statement is told its end when a broken connection goes`() throws {
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

  @Test func `many databases on one file come and go at once`() throws {
    let folder = try TestFolder()
    let path = folder.file()
    let first = try Database(path: path)
    try first.executeChange("CREATE TABLE t (a)")
    DispatchQueue.concurrentPerform(iterations: 60) { _ in
      _ = sqliteError { _ = try Database(path: path).rows("SELECT a FROM t", as: Int.self).first }
    }
    let told = Mutex(0)
    let subscription = first.subscribe(to: .tables) { _ in told.withLock { $0 += 1 } }
    try Database(path: path).executeChange("INSERT INTO t VALUES (1)")
    #expect(told.withLock { $0 } == 1)
    withExtendedLifetime(subscription) {}
  }
}
